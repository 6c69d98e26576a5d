"""Find the judge's verdict in a reply with other text; raise an error if no object clearly is the verdict."""

import re
from itertools import islice
from typing import Any, cast

from msgspec import Struct

from .extra_keys import contradicting_key
from .final_verdict import are_listed, is_marked, reason_to_doubt
from .json_repair import comments, ends_with_key, mentions, repair_object, unclosed_part
from .judged_text import folded_key
from .remarks import ECHO
from .reply_text import Span, decode, find_objects
from .statements import contradicting_line, contradicting_reason, contradicting_statement, earlier_statement
from .verdict_objects import (
    NoVerdictError,
    Query,
    checked,
    differs,
    fitting,
    nested_answers,
    refuse,
    whole_object,
)

_MOST_KEYS = 64
"""Keys of a verdict that are searched for after it; a constant, so that time is linear."""
_MOST_RIVALS = 32
"""Verdicts before the last one that are compared with it; likewise."""
_FORM = re.compile(r'\{[^{}<>]{0,200}"(?:score|verdict)"\s*:\s*"?<[^<>{}\n]{1,200}>[^{}]{0,600}\}')
"""An object that explains the form: `{"score": <0-100>}`."""
_MOST_ECHOES = 1_000
"""Quotations of the judged text that are recognised; likewise."""


class _Found(Struct, frozen=True):
    """A verdict and its position in the reply."""

    value: dict[str, Any]
    start: int
    end: int


def embedded(answer: str, query: Query) -> tuple[dict[str, Any], str]:
    """Return the verdict in other text, and whether it was `embedded` or `repaired`."""
    spans = find_objects(answer)
    last, rivals, echoes = _verdicts(answer, spans, query)
    if last is None:
        # Valid objects with a wanted key have been examined above, and are no verdict.
        examined = [span for span in spans if any(f'"{key}"' in answer[span[0] : span[1]] for key in query.wanted)]
        return _repaired(_without(examined, answer, 0), query), "repaired"
    _refuse_if_inside(answer, [span for span in spans if span[0] < last.start], last, query)
    later = [span for span in spans if span[0] >= last.end]
    has_echo = any(query.is_echo(_decoded(answer, span, lenient=True)) for span in later[:_MOST_ECHOES])
    rest = _without(later, answer, last.end, ECHO if has_echo else "")
    if query.cut_off and "{" in rest:
        refuse("the reply was cut off in another object after this verdict")
    for start, end in later:
        if (start, end) not in echoes:
            _refuse_if_revised(answer[start:end], last.value, query)
    broken, rest = _later_verdict(last, rest, query)
    if broken is not None:
        return broken, "repaired"
    _refuse_if_doubtful(answer, last, rivals, query)
    _refuse_if_contradicted(last.value, query, rest)
    before = _without([span for span in spans if span[0] < last.start], answer[: last.start], 0)
    _refuse_if_preceded(last.value, query, before)
    return checked(last.value, query), "embedded"


def without_echoes(answer: str, query: Query) -> str:
    """Return a reply without the objects that are also in the judged text."""
    if not query.context.judged:
        return answer
    spans = [span for span in find_objects(answer)[:_MOST_ECHOES] if _may_hold(answer, span, query.wanted)]
    return _without([span for span in spans if query.is_echo(_decoded(answer, span, lenient=True))], answer, 0)


def without_objects(text: str) -> str:
    """Return a text without the JSON objects in it."""
    return _without(find_objects(text), text, 0)


def _verdicts(answer: str, spans: list[Span], query: Query) -> tuple[_Found | None, list[_Found], set[Span]]:
    """Return the judge's own last verdict, different verdicts before it, and the objects of the judged text."""
    found: list[_Found] = []
    echoes: set[Span] = set()
    for span in reversed(spans):
        if len(found) > _MOST_RIVALS or len(echoes) > _MOST_ECHOES:
            break
        if not _may_hold(answer, span, query.wanted):
            continue
        raw = _decoded(answer, span, lenient=bool(found))
        value = fitting(raw, query.wanted)
        if query.is_echo(raw) or (value is not None and query.is_echo(value)):
            echoes.add(span)
        elif value is not None:
            found.append(_Found(value, *span))
    last = found[0] if found else None
    keys = query.keys(last.value) if last else ()
    rivals = [
        each
        for each in found[1:]
        if last and any(key in each.value and differs(each.value[key], last.value[key]) for key in keys)
    ]
    return last, rivals, echoes


def _refuse_if_doubtful(answer: str, last: _Found, rivals: list[_Found], query: Query) -> None:
    """Raise an error if a verdict is quoted, commented out, negated or hypothetical, or is one of a list."""
    keys = [key for key in query.keys(last.value) if key != "reason"]
    differing = [each for each in rivals if any(differs(each.value.get(key), last.value[key]) for key in keys)]
    start = max((each.end for each in differing), default=0)
    before, after = answer[start : last.start], answer[last.end :]
    if differing and are_listed(answer[: differing[0].start], before):
        refuse("the reply is a list of different verdicts")
    clear = differing and all(is_marked(answer[: each.start]) for each in differing)
    reason = reason_to_doubt(before, after, has_rivals=bool(differing) and not clear, is_judging=query.is_judging)
    if reason is not None:
        refuse(f"the last verdict is {reason}")


def _later_verdict(last: _Found, rest: str, query: Query) -> tuple[dict[str, Any] | None, str]:
    """Return the broken verdict after a valid one, if any, and the text without verdicts of the judged text."""
    keys = query.keys(last.value)
    rest = _without_escaped_echoes(_FORM.sub(ECHO, rest), query)
    if not mentions(rest, islice((*keys, *last.value), _MOST_KEYS)):
        return None, rest
    found = repair_object(rest, keys)
    if found is None:
        refuse("the last verdict is broken beyond repair")
    if query.is_echo(found.value):
        return None, rest[: found.start] + ECHO + rest[found.end :]
    is_other = any(differs(found.value[key], last.value.get(key)) for key in keys)
    reason = reason_to_doubt(rest[: found.start], rest[found.end :], has_rivals=is_other, is_judging=query.is_judging)
    if reason is not None:
        refuse(f"the last verdict is {reason}")
    if is_other and are_listed("", rest[: found.start]):
        refuse("the reply is a list of different verdicts")
    _refuse_if_contradicted(found.value, query, rest[found.end :])
    return checked(found.value, query), rest


def _without_escaped_echoes(text: str, query: Query) -> str:
    """Return a text without the objects of the judged text that are encoded as a JSON string."""
    if '\\"' not in text or not query.is_judging:
        return text
    plain = text.replace('\\"', '"')
    spans = [span for span in find_objects(plain)[:_MOST_ECHOES] if query.is_echo(_decoded(plain, span, lenient=True))]
    return _without(spans, plain, 0, ECHO) if spans else text


def _repaired(answer: str, query: Query) -> dict[str, Any]:
    """Return the only possible verdict of a broken reply."""
    found = repair_object(answer, query.wanted)
    if found is not None and not (
        query.is_echo(found.value) and answer.strip(" \t\r\n`") != answer[found.start : found.end]
    ):
        reason = reason_to_doubt(
            answer[: found.start], answer[found.end :], has_rivals=False, is_judging=query.is_judging
        )
        if reason is not None:
            refuse(f"the only verdict is {reason}")
        _refuse_if_contradicted(found.value, query, answer[found.end :])
        _refuse_if_contradicted(found.value, query, comments(answer[found.start : found.end]), is_strict=False)
        _refuse_if_preceded(found.value, query, answer[: found.start])
        return checked(found.value, query)
    if (unescaped := whole_object(f'"{answer}"', query.wanted)) is not None:
        return checked(unescaped, query)
    keys = " and ".join(map(repr, query.wanted))
    raise NoVerdictError(f"no JSON object with {keys}" if query.wanted else "no JSON object")


def _may_hold(text: str, span: Span, wanted: tuple[str, ...]) -> bool:
    """Return whether an object may have the wanted keys, without parsing it."""
    piece = text[span[0] : span[1]]
    return not piece.isascii() or all(key.casefold() in piece.casefold() for key in wanted) or "\\u" in piece


def _without(spans: list[Span], text: str, start: int, replacement: str = "") -> str:
    """Return the text from `start` on, without the given spans."""
    pieces: list[str] = []
    for span_start, span_end in spans:
        pieces.append(text[start:span_start])
        start = span_end
    return replacement.join([*pieces, text[start:]])


def _refuse_if_inside(answer: str, spans: list[Span], found: _Found, query: Query) -> None:
    """Raise an error for an object inside a larger broken one, or after another verdict in words on its line."""
    before = _without(spans, answer[: found.start], 0)
    around = unclosed_part(before)
    keys = query.keys(found.value)
    if mentions(around, keys) or ends_with_key(around):
        refuse("the verdict may be a quotation inside a broken one")
    if answer[: found.start].rpartition("\n")[2].strip(" \t`"):
        line = contradicting_line(found.value, keys, before)
        if line is not None:
            refuse(f"the JSON differs from the line {line!r}")


def _refuse_if_revised(text: str, value: dict[str, Any], query: Query) -> None:
    """Raise an error if a later object changes a part of the verdict."""
    if not query.wanted or len(text) < 5:
        return
    later = _decoded(text, (0, len(text)))
    for key, answer in nested_answers(later, query.wanted):
        if differs(answer, value.get(key)):
            refuse(f"{key!r} is changed by a later object")
    if any(key in text.casefold() for key in ("/score", "/verdict")):  # a patch such as {"path": "/score", "value": 20}
        refuse("a later object changes the verdict")
    if (key := contradicting_key(value, later, query.wanted, query.context)) is not None:
        refuse(f"{key!r} in a later object gives another answer")
    changes = [key for key, stated in later.items() if "score" in folded_key(key) and isinstance(stated, int | float)]
    if "score" in query.wanted and any(differs(later[key], value.get(key)) for key in changes):
        refuse("a later object changes the score")
    own = {key: value[key] for key in query.wanted if key in value}
    if (sentence := contradicting_reason({**later, **own}, query.wanted, query.context)) is not None:
        refuse(f"a later object contradicts the verdict: {sentence[:80]!r}")


def _refuse_if_contradicted(value: dict[str, Any], query: Query, text: str, *, is_strict: bool = True) -> None:
    keys = query.keys(value)
    line = contradicting_line(value, keys, text, query.context)
    if line is None and (query.wanted or {"score", "verdict"} & value.keys()):
        line = contradicting_statement(value, keys, text, query.context, is_strict=is_strict and query.is_judging)
    if line is not None:
        refuse(f"the text after the JSON contradicts it or cannot be checked: {line[:80]!r}")


def _refuse_if_preceded(value: dict[str, Any], query: Query, text: str) -> None:
    sentence = earlier_statement(value, query.keys(value), text, query.context)
    if sentence is not None:
        refuse(f"the JSON differs from the text before it: {sentence[:80]!r}")


def _decoded(text: str, span: Span, *, lenient: bool = False) -> dict[str, Any]:
    try:
        return cast(dict[str, Any], decode(text[span[0] : span[1]]))
    except ValueError as error:
        if lenient:
            return {}
        raise NoVerdictError(str(error)) from None
