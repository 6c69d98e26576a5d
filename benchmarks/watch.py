"""How soon a watch notices another judge, and how often it is wrong, on the recorded judges of alttest_dev.

The pinned answers are those of one recorded model, and another one answers now: all ordered pairs, 100 questions in
random orders. Noise is simulated: an answer is, with some probability, that of a random model of the six to the same
item, and for scores one point up or down. Two models differ by the difference of their accuracy against people, or of
their mean score, in percent of the scale.
"""

import csv
import os
import random
from collections import defaultdict
from itertools import permutations
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from polyjudge.calibration.watching import Watching
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.outcomes import Item, JudgeResult
from polyjudge.records.rubrics import Rubric, RubricCriterion, Scale
from polyjudge.records.watches import PinnedAnswer, PinnedQuestion, PinnedSet

FOLDER = Path(os.environ.get("POLYJUDGE_DATA", "")) / "alttest_dev"
DATASETS = ("wax", "mtbench", "10k_prompts")
QUESTIONS, SWAPS, UNCHANGED, LEAST = 100, 100, 300, 5.0
NOISES = (0.0, 0.1, 0.3)
PINNED = (1, 3)
"""Answers to each question of then."""
_PREFERENCES = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}


class Recorded(NamedTuple):
    """The labels of one dataset: by model and item, and those of people by item."""

    models: dict[str, dict[str, str]]
    people: dict[str, list[str]]
    is_numeric: bool
    """Whether labels are points from 1 to 5."""

    def standing(self, model: str) -> float:
        """Return the mean score of a model, or its accuracy against people, in percent."""
        labels = self.models[model]
        if self.is_numeric:
            return 25 * fmean(float(label) - 1 for label in labels.values())
        judged = [item for item in labels if self.people[item]]
        return 100 * fmean(fmean(labels[item] == each for each in self.people[item]) for item in judged)


def run() -> None:
    if not FOLDER.is_dir():
        print("POLYJUDGE_DATA is not set or lacks alttest_dev")
        return
    for name in DATASETS:
        data = read(FOLDER / f"{name}.tsv")
        standings = {model: data.standing(model) for model in data.models}
        pairs = list(permutations(data.models, 2))
        differing = [pair for pair in pairs if abs(standings[pair[0]] - standings[pair[1]]) >= LEAST]
        print(f"{name}: {len(pairs)} ordered pairs of models, {len(differing)} differ by {LEAST:g} points or more")
        for answers in PINNED:
            for noise in NOISES:
                _show(data, pairs, differing, answers, noise)


def _show(
    data: Recorded, pairs: list[tuple[str, str]], differing: list[tuple[str, str]], answers: int, noise: float
) -> None:
    found = {pair: _swapped(data, *pair, answers, noise, SWAPS) for pair in pairs}
    alarms = [_swapped(data, model, model, answers, noise, UNCHANGED)[0] for model in data.models]
    shown = [found[pair][0] for pair in differing]
    asked = [found[pair][1] for pair in differing]
    noticed = f"{fmean(shown):.1%} noticed, worst pair {min(shown):.1%}, after {fmean(asked):.0f} questions"
    others = [found[pair][0] for pair in pairs if pair not in differing]
    print(f"  {answers} pinned, noise {noise:.0%}: {noticed}; other pairs {fmean(others):.1%}; ", end="")
    print(f"false alarms {fmean(alarms):.1%}, worst model {max(alarms):.1%}", flush=True)


def read(path: Path) -> Recorded:
    """Read the labels of a dataset."""
    models, people = defaultdict[str, dict[str, str]](dict), defaultdict[str, list[str]](list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["kind"] == "llm":
                models[row["annotator"]][row["item"]] = row["label"]
            else:
                people[row["item"]].append(row["label"])
    numeric = all(label.isdigit() for labels in models.values() for label in labels.values())
    return Recorded(models, people, numeric)


def _swapped(data: Recorded, then: str, now: str, answers: int, noise: float, times: int) -> tuple[float, float]:
    """Return how often a change is shown where one model answered then and another one now, and the mean questions."""
    chance = random.Random(f"{then} {now} {answers} {noise}")
    items = sorted(data.models[then].keys() & data.models[now].keys())
    shown, asked = 0, 0
    for _ in range(times):
        chosen = chance.sample(items, min(QUESTIONS, len(items)))
        questions = [
            PinnedQuestion(
                id=item,
                candidate="",
                answers=tuple(_answer(data, then, item, noise, chance) for _ in range(answers)),
            )
            for item in chosen
        ]
        watching = Watching(_pinned(data, questions), 0.05)
        for question in questions:
            watching.put(Item(question.id, ""), _outcome(data, now, question, noise, chance))
        shown += watching.test.is_shown
        asked += watching.test.asked
    return shown / times, asked / times


def _pinned(data: Recorded, questions: list[PinnedQuestion]) -> PinnedSet:
    scale = Scale(1, 5) if data.is_numeric else Scale(0, 1)
    rubric = Rubric(name="recorded", instruction="", criteria=(RubricCriterion("all", ""),), scale=scale)
    judge = JudgeIdentity(provider="", model="", rubric="", rubric_fingerprint="")
    return PinnedSet(
        name="", judge=judge, models=(), pinned_at="", results="", rubric=rubric, questions=tuple(questions)
    )


def _outcome(data: Recorded, now: str, question: PinnedQuestion, noise: float, chance: random.Random) -> JudgeResult:
    """Return what the judge answers now, asked again if it has one answer of then, which differs."""
    first = _answer(data, now, question.id, noise, chance)
    given = [first]
    if len(question.answers) == 1 and first != question.answers[0]:
        given.append(_answer(data, now, question.id, noise, chance))
    members = tuple(JudgeResult(each.score, "", verdict=each.verdict) for each in given)
    return JudgeResult(first.score, "", verdict=first.verdict, members=members)


def _answer(data: Recorded, model: str, item: str, noise: float, chance: random.Random) -> PinnedAnswer:
    label = data.models[model][item]
    if chance.random() < noise:
        if data.is_numeric:
            label = str(min(5, max(1, int(label) + chance.choice([-1, 1]))))
        else:
            label = data.models[chance.choice(sorted(data.models))].get(item, label)
    if data.is_numeric:
        return PinnedAnswer(score=float(label))
    return PinnedAnswer(score=_PREFERENCES.get(label, 0.0), verdict=label)


if __name__ == "__main__":
    run()
