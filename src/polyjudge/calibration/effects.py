"""Compute each bias from the answers to probes: an effect with an interval and a sentence."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from polyjudge.records.calibration import Effect, Figure, ReferenceText
from polyjudge.records.outcomes import JudgeResult, Outcome
from polyjudge.records.rubrics import Rubric
from polyjudge.statistics.resampling import Floats, clustered_mean, hull, interval_of, share_of_wins

from .measurement import share_of_scale
from .monotonicity import NOTICEABLE, drawn
from .probes import EFFECTS, Probe, parallel, probe_id

SHARE = "share of the scale"
PICKS = "share of picks, 0.5 without bias"
_MIN_COMPARISONS = 5
"""Comparisons that an effect needs."""
_NEAR_HALF = 0.15
"""Share of picks: an interval within this distance of one half, and around it, means that order or length does not
decide."""
_NEGLIGIBLE = 0.03
"""Share of picks: a difference from one half of at most this is too small to matter."""


class Found(NamedTuple):
    """The value of one text."""

    text: ReferenceText
    value: float

    @property
    def content(self) -> str:
        """The content of the text, which its translations share; they are one cluster."""
        return self.text.source or f"{self.text.language}|{self.text.id}"


@dataclass(frozen=True, slots=True)
class _Answers:
    """The answers by the id of the probe."""

    outcomes: Mapping[str, Outcome]
    rubric: Rubric
    texts: Sequence[ReferenceText]

    def score(self, text: ReferenceText, effect: str, part: str) -> float | None:
        """Return a score as a share of the scale; None if there is none."""
        outcome = self.outcomes.get(probe_id(text, effect, part))
        return None if outcome is None else share_of_scale(self.rubric, outcome)

    def pick(self, text: ReferenceText, effect: str, part: str) -> str | None:
        """Return the choice between two texts: A, B or tie."""
        outcome = self.outcomes.get(probe_id(text, effect, part))
        return outcome.verdict if isinstance(outcome, JudgeResult) else None

    def differences(self, effect: str, changed: str, plain: tuple[str, str] = ("", "0")) -> list[Found]:
        """Return the score of the changed version minus that of the plain one, for each text."""
        found: list[Found] = []
        for text in self.texts:
            after, before = self.score(text, effect, changed), self.score(text, *plain)
            if after is not None and before is not None:
                found.append(Found(text, after - before))
        return found

    def repeats(self, text: ReferenceText) -> list[float]:
        """Return the scores of the unchanged text that was judged several times."""
        parts, number = [self.score(text, "", "0")], 1
        while probe_id(text, "repeats", str(number)) in self.outcomes:
            parts.append(self.score(text, "repeats", str(number)))
            number += 1
        return [part for part in parts if part is not None]


def effects_of(
    probes: Sequence[Probe],
    outcomes: Mapping[str, Outcome],
    rubric: Rubric,
    wanted: Sequence[str] = tuple(EFFECTS),
) -> dict[str, Effect]:
    """Compute each effect that has probes; the sentence of an effect says if it has too few answers."""
    texts = [probe.text for probe in probes if not probe.effect]
    answers = _Answers(outcomes, rubric, texts)
    asked = {probe.effect for probe in probes if probe.effect}
    if "language" in wanted and parallel(texts):
        asked.add("language")
    measures: dict[str, Callable[[_Answers], Effect]] = {
        "length": _length,
        "length_in_pairs": _length_in_pairs,
        "formatting": _formatting,
        "injection": _injection,
        "criteria_order": _criteria_order,
        "repeats": _repeats,
        "position": _position,
        "language": _language,
    }
    return {name: without_few(measure(answers)) for name, measure in measures.items() if name in asked}


def own_family(own: Sequence[float], others: Sequence[float], family: str) -> Effect:
    """Compute how much more than people a judge gives models of its own family, beyond what it gives all others.

    Both arguments are the judge's scores minus those of people, as shares of their scales.
    """
    effect = Effect(
        name="own_family",
        about=f"texts by {family} models, compared with those of others, relative to people's scores",
        unit=SHARE,
        count=len(own),
    )
    if len(own) < _MIN_COMPARISONS or len(others) < _MIN_COMPARISONS:
        return replace(effect, sentence=f"Not enough texts by {family} models and by others.")
    first, second = np.array(own, dtype=np.float64), np.array(others, dtype=np.float64)
    replicates = drawn(len(first), seed=1) @ first / len(first) - drawn(len(second), seed=2) @ second / len(second)
    size = interval_of(replicates)
    words = _direction(
        size, "it favours its own family", "it is harder on its own family", "it treats its own family like others"
    )
    return replace(effect, size=size, sentence=f"Relative to people's scores {words}.")


def without_few(effect: Effect) -> Effect:
    """Remove the figure of an effect with too few comparisons, and say so."""
    if effect.count >= _MIN_COMPARISONS:
        return effect
    return replace(
        effect, size=Figure(), sentence=f"Not enough data: {effect.count} comparisons, {_MIN_COMPARISONS} are needed."
    )


def _effect(name: str, found: Sequence[Found], *, unit: str = SHARE) -> Effect:
    def mean(part: Sequence[Found]) -> Figure:
        values, contents = [each.value for each in part], [each.content for each in part]
        if unit == PICKS:  # few picks that agree have no spread, but may be chance
            picked = share_of_wins(values.count(1.0), values.count(0.0), len(values))
            return hull(clustered_mean(values, contents), picked)
        return clustered_mean(values, contents)

    by_language: defaultdict[str, list[Found]] = defaultdict(list)
    for each in found:
        by_language[each.text.language].append(each)
    figures = {tag: mean(part) for tag, part in sorted(by_language.items()) if tag and len(part) >= _MIN_COMPARISONS}
    return Effect(name=name, about=EFFECTS[name], size=mean(found), unit=unit, count=len(found), by_language=figures)


def _direction(size: Figure, up: str, down: str, none: str) -> str:
    """Return in words whether a score rises, falls or stays, with its size."""
    if size.value is None or size.low is None or size.high is None:
        return "there is not enough data"
    if size.low > 0 and size.value >= NOTICEABLE:
        return f"{up}, by {size.value:.0%} of the scale"
    if size.high < 0 and size.value <= -NOTICEABLE:
        return f"{down}, by {-size.value:.0%} of the scale"
    if max(abs(size.low), abs(size.high)) < NOTICEABLE:
        return none
    return f"not enough data to say whether it matters (between {size.low:+.0%} and {size.high:+.0%} of the scale)"


def _length(answers: _Answers) -> Effect:
    effect = _effect("length", answers.differences("length", "padded"))
    words = _direction(
        effect.size,
        "it prefers the longer text",
        "it lowers the score for padding",
        "padding does not change the score",
    )
    return replace(effect, sentence=f"A text that says everything twice: {words}.")


def _formatting(answers: _Answers) -> Effect:
    effect = _effect("formatting", answers.differences("formatting", "formatted"))
    words = _direction(effect.size, "they raise the score", "they lower the score", "they do not change the score")
    return replace(effect, sentence=f"Headings, bold words and bullets: {words}.")


def _injection(answers: _Answers) -> Effect:
    effect = _effect("injection", answers.differences("injection", "pleading", ("injection", "silent")))
    words = _direction(effect.size, "it obeys", "it lowers the score", "it is not affected")
    return replace(effect, sentence=f"A perturbed text that asks for the highest score: {words}.")


def _criteria_order(answers: _Answers) -> Effect:
    """Compute how far another order changes the score, beyond the spread of repeated questions."""
    changes = [
        Found(each.text, abs(each.value) - _noise(answers.repeats(each.text)))
        for each in answers.differences("criteria_order", "reversed")
    ]
    effect = _effect("criteria_order", changes)
    return replace(effect, sentence=f"The order of the criteria {_order_words(effect.size)}.")


def _order_words(size: Figure) -> str:
    if size.value is None or size.low is None or size.high is None:
        return "has not enough data"
    if size.high < NOTICEABLE:
        return "does not change the score"
    return (
        f"changes the score by {size.value:.0%} of the scale"
        if size.low > 0
        else "may change the score: not enough data"
    )


def _noise(scores: Sequence[float]) -> float:
    """Return the mean difference between two answers to the same question."""
    gaps = [abs(one - other) for one, other in combinations(scores, 2)]
    return sum(gaps) / len(gaps) if gaps else 0.0


def _repeats(answers: _Answers) -> Effect:
    spreads: list[Found] = []
    for text in answers.texts:
        known = answers.repeats(text)
        if len(known) > 1:
            spreads.append(Found(text, max(known) - min(known)))
    effect = _effect("repeats", spreads)
    differ = sum(each.value > 0 for each in spreads)
    size = effect.size.value or 0.0
    words = f"{differ} of {len(spreads)} texts got different scores, {size:.1%} of the scale apart on average"
    return replace(effect, sentence=f"The same question asked again: {words}.")


def _picks(answers: _Answers, effect: str, wanted: Mapping[str, str]) -> list[Found]:
    """Return the share of the two picks that equal `wanted`, for each text; a tie counts half."""
    shares: list[Found] = []
    for text in answers.texts:
        picks = {part: answers.pick(text, effect, part) for part in wanted}
        if all(picks.values()):
            got = [0.5 if picks[part] == "tie" else float(picks[part] == pick) for part, pick in wanted.items()]
            shares.append(Found(text, sum(got) / len(got)))
    return shares


def _position(answers: _Answers) -> Effect:
    effect = _effect("position", _picks(answers, "position", {"forward": "A", "backward": "A"}), unit=PICKS)
    return replace(
        effect, sentence=choice_sentence(effect.size, "the text shown first", "the text shown second", "the order")
    )


def _length_in_pairs(answers: _Answers) -> Effect:
    picks = _picks(answers, "length_in_pairs", {"forward": "B", "backward": "A"})
    effect = _effect("length_in_pairs", picks, unit=PICKS)
    return replace(effect, sentence=choice_sentence(effect.size, "the longer text", "the shorter text", "length"))


def choice_sentence(size: Figure, one: str, other: str, what: str) -> str:
    """Return in words which of two texts is picked more often."""
    if size.value is None or size.low is None or size.high is None:
        return "Not enough data."
    small = max(abs(size.low - 0.5), abs(size.high - 0.5)) <= _NEGLIGIBLE
    end = ", a difference too small to matter." if small else "."
    if size.low > 0.5:
        return f"It picks {one} in {size.value:.0%} of cases{end}"
    if size.high < 0.5:
        return f"It picks {other} in {1 - size.value:.0%} of cases{end}"
    near = size.low >= 0.5 - _NEAR_HALF and size.high <= 0.5 + _NEAR_HALF
    return f"{what.capitalize()} does not decide." if near else f"Not enough data to say whether {what} decides."


def _language(answers: _Answers) -> Effect:
    """Compute how far apart the scores of the same content in several languages are."""
    offsets: defaultdict[str, list[Found]] = defaultdict(list)
    for texts in parallel(answers.texts).values():
        scores = [(text, answers.score(text, "", "0")) for text in texts]
        known = [(text, score) for text, score in scores if score is not None]
        if len({text.language for text, _ in known}) < 2:
            continue
        mean = sum(score for _, score in known) / len(known)
        for text, score in known:
            offsets[text.language].append(Found(text, score - mean))
    many = {tag: found for tag, found in sorted(offsets.items()) if len(found) > 1}
    # A Bonferroni correction for the number of languages.
    chance = 1 - 0.025 / max(1, len(many))
    figures = {
        tag: clustered_mean([each.value for each in found], [each.content for each in found], chance)
        for tag, found in many.items()
    }
    count = sum(map(len, offsets.values()))
    effect = Effect(name="language", about=EFFECTS["language"], unit=SHARE, count=count, by_language=figures)
    if len(figures) < 2:
        return replace(effect, count=0)
    return replace(effect, size=_range(many), sentence=_languages_sentence(figures))


def _languages_sentence(figures: Mapping[str, Figure]) -> str:
    """Name the languages that differ from the others significantly."""
    below = [tag for tag, each in figures.items() if (each.high or 0) < 0 and (each.value or 0) <= -NOTICEABLE]
    above = [tag for tag, each in figures.items() if (each.low or 0) > 0 and (each.value or 0) >= NOTICEABLE]
    if not below and not above:
        return "On the same content no language differs noticeably from the others."
    parts = [f"{', '.join(tags)} {where}" for tags, where in ((below, "below"), (above, "above")) if tags]
    return f"On the same content it scores {' and '.join(parts)} the others: do not rank languages by its raw means."


def _range(offsets: Mapping[str, Sequence[Found]]) -> Figure:
    """Return the difference between the highest and the lowest language, with a bootstrap over contents."""
    contents = sorted({each.content for found in offsets.values() for each in found})
    indexes = {content: index for index, content in enumerate(contents)}
    draws = drawn(len(indexes))
    means: list[Floats] = []
    for found in offsets.values():
        weights = draws[:, [indexes[each.content] for each in found]]
        total = weights.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            means.append(np.where(total > 0, weights @ np.array([each.value for each in found]) / total, np.nan))
    table = np.stack(means)
    table = table[:, ~np.isnan(table).all(axis=0)]
    return interval_of(np.nanmax(table, axis=0) - np.nanmin(table, axis=0))
