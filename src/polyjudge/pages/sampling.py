"""Choose the items to label, and read their texts."""

import itertools
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Literal

from polyjudge.checks.checker import TextChecker
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.json_lines import each_json_line
from polyjudge.formats.items import ItemSource
from polyjudge.formats.ratings import Rating, RatingColumns, read_ratings
from polyjudge.formats.translation_results import TranslationResults
from polyjudge.languages.table import LanguageTable
from polyjudge.records.outcomes import Item

Status = Literal["unjudged", "flagged", "low", "high"]
_LEAST_PULL = 0.5
"""How much a language without any spread draws, beside one of the usual spread, which draws 1."""
_MOST_PULL = 2.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that may be asked about."""

    id: str
    language: str
    score: float | None
    """The judge's; None where it has no verdict. No person gets to see it."""
    flagged: bool = False
    """The checks find something wrong with it."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """An item that people are asked about."""

    candidate: Candidate
    weight: float
    """How many items of its language it stands for."""


def draw(candidates: Sequence[Candidate], count: int, seed: int) -> list[Drawn]:
    """Return a sample in which every language is, where there is room, and within a language every item as likely."""
    by_language: defaultdict[str, list[Candidate]] = defaultdict(list)
    for each in candidates:
        by_language[each.language].append(each)
    middle = _middle([each.score for each in candidates if each.score is not None])
    shares = allotted(by_language, min(count, len(candidates)), seed)
    drawn: list[Drawn] = []
    for language, share in shares.items():
        group = by_language[language]
        chance = random.Random(f"{seed} {language}")
        ordered = sorted(group, key=lambda each: (status(each, middle), chance.random()))
        drawn += [Drawn(each, len(group) / share) for each in _evenly(ordered, share, chance.random())]
    return drawn


def status(candidate: Candidate, middle: float) -> Status:
    """Return what is known of an item before people see it."""
    if candidate.score is None:
        return "unjudged"
    if candidate.flagged:
        return "flagged"
    return "high" if candidate.score >= middle else "low"


def allotted(by_language: Mapping[str, Sequence[Candidate]], count: int, seed: int) -> dict[str, int]:
    """Return how many items of each language are drawn: one of each, the rest by size and by how scores differ."""
    chance = random.Random(seed)
    order = sorted(by_language, key=lambda language: (-len(by_language[language]), chance.random()))
    shares = dict.fromkeys(order[:count], 1)
    pull = _pull({language: by_language[language] for language in shares})
    left = count - len(shares)
    while left:
        # Whoever has the least for what it draws gets the next one: the rule that parliaments share seats by.
        open_ones = [language for language in shares if shares[language] < len(by_language[language])]
        neediest = max(open_ones, key=lambda language: pull[language] / (2 * shares[language] + 1))
        shares[neediest] += 1
        left -= 1
    return shares


def order_for(annotator: str, ids: Sequence[str], seed: int) -> list[str]:
    """Return the items in an order of a person's own, so that no two tire at the same ones."""
    ordered = sorted(ids)
    random.Random(f"{seed} {annotator}").shuffle(ordered)
    return ordered


def _pull(by_language: Mapping[str, Sequence[Candidate]]) -> dict[str, float]:
    spreads = {
        language: pstdev(scores)
        for language, group in by_language.items()
        if len(scores := [each.score for each in group if each.score is not None]) > 1
    }
    usual = fmean(spreads.values()) if spreads else 0.0
    factors = {
        language: min(_MOST_PULL, max(_LEAST_PULL, spread / usual)) if usual else 1.0
        for language, spread in spreads.items()
    }
    return {language: len(group) * factors.get(language, 1.0) for language, group in by_language.items()}


def _evenly(ordered: Sequence[Candidate], count: int, start: float) -> list[Candidate]:
    """Return every so many-th item from a random start: each is as likely, and each status has its share."""
    step = len(ordered) / count
    return [ordered[min(int((place + start) * step), len(ordered) - 1)] for place in range(count)]


def _middle(scores: Sequence[float]) -> float:
    return sorted(scores)[len(scores) // 2] if scores else 0.0


_MOST_CHECKED = 5_000
"""Of more items than that the checks are not asked which they would flag: it would take minutes."""
_LONGEST_CHECKED = 20_000


@dataclass(frozen=True, slots=True)
class Source:
    """Where items, their texts and a judge's scores stand."""

    results: Path
    items: Path | None = None
    """The texts of what `score` judged."""
    scores: Path | None = None
    """What a judge says of a translator's results."""
    table: LanguageTable = field(kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelItem:
    """An item as it is shown, and what is known of it and not shown."""

    id: str
    language: str
    source: str
    output: str
    reference: str
    score: float | None
    weight: float


@dataclass(frozen=True, slots=True)
class Sample:
    """The items that people are asked about, and the judge's scores of all items."""

    items: Mapping[str, LabelItem]
    scores: Mapping[str, Sequence[float | None]]
    """Of all items, by language; None where the judge has no verdict."""
    problems: tuple[str, ...]

    @property
    def total(self) -> int:
        """Items in the results, those without a verdict among them."""
        return sum(map(len, self.scores.values()))

    @property
    def judged(self) -> int:
        """Items with a verdict."""
        return sum(score is not None for scores in self.scores.values() for score in scores)


def read_sample(source: Source, count: int, seed: int) -> Sample:
    """Draw the items from the results, and read their texts."""
    ratings, problems = _scores(source)
    candidates = list(_candidates(source, ratings))
    if not candidates:
        told = f"no item of {source.items or source.results} can be labelled"
        raise DataError(f"{told}: their ids meet none of the results" if ratings else told)
    drawn = {each.candidate.id: each for each in draw(candidates, count, seed)}
    items = {
        item.id: LabelItem(
            id=item.id,
            language=drawn[item.id].candidate.language,
            source=item.context.get("source", ""),
            output=item.candidate,
            reference=item.context.get("reference", ""),
            score=drawn[item.id].candidate.score,
            weight=drawn[item.id].weight,
        )
        for item in _items(source)
        if item.id in drawn
    }
    scores: defaultdict[str, list[float | None]] = defaultdict(list)
    for each in candidates:
        scores[each.language].append(each.score)
    return Sample(items, scores, tuple(problems))


def is_translation(path: Path) -> bool:
    """Say whether a file is a translator's results, and not rows of `score`."""
    if path.suffix.lower() == ".json":
        return True
    row = first_row(path)
    return "generatedOutput" in row or "prompts" in row


def first_row(path: Path) -> Mapping[str, Any]:
    """Return the first row of a JSON Lines file; nothing where it is none."""
    if path.suffix.lower() != ".jsonl":
        return {}
    for _, row in itertools.islice(each_json_line(path), 1):
        return row if isinstance(row, dict) else {}
    return {}


def _scores(source: Source) -> tuple[dict[str, Rating], list[str]]:
    of_translator = is_translation(source.results)
    if of_translator and source.items is not None:
        raise ConfigError("a translator's results hold their texts; items are for the results of score", option="items")
    if not of_translator and source.scores is not None:
        raise ConfigError(
            "the results of score hold their scores; scores are for a translator's results", option="scores"
        )
    path = source.scores if of_translator else source.results
    if path is None:
        return {}, []
    found = read_ratings(path, RatingColumns())
    ratings: dict[str, Rating] = {}
    for rating in found.ratings:
        if rating.id in ratings:
            raise DataError(f"the id {rating.id!r} has two scores; give the results of one judge", path=path)
        ratings[rating.id] = rating
    return ratings, found.problems


def _items(source: Source) -> Iterator[Item]:
    """Yield all items with their texts; those of a translator under ids such as `th:0`."""
    if is_translation(source.results):
        for language in TranslationResults(source.results):
            tag = language.language_code or language.language_name
            for index, prompt in enumerate(language.prompts):
                context = {"source": prompt.source_text, "reference": prompt.reference}
                yield Item(f"{tag}:{index}", prompt.generated_output, context, tag)
        return
    texts = source.items or (source.results if "candidate" in first_row(source.results) else None)
    if texts is None:
        raise ConfigError(f"{source.results} holds no texts: give the items that were judged", option="items")
    yield from ItemSource(texts)


def _candidates(source: Source, ratings: Mapping[str, Rating]) -> Iterator[Candidate]:
    checker = TextChecker(source.table)
    seen: set[str] = set()
    of_results = not is_translation(source.results)
    for number, item in enumerate(_items(source)):
        rating = ratings.get(item.id)
        if rating is None and of_results:
            continue  # it was not judged in this run
        if item.id in seen:
            raise DataError(f"the id {item.id!r} is there twice", path=source.items or source.results)
        seen.add(item.id)
        language = item.language or (rating.language if rating else "")
        flagged = number < _MOST_CHECKED and _is_flagged(checker, item, language)
        yield Candidate(item.id, language, rating.value if rating else None, flagged)


def _is_flagged(checker: TextChecker, item: Item, tag: str) -> bool:
    language = checker.table.find(tag)
    if language is None:
        return False
    return checker.check(item.candidate[:_LONGEST_CHECKED], language, source=item.context.get("source", "")).fails
