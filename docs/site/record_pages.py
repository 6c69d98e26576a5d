"""The reference of the records, from their own declarations."""

import ast
import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from declared_fields import declared
from msgspec import Struct
from rst_text import escaped, heading, table

import polyjudge
import polyjudge.records

HEAD = """\
What polyjudge reads, passes on and writes are records: ``msgspec.Struct``\\ s in the modules of
``polyjudge.records``, frozen except for the counters of a run. ``msgspec.structs.replace`` makes a changed
copy; ``to_json`` and ``from_json`` of ``polyjudge.records.codec`` turn a record into JSON values and back. In
:doc:`files <files>` the fields have camelCase names (those of ``vocabulary`` snake_case), and optional fields
are left out when they are None or empty. Records that are public names are described :doc:`there <api>`.
"""


def page() -> str:
    """Return the page of all records that are no public names."""
    names = [each.name for each in pkgutil.iter_modules(polyjudge.records.__path__)]
    modules = [import_module(f"polyjudge.records.{name}") for name in names]
    return "\n".join([heading("Records", "="), HEAD, *(line for module in modules for line in _described(module))])


def _described(module: ModuleType) -> Iterator[str]:
    """Describe the records of a module; one without any is left out."""
    own = [each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__]
    records = [each for each in own if isinstance(each, type) and issubclass(each, Struct)]
    records = [each for each in records if not each.__name__.startswith("_") and each.__name__ not in polyjudge.__all__]
    if not records:
        return
    yield heading(module.__name__, "-")
    yield f"{_summary(module)}\n"
    for record in records:
        yield heading(record.__name__, "~")
        yield f"{_summary(record)}\n"
        rows = list(_rows(record))
        yield table([("Field", "Type", "Meaning"), *rows], "25 35 40") if rows else ""


def _summary(described: object) -> str:
    """Return the first paragraph of a docstring."""
    return escaped((inspect.getdoc(described) or "").partition("\n\n")[0].replace("\n", " "))


def _rows(record: type[Struct]) -> Iterator[tuple[str, str, str]]:
    """Describe each field: its name, its type as written, and the docstring below it."""
    for field, said in declared(record):
        kind = ast.unparse(field.annotation).strip("'\"")
        default = "" if field.value is None else f" = {ast.unparse(field.value)}"
        yield f"``{ast.unparse(field.target)}``", f"``{kind}{default}``", escaped(said)
