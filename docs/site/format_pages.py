"""The reference of the files, from their JSON Schemas."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rst_text import escaped, heading, table

from polyjudge.records.codec import schema, schema_names

Schema = Mapping[str, Any]
Row = tuple[str, ...]
_LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "minLength": "of length",
}


def pages() -> dict[str, str]:
    """Return the text of each schema's page by the schema's name."""
    return {name: "\n".join(_Page(name, schema(name)).lines()) for name in schema_names()}


@dataclass(frozen=True)
class _Page:
    name: str
    whole: Schema

    def lines(self) -> Iterator[str]:
        yield f".. _schema-{self.name}:\n"
        yield heading(self.name, "=")
        yield f"{escaped(self.whole['title'])}. A star marks what is required.\n"
        file = f"{self.name}.schema.json"
        yield f"The schema as a file: :download:`{file} </../src/polyjudge/records/schemas/{file}>`.\n"
        yield from self._described(self.whole)
        for key, part in self.whole.get("$defs", {}).items():
            yield f".. _schema-{self.name}-{key}:\n"
            yield heading(key, "-")
            yield f"{escaped(part['title'])}.\n" if "title" in part else ""
            yield from self._described(part)

    def _described(self, part: Schema) -> Iterator[str]:
        """Describe a value, and what holds for it under a condition."""
        if "properties" not in part:
            yield f"{self._type(part)[:1].upper()}{self._type(part)[1:]}.\n"
        if "properties" in part:
            yield self._table(part)
        for choice in part.get("oneOf", ()):
            if "properties" in choice:
                yield f"As an {self._type(choice)}:\n"
                yield self._table(choice)
        fields = part.get("if", {}).get("properties", {})
        when = " and ".join(f"``{name}`` is {self._type(value)}" for name, value in fields.items())
        for key, words in (("then", f"If {when}"), ("else", "Otherwise")):
            if key in part:
                yield f"{words}: {self._condition(part[key])}.\n"
                yield self._table(part[key]) if "properties" in part[key] else ""

    def _condition(self, part: Schema) -> str:
        required = ", ".join(f"``{name}``" for name in part.get("required", ()))
        return f"with {required}" if required else f"the fields of {self._type(part)}"

    def _table(self, part: Schema) -> str:
        return table([("Field", "Value", "Meaning"), *self._rows("", part)], "32 30 38")

    def _rows(self, before: str, part: Schema) -> Iterator[Row]:
        """Describe the fields of an object, and those of objects inside it."""
        required = part.get("required", ())
        for name, field in part.get("properties", {}).items():
            star = " \\*" if name in required else ""
            described = field if isinstance(field, Mapping) else {}
            yield f"``{before}{name}``{star}", self._type(field), escaped(described.get("description", ""))
            inner = described.get("items", described)
            if isinstance(inner, Mapping):
                yield from self._rows(f"{before}{name}{'' if inner is described else '[]'}.", inner)

    def _type(self, part: Schema | bool) -> str:
        """Say in words which values are allowed."""
        if isinstance(part, bool) or not part:
            return "anything"
        if "$ref" in part:
            return self._link(part["$ref"])
        if "const" in part or "enum" in part:
            return ", ".join(f"``{json.dumps(value)}``" for value in part.get("enum", [part.get("const")]))
        if "oneOf" in part or "anyOf" in part:
            return ", or ".join(self._type(choice) for choice in part.get("oneOf", part.get("anyOf")))
        return self._kind(part)

    def _kind(self, part: Schema) -> str:
        """Name a type with its limits."""
        kinds = part.get("type", "anything")
        words = " or ".join(kinds) if isinstance(kinds, list) else kinds
        if "items" in part:
            words += f" of {self._type(part['items'])}"
        if isinstance(part.get("additionalProperties"), Mapping):
            words += f", each value {self._type(part['additionalProperties'])}"
        limits = [f"{text} {part[key]}" for key, text in _LIMITS.items() if key in part]
        if "pattern" in part:
            limits.append(f"matching ``{part['pattern']}``")
        return ", ".join([words, *limits])

    def _link(self, target: str) -> str:
        """Return a link to a part of this schema, or of another one."""
        file, _, path = target.partition("#/$defs/")
        name = file.removesuffix(".schema.json") or self.name
        return f":ref:`{path or name} <schema-{name}{'-' if path else ''}{path}>`"
