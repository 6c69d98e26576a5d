"""Find the closing lines of a review, their values, and which lines are quoted."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from polyjudge.text.numbers import fold_digits

SIGN = re.compile(r"\s*[\"']?\s*(?::|=>|=|->|→|⇒|➜|\||[-–—](?=\s))?\s*[\"'(\[]?\s*")
SCORE = re.compile(r"(-?\d+(?:[.,]\d+)*)\s*(?:%|(?:/|out of)\s*(\d+))?(?!\w)", re.IGNORECASE)
_COMPETING = re.compile(
    r"\s*(?:to|or|and|-|–|—|\.\.+|→|->|=|\+)\s*\d+\s*(?:/\s*100\b|%|$)|\s*[+=]|\s*(?:points?|von|de|sur)\b",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\s*(?:$|[(\[\])}\"',;.:!*|–—<-])")
_WHOSE = r"[ _:/-]*\(?\s*(agent|system|both)\s*(?:(?:and|&|\+|/)\s*(?:agent|system)\s*)?\)?"
VERDICT = re.compile(rf"(?<!\w)(?:(pass)(?:ed)?|fail(?:ed)?(?:{_WHOSE})?)(?!\w)", re.IGNORECASE)
_BOTH = re.compile(r"agent\W+(?:and\W+)?(?:fail\W+)?system|system\W+(?:and\W+)?(?:fail\W+)?agent", re.IGNORECASE)
_TICK = re.compile(r"(?:\[[xX✓✔]\]|\([xX✓✔]\)|[☑✅✔])\s*$")
_NO_TICK = re.compile(r"(?:\[\s?\]|\(\s?\)|[☐□❌✗])\s*$")
_OTHER_SCALE = re.compile(
    r"(?:out of|/|\bof\b|\d\s*(?:-|–|to|\.\.))\s*(?!100\b)\d+\b|(?:scale|skala|escala|échelle)\W*(?!0|100)\d",
    re.IGNORECASE,
)
BOX = re.compile(r"\[[\sxX✓✔]?\]|\([\sxX✓✔]?\)|[☐□☑]")


def find_score(written: str) -> re.Match[str] | None:
    """Return the only score in a text; None if there are several numbers, or it is not out of 100."""
    cells = [cell for cell in written.split("|") if SCORE.search(cell)]
    marked = [cell for cell in cells if re.search(r"/\s*100\b", cell)]
    if len(cells) > 1 and len(marked) != 1:
        return None
    cell = (marked or cells or [written])[0]
    match = SCORE.match(cell, SIGN.match(cell).end())  # type: ignore[union-attr] - it also matches an empty text
    if match is None or match[2] not in (None, "100") or not re.fullmatch(r"-?\d+(?:[.,]\d{1,2})?", match[1]):
        return None
    is_bare = match[2] is None and "%" not in match[0]
    if _COMPETING.match(cell, match.end()) or (is_bare and not _REMARK.match(cell, match.end())):
        return None
    is_share = is_bare and re.match(r"-?[01][.,]\d", match[1])  # 0.85 may be of 1
    return None if is_share or is_on_another_scale(cell[match.end() :]) else match


def is_on_another_scale(note: str) -> bool:
    """Return whether a note beside a score, such as (1-5) or (out of 10), has a scale that does not end at 100."""
    return bool(_OTHER_SCALE.search(note))


def find_verdict(written: str) -> str:
    """Return the verdict in a text: only FAIL if it does not say whose, an empty text for other words."""
    matches = list(VERDICT.finditer(written))
    ticked = [match for match in matches if is_ticked(written, match)]
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


def is_ticked(written: str, match: re.Match[str]) -> bool:
    """Return whether the box beside a verdict is ticked."""
    before = written[max(0, match.start() - 12) : match.start()]
    return bool(_TICK.search(before) or re.match(r"\s*[✅☑✔]", written[match.end() : match.end() + 4])) and not (
        _NO_TICK.search(before)
    )


def _has_remark(written: str, match: re.Match[str]) -> bool:
    """Return whether only symbols precede a verdict, and nothing or a remark follows it, unlike "PASS if …"."""
    is_first = not re.search(r"\w", BOX.sub("", written[: match.start()]))
    return is_first and re.match(r"\s*(?:$|[(\[\])}\"'.,;:!*|–—✅✔☑❌<-])", written[match.end() :]) is not None


def _named(match: re.Match[str]) -> str:
    if match[1]:
        return "PASS"
    return f"FAIL_{match[2].upper()}" if match[2] else "FAIL"


LABEL = re.compile(
    r"(?<!\w)(?:(agent|system)[ _-]?score|(verdict))(?!\w)(?:\s*\([^()|]{0,80}(?:\|[^()]{0,80})?\))?", re.IGNORECASE
)
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|[\[({]?\s*(?:n|xx?|nn|score|number|\?+|_+|\.\.\.|…|[-–—])?\s*[\])}]?\s*(?:/\s*100)?", re.IGNORECASE
)
_MARKUP = re.compile(r"~~.*?~~|</?[a-zA-Z]{1,10}>|[*`#\ufe0f\ufe0e]|\\(?=_)|(?<!\w)_+|_+(?!\w)")
_ELEMENT = re.compile(r"<(agent[ _-]?score|system[ _-]?score|verdict)>\s*(.*?)\s*</\1>", re.IGNORECASE | re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BEFORE = re.compile(r"\W*(?:\[x\]|\(x\))?\W*(?:\d+[.)]\s*)?\W*(?:and\s+)?\W*", re.IGNORECASE)
_RULE = re.compile(r"[\s:|-]+")
_LINES_BELOW = 6
"""Maximum lines from a label to the end of its list of check boxes."""
_LONGEST = 400
"""Characters after a label that are searched for its value."""
_FENCE = re.compile(r"\s*(?:>\s*)*(?:[-*+]\s+)?(`{3,}|~{3,})")
_ENCLOSED = re.compile(r"<(/?)(blockquote|pre|code|del|q|s)\b[^<>]*>|(<!--)|(-->)", re.IGNORECASE)
_OPENING_QUOTES = "\"'“„«‘‚「『"


class Statement(NamedTuple):
    """One label of a review with its value."""

    name: str
    """agent, system or verdict."""
    label: str
    """Its text, with a note in brackets after it."""
    written: str
    line: int
    end: int
    """The line of the value: that of the label, or one below it."""
    quoted: bool
    """Marked as a quotation: by >, a code fence, quotation marks, or an HTML element or comment."""


@dataclass(frozen=True, slots=True)
class ReviewLines:
    """A review line by line, without its markup."""

    lines: tuple[str, ...]
    statements: tuple[Statement, ...]
    taken: frozenset[int]
    """Lines with a statement, and lines that only open or close a code fence."""

    def words(self, start: int, end: int | None = None) -> str:
        """Return the lines from `start` up to `end` that have words and no statement."""
        numbers = range(start, len(self.lines) if end is None else end)
        return "\n".join(self.lines[n] for n in numbers if n not in self.taken and re.search(r"\w", self.lines[n]))


def review_lines(text: str) -> ReviewLines:
    """Return the lines of a review and the statements in them, in order."""
    # NFKC would turn 8⁵ into 85; such characters are not digits of a score.
    plain = "".join("\ufffd" if unicodedata.category(sign) == "No" else sign for sign in text)
    plain = _ELEMENT.sub(r"\n\1: \2\n", _BREAK.sub("\n", unicodedata.normalize("NFKC", plain)))
    written = plain.splitlines()
    lines = tuple(fold_digits(_MARKUP.sub("", line)) for line in written)
    statements = tuple(_statements(lines, _quoted_lines(written)))
    fences = {number for number, line in enumerate(written) if _FENCE.match(line) and not LABEL.search(line)}
    stated = {number for each in statements for number in range(each.line, each.end + 1)}
    return ReviewLines(lines, statements, frozenset(fences | stated))


def _quoted_lines(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it is in a block quote, a code fence, or an HTML element or comment that quotes."""
    quoted: list[bool] = []
    fence, inside = "", 0
    for line in lines:
        mark = _FENCE.match(line)
        is_quoted = bool(fence or inside or mark or re.match(r"\s*(?:[-*+]\s+)?>", line))
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark and mark[1] not in line[mark.end() :]:
            fence = mark[1]
        for each in _ENCLOSED.finditer(line):
            is_quoted = True
            inside = max(0, inside - 1) if each[1] or each[4] else inside + 1
        quoted.append(is_quoted)
    return quoted


def _statements(lines: Sequence[str], quoted: Sequence[bool]) -> Iterator[Statement]:
    """Yield each label that has a value: beside it, or below it in a table or a list."""
    for number, line in enumerate(lines):
        labels = _labels(line)
        if not labels:
            continue
        ends = [label.start() for label in labels[1:]] + [len(line)]
        beside = [(label, line[label.end() : end][:_LONGEST]) for label, end in zip(labels, ends, strict=True)]
        filled = [(label, written) for label, written in beside if _is_filled_in(_name(label), written)]
        end, below = number, lines[number + 1 : number + 1 + (0 if filled else _LINES_BELOW)]
        if len(labels) > 1 and below:
            filled, used = _in_columns(line, below)
            end += used
        elif below and not re.search(r"\w", beside[0][1]):
            filled, used = _below(labels[0], below)
            end += used
        for label, written in filled:
            is_quoted = quoted[number] or _is_in_quotes(label)
            yield Statement(_name(label), label[0], written, number, end, is_quoted)


def _is_in_quotes(label: re.Match[str]) -> bool:
    """Return whether a quotation starts with a label; in JSON, only the label itself is in quotation marks."""
    before, after = label.string[: label.start()].rstrip(), label.string[label.end() : label.end() + 1]
    return bool(before) and before[-1] in _OPENING_QUOTES and after not in ('"', "'", "”", "’")


def _labels(line: str) -> list[re.Match[str]]:
    """Return the labels that start a line or a cell, or follow another's value; others are only mentioned."""
    found: list[re.Match[str]] = []
    for label in LABEL.finditer(line):
        start = max(line.rfind("|", 0, label.start()) + 1, found[-1].end() if found else 0)
        before = line[start : label.start()]
        follows = bool(found) and (SCORE.search(before) or VERDICT.search(before)) and not re.search(r"[<>≤≥]", before)
        if _BEFORE.fullmatch(before) or (follows and re.search(r"[,;/·&]\W*$|\band\W*$", before)):
            found.append(label)
    return found


def _in_columns(header: str, below: Sequence[str]) -> tuple[list[tuple[re.Match[str], str]], int]:
    """Return the values under a table's header if it has one row of values, and the number of lines down to it."""
    rows = [line for line in below if line.count("|") >= header.count("|") and not _RULE.fullmatch(line)]
    if len(rows) != 1:
        return [], 0
    cells = zip(header.split("|"), rows[0].split("|"), strict=False)
    named = [(label, f": {value}") for title, value in cells if (label := LABEL.search(title))]
    filled = [(label, value) for label, value in named if _is_filled_in(_name(label), value)]
    return filled, below.index(rows[0]) + 1


def _below(label: re.Match[str], lines: Sequence[str]) -> tuple[list[tuple[re.Match[str], str]], int]:
    """Return the value or the list of check boxes under a heading, and the number of lines down to its end."""
    name, texts = _name(label), [line for line in lines if re.search(r"\w", line)]
    if not texts or LABEL.search(texts[0]):
        return [], 0
    listed = [line for line in texts if BOX.search(line) or re.search(r"[✅❌☑✔]", line)]
    used = listed if name == "verdict" and listed else texts[:1]
    written = " ; ".join(used)
    is_value = bool(find_verdict(written)) if name == "verdict" else re.match(r"\W*\d+\s*/\s*100\b", written)
    last = max(number for number, line in enumerate(lines, start=1) if line in used)
    return ([(label, written[:_LONGEST])], last) if is_value else ([], 0)


def _is_filled_in(name: str, written: str) -> bool:
    """Return whether a label has a value, and is not only mentioned or part of the quoted form."""
    sign = SIGN.match(written)
    rest = written[sign.end() :].strip(" |\"'") if sign else ""
    if not rest or _PLACEHOLDER.fullmatch(rest) or re.match(r"<[^<>]*>", rest):
        return False
    has_sign = bool(sign) and bool(re.search(r"[:=|→>–—-]", sign[0]))
    if name != "verdict":
        return has_sign or SCORE.match(rest) is not None
    matches = list(VERDICT.finditer(rest))
    gaps = [rest[one.end() : other.start()] for one, other in pairwise(matches)]
    joined = [re.fullmatch(r"\W*(?:(?:or|oder|o|ou)\W*)?", gap, re.IGNORECASE) for gap in gaps]
    is_form = bool(gaps) and all(joined) and not any(is_ticked(rest, match) for match in matches)
    return has_sign and not is_form


def _name(label: re.Match[str]) -> str:
    return (label[1] or label[2]).lower()
