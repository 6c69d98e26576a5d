"""Remove reasoning and quoted judged text from a reply, and find its JSON objects.

A judge's reply is prose with JSON somewhere in it, and prose holds stray braces and quotes. Trying a parser at every
brace is quadratic: each try may read to the end before it fails. Here every brace is looked at once as the start of an
object. When an attempt fails, the objects open at that moment fail for the same reason, and those closed inside it are
kept. Only braces that stood inside the attempt's strings are tried anew, and a text can be read in just two ways,
with a given place inside or outside a string, so no place is visited by more than two attempts.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

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


def without_reasoning(text: str) -> str:
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


Span = tuple[int, int]

_SPACE = r"[ \t\r\n]*"
_STRING = r"""\"[^\"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^\"\\\x00-\x1f]*)*\""""
_START = re.compile(rf"\{{(?={_SPACE}{_STRING}{_SPACE}:)")
_TOKEN = re.compile(
    rf"""{_SPACE}(?:
        ([{{}}\[\],:])
      | ({_STRING})
      | (-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.]) | true | false | null)
    )""",
    re.VERBOSE,
)
_DEEPEST = 64
"""Objects nested deeper than this are no verdict; the outermost are given up, the inner ones go on."""

# A state says what kind of container we are in and what it expects: an object's key, colon, value or the mark after
# it, an array's value or the mark after it. "first" is where the container may also end at once.
_NEXT = {
    # (what comes, in which state): the state after it
    ("string", "{ first"): "{ colon",
    ("string", "{ key"): "{ colon",
    (":", "{ colon"): "{ value",
    ("string", "{ value"): "{ after",
    ("scalar", "{ value"): "{ after",
    (",", "{ after"): "{ key",
    ("string", "[ first"): "[ after",
    ("scalar", "[ first"): "[ after",
    ("string", "[ value"): "[ after",
    ("scalar", "[ value"): "[ after",
    (",", "[ after"): "[ value",
}
_OPENS = {(mark, state) for mark in "{[" for state in ("{ value", "[ first", "[ value")}
_CLOSES = {("}", "{ first"), ("}", "{ after"), ("]", "[ first"), ("]", "[ after")}


def find_objects(text: str) -> list[Span]:
    """Return start and end of every strict, non-empty JSON object in `text` that lies in no larger one."""
    return list(_found_objects(text))


@lru_cache(maxsize=2)  # one reply is looked through several times in a row
def _found_objects(text: str) -> tuple[Span, ...]:
    found: list[Span] = []
    tried: set[int] = set()
    position = 0
    while match := _START.search(text, position):
        start = match.start()
        position = start + 1
        if start not in tried:
            position = max(position, _attempt(text, start, tried, found))
    return tuple(_outermost(found))


def _attempt(text: str, start: int, tried: set[int], found: list[Span]) -> int:
    """Read one object from `start`, note the objects closed on the way, and return its end, or 0 when it fails."""
    tried.add(start)
    stack: list[tuple[str, int]] = [("{", start)]
    state = "{ first"
    place = start + 1
    while token := _TOKEN.match(text, place):
        place = token.end()
        step = token[1] or ("string" if token[2] else "scalar"), state
        if step in _NEXT:
            state = _NEXT[step]
        elif step in _OPENS:
            stack.append((step[0], place - 1))
            tried.add(place - 1)
            state = f"{step[0]} first"
            del stack[:-_DEEPEST]
        elif step in _CLOSES:
            kind, opened = stack.pop()
            if kind == "{" and state != "{ first":
                found.append((opened, place))
            if not stack:
                return place
            state = f"{stack[-1][0]} after"
        else:
            return 0
    return 0


def _outermost(spans: list[Span]) -> list[Span]:
    outermost: list[Span] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outermost or start >= outermost[-1][1]:
            outermost.append((start, end))
    return outermost
