"""Read the end of a review: two scores and a verdict, whatever the Markdown around them."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

from polyjudge.errors import UnreadableReplyError
from polyjudge.records import Review, ReviewVerdict
from polyjudge.text import fold_digits

from .asides import without_asides

PASSING = 75.0
_LABELS = {"agent": "AGENT_SCORE", "system": "SYSTEM_SCORE"}
_LABEL = re.compile(r"(?<!\w)(?:(agent|system)[ _-]?score|(verdict))(?!\w)", re.IGNORECASE)
_SCORE = re.compile(r"\W*?(-?\d+(?:[.,]\d+)*)(?!\w)\s*(?:%|(?:/|out of)\s*(\d+))?(?!\w)", re.IGNORECASE)
_RANGE = re.compile(r"\s*(?:to|-|–|—)\s*\d", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:[.,]\d{1,2})?")
_NO_SCORE = re.compile(r"\W*(?:n/?a|none|unknown|not applicable|not scored)(?!\w)", re.IGNORECASE)
_VERDICT = re.compile(
    r"(?<!\w)(?:(pass)(?:ed)?|fail(?:ed)?(?:[ _:/-]*\(?(agent|system|both)\)?)?)(?!\w)", re.IGNORECASE
)
_CHECKED = re.compile(r"(?:\[[xX✓✔]\]|[☑✅✔])\s*$")
_BOX = re.compile(r"\[[\sxX✓✔]?\]|[☐□☑]")
_OPTIONS = re.compile(r"\W*(?:or\W*)?", re.IGNORECASE)
_MARKUP = re.compile(r"[*`~#]|(?<!\w)_+|_+(?!\w)")
_RULE = re.compile(r"[\s:|-]+")
_LINES_BELOW = 6
"""How far below its label a value may stand: a list of check boxes with a blank line before it."""


def read_review(text: str) -> Review:
    """Return the scores and the verdict that a review ends with; the last of each counts.

    Without a verdict it follows from the scores. Without both scores there is no review, and that is an error.
    """
    found = dict(_found(without_asides(text)))
    agent, system = (_score(found.get(name), label, text) for name, label in _LABELS.items())
    due, given = due_verdict(agent, system), _verdict(found.get("verdict", ""))
    if given == "FAIL":
        if due == "PASS":
            raise UnreadableReplyError("the review says FAIL, but not whose, and both scores pass", text=text)
        given = None
    verdict = cast(ReviewVerdict | None, given)
    return Review(
        agent_score=agent,
        system_score=system,
        verdict=verdict or due,
        derived=verdict is None,
        contradictory=verdict is not None and verdict != due,
    )


def due_verdict(agent_score: float, system_score: float) -> ReviewVerdict:
    """Return what two scores come to."""
    if agent_score >= PASSING:
        return "PASS" if system_score >= PASSING else "FAIL_SYSTEM"
    return "FAIL_AGENT" if system_score >= PASSING else "FAIL_BOTH"


def _score(written: str | None, label: str, text: str) -> float:
    if written is None:
        raise UnreadableReplyError(f"the review gives no {label}", text=text)
    match = _SCORE.match(written)
    is_score = match is not None and _NUMBER.fullmatch(match[1]) and not _RANGE.match(written, match.end())
    if match is None or not is_score or match[2] not in (None, "100"):
        raise UnreadableReplyError(f"{label} is {written.strip(' :|')[:40]!r}, which is no score out of 100", text=text)
    score = float(match[1].replace(",", "."))
    if not 0 <= score <= 100:
        raise UnreadableReplyError(f"{label} is {score:g}, which is off the scale", text=text)
    return score


def _verdict(written: str) -> str | None:
    """Return the verdict in what is written to its label; a plain FAIL where it does not say whose."""
    matches = list(_VERDICT.finditer(written))
    if not matches:
        return None
    checked = [match for match in matches if _CHECKED.search(written[: match.start()])]
    chosen = checked[0] if checked else matches[0]
    if chosen[1]:
        return "PASS"
    return f"FAIL_{chosen[2].upper()}" if chosen[2] else "FAIL"


def _found(text: str) -> Iterator[tuple[str, str]]:
    """Yield each label that is filled in, with what is written to it: beside it, or below it in a table or a list."""
    lines = [fold_digits(_MARKUP.sub("", line)) for line in text.splitlines()]
    for number, line in enumerate(lines):
        labels = list(_LABEL.finditer(line))
        if not labels:
            continue
        ends = [label.start() for label in labels[1:]] + [len(line)]
        beside = [(_name(label), line[label.end() : end]) for label, end in zip(labels, ends, strict=True)]
        filled = [(name, written) for name, written in beside if _is_filled_in(name, written)]
        below = [] if filled else lines[number + 1 : number + 1 + _LINES_BELOW]
        if len(labels) > 1 and below:
            filled = _in_columns(line, below)
        elif below and not re.search(r"\w", beside[0][1]):
            written = _below(below)
            filled = [(beside[0][0], written)] if _is_filled_in(beside[0][0], written) else []
        yield from filled


def _in_columns(header: str, below: Sequence[str]) -> list[tuple[str, str]]:
    """Return what stands under the labels of a table's header."""
    row = next((line for line in below if line.strip() and not _RULE.fullmatch(line)), "")
    cells = zip(header.split("|"), row.split("|"), strict=False)
    named = [(_name(label), value) for title, value in cells if (label := _LABEL.search(title))]
    return [(name, value) for name, value in named if _is_filled_in(name, value)]


def _below(lines: Sequence[str]) -> str:
    """Return the first line that says something, or a whole list of check boxes."""
    said = [line for line in lines if re.search(r"\w", line)]
    boxes = [line for line in said if _BOX.search(line)]
    return " ".join(boxes) if boxes else said[0] if said and not _LABEL.search(said[0]) else ""


def _is_filled_in(name: str, written: str) -> bool:
    """Say whether a value is given, and not only a label spoken of, or the form quoted."""
    if name != "verdict":
        return _SCORE.match(written) is not None or _NO_SCORE.match(written) is not None
    matches = list(_VERDICT.finditer(written))
    if not matches or re.search(r"\w", _BOX.sub("", written[: matches[0].start()])):
        return False
    if any(_CHECKED.search(written[: match.start()]) for match in matches):
        return True
    gaps = [written[one.end() : other.start()] for one, other in pairwise(matches)]
    is_form = bool(gaps) and all(_OPTIONS.fullmatch(gap) for gap in gaps)
    return not is_form


def _name(label: re.Match[str]) -> str:
    return (label[1] or label[2]).lower()
