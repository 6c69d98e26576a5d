"""Write the findings of a review to the file of accepted findings, so that later reviews show only new ones."""

from collections.abc import Iterable
from pathlib import Path

from polyjudge.checks.accepted import read_accepted
from polyjudge.errors import ConfigError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.files.text_files import read_text
from polyjudge.records.messages import ReviewFinding
from polyjudge.text.display import one_line

_LONGEST_TEXT = 60


def write_accepted(path: Path, findings: Iterable[ReviewFinding], reason: str) -> int:
    """Add the findings that fail or warn to a file of accepted findings; return how many are new.

    A file that is there must be one; its entries and comments are kept.
    """
    if not reason.strip():
        raise ConfigError("Say why the findings are accepted: the next reader needs it.", option="reason")
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
            file.write(_entry(finding, reason))
    return len(new)


def _entry(finding: ReviewFinding, reason: str) -> str:
    text = one_line(f"{finding.language}: {finding.translation or finding.key or finding.file}", _LONGEST_TEXT)
    pairs = {"finding": finding.fingerprint, "reason": reason.strip(), "kind": finding.kind, "text": text}
    lines = "".join(f"{name} = {_quoted(value)}\n" for name, value in pairs.items())
    return f"[[accepted]]\n{lines}\n"


def _quoted(text: str) -> str:
    """Return a text as a basic string of TOML, whose escapes are those of JSON."""
    return readable_json(text).replace("\x7f", "\\u007f")
