"""Read the YAML files of Rails, whose first key is the language."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.extras import require

from .content import text_of, well_formed
from .entries import Entry, Problems, repeated
from .nested_keys import Value, keyed_entries

_DEEPEST = 50
_MOST_REPEATED = 10_000_000
"""Characters that all aliases of a file may repeat."""
_NULL = re.compile(r"~|null|Null|NULL|")
_NO_TEXT = re.compile(
    r"true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF"
    r"|[-+]?(?:0[0-7_]*|[1-9][\d_]*)|[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|[-+]?\.\d[\d_]*(?:[eE][-+]\d+)?|:[a-z_]+"
)
"""What is no text without quotation marks: numbers, symbols of Ruby, and words that mean true or false."""


def read_rails(content: bytes, path: str, problems: Problems) -> Iterator[Entry]:
    """Yield the texts below the first key; aliases are used for texts only, and never for more."""
    yaml: Any = require("yaml", feature="reading YAML catalogues", extra="l10n")
    text = text_of(content, path)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reader = _Reader(path, problems, yaml)
    try:
        for event in yaml.parse(text, Loader=loader):
            reader.take(event)
    except yaml.YAMLError as error:
        reason = getattr(error, "problem", "") or getattr(error, "reason", "") or "it is invalid"
        raise DataError(f"not YAML: {reason}", path=path, line=_line_of(error, text)) from None
    if not reader.values:
        problems.add(1, "is empty")
    return (replace(entry, syntaxes=("ruby",)) for entry in keyed_entries(reader.values))


def _line_of(error: Any, text: str) -> int:
    """Return the line of an error of the parser, which has only a place for a character that is not allowed."""
    mark, place = getattr(error, "problem_mark", None), getattr(error, "position", None)
    if mark is None:
        return text.encode().count(b"\n", 0, place) + 1 if place else 0
    return mark.line + 1


_BEFORE_KEY = -1
_BEFORE_VALUE = -2


class _Reader:
    def __init__(self, path: str, problems: Problems, yaml: Any) -> None:
        self._path, self._problems, self._yaml = path, problems, yaml
        self.values: list[Value] = []
        self._names: list[str] = []
        """The key or place in each open object or list."""
        self._places: list[int] = []
        """The next place in each open list; `_BEFORE_KEY` or `_BEFORE_VALUE` in an object."""
        self._keys: list[dict[str, int]] = []
        """The lines of the keys of each open object."""
        self._repeated = 0
        self._texts: dict[str, Value] = {}
        """Texts that aliases may name."""

    def take(self, event: Any) -> None:
        """Read an event of the parser."""
        yaml, line = self._yaml, event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event.anchor, line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._open(line, _BEFORE_KEY if isinstance(event, yaml.MappingStartEvent) else 0)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._names.pop()
            self._places.pop()
            self._keys.pop()
            self._next()

    def _open(self, line: int, place: int) -> None:
        if len(self._places) >= _DEEPEST:
            raise DataError(f"nested more than {_DEEPEST} levels deep", path=self._path, line=line)
        if (self._places and self._places[-1] == _BEFORE_KEY) or (not self._places and place != _BEFORE_KEY):
            raise DataError("expected a key, found a list or an object", path=self._path, line=line)
        self._places.append(place)
        self._names.append("0")
        self._keys.append({})

    def _next(self) -> None:
        """Continue after a value."""
        if self._places and self._places[-1] == _BEFORE_VALUE:
            self._places[-1] = _BEFORE_KEY
        elif self._places:
            self._places[-1] += 1
            self._names[-1] = str(self._places[-1])

    def _scalar(self, event: Any, line: int) -> None:
        text, is_plain = well_formed(event.value), event.style in (None, "")
        if self._places and self._places[-1] == _BEFORE_KEY:
            self._key(text, line)
            return
        is_null = is_plain and _NULL.fullmatch(text) is not None
        is_text = not is_null and not (is_plain and _NO_TEXT.fullmatch(text))
        value = Value((), text if is_text else None, line, is_null)
        if event.anchor:
            self._texts[event.anchor] = value
        self._add(value, line)

    def _key(self, text: str, line: int) -> None:
        keys = self._keys[-1]
        if text in keys and len(self._places) == 1:
            self._problems.add(line, repeated(text, keys[text]))
        elif keys and len(self._places) == 1:
            self._problems.add(line, f"has a second language, {text[:40]!r}, which is not reviewed")
        keys[text] = line
        self._names[-1] = text
        self._places[-1] = _BEFORE_VALUE

    def _alias(self, anchor: str, line: int) -> None:
        found = self._texts.get(anchor)
        if self._places and self._places[-1] == _BEFORE_KEY:
            raise DataError("an alias cannot be a key", path=self._path, line=line)
        if found is None:
            self._problems.add(line, f"has the alias {anchor[:40]!r} for several texts, which is not followed")
            self._next()
        else:
            self._repeated += len(found.text or "")
            if self._repeated > _MOST_REPEATED:
                reason = f"aliases repeat more than {_MOST_REPEATED:,} characters"
                raise DataError(reason, path=self._path, line=line)
            self._add(found, line)

    def _add(self, value: Value, line: int) -> None:
        if len(self._names) > 1 and len(self._keys[0]) == 1:
            self.values.append(value._replace(path=tuple(self._names[1:]), line=line))
        elif not self._places:
            raise DataError("the first key must be a language", path=self._path, line=line)
        self._next()
