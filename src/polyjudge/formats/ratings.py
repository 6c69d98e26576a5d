"""Read the ratings of people and judges from any file of rows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from polyjudge.errors import DataError, suggestion
from polyjudge.languages.table import LanguageTags
from polyjudge.records.calibration import JudgeIdentity, identity_of
from polyjudge.records.translation import PromptScore
from polyjudge.store.labels import newest_rows
from polyjudge.text.display import one_line
from polyjudge.verdicts.translation import scores_pass

from .columns import AS_IT_IS, MISSING, Row, TableOptions, cell
from .metrics_files import SCORE_FILES, pair_of, system_scores
from .rating_fields import (
    JUDGE_FIELDS,
    cluster_of,
    failure_of,
    has_made_id,
    judge_of_row,
    lengths_of,
    orders_of,
    probability_of,
    repeats_of,
    systems_of,
    text_of,
)
from .rating_values import PREFERENCES, WORDS, number_of, word_of
from .row_files import column_map, first_row_of, named_rows_of
from .row_filters import RowFilter
from .tools import tool_format_of
from .translation_scores import TranslationScores

LARGEST = 1e12
"""Larger than any scale; beyond it sums and squares would not be exact."""
ALL_INDEPENDENT = "none"
"""Given in place of a column of clusters: no items belong together."""
_NAMES, _JUDGES_OWN = ("score", "label"), ("verdict", "rating", "annotation")
"""Columns that are labels in a file of labels, but may be the judge's own in a file that has its scores too."""
_MAX_PROBLEMS_SHOWN, _LONGEST = 5, 400


class Rating(Struct, frozen=True, kw_only=True):
    """The rating of one item by one rater."""

    id: str
    value: float | None
    """None if the rater gave none."""
    language: str = ""
    group: str = ""
    """Items are compared in pairs only within a group."""
    cluster: str = ""
    """Items that belong together, such as those of one document."""
    annotator: str = ""
    system: str = ""
    """The system that wrote the item."""
    in_words: bool = False
    """Whether the rating is a word such as pass or fail, and not a number."""
    passed: bool | None = None
    """Whether the item passes, if the row says so."""
    is_preference: bool = False
    """Whether the rating is the word first, second or tie: 1, 0 or 0.5."""
    verdict: float | None = None
    """The preference as such, of a judge that also gives a share of preference."""
    orders: tuple[float | None, float | None] | None = None
    """The preferences in the given and in the swapped order, if they are recorded; None for a missing one."""
    part: str = ""
    """The part of the data that it belongs to, such as a benchmark."""
    other_system: str = ""
    """The second system of a pair, of which the rating is a preference; empty for the rating of one text."""
    source: str = ""
    """What the item was made from, if the row says so."""
    category: str = ""
    """The rating as it is written, if it is a word and categories are wanted; it may have no `value`."""
    failure: str = ""
    """Why there is no rating, if the row says so."""
    lengths: tuple[int, int] | None = None
    """The characters of the text, and of the second one of a pair, else 0; None without texts."""
    repeats: tuple[float, ...] = ()
    """The scores of the same judge, if it was asked several times."""
    kind: str = ""
    """The kind of rater that the row names, such as human or llm."""
    has_made_id: bool = False
    """Whether the id was made from the content, so that it differs between systems."""
    probability: float | None = None
    """Of a label: the probability that the item had of being labelled, if it was not the same for all items."""


@dataclass(slots=True)
class Ratings:
    """The ratings of some files, with messages about invalid rows."""

    ratings: list[Rating] = field(default_factory=list[Rating])
    problems: list[str] = field(default_factory=list[str])
    skipped: int = 0
    judges: list[JudgeIdentity] = field(default_factory=list[JudgeIdentity])
    """The judges that gave the ratings, if the rows name them."""
    of_judges: int = 0
    """Ratings that are the scores of judged rows."""
    default_columns: set[str] = field(default_factory=set[str])
    """The columns of the ratings where none was chosen: `score`, `label` or both."""
    no_rating: list[str] = field(default_factory=list[str])
    """Words such as `none` that were read as no rating."""
    named: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    """The descriptions of judges that occurred in rows, most of which are the same."""
    systems: set[str] = field(default_factory=set[str])
    """All systems in the rows, also those that are left out."""
    last_judge: Mapping[str, object] | None = None
    """The description of the last row."""

    def name_judge(self, judge: JudgeIdentity) -> None:
        """Add a judge, unless it is known; the model that answered is not known of a failed call."""
        for place, known in enumerate(self.judges):
            if replace(known, model_answered="") == replace(judge, model_answered=""):
                if judge.model_answered in ("", known.model_answered):
                    return
                if not known.model_answered:
                    self.judges[place] = judge
                    return
        self.judges.append(judge)

    def note(self, problem: str) -> None:
        """Count an invalid row."""
        self.skipped += 1
        if len(self.problems) < _MAX_PROBLEMS_SHOWN:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingColumns:
    """The columns of a file that have the ratings, groups and clusters."""

    value: str = ""
    """The column of the rating, such as `score` or `subscores.grammar`; empty for `score`, else `label`."""
    option: str = ""
    """The argument that names this column, for messages."""
    in_results: bool = False
    """It is a column of labels in the judge's own results: rows without it have no label."""
    part: str = "category"
    """The column of the part of the data."""
    group: str = ""
    cluster: str = ""
    leave_out: frozenset[str] = frozenset()
    """Systems to exclude, by name, or in one language only, such as `en-de/refA`."""
    system: str = ""
    """The only system to include; empty for all."""
    categories: bool = False
    """Whether ratings may be any words; else words other than pass, fail and preferences are errors."""
    table: TableOptions = AS_IT_IS
    """How the file is to be read."""

    def excludes(self, language: str, system: str) -> bool:
        """Return whether a system is excluded."""
        if self.system and system != self.system:
            return True
        return bool(system) and not self.leave_out.isdisjoint((system, f"{language}/{system}"))


def read_ratings(path: Path, columns: RatingColumns, into: Ratings | None = None) -> Ratings:
    """Read the ratings of a file: rows with an id, translation scores, or scores in the format of WMT."""
    found = Ratings() if into is None else into
    found.ratings.extend(each_rating(path, columns, found))
    return found


def each_rating(path: Path, columns: RatingColumns, notes: Ratings) -> Iterator[Rating]:
    """Yield the ratings of a file; add the judges and the messages about invalid rows to `notes`."""
    if path.name.endswith(SCORE_FILES):
        yield from _of_systems(path, columns, notes)
    elif has_translation_scores(path, columns.table):
        yield from _of_translation_scores(path, columns, notes)
    else:
        yield from _of_rows(path, columns, notes)


class _NoColumn(str):
    """The error message of a row without a rating."""

    __slots__ = ()


def _of_rows(path: Path, columns: RatingColumns, notes: Ratings) -> Iterator[Rating]:
    """Yield the ratings of a table; raise DataError if no row has the column."""
    some, names, parts, tags = False, list[str](), list[str](), LanguageTags()
    for place, row in newest_rows(named_rows_of(path, columns.table, "id")):
        found = row if isinstance(row, str) else _of_row(row, columns, notes, tags)
        if isinstance(found, Rating):
            some = True
            yield found
        elif found:
            if isinstance(found, _NoColumn) and not isinstance(row, str) and not names:
                names, inner = list(row), row.get("subscores")
                parts = [f"subscores.{name}" for name in cast(Row, inner)] if isinstance(inner, Mapping) else []
            notes.note(f"{place}: {found}")
    if names and not some:
        raise DataError(_why_none(columns, names, parts), path=path, option=columns.option)


def _why_none(columns: RatingColumns, names: Sequence[str], parts: Sequence[str]) -> str:
    """Say that no row has a rating, which columns there are, and what to do."""
    if parts and not columns.value:
        return f"{_no_column(columns)}. The scores are in {one_line(', '.join(parts), _LONGEST)}. Name one of them"
    is_unjudged = columns.option == "score" and not columns.value and "candidate" in names
    advice = "Judge the texts first, or name the column." if is_unjudged else "Name the column."
    known = [*names, *parts]
    return f"{_no_column(columns)}. Found: {', '.join(known)}. {advice}{suggestion(columns.value, known)}"


def need_column(path: Path, column: str, table: TableOptions, option: str) -> None:
    """Raise DataError if no row has a column, with the name that is most like it."""
    names = dict[str, None]()
    for _, row in named_rows_of(path, table):
        if not isinstance(row, str):
            if cell(row, column) is not MISSING:
                return
            names.update(dict.fromkeys(row))
    if names:
        raise DataError(
            _why_none(RatingColumns(value=column, option=option), list(names), ()), path=path, option=option
        )


def has_translation_scores(path: Path, table: TableOptions) -> bool:
    """Say whether a JSON file has scores by language, and not rows with an id."""
    if path.suffix.lower() != ".json" or table.columns or tool_format_of(path) is not None:
        return False
    first = first_row_of(path, table)
    return "id" not in first or not {"languageName", "languageCode", "scriptScore"}.isdisjoint(first)


def _of_row(row: Mapping[str, Any], columns: RatingColumns, notes: Ratings, tags: LanguageTags) -> Rating | str:
    """Return the rating of a row, or an error message, which is empty if the row is excluded."""
    if row.get("id") in (None, "") or isinstance(row["id"], dict | list | bool):
        return "'id' is missing"
    system, other = systems_of(row)
    notes.systems.add(system)
    if (columns.leave_out or columns.system) and columns.excludes(str(row.get("language") or ""), system):
        return ""
    found = _given(row, columns)
    category = _category(row, columns, found)
    if isinstance(given := _value(row, columns, found, category), str):
        return given
    if isinstance(probability := probability_of(row), str):
        return probability
    words = {each.strip().casefold() for each in found if isinstance(each, str)}
    _note_row(row, columns, given, notes, () if category else words)
    return Rating(
        id=str(row["id"]),
        value=given,
        language=tags[str(row.get("language") or row.get("languageCode") or "")],
        group=text_of(row.get(columns.group)) if columns.group else "",
        cluster=cluster_of(row, columns.cluster),
        annotator=str(row.get("annotator") or ""),
        system=system,
        passed=passed if isinstance(passed := row.get("passed"), bool) else None,
        in_words=not words.isdisjoint(WORDS),
        is_preference=not words.isdisjoint(PREFERENCES),
        verdict=PREFERENCES.get(text_of(row.get("verdict"))),
        orders=orders_of(row),
        part=text_of(None if (part := cell(row, columns.part)) is MISSING else part),
        other_system=other,
        source=text_of(row.get("source")),
        category=category,
        kind=text_of(row.get("kind")).strip().casefold(),
        failure=failure_of(row) if given is None else "",
        lengths=lengths_of(row),
        repeats=repeats_of(row),
        has_made_id=has_made_id(row, tags),
        probability=probability,
    )


def label_column(path: Path, table: TableOptions, *, in_results: bool = False) -> str:
    """Return the column of a file's labels: `label`, by whatever name it has there, if any row has one; else empty.

    Beside a score, a column with a name such as `verdict` is not taken, because it may be the judge's. With
    `in_results`, the file has the scores of a judge too, and a label must have a value.
    """
    if path.name.endswith((".seg.score", ".sys.score")) or has_translation_scores(path, table):
        return ""
    known = column_map(path, table).columns
    if known.get("label", "").casefold() in _JUDGES_OWN and (in_results or "score" in known):
        return ""
    empty = (MISSING, None, "") if in_results else (MISSING,)
    labels = (cell(row, "label") for _, row in named_rows_of(path, table) if not isinstance(row, str))
    return "label" if any(label not in empty for label in labels) else ""


def _category(row: Mapping[str, Any], columns: RatingColumns, found: list[object]) -> str:
    """Return a rating that is a word, if such are wanted; of a judge that chooses one of several, its verdict."""
    if not columns.categories or row.get("outcome") == "failure":
        return ""
    return word_of([row.get("verdict")] if row.get("outcome") == "result" and not columns.value else found)


def _value(row: Mapping[str, Any], columns: RatingColumns, found: list[object], category: str) -> float | str | None:
    """Return the rating of a row, None if there is none or it is a category, or an error message."""
    if row.get("error") or (row.get("outcome") == "failure" and not (columns.value and found)):
        return None
    failed = cast(Mapping[str, Any], row.get("subscoreFailures") or {})
    if not found and columns.value.removeprefix("subscores.") in failed:
        return None
    if found:
        number = number_of(found[0] if found[0] != "" else next((each for each in found if each != ""), None))
        return None if category and isinstance(number, str) else number
    return None if columns.in_results or category else _no_column(columns)


def _given(row: Mapping[str, Any], columns: RatingColumns) -> list[object]:
    """Return the values of the columns of the rating that the row has."""
    if not columns.value:
        return [row[name] for name in _NAMES if name in row]
    given = cell(row, columns.value)
    return [] if given is MISSING else [given]


def _no_column(columns: RatingColumns) -> _NoColumn:
    return _NoColumn(f"no column {' or '.join(map(repr, [columns.value] if columns.value else _NAMES))}")


def _note_row(
    row: Mapping[str, Any], columns: RatingColumns, given: float | None, notes: Ratings, words: Iterable[str]
) -> None:
    """Note the judge of a row, where its rating was found, and words that are no rating."""
    _name_judge(row, notes)
    notes.no_rating += [word for word in words if word] if columns.categories and given is None else []
    if not columns.value and given is not None:
        notes.default_columns.add("label" if row.get("score") in (None, "") else "score")
    notes.of_judges += row.get("outcome") == "result" and columns.value == "" and "label" not in row


def _name_judge(row: Mapping[str, Any], notes: Ratings) -> None:
    """Add the judge of a row, if the row names it."""
    given = row.get("provenance")
    described = cast(Mapping[str, object], given) if isinstance(given, dict) else {"model": row.get("model")}
    if described == notes.last_judge:
        return
    notes.last_judge = described
    identity = tuple(repr(value) for name in JUDGE_FIELDS if (value := described.get(name)))
    if identity in notes.named:
        return
    notes.named.add(identity)
    if (judge := judge_of_row(row)) is not None:
        notes.name_judge(judge)


def _of_translation_scores(path: Path, columns: RatingColumns, notes: Ratings) -> Iterator[Rating]:
    """Yield the scores of single prompts, with ids such as `th:0`."""
    if columns.value.removesuffix("Score") not in ("", "score", "script", "grammar", "coherence"):
        raise DataError(f"unknown column {columns.value!r}; available: script, grammar, coherence", path=path)
    scores = TranslationScores(path)
    for language in scores:
        tag = language.language_code or language.language_name
        for prompt in language.prompts:
            value = None if prompt.error else _of_prompt(prompt, columns.value)
            passed = None if value is None else scores_pass(prompt)
            yield Rating(id=f"{tag}:{prompt.index}", value=value, language=tag, passed=passed)
            origin = prompt.provenance
            if origin is not None:
                notes.name_judge(identity_of(origin))
    for problem in scores.problems:
        notes.note(problem)


def _of_prompt(prompt: PromptScore, name: str) -> float | None:
    named = {"script": prompt.script_score, "grammar": prompt.grammar_score, "coherence": prompt.coherence_score}
    wanted = named if name in ("", "score") else {name: named.get(name.removesuffix("Score"))}
    known = [value for value in wanted.values() if value is not None]
    return sum(known) / len(known) if known else None


def _of_systems(path: Path, columns: RatingColumns, notes: Ratings) -> Iterator[Rating]:
    """Yield the scores of a file of WMT's metrics task, by segment or system."""
    language, of_segments = pair_of(path), path.name.endswith(".seg.score")
    chosen = RowFilter(columns.table.filters)
    for each in system_scores(path):
        notes.systems.add(each.system)
        is_chosen = chosen.selects({"language": language, "system": each.system})
        if not is_chosen or columns.excludes(language, each.system):
            continue
        value = number_of(each.score)
        if isinstance(value, str):
            notes.note(f"{path}:{each.line}: {value}")
            continue
        item = f"{language}/{each.place}"
        yield Rating(
            id=f"{language}/{each.system}/{each.place}" if of_segments else f"{language}/{each.system}",
            value=value,
            language=language,
            group=item if of_segments and columns.group == "item" else "",
            cluster=item if of_segments else "",
            system=each.system,
        )
    chosen.check(path)
