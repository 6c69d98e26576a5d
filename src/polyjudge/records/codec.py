"""Convert records to and from JSON values, checked against their types; load the JSON Schemas that ship with polyjudge.

An optional field is left out when it is None or empty; numbers and booleans are always written. Records keep the
numbers of a file as written: a field of the type `Number` does not change 4 to 4.0.
"""

import json
import types
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from msgspec import Struct, ValidationError, convert
from msgspec import field as record_field
from msgspec.structs import fields

from polyjudge.errors import DataError, UnknownNameError

Record = TypeVar("Record", bound=Struct)
Number: TypeAlias = int | float
_LONGEST_SHOWN = 200
_SCALARS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    Number: "a number",
    type(None): "null",
}


def always(default: Any) -> Any:
    """Return a default with which a field is written too, in a record with `omit_defaults`."""
    return record_field(default_factory=lambda: default)


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


def from_json(record_type: type[Record], data: object) -> Record:
    """Build a record from JSON values, or raise DataError with the invalid value and what was expected."""
    try:
        return convert(data, record_type, str_keys=True)
    except ValidationError:
        raise DataError(_error_message(record_type, data)) from None


def from_open_json(record_type: type[Record], data: Mapping[str, Any]) -> Record:
    """Build a record with unknown keys in its field `extra`; null is the same as missing."""
    names = set(field_names(record_type).values()) - {"extra"}
    known = {key: value for key, value in data.items() if key in names and value is not None}
    return from_json(record_type, {**known, "extra": {key: data[key] for key in data if key not in names}})


def to_json(record: Struct) -> dict[str, Any]:
    """Return a record as JSON values; optional fields are left out when they are None or empty."""
    data: dict[str, Any] = {}
    for name, key, is_needed in _written(type(record)):
        value = getattr(record, name)
        if value or value == 0 or is_needed:
            data[key] = value if type(value) in _SCALARS else _value_to_json(value)
    return data


def to_open_json(record: Struct) -> dict[str, Any]:
    """Return a record as JSON values, with the content of its field `extra` merged in."""
    written = to_json(record)
    extra = written.pop("extra", {})
    return {**written, **extra}


def field_names(record_type: type[Struct]) -> dict[str, str]:
    """Return the names of a record's fields in files, by their Python names."""
    return dict(zip(record_type.__struct_fields__, record_type.__struct_encode_fields__, strict=True))


@cache
def _written(record_type: type[Struct]) -> list[tuple[str, str, bool]]:
    """Return each field's name, its name in files, and whether it is required."""
    return [(field.name, field.encode_name, field.required) for field in fields(record_type)]


def _value_to_json(value: object) -> object:
    if type(value) in _SCALARS:
        return value
    if isinstance(value, Struct):
        return to_json(value)
    if type(value) is dict or isinstance(value, Mapping):  # most are dicts, and the check for Mapping is slow
        pairs = cast(Mapping[object, object], value)
        return {str(key): each if type(each) in _SCALARS else _value_to_json(each) for key, each in pairs.items()}
    if isinstance(value, tuple | list):
        return [_value_to_json(each) for each in cast(tuple[object, ...], value)]
    return value


def _error_message(hint: Any, value: object) -> str:
    """Return the path to the part of a value that does not have the expected type, and what was expected."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _SCALARS:
        return f"expected {_SCALARS[hint]}, found {_shown(value)}"
    if origin is Literal:
        return f"expected one of {', '.join(map(repr, arguments))}, found {_shown(value)}"
    if origin in (Union, types.UnionType):
        return _error_message(_most_likely(arguments, value), value)
    if origin in (tuple, Sequence):
        if not isinstance(value, list | tuple):
            return f"expected a list, found {_shown(value)}"
        elements = cast(list[object], value)
        return next(_error_message(arguments[0], each) for each in elements if not _fits(arguments[0], each))
    if not isinstance(value, Mapping):
        return f"expected an object, found {_shown(value)}"
    if isinstance(hint, type) and issubclass(hint, Struct):
        return _error_in_record(hint, cast(Mapping[str, object], value))
    return _error_in_mapping(hint, cast(Mapping[str, object], value))


def _error_in_mapping(hint: Any, pairs: Mapping[str, object]) -> str:
    key_type, value_type = get_args(hint)
    key, value = next((key, value) for key, value in pairs.items() if not _fits(hint, {key: value}))
    if _fits(value_type, value):
        return f"expected {_SCALARS[key_type]} as a key, found {_shown(key)}"
    return f"{key}: {_error_message(value_type, value)}"


def _error_in_record(record_type: type[Struct], given: Mapping[str, object]) -> str:
    config = record_type.__struct_config__
    expected = {field.encode_name: field for field in fields(record_type)}
    unknown = [key for key in given if key not in expected]
    if unknown and config.forbid_unknown_fields:
        return f"unknown key {unknown[0]!r}; known keys: {', '.join(expected)}"
    missing = [key for key, field in expected.items() if field.required and key not in given]
    if missing:
        return f"the key {missing[0]!r} is missing"
    for key, field in expected.items():
        if key in given and not _fits(field.type, given[key]):
            return f"{key}: {_error_message(field.type, given[key])}"
    if config.tag_field is not None and config.tag_field in given:
        return f"{config.tag_field}: expected {config.tag!r}, found {_shown(given[config.tag_field])}"
    return f"expected text as keys, found {_shown(given)}"


def _most_likely(hints: tuple[Any, ...], value: object) -> Any:
    """Return the type of a union that a value most likely was meant to have: the record with its tag, or the first."""
    if set(hints) >= {int, float}:
        return Number
    if isinstance(value, Mapping):
        given = cast(Mapping[str, object], value)
        for hint in hints:
            config = getattr(hint, "__struct_config__", None)
            if config is not None and config.tag is not None and given.get(config.tag_field) == config.tag:
                return hint
    return hints[0]


def _fits(hint: Any, value: object) -> bool:
    try:
        convert(value, hint, str_keys=True)
    except ValidationError:
        return False
    return True


def _shown(value: object) -> str:
    """Return a value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
