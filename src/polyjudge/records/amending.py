"""Another record with some fields changed, for what happens to every item of a run."""

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar, cast

Record = TypeVar("Record")


def amended(record: Record, **changes: Any) -> Record:
    """Do what `dataclasses.replace` does, in a third of the time."""
    kind = type(record)
    names, values = _fields(kind)
    return kind(**dict(zip(names, values(record), strict=True), **changes))


@cache
def _fields(kind: type) -> tuple[tuple[str, ...], Callable[[object], tuple[Any, ...]]]:
    names = tuple(field.name for field in fields(cast(Any, kind)))
    return names, attrgetter(*names)
