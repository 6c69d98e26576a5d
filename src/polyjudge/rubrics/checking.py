"""What must hold of a rubric before anybody is asked."""

import math
from collections.abc import Iterator

from polyjudge.errors import ConfigError
from polyjudge.records import Rubric

from .templates import check_template

_RESERVED = ("score", "reason", "subscores")


def check_rubric(rubric: Rubric) -> None:
    """Raise a `ConfigError` that names what is wrong with a rubric."""
    problem = next(_problems(rubric), None)
    if problem:
        raise ConfigError(f"rubric {rubric.name!r}: {problem}")
    check_template(rubric.instruction)


def _problems(rubric: Rubric) -> Iterator[str]:
    scale = rubric.scale
    if not rubric.criteria:
        yield "it has no criteria"
    if not scale.lowest < scale.highest:
        yield f"its scale runs from {scale.lowest:g} to {scale.highest:g}"
    yield from _doubled([*(each.name for each in rubric.criteria), *(each.name for each in rubric.flags), *_RESERVED])
    for criterion in rubric.criteria:
        if not (math.isfinite(criterion.weight) and criterion.weight > 0):
            yield f"the weight of {criterion.name!r} is {criterion.weight:g}; it must be above 0"
        for value in criterion.anchors:
            if not scale.lowest <= value <= scale.highest:
                yield f"{criterion.name!r} has an anchor at {value}, off the scale"
    yield from _pass_rule_problems(rubric)


def _pass_rule_problems(rubric: Rubric) -> Iterator[str]:
    rule, scale = rubric.passing, rubric.scale
    if rule is None:
        return
    if not scale.lowest <= rule.minimum <= scale.highest:
        yield f"its pass rule asks for {rule.minimum:g}, off the scale"
    for name in rule.flags:
        if name not in {flag.name for flag in rubric.flags}:
            yield f"its pass rule names an unknown flag {name!r}"


def _doubled(names: list[str]) -> Iterator[str]:
    """Tell names that a reply could not keep apart: judges do not mind their capitals."""
    seen: set[str] = set()
    for name in names:
        if not name.strip():
            yield "a criterion or flag has no name"
        if name.casefold() in seen:
            yield f"the name {name!r} is taken twice"
        seen.add(name.casefold())
