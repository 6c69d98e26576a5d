"""Parse a judge's reply by a sequence of strategies, from the strictest to the most lenient.

schema      the provider enforced a schema, and the whole reply is the requested object
    json        the whole reply is JSON
    unwrapped   the whole reply is JSON in a code fence, or after reasoning
    embedded    the last object with the wanted keys, among other text
    repaired    broken JSON that can mean only one thing
    lines       `Score: 85` on lines of their own (only for judges, which know the wanted keys)

The last verdict counts, because judges first reason and quote the candidate. An object that also occurs in the judged
text counts only if it is the whole reply. A reply with two different verdicts is unreadable unless the last one is
clearly final, and so is a verdict that other parts of the reply contradict: no verdict is better than a wrong one.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from polyjudge.errors import UnreadableReplyError

from .judged_text import ReplyContext
from .reply_text import first_turn, labelled_values, last_line_is_labelled, unfenced, without_lines, without_reasoning
from .verdict_objects import NoVerdictError, Query, checked, refuse_if_list, whole_object


class JudgeJson(Struct, frozen=True):
    """The object found in a reply, and how it was found."""

    value: dict[str, Any]
    parse_method: str
    repaired: bool = False


def parse_judge_json(text: str, wanted: Iterable[str] = (), *, context: ReplyContext | None = None) -> dict[str, Any]:
    """Return the judge's JSON object; the last one that has the `wanted` keys counts."""
    return read_judge_json(text, wanted, context=context).value


def read_judge_json(
    text: str,
    wanted: Iterable[str] = (),
    *,
    schema_enforced: bool = False,
    cut_off: bool = False,
    context: ReplyContext | None = None,
) -> JudgeJson:
    """Return the judge's JSON object with the strategy that found it; without one, raise `UnreadableReplyError`.

    Args:
        text: The reply.
        wanted: Keys that the object must have.
        schema_enforced: The provider enforced a schema.
        cut_off: The provider reports that the reply reached its token limit.
        context: The judged texts, the scale and the labels of the question.
    """
    query = Query(tuple(wanted), context or ReplyContext(), cut_off)
    try:
        return _read(text, query, schema_enforced)
    except NoVerdictError as error:
        start = text if len(text) <= 200 else text[:120] + " … " + text[-60:]
        raise UnreadableReplyError(f"{error}: {start!r}", text=text) from None


def read_reply(
    text: str,
    wanted: Iterable[str],
    *,
    on_lines: Iterable[str] | None = None,
    also: Iterable[str] = (),
    schema_enforced: bool = False,
    cut_off: bool = False,
    context: ReplyContext | None = None,
) -> JudgeJson:
    """Return the values of the `wanted` keys from JSON, else from labelled lines.

    Args:
        text: The reply.
        wanted: Keys that the JSON object must have.
        on_lines: Labels that the lines must have, if they differ from `wanted`.
        also: Optional labels of lines.
        schema_enforced: The provider enforced a schema.
        cut_off: The provider reports that the reply reached its token limit.
        context: The judged texts, the scale and the labels of the question.
    """
    query = Query(tuple(wanted), context or ReplyContext(), cut_off)
    try:
        return read_judge_json(
            text, query.wanted, schema_enforced=schema_enforced, cut_off=cut_off, context=query.context
        )
    except UnreadableReplyError:
        needed = query.wanted if on_lines is None else tuple(on_lines)
        found = _read_lines(text, needed, tuple(also), query)
        if found is None:
            raise
        return found


def _read(text: str, query: Query, schema_enforced: bool) -> JudgeJson:
    stripped = first_turn(text.strip().lstrip("\ufeff")).strip()
    if (whole := whole_object(stripped, query.wanted)) is not None:
        return JudgeJson(checked(whole, query), "schema" if schema_enforced else "json")
    answer = without_reasoning(stripped).strip()
    if not answer:
        raise NoVerdictError("the reply is empty" if not stripped else "the reply contains only reasoning")
    inner = unfenced(answer)
    if inner != stripped and (whole := whole_object(inner, query.wanted)) is not None:
        return JudgeJson(checked(whole, query), "unwrapped")
    if inner.startswith("["):
        refuse_if_list(inner, query)
    from .verdict_selection import embedded  # here, because most replies are an object alone

    value, parse_method = embedded(answer, query)
    return JudgeJson(value, parse_method, repaired=parse_method == "repaired")


def _read_lines(text: str, needed: tuple[str, ...], also: tuple[str, ...], query: Query) -> JudgeJson | None:
    """Return the values of labelled lines if every needed key has one value and nothing contradicts them."""
    from .json_repair import mentions  # here, because most replies are JSON
    from .statements import contradicting_reason, contradicting_statement, without_quoted_lines
    from .verdict_selection import without_echoes

    answer = without_echoes(without_reasoning(first_turn(text)), query)
    if mentions(answer, query.wanted):
        return None
    lines: dict[str, Any] = {}
    is_whole = "\n" not in answer.strip()
    for key in (*needed, *also):
        values = [each for each in labelled_values(answer, key) if is_whole or not query.context.has_line(key, each)]
        if key in needed and (len(set(values)) != 1 or not values[0]):
            return None
        if key in needed and query.cut_off and last_line_is_labelled(answer, key):
            return None
        if values:
            lines[key] = values[-1]
    prose = without_lines(without_quoted_lines(answer, query.context), (*needed, *also))
    if contradicting_statement(lines, needed, prose, query.context):
        return None
    return None if contradicting_reason(lines, needed, query.context) else JudgeJson(lines, "lines")
