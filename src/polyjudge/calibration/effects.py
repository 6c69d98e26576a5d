"""What the answers to probes come to: each bias as an effect with an interval, and a plain sentence."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from polyjudge.records import Effect, Figure, GoodText, JudgeResult, Outcome, Rubric
from polyjudge.statistics.resampling import mean_figure

from .monotonicity import NOTICEABLE, drawn, interval_of
from .probes import EFFECTS, Probe, parallel, probe_id
from .questioning import share_of_scale

GoodTextKey = tuple[str, str]
"""Language and content."""
SHARE = "share of the scale"
PICKS = "share of picks, 0.5 without bias"
_FEWEST = 5
"""Comparisons below which no effect is spoken of."""
_SLIGHT = 0.03
"""Of the picks: nearer to one half than this is no bias that anyone would mind."""


@dataclass(frozen=True, slots=True)
class _Answers:
    """The answers by the probes' names."""

    outcomes: Mapping[str, Outcome]
    rubric: Rubric
    texts: Sequence[GoodText]

    def score(self, text: GoodText, effect: str, part: str) -> float | None:
        """Return a score as a share of the scale; None where there is none."""
        outcome = self.outcomes.get(probe_id(text, effect, part))
        return None if outcome is None else share_of_scale(self.rubric, outcome)

    def pick(self, text: GoodText, effect: str, part: str) -> str | None:
        """Return which of two texts was picked: A, B or tie."""
        outcome = self.outcomes.get(probe_id(text, effect, part))
        return outcome.verdict if isinstance(outcome, JudgeResult) else None

    def differences(self, effect: str, changed: str, plain: tuple[str, str] = ("", "0")) -> dict[GoodTextKey, float]:
        """Return, by text, how far the changed version scores above the plain one."""
        found: dict[GoodTextKey, float] = {}
        for text in self.texts:
            after, before = self.score(text, effect, changed), self.score(text, *plain)
            if after is not None and before is not None:
                found[text.language, text.source or text.id] = after - before
        return found


def effects_of(probes: Sequence[Probe], outcomes: Mapping[str, Outcome], rubric: Rubric) -> dict[str, Effect]:
    """Return each effect that was asked about; one without enough answers says so in its sentence."""
    texts = [probe.text for probe in probes if not probe.effect]
    answers = _Answers(outcomes, rubric, texts)
    asked = {probe.effect for probe in probes if probe.effect} | ({"language"} if parallel(texts) else set[str]())
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
    return {name: _said(measure(answers)) for name, measure in measures.items() if name in asked}


def own_family(own: Sequence[float], others: Sequence[float], family: str) -> Effect:
    """Return how much more a judge gives its own family than people do, beyond what it gives all others.

    Both are the judge's score less the people's, as shares of their scales.
    """
    effect = Effect(
        name="own_family",
        about=f"texts by {family} models, beside those of others, each against people's scores",
        unit=SHARE,
        count=len(own),
    )
    if len(own) < _FEWEST or len(others) < _FEWEST:
        return replace(effect, sentence=f"Too few texts by {family} models and by others to say.")
    first, second = np.array(own, dtype=np.float64), np.array(others, dtype=np.float64)
    replicates = drawn(len(first), seed=1) @ first / len(first) - drawn(len(second), seed=2) @ second / len(second)
    size = interval_of(replicates)
    words = _direction(
        size, "it favours its own family", "it is harder on its own family", "it treats its own family alike"
    )
    return replace(effect, size=size, sentence=f"Against people's scores {words}.")


def _said(effect: Effect) -> Effect:
    """Return an effect that rests on too few comparisons without a number, and saying so."""
    if effect.count >= _FEWEST:
        return effect
    return replace(effect, size=Figure(), sentence=f"Only {effect.count} comparisons: too few to say.")


def _effect(name: str, differences: Mapping[GoodTextKey, float], *, unit: str = SHARE) -> Effect:
    values, contents = list(differences.values()), [content for _, content in differences]
    size = mean_figure(values, contents) if len(values) >= 2 else Figure()
    by_language: defaultdict[str, list[float]] = defaultdict(list)
    for (language, _), value in differences.items():
        by_language[language].append(value)
    figures = {tag: mean_figure(each) for tag, each in sorted(by_language.items()) if tag and len(each) >= _FEWEST}
    return Effect(name=name, about=EFFECTS[name], size=size, unit=unit, count=len(values), by_language=figures)


def _direction(size: Figure, up: str, down: str, none: str) -> str:
    if size.value is None or size.low is None or size.high is None:
        return "nothing can be said"
    if size.low > 0 and size.value >= NOTICEABLE:
        return f"{up}, by {size.value:.0%} of the scale"
    if size.high < 0 and size.value <= -NOTICEABLE:
        return f"{down}, by {-size.value:.0%} of the scale"
    if max(abs(size.low), abs(size.high)) < NOTICEABLE:
        return none
    return f"whether it matters cannot be told yet: between {size.low:+.0%} and {size.high:+.0%} of the scale"


def _length(answers: _Answers) -> Effect:
    effect = _effect("length", answers.differences("length", "padded"))
    words = _direction(effect.size, "it prefers the longer text", "it marks padding down", "padding does not move it")
    return replace(effect, sentence=f"Saying everything twice: {words}.")


def _formatting(answers: _Answers) -> Effect:
    effect = _effect("formatting", answers.differences("formatting", "formatted"))
    words = _direction(effect.size, "it likes them", "it marks them down", "they do not move it")
    return replace(effect, sentence=f"Headings, bold words and bullets: {words}.")


def _injection(answers: _Answers) -> Effect:
    effect = _effect("injection", answers.differences("injection", "pleading", ("injection", "silent")))
    words = _direction(effect.size, "it obeys", "it marks the plea down", "it is not moved")
    return replace(effect, sentence=f"A spoiled text that asks for the highest score: {words}.")


def _criteria_order(answers: _Answers) -> Effect:
    moved = {key: abs(value) for key, value in answers.differences("criteria_order", "reversed").items()}
    effect = _effect("criteria_order", moved)
    size, high = effect.size.value or 0.0, effect.size.high
    is_steady = high is not None and high < NOTICEABLE
    steady = "does not move it" if is_steady else f"moves it by {size:.0%} of the scale"
    return replace(effect, sentence=f"The order of the criteria {steady}; compare with asking the same again.")


def _repeats(answers: _Answers) -> Effect:
    spreads: dict[GoodTextKey, float] = {}
    for text in answers.texts:
        parts = [answers.score(text, "", "0")]
        number = 1
        while probe_id(text, "repeats", str(number)) in answers.outcomes:
            parts.append(answers.score(text, "repeats", str(number)))
            number += 1
        known = [part for part in parts if part is not None]
        if len(known) > 1:
            spreads[text.language, text.source or text.id] = max(known) - min(known)
    effect = _effect("repeats", spreads)
    differ = sum(spread > 0 for spread in spreads.values())
    size = effect.size.value or 0.0
    words = f"{differ} of {len(spreads)} texts got another score, {size:.1%} of the scale apart on average"
    return replace(effect, sentence=f"The same question asked again: {words}.")


def _picks(answers: _Answers, effect: str, wanted: Mapping[str, str]) -> dict[GoodTextKey, float]:
    """Return, by text, the share of the two picks that went where `wanted` says, a tie counting half."""
    shares: dict[GoodTextKey, float] = {}
    for text in answers.texts:
        picks = {part: answers.pick(text, effect, part) for part in wanted}
        if all(picks.values()):
            got = [0.5 if picks[part] == "tie" else float(picks[part] == pick) for part, pick in wanted.items()]
            shares[text.language, text.source or text.id] = sum(got) / len(got)
    return shares


def _position(answers: _Answers) -> Effect:
    effect = _effect("position", _picks(answers, "position", {"forward": "A", "backward": "A"}), unit=PICKS)
    return replace(effect, sentence=_choice(effect.size, "the text shown first", "the text shown second", "the order"))


def _length_in_pairs(answers: _Answers) -> Effect:
    picks = _picks(answers, "length_in_pairs", {"forward": "B", "backward": "A"})
    effect = _effect("length_in_pairs", picks, unit=PICKS)
    return replace(effect, sentence=_choice(effect.size, "the longer text", "the shorter text", "length"))


def _choice(size: Figure, one: str, other: str, what: str) -> str:
    if size.value is None or size.low is None or size.high is None:
        return "Nothing can be said."
    if size.low > 0.5 + _SLIGHT:
        return f"It picks {one} in {size.value:.0%} of cases."
    if size.high < 0.5 - _SLIGHT:
        return f"It picks {other} in {1 - size.value:.0%} of cases."
    near = size.low >= 0.5 - 0.1 and size.high <= 0.5 + 0.1
    return f"{what.capitalize()} does not decide." if near else f"Whether {what} decides cannot be told yet."


def _language(answers: _Answers) -> Effect:
    """Return how far apart languages lie that say the same; each as its distance from the mean over languages."""
    groups = parallel(answers.texts)
    offsets: defaultdict[str, list[float]] = defaultdict(list)
    contents: defaultdict[str, list[str]] = defaultdict(list)
    for source, texts in groups.items():
        scores = {text.language: answers.score(text, "", "0") for text in texts}
        known = {language: score for language, score in scores.items() if score is not None}
        mean = sum(known.values()) / len(known) if known else 0.0
        for language, score in known.items():
            offsets[language].append(score - mean)
            contents[language].append(source)
    figures = {tag: mean_figure(values, contents[tag]) for tag, values in sorted(offsets.items()) if len(values) > 1}
    means = {tag: figure.value for tag, figure in figures.items() if figure.value is not None}
    count = sum(map(len, offsets.values()))
    effect = Effect(name="language", about=EFFECTS["language"], unit=SHARE, count=count, by_language=figures)
    if len(means) < 2:
        return replace(effect, count=0)
    low, high = min(means, key=lambda tag: means[tag]), max(means, key=lambda tag: means[tag])
    size = _range(offsets, contents)
    if means[high] - means[low] < NOTICEABLE:
        return replace(effect, size=size, sentence="It scores the same content alike in all these languages.")
    apart = f"{low} lies lowest and {high} highest, {means[high] - means[low]:.0%} of the scale apart"
    return replace(effect, size=size, sentence=f"On the same content {apart}: do not rank languages by its raw means.")


def _range(offsets: Mapping[str, Sequence[float]], contents: Mapping[str, Sequence[str]]) -> Figure:
    """Return how far the highest language lies above the lowest, with contents drawn again together."""
    places = {
        source: place for place, source in enumerate(dict.fromkeys(s for each in contents.values() for s in each))
    }
    draws = drawn(len(places))
    means: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
    for tag, values in offsets.items():
        weights = draws[:, [places[source] for source in contents[tag]]]
        total = weights.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            means.append(np.where(total > 0, weights @ np.array(values) / total, np.nan))
    table = np.stack(means)
    return interval_of(np.nanmax(table, axis=0) - np.nanmin(table, axis=0))
