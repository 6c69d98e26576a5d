"""Choose the items to label, and read their texts."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Literal

from polyjudge.checks.checker import TextChecker
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.opening import inner_suffix
from polyjudge.formats.columns import AS_IT_IS, TableOptions
from polyjudge.formats.items import ItemSource
from polyjudge.formats.ratings import Rating, RatingColumns, has_translation_scores, read_ratings
from polyjudge.formats.row_files import column_map, first_row_of, named_rows_of
from polyjudge.formats.row_filters import RowFilter
from polyjudge.formats.translation_results import TranslationResults, is_results_file
from polyjudge.languages.table import LANGUAGE, LanguageMatcher, LanguageTable
from polyjudge.records.outcomes import Item
from polyjudge.text.display import one_line

Status = Literal["unjudged", "flagged", "low", "high"]
_MIN_SPREAD_FACTOR = 0.5
"""Weight of a language whose scores are all equal; a language with the usual spread of scores has weight 1."""
_MAX_SPREAD_FACTOR = 2.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that may be sampled."""

    id: str
    language: str
    score: float | None
    """The judge's score, None without a verdict; it is not shown to people."""
    flagged: bool = False
    """The checks have findings that fail it."""
    passed: bool | None = None
    """Whether the judge passes it."""
    system: str = ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A sampled item."""

    candidate: Candidate
    weight: float
    """The number of items of its language that it represents."""
    probability: float | None = None
    """The probability that it had, if that depends on the item."""


def draw(candidates: Sequence[Candidate], count: int, seed: int) -> list[Drawn]:
    """Return a sample with every language, if `count` allows; within a language, every item is equally likely."""
    by_language: defaultdict[str, list[Candidate]] = defaultdict(list)
    for each in candidates:
        by_language[each.language].append(each)
    scores = sorted(each.score for each in candidates if each.score is not None)
    middle = scores[len(scores) // 2] if scores else 0.0
    shares = allotted(by_language, min(count, len(candidates)), seed)
    drawn: list[Drawn] = []
    for language, share in shares.items():
        group = by_language[language]
        chance = random.Random(f"{seed} {language}")
        ordered = sorted(group, key=lambda each: (status(each, middle), chance.random()))
        drawn += [Drawn(each, len(group) / share) for each in _evenly(ordered, share, chance.random())]
    return drawn


def status(candidate: Candidate, middle: float) -> Status:
    """Return the status of an item before people label it."""
    if candidate.score is None:
        return "unjudged"
    if candidate.flagged:
        return "flagged"
    return "high" if candidate.score >= middle else "low"


def allotted(by_language: Mapping[str, Sequence[Candidate]], count: int, seed: int) -> dict[str, int]:
    """Return the number of items per language: one each, the rest by its size and the spread of its scores."""
    chance = random.Random(seed)
    order = sorted(by_language, key=lambda language: (-len(by_language[language]), chance.random()))
    shares = dict.fromkeys(order[:count], 1)
    weights = _weights({language: by_language[language] for language in shares})
    left = count - len(shares)
    while left:
        # The Sainte-Laguë method, by which parliaments distribute seats.
        not_full = [language for language in shares if shares[language] < len(by_language[language])]
        next_one = max(not_full, key=lambda language: weights[language] / (2 * shares[language] + 1))
        shares[next_one] += 1
        left -= 1
    return shares


def order_for(annotator: str, ids: Sequence[str], seed: int) -> list[str]:
    """Return the items in a random order per person, so that people do not tire at the same items."""
    ordered = sorted(ids)
    random.Random(f"{seed} {annotator}").shuffle(ordered)
    return ordered


def _weights(by_language: Mapping[str, Sequence[Candidate]]) -> dict[str, float]:
    spreads = {
        language: pstdev(scores)
        for language, group in by_language.items()
        if len(scores := [each.score for each in group if each.score is not None]) > 1
    }
    usual = fmean(spreads.values()) if spreads else 0.0
    factors = {
        language: min(_MAX_SPREAD_FACTOR, max(_MIN_SPREAD_FACTOR, spread / usual)) if usual else 1.0
        for language, spread in spreads.items()
    }
    return {language: len(group) * factors.get(language, 1.0) for language, group in by_language.items()}


def _evenly(ordered: Sequence[Candidate], count: int, start: float) -> list[Candidate]:
    """Return items at equal steps from a random start: each is equally likely, and each status has its share."""
    step = len(ordered) / count
    return [ordered[min(int((place + start) * step), len(ordered) - 1)] for place in range(count)]


_MOST_CHECKED = 5_000
"""Items after this number are not checked, because that would take minutes."""
_LONGEST_CHECKED = 20_000


@dataclass(frozen=True, slots=True)
class Source:
    """The files of items, their texts and a judge's scores."""

    results: Path
    items: Path | None = None
    """The texts that `score` judged."""
    scores: Path | None = None
    """A judge's scores of a translator's results."""
    table: LanguageTable = field(kw_only=True)
    reading: TableOptions = AS_IT_IS
    """How the results and items are to be read."""
    filters: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The values that a row must have in a column; languages are compared by tag and by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelItem:
    """An item as it is shown, with its score and weight, which are not shown."""

    id: str
    language: str
    source: str
    output: str
    reference: str
    score: float | None
    weight: float
    probability: float | None = None


Draw = Callable[[Sequence[Candidate]], Sequence[Drawn]]
"""Draws the items to label."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The items to label, and the judge's scores of all items."""

    items: Mapping[str, LabelItem]
    scores: Mapping[str, Sequence[float | None]]
    """Of all items, by language; None where the judge has no verdict."""
    problems: tuple[str, ...]

    @property
    def total(self) -> int:
        """Items in the results, including those without a verdict."""
        return sum(map(len, self.scores.values()))

    @property
    def judged(self) -> int:
        """Items with a verdict."""
        return sum(score is not None for scores in self.scores.values() for score in scores)


def read_sample(source: Source, count: int, seed: int, *, drawing: Draw | None = None) -> Sample:
    """Draw the items from the results, by default as `draw` does, and read their texts."""
    for path in filter(None, (source.results, source.items)):
        if "otherCandidate" in first_row_of(path, source.reading):
            message = (
                "contains pairs of texts, but labels are for single texts. Label the texts of each system separately"
            )
            raise DataError(message, path=path)
    ratings, problems = _scores(source)
    candidates = list(_candidates(source, ratings))
    if not candidates:
        raise DataError(
            f"{_why_empty(source, ratings)}, so there is nothing to label.", path=source.items or source.results
        )
    found = draw(candidates, count, seed) if drawing is None else drawing(candidates)
    drawn = {each.candidate.id: each for each in found}
    items = {
        item.id: LabelItem(
            id=item.id,
            language=drawn[item.id].candidate.language,
            source=item.context.get("source", ""),
            output=item.candidate,
            reference=item.context.get("reference", ""),
            score=drawn[item.id].candidate.score,
            weight=drawn[item.id].weight,
            probability=drawn[item.id].probability,
        )
        for item in _items(source)
        if item.id in drawn
    }
    scores: defaultdict[str, list[float | None]] = defaultdict(list)
    for each in candidates:
        scores[each.language].append(each.score)
    return Sample(items, scores, tuple(problems))


def _why_empty(source: Source, ratings: Mapping[str, Rating]) -> str:
    """Return why there is no item, with what could be chosen instead."""
    if not source.filters:
        return "none of its ids is in the results" if ratings else "no items found"
    everything = replace(source, filters={})
    languages = sorted({each.language for each in _candidates(everything, ratings, checks=False)} - {""})
    shown = one_line(", ".join(languages), 300) or "none"
    given = " and ".join(f"{name}={','.join(sorted(values))}" for name, values in source.filters.items())
    close = LanguageMatcher(source.table).suggestions(source.filters.get(LANGUAGE, ()))
    return f"no item matches {one_line(given, 300)}.{close} Its languages: {shown}"


def is_translation(source: Source) -> bool:
    """Say whether the results are a translator's, with ids by language, and not rows of `score` or other rows."""
    if inner_suffix(source.results) == ".json" and is_results_file(source.results, source.reading):
        return True
    columns = column_map(source.results, source.reading)
    is_judged = source.scores is not None and has_translation_scores(source.scores, AS_IT_IS)
    return not {"generatedOutput", "prompts"}.isdisjoint(columns.found) or (is_judged and not columns.is_own)


def _scores(source: Source) -> tuple[dict[str, Rating], list[str]]:
    of_translator = is_translation(source)
    if of_translator and source.items is not None:
        raise ConfigError(
            "Items cannot be given for translations, which contain their texts. Leave them out", option="items"
        )
    if not of_translator and source.scores is not None:
        raise ConfigError(
            "Scores cannot be given for results of score, which contain their scores. Leave them out", option="scores"
        )
    path = source.scores if of_translator else source.results
    if path is None or not (of_translator or _is_rated(source)):
        return {}, []
    found = read_ratings(path, RatingColumns() if of_translator else RatingColumns(table=source.reading))
    ratings: dict[str, Rating] = {}
    systems = source.filters.get("system")
    for rating in found.ratings:
        if systems and rating.system not in systems:
            continue
        if rating.id in ratings and rating.system != (other := ratings[rating.id].system):
            message = (
                f"item {rating.id!r} has outputs of several systems ({other!r}, {rating.system!r}). Select one system"
            )
            raise DataError(message, path=path, option="filter", value=f"system={other}")
        if rating.id in ratings:
            raise DataError(f"two scores for item {rating.id!r}. Give the results of one judge.", path=path)
        ratings[rating.id] = rating
    return _chosen_in_results(source, ratings), found.problems


def _chosen_in_results(source: Source, ratings: dict[str, Rating]) -> dict[str, Rating]:
    """Return the ratings that filters on columns of the results choose, such as kind=abstained."""
    filters = _filters_of_results(source)
    if not filters:
        return ratings
    selecting = RowFilter(filters)
    rows = (row for _, row in named_rows_of(source.results, source.reading) if not isinstance(row, str))
    chosen = {str(row.get("id")) for row in rows if selecting.selects(row)}
    selecting.check(source.results)
    return {own_id: rating for own_id, rating in ratings.items() if own_id in chosen}


def _filters_of_results(source: Source) -> Mapping[str, frozenset[str]]:
    """Return the filters on columns that the texts do not have, if these are in a file of their own."""
    if source.items is None:
        return {}
    columns = column_map(source.items, source.reading)
    known = {LANGUAGE, *columns.found, *columns.columns}
    return {name: values for name, values in source.filters.items() if name not in known}


def _is_rated(source: Source) -> bool:
    """Say whether rows have scores, and are not only texts."""
    columns = column_map(source.results, source.reading)
    has_texts_only = {"outcome", "score", "label", "provenance"}.isdisjoint(columns.found)
    return (columns.is_own and not has_texts_only) or "candidate" not in columns.columns or "score" in columns.columns


def _items(source: Source) -> Iterator[Item]:
    """Yield all items with their texts; those of a translator under ids such as `th:0`."""
    if is_translation(source):
        others = sorted(source.filters.keys() - {LANGUAGE})
        if others:
            message = f"Translations can be filtered only by language, not by {others[0]!r}. Write language=TAG"
            raise ConfigError(message, option="filter")
        for language in TranslationResults(source.results, source.reading):
            tag = language.language_code or language.language_name
            for index, prompt in enumerate(language.prompts):
                context = {"source": prompt.source_text, "reference": prompt.reference}
                yield Item(f"{tag}:{index}", prompt.generated_output, context, tag)
        return
    columns = column_map(source.results, source.reading)
    texts = source.items or (source.results if columns.targets or "candidate" in columns.columns else None)
    if texts is None:
        raise ConfigError(f"{source.results} contains no texts. Give the file of the judged items", option="items")
    yield from ItemSource(texts, filters=_column_filters(source, texts), table=source.reading)


def _column_filters(source: Source, texts: Path) -> Mapping[str, frozenset[str]]:
    """Return the filters on the rows with the texts, apart from their language; refuse one without its column."""
    elsewhere = {LANGUAGE, *_filters_of_results(source)}
    found = {name: values for name, values in source.filters.items() if name not in elsewhere}
    if found:
        columns = column_map(texts, source.reading)
        known = {*columns.found, *columns.columns}
        if unknown := sorted(found.keys() - known):
            names = one_line(", ".join(sorted(map(str, columns.found))), 300)
            raise DataError(f"no column {unknown[0]!r}. Found: {names}", path=texts, option="filter")
    return found


def _candidates(source: Source, ratings: Mapping[str, Rating], *, checks: bool = True) -> Iterator[Candidate]:
    checker, matcher, wanted = TextChecker(source.table), LanguageMatcher(source.table), source.filters.get(LANGUAGE)
    seen: set[str] = set()
    of_results = not is_translation(source)
    for number, item in enumerate(_items(source)):
        rating = ratings.get(item.id)
        if rating is None and of_results and ratings:
            continue  # it was not judged in this run
        if item.id in seen:
            raise DataError(f"duplicate id {item.id!r}.", path=source.items or source.results)
        seen.add(item.id)
        language = item.language or (rating.language if rating else "")
        if wanted is not None and not matcher.is_among(language, wanted):
            continue
        flagged = checks and number < _MOST_CHECKED and _is_flagged(checker, item, language)
        if rating is None:
            yield Candidate(item.id, language, None, flagged)
        else:
            yield Candidate(item.id, language, rating.value, flagged, rating.passed, rating.system)


def _is_flagged(checker: TextChecker, item: Item, tag: str) -> bool:
    language = checker.table.find(tag)
    if language is None:
        return False
    return checker.check(item.candidate[:_LONGEST_CHECKED], language, source=item.context.get("source", "")).fails
