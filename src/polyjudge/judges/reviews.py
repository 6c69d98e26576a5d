"""Read the end of a review: two scores and a verdict, whatever the Markdown around them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import cast

from polyjudge.errors import UnreadableReplyError
from polyjudge.records import Review, ReviewVerdict
from polyjudge.text import fold_digits

from .asides import without_asides

PASSING = 75.0
_LABELS = {"agent": "AGENT_SCORE", "system": "SYSTEM_SCORE"}
_LABEL = re.compile(
    r"(?<!\w)(?:(agent|system)[ _-]?score|(verdict))(?!\w)(?:\s*\([^()|]{0,80}(?:\|[^()]{0,80})?\))?", re.IGNORECASE
)
_SIGN = re.compile(r"\s*[\"']?\s*(?::|=>|=|->|→|⇒|➜|\||[-–—](?=\s))?\s*[\"'(\[]?\s*")
_SCORE = re.compile(r"(-?\d+(?:[.,]\d+)*)\s*(?:%|(?:/|out of)\s*(\d+))?(?!\w)", re.IGNORECASE)
_COMPETING = re.compile(
    r"\s*(?:to|or|and|-|–|—|\.\.+|→|->|=|\+)\s*\d+\s*(?:/\s*100\b|%|$)|\s*[+=]|\s*(?:points?|von|de|sur)\b",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\s*(?:$|[(\[\])}\"',;.:!*|–—<-])")
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|[\[({]?\s*(?:n|xx?|nn|score|number|\?+|_+|\.\.\.|…|[-–—])?\s*[\])}]?\s*(?:/\s*100)?", re.IGNORECASE
)
_WHOSE = r"[ _:/-]*\(?\s*(agent|system|both)\s*(?:(?:and|&|\+|/)\s*(?:agent|system)\s*)?\)?"
_VERDICT = re.compile(rf"(?<!\w)(?:(pass)(?:ed)?|fail(?:ed)?(?:{_WHOSE})?)(?!\w)", re.IGNORECASE)
_BOTH = re.compile(r"agent\W+(?:and\W+)?(?:fail\W+)?system|system\W+(?:and\W+)?(?:fail\W+)?agent", re.IGNORECASE)
_TICK = re.compile(r"(?:\[[xX✓✔]\]|\([xX✓✔]\)|[☑✅✔])\s*$")
_NO_TICK = re.compile(r"(?:\[\s?\]|\(\s?\)|[☐□❌✗])\s*$")
_BOX = re.compile(r"\[[\sxX✓✔]?\]|\([\sxX✓✔]?\)|[☐□☑]")
_MARKUP = re.compile(r"~~.*?~~|</?[a-zA-Z]{1,10}>|[*`#\ufe0f\ufe0e]|\\(?=_)|(?<!\w)_+|_+(?!\w)")
_ELEMENT = re.compile(r"<(agent[ _-]?score|system[ _-]?score|verdict)>\s*(.*?)\s*</\1>", re.IGNORECASE | re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BEFORE = re.compile(r"\W*(?:\[x\]|\(x\))?\W*(?:\d+[.)]\s*)?\W*(?:and\s+)?\W*", re.IGNORECASE)
_RULE = re.compile(r"[\s:|-]+")
_LINES_BELOW = 6
"""How far below its label a list of check boxes may end."""
_LONGEST = 400
"""Characters that are looked at after a label."""


def read_review(text: str) -> Review:
    """Return the scores and the verdict that a review ends with; the last of each counts.

    Without a verdict it follows from the scores. Without both scores there is no review, and that is an error.
    """
    found = dict(_found(without_asides(text)))
    agent, system = (_score(found.get(name), label, text) for name, label in _LABELS.items())
    due, given = due_verdict(agent, system), _verdict(found["verdict"]) if "verdict" in found else None
    if given in ("FAIL", "") and due == "PASS":
        told = "says FAIL, but not whose," if given else "gives a verdict that is none of the four,"
        raise UnreadableReplyError(f"the review {told} and both scores pass", text=text)
    verdict = cast(ReviewVerdict | None, None if given in ("FAIL", "") else given)
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
    match = _one_score(written)
    if match is None:
        shown = written.strip(" :|")[:40]
        raise UnreadableReplyError(f"{label} is {shown!r}, which is no score out of 100", text=text)
    score = float(match[1].replace(",", "."))
    if not 0 <= score <= 100:
        raise UnreadableReplyError(f"{label} is {score:g}, which is off the scale", text=text)
    return score


def _one_score(written: str) -> re.Match[str] | None:
    """Return the one score that is written; none where numbers compete, or it is out of something else."""
    cells = [cell for cell in written.split("|") if _SCORE.search(cell)]
    marked = [cell for cell in cells if re.search(r"/\s*100\b", cell)]
    if len(cells) > 1 and len(marked) != 1:
        return None
    cell = (marked or cells or [written])[0]
    match = _SCORE.match(cell, _SIGN.match(cell).end())  # type: ignore[union-attr] - it matches nothing, too
    if match is None or match[2] not in (None, "100") or not re.fullmatch(r"-?\d+(?:[.,]\d{1,2})?", match[1]):
        return None
    is_bare = match[2] is None and "%" not in match[0]
    if _COMPETING.match(cell, match.end()) or (is_bare and not _REMARK.match(cell, match.end())):
        return None
    is_share = is_bare and re.match(r"-?[01][.,]\d", match[1])  # 0.85 may be of 1
    return None if is_share or re.search(r"out of (?!100)|/\s*10\b", cell[match.end() :]) else match


def _verdict(written: str) -> str:
    """Return the verdict that is written: a plain FAIL where it does not say whose, nothing for other words."""
    matches = list(_VERDICT.finditer(written))
    ticked = [match for match in matches if _is_ticked(written, match)]
    named = {_named(match) for match in ticked or matches}
    if named == {"FAIL_AGENT", "FAIL_SYSTEM"} or (named <= {"FAIL_AGENT", "FAIL_SYSTEM"} and _BOTH.search(written)):
        return "FAIL_BOTH"
    if not matches or (len(matches) > 1 and not ticked and not _has_remark(written, matches[0])):
        return ""
    chosen = (ticked or matches)[0]
    if ticked:
        return _named(chosen) if len(named) == 1 else ""
    is_crossed_out = chosen[1] and re.match(r"\W*❌", written[chosen.end() :])
    return _named(chosen) if _has_remark(written, chosen) and not is_crossed_out else ""


def _is_ticked(written: str, match: re.Match[str]) -> bool:
    before = written[max(0, match.start() - 12) : match.start()]
    return bool(_TICK.search(before) or re.match(r"\s*[✅☑✔]", written[match.end() : match.end() + 4])) and not (
        _NO_TICK.search(before)
    )


def _has_remark(written: str, match: re.Match[str]) -> bool:
    """Say whether nothing, or only a remark, follows a verdict, and only signs stand before it: PASS if … is none."""
    is_first = not re.search(r"\w", _BOX.sub("", written[: match.start()]))
    return is_first and re.match(r"\s*(?:$|[(\[\])}\"'.,;:!*|–—✅✔☑❌<-])", written[match.end() :]) is not None


def _named(match: re.Match[str]) -> str:
    if match[1]:
        return "PASS"
    return f"FAIL_{match[2].upper()}" if match[2] else "FAIL"


def _found(text: str) -> Iterator[tuple[str, str]]:
    """Yield each label that is filled in, with what is written to it: beside it, or below it in a table or a list."""
    plain = _ELEMENT.sub(r"\n\1: \2\n", _BREAK.sub("\n", unicodedata.normalize("NFKC", text)))
    lines = [fold_digits(_MARKUP.sub("", line)) for line in plain.splitlines()]
    for number, line in enumerate(lines):
        labels = _labels(line)
        if not labels:
            continue
        ends = [label.start() for label in labels[1:]] + [len(line)]
        beside = [(_name(label), line[label.end() : end][:_LONGEST]) for label, end in zip(labels, ends, strict=True)]
        filled = [(name, written) for name, written in beside if _is_filled_in(name, written)]
        below = [] if filled else lines[number + 1 : number + 1 + _LINES_BELOW]
        if len(labels) > 1 and below:
            filled = _in_columns(line, below)
        elif below and not re.search(r"\w", beside[0][1]):
            filled = _below(beside[0][0], below)
        yield from filled


def _labels(line: str) -> list[re.Match[str]]:
    """Return the labels that begin a line or a cell, or follow another's value; others are only spoken of."""
    found: list[re.Match[str]] = []
    for label in _LABEL.finditer(line):
        start = max(line.rfind("|", 0, label.start()) + 1, found[-1].end() if found else 0)
        before = line[start : label.start()]
        follows = (
            bool(found) and (_SCORE.search(before) or _VERDICT.search(before)) and not re.search(r"[<>≤≥]", before)
        )
        if _BEFORE.fullmatch(before) or (follows and re.search(r"[,;/·&]\W*$|\band\W*$", before)):
            found.append(label)
    return found


def _in_columns(header: str, below: Sequence[str]) -> list[tuple[str, str]]:
    """Return what stands under the labels of a table's header, where the table has one row of values."""
    rows = [line for line in below if line.count("|") >= header.count("|") and not _RULE.fullmatch(line)]
    if len(rows) != 1:
        return []
    cells = zip(header.split("|"), rows[0].split("|"), strict=False)
    named = [(_name(label), f": {value}") for title, value in cells if (label := _LABEL.search(title))]
    return [(name, value) for name, value in named if _is_filled_in(name, value)]


def _below(name: str, lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return what the line under a heading says, where it is a value and no sentence, or a list of check boxes."""
    said = [line for line in lines if re.search(r"\w", line)]
    if not said or _LABEL.search(said[0]):
        return []
    listed = [line for line in said if _BOX.search(line) or re.search(r"[✅❌☑✔]", line)]
    written = " ; ".join(listed) if name == "verdict" and listed else said[0]
    is_value = bool(_verdict(written)) if name == "verdict" else re.match(r"\W*\d+\s*/\s*100\b", written)
    return [(name, written[:_LONGEST])] if is_value else []


def _is_filled_in(name: str, written: str) -> bool:
    """Say whether something is written to a label, and not only the label spoken of, or the form quoted."""
    sign = _SIGN.match(written)
    rest = written[sign.end() :].strip(" |\"'") if sign else ""
    if not rest or _PLACEHOLDER.fullmatch(rest) or re.match(r"<[^<>]*>", rest):
        return False
    has_sign = bool(sign) and bool(re.search(r"[:=|→>–—-]", sign[0]))
    if name != "verdict":
        return has_sign or _SCORE.match(rest) is not None
    matches = list(_VERDICT.finditer(rest))
    gaps = [rest[one.end() : other.start()] for one, other in pairwise(matches)]
    joined = [re.fullmatch(r"\W*(?:(?:or|oder|o|ou)\W*)?", gap, re.IGNORECASE) for gap in gaps]
    is_form = bool(gaps) and all(joined) and not any(_is_ticked(rest, match) for match in matches)
    return has_sign and not is_form


def _name(label: re.Match[str]) -> str:
    return (label[1] or label[2]).lower()
