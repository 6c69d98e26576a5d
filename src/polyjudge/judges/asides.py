"""Leave out of a reply what is not the judge's answer: what it thought aloud, and judged text quoted in its fence."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from .scanning import Span, find_objects

_REASONING = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis", "<|channel|>final"),
)
_CLOSED_BY = {opening.lower(): closing.lower() for opening, closing in _REASONING}
_MARK = re.compile("|".join(re.escape(mark) for pair in _REASONING for mark in pair), re.IGNORECASE | re.ASCII)
_FENCE = re.compile(r"<(/?)text-([0-9a-f]{32})>")
_BEFORE_MARK = 80
"""How many characters before a mark may belong to its line: quotes and emphasis, no more."""


def without_asides(text: str) -> str:
    """Return `text` less echoed fences and reasoning."""
    return split_reasoning(_without_fences(text))[0]


def _without_fences(text: str) -> str:
    """Drop what stands between a fence and its end; marks without their partner stay."""
    marks = list(_FENCE.finditer(text))
    last_end = {match[2]: match.start() for match in marks if match[1]}
    kept: list[str] = []
    position, open_hash = 0, ""
    for match in marks:
        if not open_hash and not match[1] and last_end.get(match[2], 0) > match.start():
            kept.append(text[position : match.start()])
            open_hash = match[2]
        elif match[1] and match[2] == open_hash:
            position, open_hash = match.end(), ""
    return "".join(kept) + text[position:]


def split_reasoning(text: str, *, in_prose: bool = False) -> tuple[str, str]:
    """Return the answer, and apart from it what stands in reasoning marks.

    An unclosed mark takes all that follows, an unopened one all before. Prose around a verdict may speak of a mark, so
    there it must begin or end a line; where the answer itself is prose it counts wherever it stands.
    """
    kept: list[str] = []
    thought: list[str] = []
    position, closing = 0, ""
    marks = list(_marks(text))
    last = {match[0].lower(): match.start() for match in marks}
    for match in marks:
        mark = match[0].lower()
        if not closing and mark in _CLOSED_BY:
            is_pair = in_prose and last.get(_CLOSED_BY[mark], -1) > match.start()
            if is_pair or _opens_a_line(text, match):
                kept.append(text[position : match.start()])
                position, closing = match.end(), _CLOSED_BY[mark]
        elif mark not in _CLOSED_BY and (closing == mark or (not closing and (in_prose or _ends_a_line(text, match)))):
            if not closing:
                thought += kept
                kept.clear()
            thought.append(text[position : match.start()])
            position, closing = match.end(), ""
    (thought if closing else kept).append(text[position:])
    return "".join(kept), "\n".join(part.strip() for part in thought if part.strip())


def _marks(text: str) -> Iterator[re.Match[str]]:
    """Yield the reasoning marks that do not stand inside a JSON object, where they are only spoken of."""
    if not _MARK.search(text):
        return
    objects: list[Span] = find_objects(text)
    starts = [start for start, _ in objects]
    for match in _MARK.finditer(text):
        before = bisect_right(starts, match.start()) - 1
        if before < 0 or match.start() >= objects[before][1]:
            yield match


def _opens_a_line(text: str, match: re.Match[str]) -> bool:
    """Say whether a mark is meant as one: prose that speaks of `<think>` has words before it."""
    if match[0].startswith("<|"):
        return True
    start = text.rfind("\n", max(0, match.start() - _BEFORE_MARK), match.start()) + 1
    starts_here = start > 0 or match.start() <= _BEFORE_MARK
    return starts_here and not text[start : match.start()].strip(" \t\u00a0\ufeff>*_`")


def _ends_a_line(text: str, match: re.Match[str]) -> bool:
    """Say whether a closing mark that nothing opened is meant as one: an answer follows, no rest of a sentence."""
    after = text[match.end() : match.end() + _BEFORE_MARK]
    line = after.partition("\n")[0].strip()
    return not line or line[0] in '{[`"<'
