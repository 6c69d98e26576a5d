"""Recognise the kinds of files that polyjudge writes, so that data is only replaced by newer data of its kind."""

import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from polyjudge.errors import DataError

_BYTES_READ = 64 * 1024


class FileKind(Enum):
    """The kind of a file; the value says in a message what such a file holds."""

    LABELS = "labels by people"
    SCORES = "results of score"
    CARD = "a trust card"
    TRANSLATIONS = "translations"
    TRANSLATION_SCORES = "scores of translations"
    BASELINE = "a baseline"
    REPLIES = "replies of a cache"
    WORDS = "answers about words"
    CASES = "cases of a translator"
    CASCADE = "the plan of a cascade"
    REPORT = "a report"
    """Everything that can be made again from other files."""


def _has(*patterns: bytes) -> Callable[[bytes], bool]:
    compiled = [re.compile(pattern) for pattern in patterns]
    return lambda text: all(pattern.search(text) for pattern in compiled)


_ROWS = {
    FileKind.LABELS: _has(rb'"labelledAt"\s*:'),
    FileKind.BASELINE: _has(rb'"kind"\s*:\s*"polyjudge baseline"'),
    FileKind.SCORES: _has(rb'"outcome"\s*:\s*"'),
    FileKind.REPLIES: _has(rb'"key"\s*:', rb'"createdAt"\s*:', rb'"value"\s*:'),
    FileKind.WORDS: _has(rb'"judge_model"\s*:', rb'"word"\s*:'),
}
"""How the first row of a JSON Lines file is recognised: a key cannot be part of a text, where quotes are escaped."""
_DOCUMENTS = {
    FileKind.CARD: _has(rb'\A\{\s*"schemaVersion"\s*:\s*\d+,\s*"judge"\s*:\s*\{\s*"provider"'),
    FileKind.CASCADE: _has(rb'\A\{\s*"schemaVersion"\s*:\s*\d+,\s*"kind"\s*:\s*"polyjudge cascade"'),
    FileKind.TRANSLATION_SCORES: _has(rb"\A\[", rb'"languageName"\s*:', rb'"(?:script|grammar|coherence)Score"\s*:'),
    # The report as JSON contains the translations too.
    FileKind.TRANSLATIONS: _has(
        rb'(?s)\A(?!.*"totalLanguages"\s*:)', rb'"languageName"\s*:', rb'"generatedOutput"\s*:'
    ),
    FileKind.WORDS: _has(rb'"reference_definition"\s*:', rb'"word"\s*:'),
}
"""How other JSON files are recognised."""
_CASES = re.compile(rb"(?m)^# polyjudge (?:command|version \w+): ")


_READ_BY = {
    FileKind.LABELS: "calibrate agreement and calibrate correct, with the results of a judge",
    FileKind.SCORES: "compare, label and calibrate agreement",
    FileKind.CARD: "calibrate card and report",
    FileKind.CASCADE: "score and pairwise, as a cascade",
    FileKind.TRANSLATIONS: "translation check, quick and full, and report",
    FileKind.TRANSLATION_SCORES: "compare, and report together with the translations",
    FileKind.BASELINE: "compare",
    FileKind.REPLIES: "cache import",
    FileKind.WORDS: "vocabulary judge and vocabulary summary",
    FileKind.CASES: "regression run",
}
"""The commands that read a kind of file."""


def refuse_other_kind(path: Path, wanted: FileKind) -> None:
    """Raise DataError if a file that polyjudge wrote holds data of another kind than is to be read."""
    found = kind_of(path) if path.is_file() else FileKind.REPORT
    if found not in (wanted, FileKind.REPORT):
        message = f"contains {found.value}, not {wanted.value}. To read this file, use: polyjudge {_READ_BY[found]}."
        raise DataError(message, path=path)


def kind_of(path: Path) -> FileKind:
    """Return the kind of a file that polyjudge wrote; unknown ones count as reports."""
    with path.open("rb") as file:
        return kind_of_start(file.read(_BYTES_READ))


def kind_of_start(start: bytes) -> FileKind:
    """Return the kind of a file from its first part."""
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] not in (b"{", b"["):
        return FileKind.CASES if _CASES.search(start) else FileKind.REPORT
    first_line = start.partition(b"\n")[0].rstrip()
    if first_line.startswith(b'{"'):
        row = next((kind for kind, fits in _ROWS.items() if fits(first_line)), None)
        if row is not None:
            return row
    return next((kind for kind, fits in _DOCUMENTS.items() if fits(start)), FileKind.REPORT)
