"""What every form of a review says: its headline, the order of findings, the counts by language, and excerpts."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate

from polyjudge.records.findings import SEVERITIES, Severity
from polyjudge.records.messages import Review, ReviewedLanguage, ReviewFinding
from polyjudge.text.difference import graphemes
from polyjudge.text.display import harmless, one_line

from .blocks import Table
from .wording import Span, counted

Pieces = list[tuple[str, bool]]
"""A text in pieces, and which of them are marked."""
SEVERITY_NAMES: Mapping[Severity, str] = {"fail": "FAIL", "warn": "WARN", "info": "INFO"}
LONGEST_NAME = 200
_RANKS: Mapping[str, int] = {severity: rank for rank, severity in enumerate(SEVERITIES)}
_MOST_REMARKS = 20
_MOST_KINDS = 5
_SPACE = re.compile(r"\s+")
_AROUND = 2_000
"""Characters on each side of a place that are split into graphemes, which is slow for long texts."""


def fails_at(review: Review, severity: Severity) -> bool:
    """Return whether findings of a severity fail the review."""
    return review.fail_on != "never" and _RANKS[severity] <= _RANKS[review.fail_on]


def worst_first(findings: Iterable[ReviewFinding]) -> list[ReviewFinding]:
    """Return findings by severity, then by place."""
    return sorted(findings, key=lambda each: (_RANKS[each.severity], each.file, each.line, each.key))


def without_remarks(review: Review) -> tuple[list[ReviewFinding], str]:
    """Return the findings to list for people, and what is said of the remarks if they are too many to be listed."""
    kinds = Counter(each.kind for each in review.findings if each.severity == "info")
    if kinds.total() <= _MOST_REMARKS or fails_at(review, "info"):
        return list(review.findings), ""
    most = ", ".join(f"{one_line(kind, LONGEST_NAME)} ({count:,})" for kind, count in kinds.most_common(_MOST_KINDS))
    others = f" and {len(kinds) - _MOST_KINDS} more kinds" if len(kinds) > _MOST_KINDS else ""
    left_out = f"{counted(kinds.total(), 'finding')} for information are not listed here: {most}{others}."
    return [each for each in review.findings if each.severity != "info"], left_out


def by_message(findings: Iterable[ReviewFinding]) -> list[list[ReviewFinding]]:
    """Return the findings of each message together, in the order of its first one."""
    found: dict[tuple[str, int, str, str, str], list[ReviewFinding]] = {}
    for each in findings:
        found.setdefault(message_of(each), []).append(each)
    return list(found.values())


def message_of(finding: ReviewFinding) -> tuple[str, int, str, str, str]:
    """Return what distinguishes the message of a finding from the others."""
    return finding.file, finding.line, finding.key, finding.plural, finding.language


def kind_words(finding: ReviewFinding) -> str:
    """Return the kind of a finding in words."""
    return one_line(finding.kind.replace("_", " "), LONGEST_NAME)


def key_words(finding: ReviewFinding, longest: int = LONGEST_NAME) -> str:
    """Return the key of a message, and which of its plural forms is meant."""
    key = one_line(finding.key, longest)
    return f"{key} [{one_line(finding.plural, LONGEST_NAME)}]" if finding.plural else key


def language_name(row: ReviewedLanguage) -> str:
    """Return the name and tag of a language."""
    tag = row.language or "no language"
    return one_line(f"{row.name} ({tag})" if row.name and row.name != tag else tag, LONGEST_NAME)


def key_beside_source(finding: ReviewFinding, longest: int = LONGEST_NAME) -> str:
    """Return the key of a message whose source is shown beside it; empty if the source is the key, as in gettext."""
    is_source = finding.key.strip() == finding.source.strip() and not finding.plural
    return "" if is_source else key_words(finding, longest)


class Names(dict[str, str]):
    """The name and tag of each language of a review, by its tag."""

    def __init__(self, review: Review) -> None:
        super().__init__((row.language, language_name(row)) for row in review.languages)

    def __missing__(self, tag: str) -> str:
        """Return the tag of a language that has no row."""
        return one_line(tag, LONGEST_NAME) or "no language"


def totals(review: Review) -> ReviewedLanguage:
    """Return the counts of all languages together."""
    rows = review.languages
    return ReviewedLanguage(
        language="",
        name="All languages",
        files=sum(row.files for row in rows),
        messages=sum(row.messages for row in rows),
        untranslated=sum(row.untranslated for row in rows),
        fails=sum(row.fails for row in rows),
        warnings=sum(row.warnings for row in rows),
        infos=sum(row.infos for row in rows),
        accepted=sum(row.accepted for row in rows),
        judged=sum(row.judged for row in rows),
        unjudged=sum(row.unjudged for row in rows),
    )


def headline(review: Review) -> list[Span]:
    """Return what a review says in one sentence."""
    total = totals(review)
    failing = [each for each in review.findings if fails_at(review, each.severity)]
    if not total.messages and not review.findings:
        since = f": no message changed since {one_line(review.since, LONGEST_NAME)}" if review.since else ""
        return [(f"Nothing was reviewed{since}.", "")]
    if failing:
        milder = len(review.findings) - len(failing)
        more = [(f"; {milder:,} more {'is' if milder == 1 else 'are'} milder", "")] if milder else []
        words = f"{counted(len(failing), 'finding')} {'fails' if len(failing) == 1 else 'fail'}"
        return [("Not yet. ", ""), (words, "bad"), (f" in {_languages_of(failing, review)}", ""), *more, (".", "")]
    to_see = [each for each in review.findings if each.severity != "info"]
    if to_see:
        look = f"{counted(len(to_see), 'finding')} in {_languages_of(to_see, review)}"
        severe = sum(each.severity == "fail" for each in to_see)
        if severe:  # which the caller chose not to count
            more = f"; {severe:,} of severity FAIL {'does' if severe == 1 else 'do'} not count here."
            return [("A person should look at ", ""), (look, "open"), (more, "")]
        return [("Nothing fails, but a person should look at ", ""), (look, "open"), (".", "")]
    return _nothing_found(review, total)


def _languages_of(findings: Iterable[ReviewFinding], review: Review) -> str:
    found, all_of_them = len({each.language for each in findings}), len(review.languages)
    return f"{found:,} of {counted(all_of_them, 'language')}" if all_of_them > 1 else counted(found, "language")


def _nothing_found(review: Review, total: ReviewedLanguage) -> list[Span]:
    where = f"in {counted(total.messages, 'message')} in {counted(len(review.languages), 'language')}"
    remarks = [(f" There {'is' if total.infos == 1 else 'are'} {counted(total.infos, 'remark')}.", "")]
    more = remarks if total.infos else []
    if not review.judge or not total.judged:
        return [(f"The checks found no fault {where}", "good"), ("; no judge looked at the meaning.", ""), *more]
    if total.unjudged:
        open_part = f"{counted(total.unjudged, 'message')} without a verdict"
        return [(f"No fault {where}", "good"), (", but ", ""), (open_part, "open"), (".", ""), *more]
    return [("Yes. ", ""), (f"Checks and judge found no fault {where}", "good"), (".", ""), *more]


_COLUMNS: tuple[tuple[str, str], ...] = (
    ("Messages", "messages"),
    ("Fail", "fails"),
    ("Warn", "warnings"),
    ("Info", "infos"),
    ("Accepted", "accepted"),
    ("Missing", "untranslated"),
    ("Judged", "judged"),
    ("Unjudged", "unjudged"),
)
_ALWAYS = ("messages", "fails", "warnings")


def language_table(review: Review, rows: Iterable[ReviewedLanguage], longest_name: int = LONGEST_NAME) -> Table:
    """Return the counts by language, and of all together if there are several; columns that are all 0 are left out."""
    total, shown = totals(review), list(rows)
    columns = [(title, name) for title, name in _COLUMNS if name in _ALWAYS or getattr(total, name)]
    names = [(language_name(row), row) for row in shown]
    lines = [(name if len(name) <= longest_name else one_line(row.language, longest_name), row) for name, row in names]
    lines += [(total.name, total)] if len(review.languages) > 1 else []
    return Table(
        ("Language", *(title for title, _ in columns)),
        tuple((name, *(f"{getattr(row, column):,}" for _, column in columns)) for name, row in lines),
        tuple(range(1, len(columns) + 1)),
    )


def excerpt(text: str, longest: int, start: int | None = None, end: int | None = None) -> Pieces:
    """Return a text on one line with a place in it marked, cut around the place if it is long.

    The place is widened to whole graphemes, and `longest` is in graphemes.
    """
    if start is None or end is None or not 0 <= start < min(end, len(text)):
        start = end = 0
    skipped = max(0, start - _AROUND)
    parts = graphemes(text[skipped : min(end, start + _AROUND) + _AROUND])
    ends = list(accumulate(map(len, parts), initial=skipped))
    first = bisect_right(ends, start) - 1
    last = min(bisect_left(ends, end), first + longest, len(parts)) if end else first
    room = longest - (last - first)
    before = max(min(first, room // 2), room - (len(parts) - last))
    low = max(0, first - before)
    high = min(len(parts), last + room - (first - low))
    left = ("…" if low or skipped else "") + _flat("".join(parts[low:first])).lstrip()
    right = _flat("".join(parts[last:high])).rstrip() + ("…" if ends[high] < len(text) else "")
    pieces = ((left, False), (_flat("".join(parts[first:last])), True), (right, False))
    return [(piece, is_marked) for piece, is_marked in pieces if piece]


def plain_excerpt(text: str, longest: int, start: int | None = None, end: int | None = None) -> str:
    """Return an excerpt without marks."""
    return "".join(piece for piece, _ in excerpt(text, longest, start, end))


def _flat(text: str) -> str:
    return _SPACE.sub(" ", harmless(text))
