"""Read the string catalogues of Xcode, which have all languages in one file."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from polyjudge.records.messages import Catalogue, CatalogueFile, MessageState, PlaceholderSyntax

from .entries import Entry, Problems, Texts, paired
from .json_files import json_leaves
from .json_texts import Leaf
from .language_names import language_tag

_SYNTAXES: tuple[PlaceholderSyntax, ...] = ("apple",)
_LEFT_OUT = ((("shouldTranslate",), "false"), (("extractionState",), "stale"))
"""What says of a key that it is not translated, or no longer used."""
_UNCONFIRMED = ("needs_review", "new", "stale")


class _Unit(Struct):
    """A text of a key in one language, while it is read."""

    text: str | None = None
    line: int = 0
    state: str = ""


class _Strings(Struct, frozen=True):
    source_language: str
    languages: dict[str, list[Entry]]
    sources: Texts
    problems: tuple[tuple[int, str], ...]


def xcstrings_languages(content: bytes, path: str) -> tuple[str, list[str]]:
    """Return the language of the sources in a string catalogue, and the others in it."""
    found = _strings(content, path)
    return found.source_language, [each for each in found.languages if each != found.source_language]


def read_xcstrings(file: CatalogueFile, content: bytes) -> Catalogue:
    """Return the messages of one language of a string catalogue."""
    found = _strings(content, file.path)
    return paired(file, Texts(found.languages.get(file.language, []), found.problems), found.sources)


@lru_cache(maxsize=2)
def _strings(content: bytes, path: str) -> _Strings:
    problems = Problems()
    builder = _Builder()
    for leaf in json_leaves(content, path, problems):
        builder.take(leaf)
    return builder.made(problems)


class _Builder:
    def __init__(self) -> None:
        self._source_language = "en"
        self._keys: dict[str, int] = {}
        """The lines of the keys, those to be translated."""
        self._comments: dict[str, str] = {}
        self._left_out: set[str] = set()
        self._units: dict[tuple[str, ...], _Unit] = {}

    def take(self, leaf: Leaf) -> None:
        """Read a value of the file."""
        if leaf.path == ("sourceLanguage",):
            self._source_language = language_tag(leaf.text or "") or self._source_language
        if leaf.path[:1] != ("strings",) or len(leaf.path) < 2:
            return
        key, rest = leaf.path[1], leaf.path[2:]
        self._keys.setdefault(key, leaf.line)
        if rest == ("comment",):
            self._comments[key] = leaf.text or ""
        elif (rest, leaf.word or leaf.text) in _LEFT_OUT:
            self._left_out.add(key)
        elif rest[:1] == ("localizations",) and rest[-2:-1] == ("stringUnit",):
            unit = self._units.setdefault((key, *rest[1:-2]), _Unit())
            if rest[-1] == "value":
                unit.text, unit.line = leaf.text, leaf.line
            elif rest[-1] == "state":
                unit.state = leaf.text or ""

    def made(self, problems: Problems) -> _Strings:
        languages: dict[str, list[Entry]] = {}
        without_source = dict(self._keys)
        for (key, name, *variations), unit in self._units.items():
            if unit.text is None or key in self._left_out:
                continue
            language = language_tag(name) or name
            languages.setdefault(language, []).append(self._entry(key, variations, unit))
            if language == self._source_language:
                without_source.pop(key, None)
        # A key without a text in the language of the sources is that text itself.
        sources = [
            Entry(key=key, text=key, line=line, comment=self._comments.get(key, ""), syntaxes=_SYNTAXES)
            for key, line in without_source.items()
            if key not in self._left_out
        ]
        sources += languages.get(self._source_language, [])
        return _Strings(self._source_language, languages, Texts(sources), problems.all())

    def _entry(self, key: str, variations: Sequence[str], unit: _Unit) -> Entry:
        plural, names = "", list[str]()
        for kind, value in pairwise(variations):
            if kind == "plural":
                plural = value
            elif kind in ("device", "substitutions"):
                names.append(value)
        state: MessageState = "needs_review" if unit.state in _UNCONFIRMED else "translated"
        return Entry(
            key=".".join((key, *names)),
            text=unit.text or "",
            line=unit.line,
            plural=plural,
            comment=self._comments.get(key, ""),
            state=state,
            syntaxes=_SYNTAXES,
        )
