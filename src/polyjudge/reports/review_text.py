"""Render a review as text: a line for each finding, as compilers write them, and the counts by language at the end."""

from collections.abc import Iterator, Sequence

from polyjudge.records.messages import Review, ReviewFinding, UnjudgedMessage
from polyjudge.text.display import isolated

from .blocks import Table, display_width, plain_text, shown
from .escaping import no_command
from .review_wording import (
    LONGEST_NAME,
    SEVERITY_NAMES,
    by_message,
    headline,
    key_words,
    language_table,
    plain_excerpt,
    without_remarks,
)
from .wording import counted, plain

_INDENT = "    "
_LABEL_WIDTH = len("translation:") + 1
_LONGEST_KEY = 60
_NARROWEST = 10
_MOST_UNJUDGED = 10
_MOST_SKIPPED = 50


def review_text(review: Review, width: int | None = None) -> Iterator[str]:
    """Render a review as text; with a `width`, texts and the table fit that many columns."""
    findings, remarks = without_remarks(review)
    for group in by_message(findings):
        yield from map(finding_line, group)
        yield from _texts(group, width)
    notes = [*filter(None, [remarks]), *_unjudged(review.unjudged), *_skipped(review), *map(shown, review.trust)]
    yield "\n" if notes and findings else ""
    yield from (no_command(f"{note}\n") for note in notes)
    yield "\n" if notes or review.findings else ""
    if review.languages:
        yield from map(no_command, plain_text([_table(review, width)]))
    yield no_command(f"{plain(headline(review))}\n")


def finding_line(finding: ReviewFinding) -> str:
    """Return a finding as one line that starts with its place, which editors and terminals can open."""
    key = isolated(key_words(finding, _LONGEST_KEY))
    about = f"{SEVERITY_NAMES[finding.severity]} {shown(finding.kind)} ({shown(finding.language)})"
    found = (
        f"{_place(finding.file, finding.line)}: {about}{f' {key}' if key else ''}: {isolated(shown(finding.message))}"
    )
    return no_command(f"{found}\n")


def _place(file: str, line: int) -> str:
    """Return where something is; a name that would start a command of GitHub's runner gets its folder."""
    path = shown(file)
    return f"{'./' if path.startswith('::') else ''}{path}:{line}"


def _texts(group: Sequence[ReviewFinding], width: int | None) -> Iterator[str]:
    """Yield source, translation, and what to know of the findings, once for each message."""
    first = next((each for each in group if each.start is not None), group[0])
    is_key = shown(first.source) == shown(first.key) and len(shown(first.key)) <= _LONGEST_KEY
    yield "" if is_key else _labelled("source", first.source, width)
    yield _labelled("translation", first.translation, width, first.start, first.end)
    for each in group:
        yield _labelled("better", each.suggestion, width)
        said = [each.record, f"said by {each.judge}" if each.judge else ""]
        said += [f"finding {each.fingerprint}" if each.fingerprint else ""]
        known = "; ".join(shown(part) for part in said if part)
        about = f"{shown(each.kind)}: " if len(group) > 1 else ""
        yield no_command(f"{_INDENT}{about}{known}\n") if known else ""


def _labelled(label: str, text: str, width: int | None, start: int | None = None, end: int | None = None) -> str:
    if not text.strip():
        return ""
    room = 2_000 if width is None else max(_NARROWEST, width - len(_INDENT) - _LABEL_WIDTH)
    longest = room
    found = plain_excerpt(text, longest, start, end)
    while display_width(found) > room and longest > 1:
        longest = max(1, min(longest - 1, longest * room // display_width(found)))
        found = plain_excerpt(text, longest, start, end)
    return no_command(f"{_INDENT}{label + ':':<{_LABEL_WIDTH}}{isolated(found)}\n")


def _unjudged(unjudged: Sequence[UnjudgedMessage]) -> Iterator[str]:
    if unjudged:
        yield f"{counted(len(unjudged), 'message')} could not be judged:"
    for each in unjudged[:_MOST_UNJUDGED]:
        yield f"  {_place(each.file, each.line)} {shown(f'({each.language}) {each.key}: {each.reason}')}"
    if len(unjudged) > _MOST_UNJUDGED:
        yield f"  and {len(unjudged) - _MOST_UNJUDGED:,} more"


def _skipped(review: Review) -> Iterator[str]:
    if review.skipped:
        yield "Not reviewed:"
    yield from (f"  {shown(each)}" for each in review.skipped[:_MOST_SKIPPED])
    if len(review.skipped) > _MOST_SKIPPED:
        yield f"  and {len(review.skipped) - _MOST_SKIPPED:,} more"


def _table(review: Review, width: int | None) -> Table:
    """Return the counts by language, with names as long as the width leaves."""
    table = language_table(review, review.languages)
    if width is None:
        return table
    columns = zip(*(row[1:] for row in (table.header, *table.rows)), strict=True)
    taken = sum(2 + max(map(len, column)) for column in columns)
    return language_table(review, review.languages, max(_NARROWEST, min(LONGEST_NAME, width - taken)))
