"""The texts and the scale of a question, to distinguish a judge's own answer from what its reply quotes."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, cast

from msgspec import Struct

from polyjudge.records.rubrics import Scale

from .reply_text import decode, find_objects, labelled_values
from .statement_words import normalise

_QUOTES = str.maketrans(dict.fromkeys("'`＂“”„‘’«»「」", '"'))
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_MOST_OBJECTS = 10_000
"""Objects of a judged text that are stored; a constant, so that memory is bounded."""


class ReplyContext(Struct, frozen=True, dict=True):
    """The judged texts, the scale and the labels of one question.

    Args:
        judged: The candidate and every other text that was put into the prompt.
        scale: The values that a score may take.
        labels: The labels to choose from.
    """

    judged: tuple[str, ...] = ()
    scale: Scale = Scale()
    labels: tuple[str, ...] = ()

    def has_object(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object with the same content occurs in a judged text."""
        return bool(self.judged) and _canonical(value) in self._objects

    def has_line(self, key: str, written: str) -> bool:
        """Return whether a judged text has a labelled line with this value."""
        return any(written == each for text in self.judged for each in labelled_values(text, key))

    def has_whole_line(self, line: str) -> bool:
        """Return whether these words are a whole line of a judged text."""
        return " ".join(normalise(line).casefold().split()) in self._lines

    def has_words(self, words: str) -> bool:
        """Return whether a judged text contains these words, ignoring case and spaces."""
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


def folded_key(key: str) -> str:
    """Return a key without differences of case, invisible characters and look-alike letters."""
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
    """Yield an object and those inside it, also those encoded in a string."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            mapping = cast(dict[str, Any], each)
            yield mapping
            pending += mapping.values()
        elif isinstance(each, list):
            pending += cast(list[object], each)
        elif isinstance(each, str) and "{" in each:
            pending += [_decoded(each[start:end]) for start, end in find_objects(each)]


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
