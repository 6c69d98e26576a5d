"""Many cases in one test, if a test for each would take longer to start than to run."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

_SHOWN = 20


def for_each(names: str | tuple[str, ...], cases: Iterable[Any], ids: Callable[[Any], Any] = repr) -> Any:
    """Run the test on every case, as `pytest.mark.parametrize` does, and name each one that fails.

    The cases share the test's fixtures, so it is for tests that write nothing and change nothing.
    """
    given = list(cases)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failed: dict[str, Exception] = {}
            for case in given:
                values = {names: case} if isinstance(names, str) else dict(zip(names, case, strict=True))
                try:
                    test(**fixtures, **values)
                except Exception as error:  # noqa: BLE001 - reported below, with its case
                    label = str(ids(case))
                    error.add_note(f"case: {label}")
                    failed[label] = error
            if failed:
                shown = list(failed.values())[:_SHOWN]
                raise ExceptionGroup(f"{len(failed)} of {len(given)} cases failed: {', '.join(failed)}", shown)

        signature = inspect.signature(test)
        taken = [names] if isinstance(names, str) else names
        left = [each for name, each in signature.parameters.items() if name not in taken]
        assert len(left) + len(taken) == len(signature.parameters), f"{test.__name__} takes no {names}"
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate
