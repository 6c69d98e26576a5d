"""Load a rubric by name or from a file, and check it."""

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


_NOT_RUBRICS = {"language_questions.toml"}


def rubric_names() -> list[str]:
    """Return the names of the rubrics that ship with polyjudge."""
    entries = [entry.name for entry in files("polyjudge.rubrics").iterdir()]
    return sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml") and name not in _NOT_RUBRICS)


def load_rubric(name: str | Path) -> Rubric:
    """Return a rubric that ships with polyjudge by its name, or one from a TOML file by its path."""
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
        raise DataError(f"is no rubric: {error}", path=path) from None
    return rubric
