"""Compute what recorded verdicts show of a judge's biases and stability, without asking it anything.

Verdicts that were recorded are no experiment: longer texts may be better, and a judge's own family too. So each effect
is measured against people where there are labels, and its sentence says so where there are none.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np

from polyjudge.formats.ratings import Rating
from polyjudge.records.calibration import Effect, Figure
from polyjudge.statistics.resampling import Floats, clustered_mean, draws, hull, ratio, share_of_wins

from .cards import family_of
from .effects import PICKS, SHARE, choice_sentence, without_few
from .matching import Pair
from .monotonicity import NOTICEABLE

MORE_PICKS = "share of picks, 0 without bias"
RANKS = "share of the ranks, 0 without bias"
PARTIAL = "rank correlation, 0 without bias"
_MIN_PER_LANGUAGE = 5
_MOST_RANKED = 20_000
"""With more texts the correlation with their length has no interval."""


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """Why an effect was not measured."""

    why: str


Measured = Mapping[str, Effect | Unmeasured]


@dataclass(frozen=True)
class RecordedVerdictsOf:
    """The verdicts of one judge, and people's labels of some of the items."""

    judged: Sequence[Rating]
    pairs: Sequence[Pair]
    model: str
    """The judge's provider and model."""
    resamples: int = 1000
    seed: int = 0

    @cached_property
    def people(self) -> Mapping[str, float]:
        """The label of people by item."""
        return {pair.id: pair.people for pair in self.pairs}

    @cached_property
    def compares(self) -> bool:
        """Whether the verdicts are preferences between two texts."""
        return any(
            each.other_system or each.orders or each.verdict is not None or (each.lengths and each.lengths[1])
            for each in self.judged
        )

    def effects(self) -> Measured:
        """Return each effect, or why it was not measured."""
        return {
            "position_recorded": self._position(),
            "order_changes": self._order_changes(),
            "longer_recorded": self._longer(),
            "longer_beyond_people": self._longer_beyond_people(),
            "own_family_recorded": self._own_family(),
            "language_recorded": self._language(),
            "repeats_recorded": self._repeats(),
        }

    @property
    def _in_both_orders(self) -> Iterator[tuple[float, float, str]]:
        for each in self.judged:
            given, swapped = each.orders or (None, None)
            if given is not None and swapped is not None:
                yield given, swapped, each.cluster or each.id

    def _position(self) -> Effect | Unmeasured:
        found = [((given + 1 - swapped) / 2, cluster) for given, swapped, cluster in self._in_both_orders]
        if not found:
            return Unmeasured(self._one_order)
        size = _picks(found)
        sentence = choice_sentence(size, "the text shown first", "the text shown second", "the order")
        return _effect("position_recorded", "the same two texts in both orders", size, PICKS, len(found), sentence)

    def _order_changes(self) -> Effect | Unmeasured:
        found = [(float(given != swapped), cluster) for given, swapped, cluster in self._in_both_orders]
        if not found:
            return Unmeasured(self._one_order)
        size = hull(_mean(found), share_of_wins(sum(v for v, _ in found), sum(1 - v for v, _ in found), len(found)))
        words = f"{sum(value for value, _ in found):.0f} of {len(found)} verdicts differ between the orders."
        return _effect("order_changes", "the same two texts in both orders", size, "share of items", len(found), words)

    @property
    def _one_order(self) -> str:
        return "each pair was shown in one order" if self.compares else "the judge scores single texts"

    @property
    def _of_lengths(self) -> Iterator[tuple[Rating, float]]:
        """Yield the preferences between texts of different length, as those for the longer one."""
        for each in self.judged:
            value = _preference(each)
            if (
                value is not None
                and each.lengths is not None
                and each.lengths[1]
                and each.lengths[0] != each.lengths[1]
            ):
                yield each, value if each.lengths[0] > each.lengths[1] else 1 - value

    def _longer(self) -> Effect | Unmeasured:
        """Compute how often the longer text is preferred, or how the score rises with the length."""
        about = "longer texts; they may be better, so compare with people's labels"
        if self.compares:
            found = [(value, each.cluster or each.id) for each, value in self._of_lengths]
            if not found:
                return Unmeasured(_NO_TEXTS)
            size = _picks(found)
            sentence = choice_sentence(size, "the longer text", "the shorter text", "length")
            return _effect("longer_recorded", about, size, PICKS, len(found), sentence)
        rows = [
            (each.value, float(each.lengths[0]), each)
            for each in self.judged
            if each.value is not None and each.lengths
        ]
        if len({length for _, length, _ in rows}) < 2:
            return Unmeasured(_NO_TEXTS)
        size = self._correlation(
            [each for *_, each in rows], [[v for v, *_ in rows], [length for _, length, _ in rows]]
        )
        sentence = _correlated(size, "Longer texts get higher scores", "Longer texts get lower scores")
        return _effect("longer_recorded", about, size, "rank correlation", len(rows), sentence)

    def _longer_beyond_people(self) -> Effect | Unmeasured:
        if not self.people:
            return Unmeasured(_NO_LABELS)
        about = "longer texts, compared with what people prefer"
        if self.compares:
            found = [
                (
                    value - (self.people[each.id] if _is_longer(each) else 1 - self.people[each.id]),
                    each.cluster or each.id,
                )
                for each, value in self._of_lengths
                if each.id in self.people
            ]
            if not found:
                return Unmeasured(_NO_TEXTS)
            size = _mean(found)
            sentence = _beyond(size, "the longer text", "length")
            return _effect("longer_beyond_people", about, size, MORE_PICKS, len(found), sentence)
        by_id = {each.id: each for each in self.judged}
        rows = [(pair, by_id[pair.id]) for pair in self.pairs if pair.id in by_id and by_id[pair.id].lengths]
        lengths = [float(each.lengths[0]) for _, each in rows if each.lengths]
        if len(set(lengths)) < 2:
            return Unmeasured(_NO_TEXTS)
        columns = [[pair.judge for pair, _ in rows], lengths, [pair.people for pair, _ in rows]]
        size = self._correlation([each for _, each in rows], columns)
        alike = "Of texts that people rate alike, longer ones get"
        sentence = _correlated(size, f"{alike} higher scores", f"{alike} lower scores")
        return _effect("longer_beyond_people", about, size, PARTIAL, len(rows), sentence)

    def _correlation(self, rows: Sequence[Rating], columns: Sequence[Sequence[float]]) -> Figure:
        """Return the rank correlation of two columns, for equal values of a third one if there is one.

        Ranks are those within a language: languages differ in the length of texts.
        """
        languages = [each.language for each in rows]
        ranks = np.stack([_ranks_within(np.array(column, dtype=np.float64), languages) for column in columns])
        resamples = self.resamples if len(rows) <= _MOST_RANKED else 0
        drawn = draws([each.cluster or each.id for each in rows], len(rows), resamples=resamples, seed=self.seed)
        return drawn.figure(np.concatenate([np.array([_partial(ranks, each) for each in block]) for block in drawn]))

    def _own_family(self) -> Effect | Unmeasured:
        if not self.people:
            return Unmeasured(f"{_NO_LABELS}, without which its own family may just be better")
        family = family_of(self.model)
        if not family:
            return Unmeasured(f"{self.model} is of no known family of models")
        if not any(each.system for each in self.judged):
            return Unmeasured("the rows do not name the systems that wrote the texts")
        return self._own_family_in_pairs(family) if self.compares else self._own_family_in_scores(family)

    def _own_family_in_pairs(self, family: str) -> Effect | Unmeasured:
        found: list[tuple[float, str]] = []
        for each in self.judged:
            first, second = family_of(each.system) == family, family_of(each.other_system) == family
            value = _preference(each)
            if first != second and value is not None and each.id in self.people:
                gap = value - self.people[each.id]
                found.append((gap if first else -gap, each.cluster or each.id))
        if not found:
            return Unmeasured(f"in no labelled pair only one text is by a {family} model")
        size = _mean(found)
        about = f"texts by {family} models, compared with what people prefer"
        return _effect(
            "own_family_recorded", about, size, MORE_PICKS, len(found), _beyond(size, "its own family", "the family")
        )

    def _own_family_in_scores(self, family: str) -> Effect | Unmeasured:
        """Compare how far the judge ranks its own family above where people rank it, with all other systems."""
        rows = [(pair, family_of(pair.system) == family) for pair in self.pairs if pair.system]
        is_own = np.array([own for _, own in rows], dtype=np.float64)
        count = int(is_own.sum())
        if not 0 < count < len(rows):
            return Unmeasured(f"the labelled texts are {'all' if count else 'none'} by {family} models")
        gaps = _rank_gaps([pair for pair, _ in rows], lambda pair: pair.language)
        drawn = draws([pair.cluster for pair, _ in rows], len(rows), resamples=self.resamples, seed=self.seed)
        size = drawn.figure(
            np.concatenate(
                [
                    ratio(each @ (gaps * is_own), each @ is_own)
                    - ratio(each @ (gaps * (1 - is_own)), each @ (1 - is_own))
                    for each in drawn
                ]
            )
        )
        about = f"texts by {family} models, compared with those of others, relative to where people rank them"
        sentence = _ranked(size, "its own family")
        return _effect("own_family_recorded", about, size, RANKS, count, sentence)

    def _language(self) -> Effect | Unmeasured:
        """Compare how far the judge is above or below people in each language."""
        if not self.people:
            return Unmeasured(_NO_LABELS)
        if self.compares:
            return Unmeasured("preferences have no level; the agreement by language says how good they are")
        found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
        pairs = [pair for pair in self.pairs if pair.language]
        for pair, gap in zip(pairs, _rank_gaps(pairs, lambda _: ""), strict=True):
            found[pair.language].append((float(gap), pair.cluster))
        many = {tag: gaps for tag, gaps in sorted(found.items()) if len(gaps) >= _MIN_PER_LANGUAGE}
        if len(many) < 2:
            return Unmeasured(f"fewer than two languages have {_MIN_PER_LANGUAGE} labelled items")
        means = {tag: fmean(gap for gap, _ in gaps) for tag, gaps in many.items()}
        middle = fmean(means.values())
        chance = 1 - 0.025 / len(many)  # a Bonferroni correction for the number of languages
        figures = {
            tag: clustered_mean([gap - middle for gap, _ in gaps], [cluster for _, cluster in gaps], chance)
            for tag, gaps in many.items()
        }
        size = Figure(round(max(means.values()) - min(means.values()), 4))
        count = sum(map(len, many.values()))
        about = "where it ranks items, relative to where people rank them, by language"
        return Effect(
            name="language_recorded",
            about=about,
            size=size,
            unit=RANKS,
            count=count,
            sentence=_languages(figures),
            by_language=figures,
        )

    def _repeats(self) -> Effect | Unmeasured:
        rows = [(each.repeats, each) for each in self.judged if len(each.repeats) > 1]
        if not rows:
            return Unmeasured("each question was asked once")
        every = [value for scores, _ in rows for value in scores]
        span = (max(every) - min(every)) or 1.0
        found = [((max(scores) - min(scores)) / span, each.cluster or each.id) for scores, each in rows]
        differ, size = sum(value > 0 for value, _ in found), _mean(found)
        words = (
            f"{differ} of {len(found)} texts got different scores, {size.value or 0:.1%} of the scale apart on average."
        )
        about = "the same question asked several times"
        return _effect("repeats_recorded", about, size, SHARE, len(found), f"The same question asked again: {words}")


_NO_TEXTS = "the rows have no texts of different length"
_NO_LABELS = "there are no labels of people"


def _effect(name: str, about: str, size: Figure, unit: str, count: int, sentence: str) -> Effect:
    if size.low is None:
        size, sentence = Figure(), "Not enough data."
    return without_few(Effect(name=name, about=about, size=size, unit=unit, count=count, sentence=sentence))


def _preference(rating: Rating) -> float | None:
    """Return a preference for the first text, as the verdict says if it says more than a share."""
    return rating.verdict if rating.verdict is not None else rating.value


def _is_longer(rating: Rating) -> bool:
    return rating.lengths is not None and rating.lengths[0] > rating.lengths[1]


def _mean(found: Sequence[tuple[float, str]]) -> Figure:
    return clustered_mean([value for value, _ in found], [cluster for _, cluster in found])


def _picks(found: Sequence[tuple[float, str]]) -> Figure:
    """Return a share of picks; few that agree have no spread, but may be chance."""
    values = [value for value, _ in found]
    return hull(_mean(found), share_of_wins(values.count(1.0), values.count(0.0), len(values)))


def _beyond(size: Figure, what: str, name: str) -> str:
    """Say whether a preference is beyond that of people."""
    if size.value is None or size.low is None or size.high is None:
        return "Not enough data."
    if size.low > 0:
        return f"It prefers {what} {size.value:.0%} more often than people do."
    if size.high < 0:
        return f"It prefers {what} {-size.value:.0%} less often than people do."
    return f"No difference from people is certain: {name} may not decide."


def _correlated(size: Figure, up: str, down: str) -> str:
    if size.value is None or size.low is None or size.high is None:
        return "Not enough data."
    if size.low > 0:
        return f"{up}."
    return f"{down}." if size.high < 0 else "No relation to the length is certain."


def _ranked(size: Figure, what: str) -> str:
    if size.value is None or size.low is None or size.high is None:
        return "Not enough data."
    if size.low > 0 and size.value >= NOTICEABLE:
        return f"It ranks {what} higher than people do, by {size.value:.0%} of the ranks."
    if size.high < 0 and size.value <= -NOTICEABLE:
        return f"It ranks {what} lower than people do, by {-size.value:.0%} of the ranks."
    if max(abs(size.low), abs(size.high)) < NOTICEABLE:
        return f"It ranks {what} as people do."
    return f"Not enough data to say whether it ranks {what} as people do."


def _languages(figures: Mapping[str, Figure]) -> str:
    """Name the languages that the judge ranks lower or higher than people do, compared with the others."""
    below = [tag for tag, each in figures.items() if (each.high or 0) < 0 and (each.value or 0) <= -NOTICEABLE]
    above = [tag for tag, each in figures.items() if (each.low or 0) > 0 and (each.value or 0) >= NOTICEABLE]
    parts = [f"{', '.join(tags)} {where}" for tags, where in ((below, "lower"), (above, "higher")) if tags]
    if not parts:
        return "Compared with people it ranks no language noticeably higher or lower than the others."
    return f"Compared with people it ranks {' and '.join(parts)}: do not rank languages by its raw means."


def _rank_gaps(pairs: Sequence[Pair], group_of: Callable[[Pair], str]) -> Floats:
    """Return how far the judge ranks each item above where people rank it, as a share of the ranks within its group.

    Ranks need no common scale, and do not take a judge that is stricter throughout for one that prefers good systems.
    """
    groups = [group_of(pair) for pair in pairs]
    judge, people = np.array([pair.judge for pair in pairs]), np.array([pair.people for pair in pairs])
    return _ranks_within(judge, groups) - _ranks_within(people, groups)


def _ranks_within(values: Floats, groups: Sequence[str]) -> Floats:
    """Return mean ranks within groups, as shares of the size of the group."""
    found, places = np.zeros(len(values)), defaultdict[str, list[int]](list)
    for place, group in enumerate(groups):
        places[group].append(place)
    for own in places.values():
        found[own] = _ranks(values[own]) / len(own)
    return found


def _ranks(values: Floats) -> Floats:
    """Return mean ranks."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[codes.reshape(-1)].astype(np.float64)


def _partial(ranks: Floats, weights: Floats) -> float:
    """Return the weighted correlation of the first two rows, without what the third one explains."""
    centred = ranks - (ranks @ weights / weights.sum())[:, None]
    products = (centred * weights) @ centred.T
    spread = np.sqrt(np.diag(products))
    if (spread[:2] <= 0).any():
        return float("nan")
    if len(ranks) < 3 or spread[2] <= 0:
        return float(products[0, 1] / (spread[0] * spread[1]))
    one, other, both = products[0, 1], products[0, 2], products[1, 2]
    first, second, third = np.diag(products)
    rest = (first - other**2 / third) * (second - both**2 / third)
    return float((one - other * both / third) / np.sqrt(rest)) if rest > 1e-9 * first * second else float("nan")
