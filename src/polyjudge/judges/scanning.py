"""Find the JSON objects that stand in a text, in time proportional to its length.

A judge's reply is prose with JSON somewhere in it, and prose holds stray braces and quotes. Trying a parser at every
brace is quadratic: each try may read to the end before it fails. Here every brace is looked at once as the start of an
object. When an attempt fails, the objects open at that moment fail for the same reason, and those closed inside it are
kept. Only braces that stood inside the attempt's strings are tried anew, and a text can be read in just two ways,
with a given place inside or outside a string, so no place is visited by more than two attempts.
"""

import re

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
    found: list[Span] = []
    tried: set[int] = set()
    position = 0
    while match := _START.search(text, position):
        start = match.start()
        position = start + 1
        if start not in tried:
            position = max(position, _attempt(text, start, tried, found))
    return _outermost(found)


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
