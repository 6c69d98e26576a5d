"""Write docs/records.md: what each record holds, from the records themselves: `make docs`."""

import ast
import inspect
import pkgutil
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from msgspec import Struct

import polyjudge.records

PAGE = Path(__file__).parent / "records.md"
HEAD = """# Records

What polyjudge reads, passes on and writes are records: [`msgspec.Struct`](https://jcristharif.com/msgspec/structs.html)s
in the modules of `polyjudge.records`, frozen but for the counters of a run. `msgspec.structs.replace` makes a changed
copy, `to_json` and `from_json` of `polyjudge.records.codec` turn a record into JSON values and back, and `schema` gives
the [JSON Schema](guides/files.md) of a file. In files the fields have camelCase names (those of `vocabulary`
snake_case), and those that may be missing are left out when they are None or empty.

This page is written by `make docs`.
"""


def page() -> str:
    """Return the whole page."""
    names = [each.name for each in pkgutil.iter_modules(polyjudge.records.__path__)]
    modules = [import_module(f"polyjudge.records.{name}") for name in names]
    return HEAD + "".join(f"\n{part}\n" for module in modules for part in described(module))


def described(module: ModuleType) -> Iterator[str]:
    """Yield what there is to say of a module: its records, and its functions."""
    yield f"## `{module.__name__}`"
    yield summary(module)
    public = [each for name, each in vars(module).items() if not name.startswith("_")]
    own = [each for each in public if getattr(each, "__module__", "") == module.__name__]
    for record in own:
        if isinstance(record, type) and issubclass(record, Struct):
            yield f"### `{record.__name__}`"
            yield summary(record)
            rows = list(field_rows(record))
            if rows:
                yield "\n".join(["| field | type | |", "|---|---|---|", *rows])
    functions = [each for each in own if inspect.isfunction(inspect.unwrap(each))]
    if functions:
        yield "\n".join(f"- `{each.__name__}{signature(each)}`: {summary(each)}" for each in functions)


def summary(described: object) -> str:
    """Return the first paragraph of a docstring."""
    return (inspect.getdoc(described) or "").partition("\n\n")[0].replace("\n", " ")


def signature(function: object) -> str:
    """Return a function's parameters by name."""
    assert callable(function)
    return f"({', '.join(inspect.signature(function).parameters)})"


def field_rows(record: type[Struct]) -> Iterator[str]:
    """Yield a row for each field: its name, its type as written, and what is said of it."""
    for field, said in declared(record):
        kind = ast.unparse(field.annotation).strip("'\"").replace("|", "\\|")
        default = "" if field.value is None else f" = {ast.unparse(field.value)}"
        yield f"| `{ast.unparse(field.target)}` | `{kind}{default}` | {said} |"


def declared(record: type) -> Iterator[tuple[ast.AnnAssign, str]]:
    """Yield the fields of a record as its class declares them, each with the docstring below it."""
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(record))).body
    assert isinstance(definition, ast.ClassDef)
    for field, after in zip(definition.body, [*definition.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign):
            said = ast.literal_eval(after.value) if isinstance(after, ast.Expr) else ""
            yield field, " ".join(said.split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
