"""What a judge was shown and asked, so that its reply can be told apart from what it quotes."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from polyjudge.records.rubrics import Scale

from .labelled_lines import labelled_values
from .reply_text import decode, find_objects
from .statement_words import normalise

_QUOTES = str.maketrans(dict.fromkeys("'`＂“”„‘’«»「」", '"'))
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_MOST_OBJECTS = 10_000
"""Objects of a judged text that are remembered; a constant, so that memory stays small."""


@dataclass(frozen=True)
class ReplyContext:
    """The judged texts, the scale and the labels of one question.

    Args:
        judged: The candidate and every other text that was put into the prompt.
        scale: The values that a score may take.
        labels: The labels to choose from.
    """

    judged: tuple[str, ...] = ()
    scale: Scale = field(default_factory=Scale)
    labels: tuple[str, ...] = ()

    def has_object(self, value: Mapping[str, Any]) -> bool:
        """Say whether an object with the same content occurs in a judged text."""
        return bool(self.judged) and _canonical(value) in self._objects

    def has_line(self, key: str, written: str) -> bool:
        """Say whether a judged text has a labelled line with this value."""
        return any(written == each for text in self.judged for each in labelled_values(text, key))

    def has_whole_line(self, line: str) -> bool:
        """Say whether a line of a judged text consists of these words."""
        return " ".join(normalise(line).casefold().split()) in self._lines

    def has_words(self, words: str) -> bool:
        """Say whether a judged text contains these words, whatever the case and the spaces."""
        plain = " ".join(normalise(words).casefold().split())
        return bool(plain) and plain in self._words

    @cached_property
    def numbers(self) -> frozenset[float]:
        """The numbers that occur in the judged texts."""
        return frozenset(float(each.replace(",", ".")) for each in _NUMBER.findall(self._words) if len(each) < 16)

    @cached_property
    def _lines(self) -> frozenset[str]:
        lines = (line for text in self.judged for line in normalise(text).casefold().splitlines())
        return frozenset(" ".join(line.split()) for line in lines if line.strip())

    @cached_property
    def _words(self) -> str:
        return "\n".join(" ".join(normalise(text).casefold().split()) for text in self.judged)

    @cached_property
    def _objects(self) -> frozenset[str]:
        found: set[str] = set()
        for text in self.judged:
            unquoted = re.sub(r"(?m)^[ \t]*>[ \t]?", "", text)
            for variant in {text, unquoted, text.translate(_QUOTES), text.replace('\\"', '"')}:
                for start, end in find_objects(variant)[:_MOST_OBJECTS]:
                    found.update(map(_canonical, _all_objects(_decoded(variant[start:end]))))
        return frozenset(found)


def judged_texts(candidate: str, context: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """Return every text that a prompt shows: the candidate and the values of its context."""
    return (candidate, *map(str, (context or {}).values()))


def folded_key(key: str) -> str:
    """Return a key as it looks: invisible characters, letter case and look-alike letters make no difference."""
    if key.isascii():
        return key.strip().casefold()
    return unicodedata.normalize("NFKC", normalise(key)).translate(_LOOK_ALIKES).strip().casefold()


_LOOK_ALIKES = str.maketrans("аеорсухіѕјԁһԛԝѵкмтвнАЕОРСУХІЅЈВНКМТοαεινρτυχκΑΒΕΗΙΚΜΝΟΡΤΥΧΖоɡı",
                             "aeopcyxisjdhqwvkmtbhAEOPCYXISJBHKMToaeivptuxkABEHIKMNOPTYXZogi")  # fmt: skip


def _decoded(text: str) -> object:
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return None


def _all_objects(value: object) -> Iterator[dict[str, Any]]:
    """Yield an object and those inside it, also written as text in a string."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            mapping = cast(dict[str, Any], each)
            yield mapping
            waiting += mapping.values()
        elif isinstance(each, list):
            waiting += cast(list[object], each)
        elif isinstance(each, str) and "{" in each:
            waiting += [_decoded(each[start:end]) for start, end in find_objects(each)]


def _canonical(value: Mapping[str, Any]) -> str:
    plain = {folded_key(key): _plain(each) for key, each in value.items()}
    return json.dumps(plain, sort_keys=True)


def _plain(value: object) -> object:
    """Return a value in one spelling: 100, 100.0 and "100" are the same content."""
    if isinstance(value, dict):
        return {folded_key(key): _plain(each) for key, each in cast(dict[str, object], value).items()}
    if isinstance(value, list):
        return [_plain(each) for each in cast(list[object], value)]
    if isinstance(value, bool) or value is None:
        return value
    text = " ".join(normalise(str(value)).split())
    try:
        return float(text)
    except (ValueError, OverflowError):
        return text
