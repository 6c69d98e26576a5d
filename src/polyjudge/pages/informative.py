"""Draw the items whose labels say most, or those of the plan of an earlier sample."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from polyjudge.calibration.correction import usual_scale
from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.doubts import Doubt
from polyjudge.records.samples import PlannedItem, SamplePlan
from polyjudge.statistics.informative import (
    closeness_to,
    denser_end,
    distance_to_ends,
    inclusion_probabilities,
    sizes,
    systematic_sample,
)
from polyjudge.statistics.resampling import Floats
from polyjudge.store.sample_plans import read_plan, write_plan

from .sampling import Candidate, Drawn, Sample, allotted

USUAL_SIZE = 100
_ROUNDING = 2e-6
"""Of stored probabilities."""


def draw_informative(
    candidates: Sequence[Candidate], doubts: Mapping[str, Doubt], count: int, seed: int, *, passes: bool
) -> list[Drawn]:
    """Return a sample with every language, in which items that say more have higher probabilities.

    `passes`: the labels are pass and fail, and scores near the judge's threshold say most.
    """
    by_language: defaultdict[str, list[Candidate]] = defaultdict(list)
    for each in sorted(candidates, key=lambda each: each.id):
        by_language[each.language].append(each)
    if count < len(by_language):
        message = (
            f"a sample of {count} items is too small for {len(by_language)} languages: every language needs at "
            "least one item"
        )
        raise ConfigError(
            f"{message}. Give a larger size, or select fewer languages", option="size", value=str(len(by_language))
        )
    drawn: list[Drawn] = []
    for language, share in allotted(by_language, min(count, len(candidates)), seed).items():
        group = by_language[language]
        wanted = sizes(signals_of(group, doubts, candidates, passes=passes), len(group))
        chances = inclusion_probabilities(wanted, share)
        numbers = np.random.default_rng(random.Random(f"{seed} {language}").getrandbits(64))
        places = systematic_sample(chances, numbers, [each.system for each in group])
        for place in map(int, places):
            # Rounded up, so that it is never 0; the digits left out do not matter.
            chance = min(1.0, math.ceil(float(chances[place]) * 1e6) / 1e6)
            drawn.append(Drawn(group[place], 1 / chance, chance))
    return drawn


def signals_of(
    group: Sequence[Candidate], doubts: Mapping[str, Doubt], every: Sequence[Candidate], *, passes: bool
) -> dict[str, Floats]:
    """Return the signals of the doubt about each item, by name; those that no item has are left out."""
    known = [each.score for each in every if each.score is not None]
    scores = np.array([math.nan if each.score is None else each.score for each in group])
    judged = ~np.isnan(scores)
    signals: dict[str, Floats] = {}
    threshold = _threshold(every) if passes else None
    if known and judged.any():
        of_score = np.full(len(group), math.nan)
        near = distance_to_ends(scores[judged], usual_scale(known) or (denser_end(known),))
        of_score[judged] = near if threshold is None else closeness_to(threshold, scores[judged])
        signals["ends" if threshold is None else "threshold"] = of_score
    found = [doubts.get(each.id, Doubt()) for each in group]
    for name, values in (
        ("spread", [each.spread for each in found]),
        ("probability", [each.chance_of_another for each in found]),
    ):
        if any(value is not None for value in values):
            signals[name] = np.array([math.nan if value is None else value for value in values])
    return signals


def _threshold(candidates: Sequence[Candidate]) -> float | None:
    """Return the score from which on the judge passes items, if one score separates them."""
    passed = [each.score for each in candidates if each.score is not None and each.passed]
    failed = [each.score for each in candidates if each.score is not None and each.passed is False]
    if not passed or not failed or min(passed) < max(failed):
        return None
    return (min(passed) + max(failed)) / 2


def planned(candidates: Sequence[Candidate], plan: SamplePlan, path: Path) -> list[Drawn]:
    """Return the sample of a plan; raise DataError if one of its items is no longer there."""
    by_id = {each.id: each for each in candidates}
    missing = next((each.id for each in plan.items if each.id not in by_id), None)
    if missing is not None:
        message = (
            f"the sample contains the item {missing!r}, which is no longer in the results. To draw a new sample, "
            "give another file of labels"
        )
        raise DataError(message, path=path, option="labels")
    chances = [(by_id[each.id], float(each.inclusion_probability)) for each in plan.items]
    return [Drawn(candidate, 1 / chance, chance) for candidate, chance in chances]


def is_plain(sample: Sample) -> bool:
    """Return whether no item of an informative sample was likelier than in a random one, because no signal differs."""
    counts = Counter(each.language for each in sample.items.values())
    return all(
        each.probability is not None
        and abs(each.probability - counts[each.language] / len(sample.scores[each.language])) <= _ROUNDING
        for each in sample.items.values()
    )


def planning(
    path: Path,
    size: int | None,
    seed: int | None,
    drawing: Callable[[Sequence[Candidate], int], Sequence[Drawn]],
    *,
    has_labels: bool = True,
) -> Callable[[Sequence[Candidate]], Sequence[Drawn]]:
    """Return a function that draws the sample of the plan in a file, or a new one, whose plan is then stored.

    Another size or seed draws a new sample, unless the one of the plan already has labels.
    """
    new = partial(_new, path=path, size=size or USUAL_SIZE, seed=seed or 0, drawing=drawing)
    if not path.exists():
        return new
    plan = read_plan(path)
    for name, given, known in (("size", size, plan.size), ("seed", seed, plan.seed)):
        if given not in (None, known):
            if not has_labels:
                return new
            why = f"the existing labels belong to a sample with {name} {known}"
            message = f"{why}. Give {known} to continue it, or another file of labels to draw a new sample"
            raise ConfigError(message, option=name, value=str(known))
    return lambda candidates: planned(candidates, plan, path)


def _new(
    candidates: Sequence[Candidate],
    *,
    path: Path,
    size: int,
    seed: int,
    drawing: Callable[[Sequence[Candidate], int], Sequence[Drawn]],
) -> Sequence[Drawn]:
    drawn = drawing(candidates, size)
    items = tuple(
        PlannedItem(id=each.candidate.id, language=each.candidate.language, inclusion_probability=each.probability or 1)
        for each in drawn
    )
    write_plan(path, SamplePlan(seed=seed, size=size, candidates=len(candidates), items=items))
    return drawn
