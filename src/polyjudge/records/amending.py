"""Another record with some fields changed, for what happens to every item of a run."""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, cast

Record = TypeVar("Record")


def amended(record: Record, **changes: Any) -> Record:
    """Do what `dataclasses.replace` does for a record with slots, in a quarter of the time."""
    kind = type(record)
    names, values_of, setters = _fields(kind)
    values = dict(zip(names, values_of(record), strict=True), **changes)
    made = object.__new__(kind)
    for set_value, value in zip(setters, values.values(), strict=True):  # what is no field has no setter
        set_value(made, value)
    return made


@cache
def _fields(
    kind: type,
) -> tuple[tuple[str, ...], Callable[[object], tuple[Any, ...]], tuple[Callable[[object, Any], None], ...]]:
    """Return the names of a record's fields, what gives their values, and what sets each."""
    names = tuple(field.name for field in fields(cast(Any, kind)))
    return names, attrgetter(*names), tuple(getattr(kind, name).__set__ for name in names)
