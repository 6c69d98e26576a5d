"""Parse the closing lines of a review: two scores and a verdict."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, cast

from polyjudge.errors import UnreadableReplyError
from polyjudge.records.sessions import Review, ReviewVerdict
from polyjudge.text.numbers import fold_digits

from .reply_text import without_reasoning

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
    """Return the one score that is written; none where numbers compete, or it is out of something else."""
    cells = [cell for cell in written.split("|") if SCORE.search(cell)]
    marked = [cell for cell in cells if re.search(r"/\s*100\b", cell)]
    if len(cells) > 1 and len(marked) != 1:
        return None
    cell = (marked or cells or [written])[0]
    match = SCORE.match(cell, SIGN.match(cell).end())  # type: ignore[union-attr] - it matches nothing, too
    if match is None or match[2] not in (None, "100") or not re.fullmatch(r"-?\d+(?:[.,]\d{1,2})?", match[1]):
        return None
    is_bare = match[2] is None and "%" not in match[0]
    if _COMPETING.match(cell, match.end()) or (is_bare and not _REMARK.match(cell, match.end())):
        return None
    is_share = is_bare and re.match(r"-?[01][.,]\d", match[1])  # 0.85 may be of 1
    return None if is_share or is_on_another_scale(cell[match.end() :]) else match


def is_on_another_scale(note: str) -> bool:
    """Say whether a note beside a score, such as (1-5) or (out of 10), names a scale that does not end at 100."""
    return bool(_OTHER_SCALE.search(note))


def find_verdict(written: str) -> str:
    """Return the verdict that is written: a plain FAIL where it does not say whose, nothing for other words."""
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
    """Say whether the box beside a verdict is ticked."""
    before = written[max(0, match.start() - 12) : match.start()]
    return bool(_TICK.search(before) or re.match(r"\s*[✅☑✔]", written[match.end() : match.end() + 4])) and not (
        _NO_TICK.search(before)
    )


def _has_remark(written: str, match: re.Match[str]) -> bool:
    """Say whether nothing, or only a remark, follows a verdict, and only signs stand before it: PASS if … is none."""
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
"""How far below its label a list of check boxes may end."""
_LONGEST = 400
"""Characters that are looked at after a label."""
_FENCE = re.compile(r"\s*(?:>\s*)*(?:[-*+]\s+)?(`{3,}|~{3,})")
_ENCLOSED = re.compile(r"<(/?)(blockquote|pre|code|del|q|s)\b[^<>]*>|(<!--)|(-->)", re.IGNORECASE)
_OPENING_QUOTES = "\"'“„«‘‚「『"


class Statement(NamedTuple):
    """One label of a review with what is written to it."""

    name: str
    """agent, system or verdict."""
    label: str
    """As it is written, with a note in brackets after it."""
    written: str
    line: int
    end: int
    """The line of the value: the label's own, or one below it."""
    quoted: bool
    """Marked as a quotation: by >, a code fence, quotation marks, or an HTML element or comment."""


@dataclass(frozen=True, slots=True)
class ReviewLines:
    """A review line by line, without its markup."""

    lines: tuple[str, ...]
    statements: tuple[Statement, ...]
    taken: frozenset[int]
    """Lines that hold a statement, or only open or close a code fence."""

    def words(self, start: int, end: int | None = None) -> str:
        """Return the lines from `start` up to `end` that hold words and no statement."""
        numbers = range(start, len(self.lines) if end is None else end)
        return "\n".join(self.lines[n] for n in numbers if n not in self.taken and re.search(r"\w", self.lines[n]))


def review_lines(text: str) -> ReviewLines:
    """Return the lines of a review and the statements in them, in order."""
    # NFKC would read 8⁵ as 85; such signs are no digits of a score.
    plain = "".join("\ufffd" if unicodedata.category(sign) == "No" else sign for sign in text)
    plain = _ELEMENT.sub(r"\n\1: \2\n", _BREAK.sub("\n", unicodedata.normalize("NFKC", plain)))
    written = plain.splitlines()
    lines = tuple(fold_digits(_MARKUP.sub("", line)) for line in written)
    statements = tuple(_statements(lines, _quoted_lines(written)))
    fences = {number for number, line in enumerate(written) if _FENCE.match(line) and not LABEL.search(line)}
    stated = {number for each in statements for number in range(each.line, each.end + 1)}
    return ReviewLines(lines, statements, frozenset(fences | stated))


def _quoted_lines(lines: Sequence[str]) -> list[bool]:
    """Say of each line whether it is in a block quote, a code fence, or an HTML element or comment that quotes."""
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
    """Yield each label that is filled in, with what is written to it: beside it, or below it in a table or a list."""
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
    """Say whether a quotation begins with a label, and not only the label is in quotation marks, as in JSON."""
    before, after = label.string[: label.start()].rstrip(), label.string[label.end() : label.end() + 1]
    return bool(before) and before[-1] in _OPENING_QUOTES and after not in ('"', "'", "”", "’")


def _labels(line: str) -> list[re.Match[str]]:
    """Return the labels that begin a line or a cell, or follow another's value; others are only spoken of."""
    found: list[re.Match[str]] = []
    for label in LABEL.finditer(line):
        start = max(line.rfind("|", 0, label.start()) + 1, found[-1].end() if found else 0)
        before = line[start : label.start()]
        follows = bool(found) and (SCORE.search(before) or VERDICT.search(before)) and not re.search(r"[<>≤≥]", before)
        if _BEFORE.fullmatch(before) or (follows and re.search(r"[,;/·&]\W*$|\band\W*$", before)):
            found.append(label)
    return found


def _in_columns(header: str, below: Sequence[str]) -> tuple[list[tuple[re.Match[str], str]], int]:
    """Return what is under the labels of a table's header, where it has one row of values, and how far down."""
    rows = [line for line in below if line.count("|") >= header.count("|") and not _RULE.fullmatch(line)]
    if len(rows) != 1:
        return [], 0
    cells = zip(header.split("|"), rows[0].split("|"), strict=False)
    named = [(label, f": {value}") for title, value in cells if (label := LABEL.search(title))]
    filled = [(label, value) for label, value in named if _is_filled_in(_name(label), value)]
    return filled, below.index(rows[0]) + 1


def _below(label: re.Match[str], lines: Sequence[str]) -> tuple[list[tuple[re.Match[str], str]], int]:
    """Return what the line under a heading says, where it is a value or a list of check boxes, and how far down."""
    name, said = _name(label), [line for line in lines if re.search(r"\w", line)]
    if not said or LABEL.search(said[0]):
        return [], 0
    listed = [line for line in said if BOX.search(line) or re.search(r"[✅❌☑✔]", line)]
    used = listed if name == "verdict" and listed else said[:1]
    written = " ; ".join(used)
    is_value = bool(find_verdict(written)) if name == "verdict" else re.match(r"\W*\d+\s*/\s*100\b", written)
    last = max(number for number, line in enumerate(lines, start=1) if line in used)
    return ([(label, written[:_LONGEST])], last) if is_value else ([], 0)


def _is_filled_in(name: str, written: str) -> bool:
    """Say whether something is written to a label, and not only the label spoken of, or the form quoted."""
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


PASSING = 75.0
_LABELS = {"agent": "AGENT_SCORE", "system": "SYSTEM_SCORE"}
_NEXT_TURN = re.compile(
    r"<\|?(?:im_end|im_start|eot_id|start_header_id|endoftext|end_of_turn|start_of_turn)\|?>|\[INST\]"
    r"|^[ \t]*(?:human|user|assistant)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
_STATED_SCALE = re.compile(
    r"\bscales?\b\D{0,20}\d+\s*(?:-|–|to)\s*(?!100\b)\d+|\bscor\w+\D{0,20}\b[01] to (?!100\b)\d+"
)
_HYPOTHETICAL = re.compile(
    r"\b(?:if|unless|without|would|could|had|suppos\w*|assum\w*|hypothe\w*|wenn|falls|ohne|wäre|hätte|würde|si|sin|sería"
    r"|habría|sans|serait|aurait|sarebbe|se|sem|seria|eğer)\b|если|бы\b|如果|假如|若|もし|만약|अगर|यदि|لو|إذا|אם",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:example|quot\w*|print\w*|said|says|wrote|writes|claim\w*|output|inject\w*|tried|tries|attempt\w*|template"
    r"|format)\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:disregard|ignore|retract\w*|withdraw\w*|declin\w*|refus\w*|not my|mistake\w*|actually"
    r"|correct(?:ion|ed)|on reflection|korrektur|korrigier\w*|rectific\w*|correcci\w*|corrijo|correzione"
    r"|correção|düzeltme)\b"
    r"|更正|订正|訂正|修正|정정|исправл|सुधार|تصحيح|תיקון",
    re.IGNORECASE,
)
_GIVEN_NUMBER = re.compile(
    r"(?:(?<!\d)[:：=]|[\u3040-\u9fff\uac00-\ud7af])\s*(\d+(?:[.,]\d+)?)|(?<![\w.,])(\d+(?:[.,]\d+)?)\s*/\s*100\b"
)
_IN_QUOTES = re.compile(r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」')
_GIVEN_VERDICT = re.compile(r"(?<!\w)(?:PASS|FAIL(?:_(?:AGENT|SYSTEM|BOTH))?)(?!\w)")
_SMALL = 10


class _Block(NamedTuple):
    """Statements without words between them, each label once."""

    statements: tuple[Statement, ...]

    @property
    def is_quoted(self) -> bool:
        return all(each.quoted for each in self.statements)

    @property
    def is_whole(self) -> bool:
        return _LABELS.keys() <= self.values.keys()

    @property
    def values(self) -> dict[str, object]:
        return {each.name: _meaning(each) for each in self.statements}

    def differs_from(self, others: Mapping[str, object]) -> bool:
        return any(name in others and others[name] != value for name, value in self.values.items())


def read_review(text: str, prompt: str = "") -> Review:
    """Return the scores and the verdict that a review ends with; the last of each counts.

    Closing lines that are quoted count only where the review has no others, they end it, and `prompt`, with the session
    in it, does not hold them. Without a verdict it follows from the scores. Without both scores there is no review,
    and that is an error, as is a review that leaves open which of two closings is meant.
    """
    try:
        found = _closing(_own_turn(without_reasoning(text)), _squashed(prompt))
        agent, system = (_score(found.get(name), label) for name, label in _LABELS.items())
        given = find_verdict(found["verdict"].written) if "verdict" in found else None
        return _review(agent, system, given, _are_bare(found))
    except ValueError as error:
        raise UnreadableReplyError(str(error), text=text) from None


def due_verdict(agent_score: float, system_score: float) -> ReviewVerdict:
    """Return what two scores come to."""
    if agent_score >= PASSING:
        return "PASS" if system_score >= PASSING else "FAIL_SYSTEM"
    return "FAIL_AGENT" if system_score >= PASSING else "FAIL_BOTH"


def _review(agent: float, system: float, given: str | None, are_bare: bool) -> Review:
    due = due_verdict(agent, system)
    if given in ("FAIL", "") and due == "PASS":
        told = "says FAIL, but not whose," if given else "gives a verdict that is none of the four,"
        raise ValueError(f"the review {told} and both scores pass")
    if given == "PASS" and are_bare and max(agent, system) <= _SMALL:
        raise ValueError(f"the review passes with {agent:g} and {system:g}, which are not out of 100")
    verdict = cast(ReviewVerdict | None, None if given in ("FAIL", "") else given)
    return Review(
        agent_score=agent,
        system_score=system,
        verdict=verdict or due,
        derived=verdict is None,
        contradictory=verdict is not None and verdict != due,
    )


def _own_turn(text: str) -> str:
    """Return the first turn that holds closing lines: a model that runs on writes the next turns by itself."""
    turns = _NEXT_TURN.split(text)
    return next((turn for turn in turns if LABEL.search(turn)), text) if len(turns) > 1 else text


def _closing(text: str, session: str) -> dict[str, Statement]:
    """Return the statements that count, by their names."""
    review = review_lines(text)
    blocks = list(_blocks(review))
    own = [block for block in blocks if not block.is_quoted]
    found = _last_own(review, own, session) if own else _only_quoted(review, blocks, session)
    if own:
        last = own[-1].statements[-1].end
        _refuse_other_quotes(blocks, found, last, session)
        said = [line for line in review.words(last + 1).splitlines() if _squashed(line) not in session]
        _refuse_taken_back(said, _meanings(found))
    if _STATED_SCALE.search(text) and _are_bare(found):
        raise ValueError("the review states a scale that does not end at 100")
    return found


def _blocks(review: ReviewLines) -> Iterator[_Block]:
    """Yield the statements in blocks: words between two end a block, and so does a label that comes again."""
    block: list[Statement] = []
    for each in review.statements:
        repeats = any(each.name == other.name for other in block)
        if block and (repeats or review.words(block[-1].end + 1, each.line)):
            yield _Block(tuple(block))
            block = []
        block.append(each)
    if block:
        yield _Block(tuple(block))


def _last_own(review: ReviewLines, own: Sequence[_Block], session: str) -> dict[str, Statement]:
    """Return the last statement of each name; where two differ, the last must be meant as the review's own."""
    found: dict[str, Statement] = {}
    for before, block in zip((None, *own), own, strict=False):
        if before is not None and block.differs_from(_meanings(found)):
            between = review.words(before.statements[-1].end + 1, block.statements[0].line)
            is_part = not between and not (before.is_whole and block.is_whole)
            is_beside = before.statements[-1].line == block.statements[0].line
            if (
                is_part
                or is_beside
                or _HYPOTHETICAL.search(between)
                or _REPORTED.search(between)
                or _occurs(block, session)
            ):
                raise ValueError("the review closes twice, and differently")
        found.update({each.name: each for each in block.statements})
    words_after = review.words(own[-1].statements[-1].end + 1)
    before = review.lines[: own[-1].statements[0].line]
    is_announced = next((line for line in reversed(before) if line.strip()), "").rstrip().endswith((":", "："))
    if (words_after or is_announced) and _occurs(own[-1], session) and len(own[-1].statements) > 1:
        raise ValueError("the review closes with lines of the session, and does not say that they are its own")
    return found


def _only_quoted(review: ReviewLines, blocks: Sequence[_Block], session: str) -> dict[str, Statement]:
    """Return statements that are all quoted: they must be the same, end the review, and not come from the session."""
    found: dict[str, Statement] = {}
    for block in blocks:
        if block.differs_from(_meanings(found)):
            raise ValueError("the review quotes two different closings, and has none of its own")
        found.update({each.name: each for each in block.statements})
    if not blocks:
        return found
    first, last = blocks[-1].statements[0].line, blocks[-1].statements[-1].end
    if review.words(last + 1) or (_occurs(blocks[-1], session) and review.words(0, first)):
        raise ValueError("the review quotes closing lines, and has none of its own")
    return found


def _refuse_other_quotes(blocks: Sequence[_Block], found: Mapping[str, Statement], last: int, session: str) -> None:
    """Refuse a review that goes on to quote another closing, unless the session holds what it quotes."""
    values = _meanings(found)
    for block in blocks:
        if block.statements[0].line > last and block.differs_from(values) and not _occurs(block, session):
            raise ValueError("the review ends with closing lines that it quotes, and its own are different")


def _refuse_taken_back(lines: Sequence[str], values: Mapping[str, object]) -> None:
    """Refuse a review that says something else of its scores or its verdict after the closing lines."""
    agent, system = values.get("agent"), values.get("system")
    due = due_verdict(agent, system) if isinstance(agent, float) and isinstance(system, float) else None
    for line in (_IN_QUOTES.sub("", each) for each in lines):
        numbers = {_number(match[1] or match[2]) for match in _GIVEN_NUMBER.finditer(line)}
        verdicts = set(_GIVEN_VERDICT.findall(line))
        others = verdicts - {values.get("verdict", due)} or numbers - {agent, system, PASSING}
        repeats = bool(verdicts or numbers) and not others
        speaks_of_it = LABEL.search(line) and re.search(r"\w", LABEL.sub("", line)) and not repeats
        is_aside = "<" in line or "|" in line or len(verdicts) > 2 or _HYPOTHETICAL.search(line)
        if (not is_aside and (others or speaks_of_it)) or _TAKEN_BACK.search(line):
            raise ValueError("the review goes on after its closing lines, and says something else there")


def _occurs(block: _Block, session: str) -> bool:
    """Say whether the session, squashed, holds every statement of a block."""
    labels = {"agent": "agentscore", "system": "systemscore", "verdict": "verdict"}
    return bool(session) and all(
        f"{labels[each.name]}{_squashed(_value(each))}" in session for each in block.statements
    )


def _value(statement: Statement) -> str:
    pattern = VERDICT if statement.name == "verdict" else SCORE
    match = pattern.search(statement.written)
    return match[0] if match else statement.written


def _squashed(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _meanings(found: Mapping[str, Statement]) -> dict[str, object]:
    return {name: _meaning(each) for name, each in found.items()}


def _meaning(statement: Statement) -> object:
    """Return what a statement says, for comparing: a number or a verdict, or its text where it is neither."""
    if statement.name == "verdict":
        return find_verdict(statement.written) or statement.written
    match = find_score(statement.written)
    return statement.written if match is None else _number(match[1])


def _number(written: str) -> float:
    return float(written.replace(",", "."))


def _score(statement: Statement | None, label: str) -> float:
    if statement is None:
        raise ValueError(f"the review gives no {label}")
    match = None if is_on_another_scale(statement.label) else find_score(statement.written)
    if match is None or LABEL.search(statement.written):
        shown = re.sub(r"^[^(]*", "", statement.label) + statement.written
        raise ValueError(f"{label} is {shown.strip(' :|')[:40]!r}, which is no score out of 100")
    score = _number(match[1])
    if not 0 <= score <= 100:
        raise ValueError(f"{label} is {score:g}, which is off the scale")
    return score


def _are_bare(found: Mapping[str, Statement]) -> bool:
    """Say whether no score says what it is out of."""
    scores = [each.written for name, each in found.items() if name != "verdict"]
    return not any(re.search(r"/\s*100\b|%|out of 100", written) for written in scores)
