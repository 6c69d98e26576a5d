"""Parts of a text that are the same in every language, and the words between them."""

import re
from functools import lru_cache
from typing import Any, NamedTuple
from unicodedata import normalize

_IN_URL = r"!#-&(-;=?-_a-~"
"""Signs of ASCII alone, for in Chinese or Thai the next word follows an address without a space."""
URL = re.compile(
    rf"(?:https?://|www\.)[{_IN_URL}]*(?![.,;:!?)\]])[{_IN_URL}]"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]*\w",  # from its beginning only, or a long word takes forever
    re.ASCII,
)
PLACEHOLDER = re.compile(
    r"\{\{\s*[\w.-]+\s*\}\}|\$\{[\w.]+\}|\{[\w.:]*\}|%\([\w]+\)[sdif]|%\d+\$[@sdif]|%(?:\.\d)?[@sdif](?![a-zA-Z])",
    re.ASCII,
)
TAG = re.compile(r"</?[A-Za-z][\w:-]*(?:\s[^<>]{0,200})?/?>")
_NOT_PROSE = re.compile("|".join(f"(?:{each.pattern})" for each in (URL, TAG, PLACEHOLDER)), re.ASCII)
_KEPT = 256
"""Texts whose parts are remembered: each check asks for them, and a source comes back for every language."""


class Word(NamedTuple):
    """A run of letters and what belongs to them."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The place after it."""
        return self.start + len(self.text)


@lru_cache(maxsize=_KEPT)
def prose(text: str) -> str:
    """Return the text with addresses, placeholders and markup blanked out; every letter keeps its place."""
    return _NOT_PROSE.sub(lambda match: " " * len(match[0]), text)


@lru_cache(maxsize=_KEPT)
def words(text: str) -> tuple[Word, ...]:
    """Return the words of a text; scripts written without spaces give one word a phrase."""
    return tuple(Word(match[0], match.start()) for match in _word_pattern().finditer(text))


@lru_cache(maxsize=_KEPT)
def plain_words(text: str) -> tuple[str, ...]:
    """Return the words without case and with one form for each letter, for comparing."""
    return tuple(normalize("NFC", word.text.casefold()) for word in words(text))


@lru_cache(maxsize=1)
def _word_pattern() -> Any:
    import regex  # here, because it takes a while to load and most commands do without

    return regex.compile(r"\p{L}[\p{L}\p{M}\p{N}\u200c\u200d'’ʼ·]*")
