"""Find the parts of a text that are the same in every language, and the words between them."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from unicodedata import normalize

_IN_URL = r"!#-&(-;=?-_a-~"
"""Only ASCII characters, because in Chinese or Thai the next word follows a URL without a space."""
URL = re.compile(
    rf"(?:https?://|www\.(?=[\w-]{{1,63}}\.))[{_IN_URL}]*(?![.,;:!?)\]])[{_IN_URL}]"
    r"|(?<![\w.+@-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]*\w",  # from its start only, or long words take quadratic time
    re.ASCII,
)
PLACEHOLDER = re.compile(
    r"\{\{\s*[\w.-]+\s*\}\}|\$\{[\w.]+\}|\{[\w.:]*\}|%\(\w+\)[-+#0']{0,3}\d{0,3}[sdif]"
    r"|%(?:\d{1,2}\$[-+#0' ]{0,3}|[-+#0']{0,3})\d{0,3}(?:\.\d{1,3})?(?:hh?|ll?|z|j)?[@sdifuxXgeEcp]"
    r"(?:(?![a-zA-Z])|(?=(?:st|nd|rd|th|[hmsx])\b))",  # the 3rd copy, 5h
    re.ASCII,
)
LOOSE_PLACEHOLDER = re.compile(PLACEHOLDER.pattern.partition("(?:(?![a-zA-Z])")[0], re.ASCII)
"""Placeholders also where a letter follows: `%.2fpt`, `Year%sMonth`."""
DATE_PART = re.compile(r"(?<!\d)%[-_0^#]?[EO]?[aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ](?![A-Za-z])", re.ASCII)
"""What strftime replaces: `%A, %-d %B %Y, %H:%M`."""
_ENTITY = r"&lt;[^&]{0,60}&gt;|&[a-z]{2,6};|&#\d{2,5};"
TAG = re.compile(r"</?[A-Za-z][\w:-]*(?:\s[^<>]{0,200})?/?>")
_NOT_PROSE = re.compile("|".join(f"(?:{each.pattern})" for each in (URL, TAG, PLACEHOLDER, DATE_PART)), re.ASCII)
_URL_MARKS = ("://", "www.", "@")
_NOT_PROSE_MARKS = (*_URL_MARKS, "<", "{", "%")
"""Every URL, tag and placeholder has one of them."""
_TOP_DOMAINS = (
    "com|net|org|edu|gov|info|biz|io|dev|app|eu|uk|de|fr|es|it|nl|se|ch|at|be|pl|cz|sk|ru|ua|jp|cn|kr|in|br|tv"
)
_FILE_ENDINGS = (
    "html?|php|pdf|txt|csv|json|xml|ya?ml|toml|css|jpe?g|png|gif|svg|mp[34]|zip|gz|exe|docx?|xlsx?|py|js|ts|sh|md"
)
_LATIN = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
"""Letters of scripts with spaces between words: where one follows, a name has not ended."""
_IDENTIFIER = re.compile(
    rf"{_ENTITY}|(?<![A-Za-z0-9_])[@＠][A-Za-z0-9_]{{1,64}}(?:[@.][A-Za-z0-9_-]{{1,63}}){{0,5}}|(?<![A-Za-z0-9_&])[#＃][A-Za-z0-9_]{{1,99}}(?![{_LATIN}])"
    r"|(?<![\w.])www\.[\w.-]{1,99}"
    r"|(?<![\w/<])~?/(?:[a-z0-9.-]{1,60}/){1,9}[a-z0-9._-]{0,60}(?![A-Za-z_])"
    r"|(?<![\w-])--[A-Za-z][\w-]{1,99}|(?<![\w-])-[A-Za-z]\w{0,30}(?:-\w{1,30}){1,5}"
    r"|(?<![\w.])(?:[A-Za-z]\w{0,60}_[A-Za-z0-9]{1,60}_\w{1,60}|[A-Z]{2,60}_[A-Z]{2,60}|[A-Za-z]\w{1,60}(?=\(\)))"
    rf"|(?<![A-Za-z0-9])\$[A-Za-z]{{1,6}}(?![A-Za-z0-9_{_LATIN}])"
    rf"|(?<![A-Za-z0-9_@.-])(?:[A-Za-z0-9_-]{{1,63}}\.){{1,5}}(?:{_TOP_DOMAINS}|{_FILE_ENDINGS})(?![A-Za-z0-9_{_LATIN}])(?:[/#][{_IN_URL}]*)?"
)
"""Entities, mentions, hashtags, options of commands, names in programs, tickers, domains, files: never translated."""
_IDENTIFIER_MARK = re.compile(r"[@＠#＃$&]|\.[a-z]")
_MARKS_OF_PROGRAMS = ("--", " -", "_", "()", "/")
_CACHED_TEXTS = 256
"""Cached texts: every check needs the parts, and a source occurs in every language."""


class Word(NamedTuple):
    """A run of letters with their marks and inner apostrophes."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset after it."""
        return self.start + len(self.text)


def addresses(text: str) -> list[str]:
    """Return the URLs and e-mail addresses of a text."""
    return URL.findall(text) if any(mark in text for mark in _URL_MARKS) else []


@lru_cache(maxsize=_CACHED_TEXTS)
def prose(text: str) -> str:
    """Replace URLs, placeholders and markup by spaces, so that all offsets stay."""
    if not any(mark in text for mark in _NOT_PROSE_MARKS):
        return text
    return _NOT_PROSE.sub(lambda match: " " * len(match[0]), text)


@lru_cache(maxsize=_CACHED_TEXTS)
def running_text(text: str) -> str:
    """Return the prose with mentions, hashtags, tickers, domains and names of files blanked out as well."""
    plain = prose(text)
    if not (any(mark in plain for mark in _MARKS_OF_PROGRAMS) or plain[:1] == "-" or _IDENTIFIER_MARK.search(plain)):
        return plain
    return _IDENTIFIER.sub(lambda match: " " * len(match[0]), plain)


@lru_cache(maxsize=_CACHED_TEXTS)
def words(text: str) -> tuple[Word, ...]:
    """Return the words of a text; in scripts without spaces, a word is a phrase."""
    return tuple(Word(match[0], match.start()) for match in _word_pattern().finditer(text))


@lru_cache(maxsize=_CACHED_TEXTS)
def word_texts(text: str) -> tuple[str, ...]:
    """Return the words without their places, which takes a third of the time."""
    return tuple(_word_pattern().findall(text))


@lru_cache(maxsize=_CACHED_TEXTS)
def plain_words(text: str) -> tuple[str, ...]:
    """Return the words casefolded and in NFC, for comparison."""
    return tuple(normalize("NFC", "\n".join(word_texts(text)).casefold()).split("\n")) if word_texts(text) else ()


@lru_cache(maxsize=_CACHED_TEXTS)
def vocabulary(text: str) -> frozenset[str]:
    """Return the different words of a text, casefolded and in NFC."""
    return frozenset(plain_words(text))


def shared_runs(ours: Sequence[str], theirs: Sequence[str], least: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of `ours` that `theirs` has too, word by word, of at least `least` words."""
    if len(ours) < least or sum(map(set(theirs).__contains__, ours)) < least:
        return
    parts = {tuple(theirs[place : place + least]) for place in range(len(theirs) - least + 1)}
    first = last = -1
    for place in range(len(ours) - least + 1):
        if tuple(ours[place : place + least]) in parts:
            if place > last:
                if last > first >= 0:
                    yield first, last
                first = place
            last = place + least
    if last > first >= 0:
        yield first, last


@lru_cache(maxsize=1)
def _word_pattern() -> Any:
    import regex  # imported late: it is slow to load and most commands do not need it

    return regex.compile(r"\p{L}[\p{L}\p{M}\p{N}\u200c\u200d'’ʼ·]*")
