"""Run the cases of a translator as tests of `pytest`.

In the project's own pytest settings:

    polyjudge_command = apertium -u {source_lang}-{target_lang}
    polyjudge_fixtures = tests/fixtures/*.tsv

Without a command, no cases are collected.
"""

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from polyjudge.records.sessions import CaseResult, Fixture


_SETTINGS = {
    "polyjudge_command": ("translator program that reads stdin and writes stdout", None),
    "polyjudge_fixtures": ("files of cases, as patterns relative to the root", "linelist"),
    "polyjudge_model": ("value of {model} in the command", None),
    "polyjudge_match": ("how outputs are compared: exact, trim or normalized", None),
    "polyjudge_timeout": ("time limit of one text in seconds", None),
    "polyjudge_env": ("environment variables to pass to the program", "linelist"),
    "polyjudge_set": ("environment variables to set for the program, as NAME=VALUE", "linelist"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings."""
    for name, (meaning, kind) in _SETTINGS.items():
        parser.addini(name, meaning, type=cast(Any, kind), default=[] if kind else "")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "FixtureTests | None":
    """Collect a file of cases."""
    config = parent.config
    patterns = config.getini("polyjudge_fixtures")
    if not patterns or not config.getini("polyjudge_command"):
        return None
    place = file_path.relative_to(config.rootpath).as_posix() if file_path.is_relative_to(config.rootpath) else ""
    if any(fnmatch(place, pattern) for pattern in patterns):
        return cast(Any, FixtureTests).from_parent(parent, path=file_path)
    return None


class FixtureTests(pytest.File):
    """One file of cases."""

    def collect(self) -> "Iterator[CaseTest]":
        """Yield a test for each case."""
        from polyjudge.errors import PolyjudgeError
        from polyjudge.formats.fixtures import read_fixtures

        try:
            fixtures = read_fixtures(self.path.parent if self.path.name == "case.toml" else self.path).fixtures
        except PolyjudgeError as error:
            raise self.CollectError(str(error)) from None
        for fixture in fixtures:
            yield cast(Any, CaseTest).from_parent(self, name=fixture.case_id, fixture=fixture)


class CaseTest(pytest.Item):
    """One case, run by itself."""

    def __init__(self, *, fixture: "Fixture", **more: Any) -> None:
        super().__init__(**more)  # pyright: ignore[reportUnknownMemberType] - pytest leaves it untyped
        self.fixture = fixture

    def runtest(self) -> None:
        """Translate, and fail if the output differs."""
        result = self._result()
        if result.status != "PASS":
            raise CaseFailedError(result)

    def repr_failure(self, excinfo: "pytest.ExceptionInfo[BaseException]", style: Any = None) -> Any:
        """Show the difference of the texts, without a traceback."""
        from polyjudge.errors import PolyjudgeError

        if isinstance(excinfo.value, PolyjudgeError):
            return str(excinfo.value)
        if isinstance(excinfo.value, CaseFailedError):
            return "\n".join(_explained(excinfo.value.result))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> "tuple[Path, int | None, str]":
        """Return the path and line of the case."""
        return self.path, self.fixture.line - 1 if self.fixture.line else None, self.fixture.case_id

    def _result(self) -> "CaseResult":
        from polyjudge.concurrency.sync import run_sync
        from polyjudge.suites.regression import clean_environment, run_case, translator_command

        setting = self.config.getini
        with TemporaryDirectory(prefix="polyjudge-home-") as home:
            command = translator_command(
                setting("polyjudge_command"),
                model=Path(setting("polyjudge_model")) if setting("polyjudge_model") else None,
                environment=clean_environment(Path(home), setting("polyjudge_env"), setting("polyjudge_set")),
                timeout_s=_timeout_s(setting("polyjudge_timeout")),
            )
            return run_sync(run_case(command.translate, self.fixture, _match(setting("polyjudge_match"))))


def _match(given: str) -> Any:
    from polyjudge.errors import ConfigError

    if given not in ("", "exact", "trim", "normalized"):
        raise ConfigError(f"polyjudge_match must be exact, trim or normalized, not {given!r}.")
    return given or "exact"


def _timeout_s(given: str) -> float:
    from polyjudge.errors import ConfigError

    try:
        seconds = float(given or 60)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ConfigError(f"polyjudge_timeout must be a number of seconds above 0, not {given!r}.")
    return seconds


class CaseFailedError(Exception):
    """A case that did not pass."""

    def __init__(self, result: "CaseResult") -> None:
        super().__init__(result.message or "The output differs from the expected one.")
        self.result = result


def _explained(result: "CaseResult") -> Iterator[str]:
    from polyjudge.text.difference import difference, shown
    from polyjudge.text.display import harmless

    if result.status == "ERROR":
        yield f"the translator failed: {harmless(result.message)}"
        return
    found = difference(result.fixture.expected_output.removesuffix("\n"), result.actual)
    marks = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
    for name, parts in (("expected", found.expected), ("actual  ", found.actual)):
        yield f"{name}  " + "".join(f"{marks[part][0]}{shown(text)}{marks[part][1]}" for part, text in parts)
    yield from found.notes
