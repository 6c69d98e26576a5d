"""Read rules of plural forms as PO files have them: expressions of C over the number `n`."""

import re
from collections.abc import Callable

Rule = Callable[[int], int]
"""Returns the form of a number."""

_TOKEN = re.compile(r"\s*(?:(\d{1,9})|(n)|([?:()]|\|\||&&|==|!=|<=|>=|[<>+\-*/%!]))")
_MOST_TOKENS = 500
_DEEPEST = 30
_OPERATORS: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda a, b: int(bool(a or b))),
    "&&": (2, lambda a, b: int(bool(a and b))),
    "==": (3, lambda a, b: int(a == b)),
    "!=": (3, lambda a, b: int(a != b)),
    "<": (4, lambda a, b: int(a < b)),
    ">": (4, lambda a, b: int(a > b)),
    "<=": (4, lambda a, b: int(a <= b)),
    ">=": (4, lambda a, b: int(a >= b)),
    "+": (5, lambda a, b: a + b),
    "-": (5, lambda a, b: a - b),
    "*": (6, lambda a, b: a * b),
    "/": (6, lambda a, b: a // b),
    "%": (6, lambda a, b: a % b),
}
"""How closely each operator binds, and what it does."""


def parse_rule(text: str) -> Rule:
    """Return the function that an expression describes; raise ValueError if it is not one.

    The function raises ZeroDivisionError where the expression divides by zero.
    """
    parser = _Parser(_tokens(text))
    rule = parser.choice()
    if parser.next:
        raise ValueError(f"unexpected {parser.next!r}")
    return rule


def _tokens(text: str) -> list[str]:
    text = text.strip()
    found, place = list[str](), 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ValueError(f"unexpected {text[place : place + 20].strip()!r}")
        found.append(match[0].strip())
        place = match.end()
        if len(found) > _MOST_TOKENS:
            raise ValueError("the expression is too long")
    return found


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._place, self._depth = [*tokens, ""], 0, 0

    @property
    def next(self) -> str:
        return self._tokens[self._place]

    def _take(self, wanted: str = "") -> str:
        token = self.next
        if not token or (wanted and token != wanted):
            raise ValueError(f"expected {wanted or 'more'!r}, found {token or 'the end'!r}")
        self._place += 1
        return token

    def choice(self) -> Rule:
        """Read `condition ? value : value`, where the last value may be such a choice again."""
        cases = list[tuple[Rule, Rule]]()
        last = self._binary(1)
        while self.next == "?":
            self._take()
            value = self._nested(self.choice)
            self._take(":")
            cases.append((last, value))
            last = self._binary(1)
        return (lambda n: _first(cases, last, n)) if cases else last

    def _binary(self, least: int) -> Rule:
        left = self._single()
        while self.next in _OPERATORS and _OPERATORS[self.next][0] >= least:
            binding, operation = _OPERATORS[self._take()]
            left = _joined(operation, left, self._binary(binding + 1))
        return left

    def _single(self) -> Rule:
        token = self._take()
        if token == "n":
            return lambda n: n
        if token.isdigit():
            value = int(token)
            return lambda _: value
        if token == "!":
            inner = self._nested(self._single)
            return lambda n: int(not inner(n))
        if token == "(":
            inner = self._nested(self.choice)
            self._take(")")
            return inner
        raise ValueError(f"unexpected {token!r}")

    def _nested(self, read: Callable[[], Rule]) -> Rule:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError("the expression is nested too deeply")
        rule = read()
        self._depth -= 1
        return rule


def _joined(operation: Callable[[int, int], int], left: Rule, right: Rule) -> Rule:
    return lambda n: operation(left(n), right(n))


def _first(cases: list[tuple[Rule, Rule]], last: Rule, n: int) -> int:
    for condition, value in cases:
        if condition(n):
            return value(n)
    return last(n)
