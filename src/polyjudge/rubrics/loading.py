"""Load and check a rubric by name or from a file."""

import math
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from polyjudge.errors import ConfigError, DataError, UnknownNameError
from polyjudge.files.text_files import read_toml
from polyjudge.records.codec import from_json
from polyjudge.records.rubrics import Rubric

from .prompts import check_template

_RESERVED = ("score", "reason", "subscores")


def check_rubric(rubric: Rubric) -> None:
    """Raise a `ConfigError` with the first problem of a rubric."""
    problem = next(_problems(rubric), None)
    if problem:
        raise ConfigError(f"rubric {rubric.name!r}: {problem}")
    check_template(rubric.instruction)


def _problems(rubric: Rubric) -> Iterator[str]:
    scale = rubric.scale
    if not rubric.criteria:
        yield "no criteria"
    if not scale.lowest < scale.highest:
        yield f"the scale must rise, but runs from {scale.lowest:g} to {scale.highest:g}"
    yield from _duplicate_names(
        [*(each.name for each in rubric.criteria), *(each.name for each in rubric.flags), *_RESERVED]
    )
    for criterion in rubric.criteria:
        if not (math.isfinite(criterion.weight) and criterion.weight > 0):
            yield f"the weight of {criterion.name!r} must be above 0, not {criterion.weight:g}"
        for value in criterion.anchors:
            if not scale.lowest <= value <= scale.highest:
                yield f"{criterion.name!r} has an anchor at {value}, outside the scale"
    yield from _pass_rule_problems(rubric)
    yield from _span_problems(rubric)


def _pass_rule_problems(rubric: Rubric) -> Iterator[str]:
    rule, scale = rubric.passing, rubric.scale
    if rule is None:
        return
    if not scale.lowest <= rule.minimum <= scale.highest:
        yield f"the pass rule requires {rule.minimum:g}, outside the scale"
    for name in rule.flags:
        if name not in {flag.name for flag in rubric.flags}:
            yield f"the pass rule has an unknown flag {name!r}"


def _span_problems(rubric: Rubric) -> Iterator[str]:
    rules = rubric.spans
    if rules is None:
        return
    if not rules.severities:
        yield "no severities of error spans"
    if rubric.flags:
        yield "a judge of error spans is asked no yes-or-no questions"
    for name, value in rules.penalties.items():
        if not (math.isfinite(value) and value >= 0):
            yield f"the penalty {name!r} must be at least 0, not {value:g}"
    unknown = [name for name in rules.severities if not rubric.overall and name not in rules.penalties]
    if unknown:
        yield f"no penalty for {', '.join(unknown)}, and the judge states no score"


def _duplicate_names(names: list[str]) -> Iterator[str]:
    """Yield names that a reply could not distinguish; case does not count."""
    seen: set[str] = set()
    for name in names:
        if not name.strip():
            yield "a criterion or flag has no name"
        if name.casefold() in seen:
            yield f"the name {name!r} is used twice"
        seen.add(name.casefold())


_NOT_RUBRICS = {"language_questions.toml", "rewordings.toml"}


def rubric_names() -> list[str]:
    """Return the names of the shipped rubrics."""
    entries = [entry.name for entry in files("polyjudge.rubrics").iterdir()]
    return sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml") and name not in _NOT_RUBRICS)


def load_rubric(name: str | Path) -> Rubric:
    """Load a shipped rubric by name, or a TOML file by path."""
    if str(name) in rubric_names():
        return _read(files("polyjudge.rubrics") / f"{name}.toml", Path(f"{name}.toml"))
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return _read(path, path)
    raise UnknownNameError("rubric", str(name), rubric_names())


def _read(source: Path | Traversable, path: Path) -> Rubric:
    data = read_toml(source, path=path)
    try:
        rubric = from_json(Rubric, data)
        check_rubric(rubric)
    except (DataError, ConfigError) as error:
        raise DataError(f"not a valid rubric: {error}", path=path) from None
    return rubric
