"""Findings that a person has accepted: one file for all commands, with a reason for each.

    [[accepted]]
    finding = "3f2a9c51b07e"
    reason = "The brand is written in Latin letters."

A finding is named by its fingerprint, which depends on its kind, the language, the source, the text and the part of it
that is meant. It changes when one of them changes, so that a changed text is looked at again; it does not depend on the
order of files, on line numbers or on the wording of messages.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from polyjudge.errors import ConfigError, DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.files.text_files import read_text, read_toml
from polyjudge.folder_trust import ACCEPTED_FILE
from polyjudge.records.findings import CheckedText, Finding
from polyjudge.records.messages import ReviewFinding
from polyjudge.text.display import one_line

_DIGITS = 12
_LARGEST_BYTES = 32_000_000
"""The baseline of an old project has many entries."""
_KEYS = {"finding", "reason", "kind", "text"}
_LONGEST_TEXT = 60


class AcceptedFinding(Struct, frozen=True, kw_only=True):
    """One entry of the file."""

    finding: str
    """The fingerprint."""
    reason: str
    kind: str = ""
    """For the reader, like `text`: neither is compared."""
    text: str = ""


class AcceptedFindings:
    """The accepted findings of a project; it remembers which of them occurred."""

    def __init__(self, entries: Iterable[AcceptedFinding] = (), path: Path = ACCEPTED_FILE) -> None:
        self.path = path
        self._entries = {each.finding: each for each in entries}
        self._used: set[str] = set()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def fingerprints(self) -> list[str]:
        """The fingerprints of the findings, sorted."""
        return sorted(self._entries)

    def reason_for(self, finding: str) -> str | None:
        """Return why a finding is accepted, by its fingerprint, or None; the entry then counts as used."""
        entry = self._entries.get(finding)
        if entry is None:
            return None
        self._used.add(finding)
        return entry.reason

    def unused(self) -> list[AcceptedFinding]:
        """Return the entries that matched nothing so far."""
        return [each for name, each in self._entries.items() if name not in self._used]


def fingerprint(finding: Finding, checked: CheckedText) -> str:
    """Return the stable name of a finding in a text."""
    part = "" if finding.start is None else checked.text[finding.start : finding.end]
    return fingerprint_of(finding.kind, checked.language.tag, checked.source, checked.text, part)


def fingerprint_of(*parts: str) -> str:
    """Return the fingerprint of what names a finding; for findings of other kinds of texts, give their own parts."""
    encoded = "\0".join(part.strip() for part in parts).encode("utf-8", "surrogatepass")
    return sha256(encoded).hexdigest()[:_DIGITS]


def read_accepted(path: Path) -> AcceptedFindings:
    """Read a file of accepted findings."""
    data = read_toml(path, largest=_LARGEST_BYTES)
    unknown = sorted(set(data) - {"accepted"})
    rows: object = data.get("accepted", [])
    if unknown or not isinstance(rows, list):
        named = f"unknown key {unknown[0]!r}" if unknown else "'accepted' is not a list"
        raise DataError(f"{named}. Write one [[accepted]] for each finding.", path=path)
    entries = [_entry(row, number, path) for number, row in enumerate(cast(list[object], rows), start=1)]
    times = Counter(each.finding for each in entries)
    twice = next((name for name, count in times.items() if count > 1), None)
    if twice is not None:
        raise DataError(f"finding {twice!r} is accepted twice. Keep one of the entries.", path=path)
    return AcceptedFindings(entries, path)


def _entry(row: object, number: int, path: Path) -> AcceptedFinding:
    """Return one entry; a reason is required, because the next reader needs it."""
    given = cast(dict[str, Any], row) if isinstance(row, dict) else {}
    place = f"[[accepted]] number {number}"
    unknown = sorted(set(given) - _KEYS)
    if unknown:
        raise DataError(f"{place}: unknown key {unknown[0]!r}. Known: {', '.join(sorted(_KEYS))}.", path=path)
    for key in ("finding", "reason"):
        if not isinstance(given.get(key), str) or not str(given[key]).strip():
            raise DataError(f"{place}: {key!r} is missing. Give the fingerprint and a reason.", path=path)
    values = {key: str(value) for key, value in given.items()}
    return AcceptedFinding(**{**values, "finding": values["finding"].strip().lower()})


def write_accepted(path: Path, findings: Iterable[ReviewFinding], reason: str) -> int:
    """Add the findings that fail or warn to a file of accepted findings; return how many are new.

    A file that is there must be one; its entries and comments are kept.
    """
    if not reason.strip():
        raise ConfigError(
            "No reason given. Say why the findings are accepted, for the next reader of the file.", option="reason"
        )
    known = set[str]()
    before = ""
    if path.exists():
        known = set(read_accepted(path).fingerprints)  # an error for any other file
        before = read_text(path)
    new = dict[str, ReviewFinding]()
    for each in findings:
        if each.severity != "info" and each.fingerprint not in known:
            new.setdefault(each.fingerprint, each)
    # The mark of our files is not needed: the file was read as one of accepted findings.
    with write_atomically(path, kind=None, force=path.exists()) as file:
        file.write(before if not before or before.endswith("\n") else f"{before}\n")
        for finding in new.values():
            file.write(_written(finding, reason))
    return len(new)


def _written(finding: ReviewFinding, reason: str) -> str:
    text = one_line(f"{finding.language}: {finding.translation or finding.key or finding.file}", _LONGEST_TEXT)
    pairs = {"finding": finding.fingerprint, "reason": reason.strip(), "kind": finding.kind, "text": text}
    lines = "".join(f"{name} = {_quoted(value)}\n" for name, value in pairs.items())
    return f"[[accepted]]\n{lines}\n"


def _quoted(text: str) -> str:
    """Return a text as a basic string of TOML, whose escapes are those of JSON."""
    return readable_json(text).replace("\x7f", "\\u007f")
