"""Convert records to and from JSON, checked against their types; load the JSON Schemas that ship with polyjudge."""

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from importlib.resources import files
from operator import attrgetter
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from polyjudge.errors import DataError, UnknownNameError


def schema_names() -> list[str]:
    """Return the names of the schemas."""
    folder = files("polyjudge.records") / "schemas"
    return sorted(entry.name.removesuffix(".schema.json") for entry in folder.iterdir())


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one kind of file, such as 'outcome'."""
    if name not in schema_names():
        raise UnknownNameError("JSON Schema", name, schema_names())
    text = (files("polyjudge.records") / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    return cast(dict[str, Any], json.loads(text))


Record = TypeVar("Record")
_LONGEST_SHOWN = 200
Reader = Callable[[object], Any]
"""Turns a JSON value into a field's value; raises `ValueError` with what was expected."""


def to_json(record: object) -> dict[str, Any]:
    """Return a record as JSON-ready values; fields that may be missing are left out when they are None or empty."""
    form = _form(type(record))
    values = zip(form.names, form.values_of(record), strict=True)
    data: dict[str, Any] = {name: value for name, value in values if value or value == 0 or name in form.needed}
    for name in form.deep:
        if name in data:
            data[name] = _value_to_json(data[name])
    return data


def from_json(record_type: type[Record], data: object, *, strict: bool = False) -> Record:
    """Build a record from JSON values; `strict` also refuses keys that the record does not have."""
    try:
        return cast(Record, _read_record(record_type, data, strict))
    except ValueError as error:
        raise DataError(str(error)) from None


def to_open_json(record: object) -> dict[str, Any]:
    """Return a record as JSON-ready values, what stands in its field `extra` beside the others."""
    written = to_json(record)
    extra = written.pop("extra", {})
    return {**written, **extra}


def from_open_json(record_type: type[Record], data: Mapping[str, Any]) -> Record:
    """Build a record whose field `extra` takes the keys that it does not know; null is as good as missing."""
    names = {camel(field.name) for field in fields(cast(Any, record_type))} - {"extra"}
    known = {key: value for key, value in data.items() if key in names and value is not None}
    return from_json(record_type, {**known, "extra": {key: data[key] for key in data if key not in names}})


def to_snake_json(record: object) -> dict[str, Any]:
    """Return a record as JSON-ready values under the names that its fields have in Python."""
    names = {camel(field.name): field.name for field in fields(cast(Any, record))}
    return {names[key]: value for key, value in to_json(record).items()}


def from_snake_json(record_type: type[Record], data: Mapping[str, Any], *, strict: bool = False) -> Record:
    """Build a record from JSON values under the names that its fields have in Python."""
    return from_json(record_type, {camel(key): value for key, value in data.items()}, strict=strict)


def _value_to_json(value: object) -> object:
    if type(value) in _SCALARS:
        return value
    if type(value) is dict:  # most are, and to ask whether it is a mapping takes long
        pairs = cast(dict[object, object], value)
        return {str(key): each if type(each) in _SCALARS else _value_to_json(each) for key, each in pairs.items()}
    if is_dataclass(value):
        return to_json(value)
    if isinstance(value, Mapping):
        return {str(key): _value_to_json(each) for key, each in cast(Mapping[object, object], value).items()}
    if isinstance(value, tuple | list):
        return [_value_to_json(each) for each in cast(tuple[object, ...], value)]
    return value


@dataclass(frozen=True, slots=True)
class _Form:
    """How a record is written."""

    values_of: Callable[[object], tuple[Any, ...]]
    names: tuple[str, ...]
    """Of all fields, as they stand on disk."""
    needed: frozenset[str]
    """Those that must be there."""
    deep: tuple[str, ...]
    """Those whose values are not JSON as they are."""


@cache
def _form(record_type: type) -> _Form:
    hints, names = get_type_hints(record_type), [field.name for field in fields(record_type)]
    return _Form(
        # Asked for one name alone, attrgetter gives the value and no tuple.
        attrgetter(*names) if len(names) > 1 else lambda record: (getattr(record, names[0]),),
        tuple(map(camel, names)),
        frozenset(camel(field.name) for field in fields(record_type) if _is_needed(field)),
        tuple(camel(name) for name in names if not _is_scalar(hints[name])),
    )


def _is_scalar(hint: Any) -> bool:
    """Say whether a field's values stand in JSON as they are."""
    if get_origin(hint) in (Union, types.UnionType):
        return all(map(_is_scalar, get_args(hint)))
    return hint in _SCALARS or get_origin(hint) is Literal


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def camel(name: str) -> str:
    """Return a field's name as it stands on disk."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


@cache
def _readers(record_type: type, strict: bool) -> tuple[dict[str, tuple[str, frozenset[type], Reader]], list[str]]:
    """Return, for each name on disk, the field, the types that it takes as they are, and what reads all else.

    And, beside these, the names that must be there.
    """
    hints = get_type_hints(record_type)
    readers = {
        camel(field.name): (field.name, _plain_types(hints[field.name]), _reader(hints[field.name], strict))
        for field in fields(record_type)
    }
    return readers, [camel(field.name) for field in fields(record_type) if _is_needed(field)]


def _plain_types(hint: Any) -> frozenset[type]:
    """Return the types of values that stand in JSON as they do in the field."""
    if get_origin(hint) in (Union, types.UnionType):
        return frozenset[type]().union(*map(_plain_types, get_args(hint)))
    if hint is float:
        return frozenset({int, float})
    return frozenset({hint}) if hint in _SCALARS else frozenset()


def _read_record(record_type: type, data: object, strict: bool) -> object:
    if type(data) is not dict and not isinstance(data, Mapping):  # most are, and to ask for a mapping takes long
        raise ValueError(f"expected an object, found {_shown(data)}")
    given = cast(Mapping[str, object], data)
    readers, needed = _readers(record_type, strict)
    if strict and (unknown := [key for key in given if key not in readers]):
        raise ValueError(f"unknown key {unknown[0]!r}; known are {', '.join(readers)}")
    for key in needed:
        if key not in given:
            raise ValueError(f"the key {key!r} is missing")
    values: dict[str, object] = {}
    for key, value in given.items():
        reader = readers.get(key)
        if reader is not None:
            name, plain, read = reader
            values[name] = value if type(value) in plain else _read_field(key, read, value)
    return record_type(**values)


def _read_field(key: str, read: Reader, value: object) -> object:
    try:
        return read(value)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def _reader(hint: Any, strict: bool) -> Reader:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return _anything
    if hint in _SCALARS:
        return _SCALARS[hint]
    if origin is Literal:
        return lambda value: _one_of(arguments, value)
    if origin in (Union, types.UnionType):
        return _union_reader([_reader(argument, strict) for argument in arguments])
    if origin is tuple:
        return _tuple_reader(_reader(arguments[0], strict))
    if is_dataclass(hint):
        return lambda value: _read_record(cast(type, hint), value, strict)
    return _mapping_reader(arguments[0], _reader(arguments[1], strict))


def _shown(value: object) -> str:
    """Return a value as a message may name it: an error must not be as long as the file."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _anything(value: object) -> object:
    return value


def _string(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"expected text, found {_shown(value)}")


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"expected true or false, found {_shown(value)}")


def _integer(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"expected a whole number, found {_shown(value)}")


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise ValueError(f"expected a number, found {_shown(value)}")


def _null(value: object) -> None:
    if value is not None:
        raise ValueError(f"expected null, found {_shown(value)}")


_SCALARS: dict[Any, Reader] = {str: _string, bool: _boolean, int: _integer, float: _number, type(None): _null}


def _one_of(allowed: tuple[object, ...], value: object) -> object:
    if value in allowed:
        return value
    raise ValueError(f"expected one of {', '.join(map(repr, allowed))}, found {_shown(value)}")


def _union_reader(readers: list[Reader]) -> Reader:
    def read(value: object) -> object:
        errors: list[str] = []
        for reader in readers:
            try:
                return reader(value)
            except ValueError as error:
                errors.append(str(error))
        raise ValueError(errors[0])

    return read


def _tuple_reader(read_each: Reader) -> Reader:
    def read(value: object) -> object:
        if not isinstance(value, list | tuple):
            raise ValueError(f"expected a list, found {_shown(value)}")
        return tuple(read_each(each) for each in cast(list[object], value))

    return read


def _mapping_reader(key_type: Any, read_each: Reader) -> Reader:
    def read(value: object) -> object:
        if type(value) is not dict and not isinstance(value, Mapping):
            raise ValueError(f"expected an object, found {_shown(value)}")
        pairs = cast(Mapping[str, object], value)
        if read_each is _anything and key_type is str:
            return dict(pairs)
        return {key_type(key): _read_field(str(key), read_each, each) for key, each in pairs.items()}

    return read
