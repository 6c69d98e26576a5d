"""Read what a judge wrote under the keys of a rubric, strictly."""

from typing import Any, cast

from polyjudge.records import Rubric
from polyjudge.rubrics import weighted_mean

from .asking import Reading
from .numbers import read_number
from .reading import JudgeJson

_YES_NO = {"true": True, "yes": True, "false": False, "no": False}


def read_verdict(rubric: Rubric, found: JudgeJson) -> Reading:
    """Return what one reply says, or one row of it; what is no verdict by the rubric is a `ValueError`."""
    subscores = _subscores(rubric, found)
    weighted = weighted_mean(rubric, subscores)
    own = _number(rubric, found.value["score"], "score") if rubric.overall else weighted
    if own is None or (weighted is None and rubric.passing is not None):
        # Without all scores the pass rule cannot be applied, and that is not the candidate's fault.
        missing = [criterion.name for criterion in rubric.criteria if criterion.name not in subscores]
        raise ValueError(f"no score for {', '.join(missing)}")
    return {
        "score": own,
        "reason": _words(found.value.get("reason")),
        "subscores": subscores,
        "flags": {flag.name: _yes_or_no(flag.name, found.value[flag.name]) for flag in rubric.flags},
        "weighted_score": weighted,
        "rung": found.rung,
        "repaired": found.repaired,
    }


def _subscores(rubric: Rubric, found: JudgeJson) -> dict[str, float]:
    """Return the scores of the rubric's own criteria; a judge's additions are left aside."""
    beside = found.rung == "lines" or not (rubric.overall or "subscores" in found.value)
    given = found.value if beside else found.value.get("subscores") or {}
    if not isinstance(given, dict):
        raise ValueError(f"the subscores are {given!r}, not an object")
    by_name: dict[str, list[Any]] = {}
    for name, value in cast(dict[str, Any], given).items():
        by_name.setdefault(str(name).casefold(), []).append(value)
    subscores: dict[str, float] = {}
    for criterion in rubric.criteria:
        meant = by_name.get(criterion.name.casefold())
        if meant is None:
            continue
        values = {_number(rubric, value, criterion.name) for value in meant}
        if len(values) > 1:
            raise ValueError(f"{criterion.name} is given twice with different values")
        subscores[criterion.name] = values.pop()
    return subscores


def _number(rubric: Rubric, value: object, name: str) -> float:
    try:
        return read_number(value, rubric.scale)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _yes_or_no(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().casefold() in _YES_NO:
        return _YES_NO[value.strip().casefold()]
    raise ValueError(f"{name}: {value!r} is neither true nor false")


def _words(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "\n".join(map(str, cast(list[object], value)))
    return str(value)
