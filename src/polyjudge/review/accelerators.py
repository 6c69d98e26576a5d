"""Keyboard shortcuts in the labels of programs: `_Open`, `E&xit`, and `開く(_O)` in other scripts."""

import re
from collections.abc import Iterator

from polyjudge.records.findings import Finding

MARKS = ("_", "&", "~")
"""GTK, Qt and Windows, LibreOffice."""
_MOST_WORDS = 15
"""Longer texts are sentences, whose underscores are parts of names."""
_PLACES = {
    # A mark that is doubled stands for itself; & also starts an entity, and R&D and AT&T are names.
    "_": re.compile(r"(?<!_)_(?=[^\W_])"),
    "&": re.compile(r"(?<!&)(?<![A-Z](?=&[A-Z]))&(?!#?\w{1,31};)(?=\w)"),
    "~": re.compile(r"(?<!~)~(?=[^\W\d_])"),
}
_BARE = re.compile(r"(?<![\w&])[_&](?=\s|$)")
"""A mark before no letter."""
_NAME = re.compile(
    r"[a-z0-9]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z][a-z]+)+|[A-Z0-9]+(?:_[A-Z0-9]+)+|\w*(?:_\w+){2,}|[a-z]+_[A-Z]{2}|\S*[/.\\]\S*_\S*"
)
"""Names in programs: snake_case, A_CONSTANT, en_US, a path."""
_KEY_NAME = re.compile(r"[^\W_]_[A-Z]")
"""`KP_Delete` names a key, and `Plu_gins` is a label."""
_AROUND = "'\"“”„«»‘’.,:;()"
IN_BRACKETS = re.compile(r"\s?[(（][_&~]\w[)）]")
"""A shortcut after the text, as in Chinese, Japanese and Korean."""


def accelerator_mark(source: str) -> str:
    """Return the mark of the shortcut that a source has; empty if it has none."""
    for mark in MARKS:
        if mark in source and len(places := accelerator_places(source, mark)) == 1:
            word = _word_at(source, places[0])
            is_short = len(source.split()) <= _MOST_WORDS
            starts_word = places[0] == 0 or not source[places[0] - 1].isalnum()
            if is_short and (starts_word or mark == "&" or not _is_name(word, source)) and not _is_path(word):
                return mark
    return ""


def accelerator_places(text: str, mark: str) -> list[int]:
    """Return where a text has marks of shortcuts."""
    return [match.start() for match in _PLACES[mark].finditer(text)] if mark in text else []


def accelerator_findings(text: str, source: str, *, is_usual: bool) -> Iterator[Finding]:
    """Find a shortcut that is missing, or of which there are several; `is_usual` if the file has shortcuts at all."""
    mark = accelerator_mark(source)
    if not mark:
        return
    places = accelerator_places(text, mark)
    if len(places) > 1:
        message = f"{mark!r} marks {len(places)} letters as shortcuts, and only one in the source."
        yield Finding("accelerator_doubled", "warn", message, places[1], places[1] + 2)
    elif bare := _BARE.search(text) if not places else None:
        message = f"{mark!r} marks no letter, so there is no shortcut."
        yield Finding("accelerator_lost", "warn", message, bare.start(), bare.end())
    elif not places and is_usual:
        yield Finding(
            "accelerator_lost", "warn", f"The source marks a shortcut with {mark!r}, and the translation has none."
        )


def _word_at(text: str, place: int) -> str:
    start = max(text.rfind(" ", 0, place), text.rfind("\n", 0, place)) + 1
    return text[start:].split()[0]


def _is_name(word: str, source: str) -> bool:
    """Say whether a word with an underscore inside is a name in a program, and not the label `Plu_gins`."""
    word = word.strip(_AROUND)
    is_label = word[:1].isupper() and not _KEY_NAME.search(word) and source.strip() == word
    return _NAME.fullmatch(word) is not None and not is_label


def _is_path(word: str) -> bool:
    return "/" in word or "\\" in word or "://" in word or "@" in word
