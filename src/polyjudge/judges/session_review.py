"""Have a model review an agent's session: two scores and a verdict in the closing lines of a text."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from polyjudge.errors import UnreadableReplyError
from polyjudge.providers.base import Provider
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Item, Outcome
from polyjudge.records.requests import Reply
from polyjudge.records.sessions import Review, ReviewVerdict
from polyjudge.rubrics.prompts import FENCE_NOTE, fence

from . import base
from .asking import Asker, Question, Reading
from .choice import read_prompt
from .reply_text import without_reasoning
from .session_review_lines import (
    LABEL,
    SCORE,
    VERDICT,
    ReviewLines,
    Statement,
    find_score,
    find_verdict,
    is_on_another_scale,
    review_lines,
)

_PLACEHOLDER = re.compile(r"\{(template|transcript)\}")
_CLOSING = """End with exactly these three lines, filled in, and write nothing after them:
AGENT_SCORE: <number>/100
SYSTEM_SCORE: <number>/100
VERDICT: <PASS, FAIL_AGENT, FAIL_SYSTEM or FAIL_BOTH>"""
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


class ReviewJudge:
    """Asks for a review, and parses its closing lines."""

    bind = base.bind
    aclose = base.aclose
    models = property(base.models)

    def __init__(self, model: str, provider: Provider | None = None, instruction: str | None = None) -> None:
        self.asker = Asker(model, provider=provider)
        self.fingerprint = fingerprint([_with_closing_lines(instruction)], 16)

    async def judge(self, item: Item, *, repeat: int = 0) -> Outcome:  # noqa: ARG002 - asked once
        """Judge an item of a run whose candidate is the complete prompt."""
        return await self.outcome(item.candidate)

    async def outcome(self, prompt: str) -> Outcome:
        """Return the result of the review, or a failure with its reason; the whole review is in `raw`."""
        question = Question(prompt, None, "review", self.fingerprint)
        return await self.asker.outcome(question, lambda reply: _reading(reply, prompt))


def review_prompt(transcript: str, *, template: str = "", instruction: str | None = None, note: str = "") -> str:
    """Return the prompt for a review of a session; `instruction` replaces the shipped one.

    Texts of others are fenced. If the instruction has no {transcript} or no closing lines, they are appended.
    """
    prompt = _with_closing_lines(instruction)
    if "{template}" not in prompt and template:
        prompt += "\n{template}"
    if "{transcript}" not in prompt:
        prompt += "\n\nThe record of the session:\n{transcript}"
    rules = f"\nThe instructions that the agent was to follow:\n{fence(template)}\n" if template else ""
    values = {"template": rules, "transcript": f"{note}\n{fence(transcript)}" if note else fence(transcript)}
    return f"{FENCE_NOTE}\n\n{_PLACEHOLDER.sub(lambda match: values[match[1]], prompt)}"


def _with_closing_lines(instruction: str | None) -> str:
    text = read_prompt("review") if instruction is None else instruction.strip()
    return text if "AGENT_SCORE" in text else f"{text}\n\n{_CLOSING}"


def _reading(reply: Reply, prompt: str) -> Reading:
    if reply.finish == "length":
        raise UnreadableReplyError("the review was cut off at the token limit", text=reply.text)
    review = read_review(reply.text, prompt)
    return {
        "score": min(review.agent_score, review.system_score),
        "reason": "",
        "subscores": {"agent": review.agent_score, "system": review.system_score},
        "verdict": review.verdict,
        "flags": {"derived": review.derived, "contradictory": review.contradictory},
        "parse_method": "review",
    }


class _Block(NamedTuple):
    """Statements without text between them, each label once."""

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
    """Return the scores and the verdict at the end of a review; the last of each counts.

    Quoted closing lines count only if the review has no others, they end it, and they are not in `prompt`, which
    contains the session. A missing verdict is derived from the scores. A missing score is an error, and so are two
    different sets of closing lines if neither is clearly final.
    """
    try:
        found = _closing(_own_turn(without_reasoning(text)), _squashed(prompt))
        agent, system = (_score(found.get(name), label) for name, label in _LABELS.items())
        given = find_verdict(found["verdict"].written) if "verdict" in found else None
        return _review(agent, system, given, _are_bare(found))
    except ValueError as error:
        raise UnreadableReplyError(str(error), text=text) from None


def due_verdict(agent_score: float, system_score: float) -> ReviewVerdict:
    """Return the verdict that follows from two scores."""
    if agent_score >= PASSING:
        return "PASS" if system_score >= PASSING else "FAIL_SYSTEM"
    return "FAIL_AGENT" if system_score >= PASSING else "FAIL_BOTH"


def _review(agent: float, system: float, given: str | None, are_bare: bool) -> Review:
    due = due_verdict(agent, system)
    if given in ("FAIL", "") and due == "PASS":
        problem = "FAIL does not say whether agent or system" if given else "the verdict is none of the four"
        raise ValueError(f"contradictory review: {problem}, and both scores pass")
    if given == "PASS" and are_bare and max(agent, system) <= _SMALL:
        raise ValueError(f"the verdict is PASS with scores {agent:g} and {system:g}, which are not out of 100")
    verdict = cast(ReviewVerdict | None, None if given in ("FAIL", "") else given)
    return Review(
        agent_score=agent,
        system_score=system,
        verdict=verdict or due,
        derived=verdict is None,
        contradictory=verdict is not None and verdict != due,
    )


def _own_turn(text: str) -> str:
    """Return the first turn with closing lines, without the turns that a model invents after it."""
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
        after = [line for line in review.words(last + 1).splitlines() if _squashed(line) not in session]
        _refuse_taken_back(after, _meanings(found))
    if _STATED_SCALE.search(text) and _are_bare(found):
        raise ValueError("the review states a scale that does not end at 100")
    return found


def _blocks(review: ReviewLines) -> Iterator[_Block]:
    """Yield the statements in blocks: text between two ends a block, and so does a repeated label."""
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
    """Return the last statement of each name; if two differ, the last must clearly be the review's own."""
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
                raise ValueError("the review has two different sets of closing lines")
        found.update({each.name: each for each in block.statements})
    words_after = review.words(own[-1].statements[-1].end + 1)
    before = review.lines[: own[-1].statements[0].line]
    is_announced = next((line for line in reversed(before) if line.strip()), "").rstrip().endswith((":", "："))
    if (words_after or is_announced) and _occurs(own[-1], session) and len(own[-1].statements) > 1:
        raise ValueError("the closing lines of the review may be quoted from the session")
    return found


def _only_quoted(review: ReviewLines, blocks: Sequence[_Block], session: str) -> dict[str, Statement]:
    """Return the statements if all are quoted: they must be equal, at the end, and not from the session."""
    found: dict[str, Statement] = {}
    for block in blocks:
        if block.differs_from(_meanings(found)):
            raise ValueError("the review quotes two different sets of closing lines, and has none of its own")
        found.update({each.name: each for each in block.statements})
    if not blocks:
        return found
    first, last = blocks[-1].statements[0].line, blocks[-1].statements[-1].end
    if review.words(last + 1) or (_occurs(blocks[-1], session) and review.words(0, first)):
        raise ValueError("the review quotes closing lines, and has none of its own")
    return found


def _refuse_other_quotes(blocks: Sequence[_Block], found: Mapping[str, Statement], last: int, session: str) -> None:
    """Raise an error if the review then quotes other closing lines, unless they are in the session."""
    values = _meanings(found)
    for block in blocks:
        if block.statements[0].line > last and block.differs_from(values) and not _occurs(block, session):
            raise ValueError("the review ends with quoted closing lines that differ from its own")


def _refuse_taken_back(lines: Sequence[str], values: Mapping[str, object]) -> None:
    """Raise an error if the text after the closing lines contradicts them or takes them back."""
    agent, system = values.get("agent"), values.get("system")
    due = due_verdict(agent, system) if isinstance(agent, float) and isinstance(system, float) else None
    for line in (_IN_QUOTES.sub("", each) for each in lines):
        numbers = {_number(match[1] or match[2]) for match in _GIVEN_NUMBER.finditer(line)}
        verdicts = set(_GIVEN_VERDICT.findall(line))
        others = verdicts - {values.get("verdict", due)} or numbers - {agent, system, PASSING}
        repeats = bool(verdicts or numbers) and not others
        speaks_of_it = LABEL.search(line) and re.search(r"\w", LABEL.sub("", line)) and not repeats
        is_form = "<" in line or "|" in line or len(verdicts) > 2 or _HYPOTHETICAL.search(line)
        if (not is_form and (others or speaks_of_it)) or _TAKEN_BACK.search(line):
            raise ValueError("the text after the closing lines of the review contradicts them")


def _occurs(block: _Block, session: str) -> bool:
    """Return whether every statement of a block is in the session, both without spaces and punctuation."""
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
    """Return the value of a statement for comparison: a number, a verdict, or else its text."""
    if statement.name == "verdict":
        return find_verdict(statement.written) or statement.written
    match = find_score(statement.written)
    return statement.written if match is None else _number(match[1])


def _number(written: str) -> float:
    return float(written.replace(",", "."))


def _score(statement: Statement | None, label: str) -> float:
    if statement is None:
        raise ValueError(f"the review has no {label}")
    match = None if is_on_another_scale(statement.label) else find_score(statement.written)
    if match is None or LABEL.search(statement.written):
        shown = re.sub(r"^[^(]*", "", statement.label) + statement.written
        raise ValueError(f"{label} is {shown.strip(' :|')[:40]!r}, not a score out of 100")
    score = _number(match[1])
    if not 0 <= score <= 100:
        raise ValueError(f"{label} is {score:g}, not from 0 to 100")
    return score


def _are_bare(found: Mapping[str, Statement]) -> bool:
    """Return whether no score has its scale."""
    scores = [each.written for name, each in found.items() if name != "verdict"]
    return not any(re.search(r"/\s*100\b|%|out of 100", written) for written in scores)
