"""Read the ratings of people and judges from any file of rows."""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.records.calibration import JudgeIdentity, identity_of
from polyjudge.records.codec import from_json
from polyjudge.records.translation import PromptScore
from polyjudge.store.labels import newest_rows

from .items import CLUSTER_COLUMNS, rows_of
from .translation_scores import TranslationScores

_WORDS = {
    **dict.fromkeys(("pass", "passed", "yes", "true", "correct", "good", "ok"), 1.0),
    **dict.fromkeys(("fail", "failed", "no", "false", "incorrect", "bad"), 0.0),
}
_NO_RATING = {"", "none", "null", "nan", "n/a", "skip", "skipped", "cannot read this language", "unsure"}
_NAMES = ("score", "label")
_PROBLEMS_NAMED = 5
_PAIR = re.compile(r"(?<![a-z])([a-z]{2,3}-[a-z]{2,3})(?![a-z-])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """What one rater says of one item."""

    id: str
    value: float | None
    """None where the rater could not say."""
    language: str = ""
    group: str = ""
    """Items are put in pairs only within the same one."""
    cluster: str = ""
    """Items that belong together, such as those of one document."""
    annotator: str = ""
    system: str = ""
    """Who wrote the item."""
    in_words: bool = False
    """It was said as pass or fail, and not as a number."""


@dataclass(slots=True)
class Ratings:
    """The ratings of some files, and what of them could not be used."""

    ratings: list[Rating] = field(default_factory=list[Rating])
    problems: list[str] = field(default_factory=list[str])
    skipped: int = 0
    judges: list[JudgeIdentity] = field(default_factory=list[JudgeIdentity])
    """Who gave them, where the rows say so."""
    named: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    """What rows said of who gave them; most say the same."""

    def name_judge(self, judge: JudgeIdentity) -> None:
        """Take note of who gave a rating; of a call that failed it is not known which model would have answered."""
        for place, known in enumerate(self.judges):
            if replace(known, model_answered="") == replace(judge, model_answered=""):
                if judge.model_answered in ("", known.model_answered):
                    return
                if not known.model_answered:
                    self.judges[place] = judge
                    return
        self.judges.append(judge)

    def note(self, problem: str) -> None:
        """Take note of a row that cannot be used."""
        self.skipped += 1
        if len(self.problems) < _PROBLEMS_NAMED:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingColumns:
    """Which columns of a file say what."""

    value: str = ""
    """Where the rating stands, such as `score` or `subscores.grammar`; empty takes `score`, else `label`."""
    group: str = ""
    cluster: str = ""
    leave_out: frozenset[str] = frozenset()
    """Systems that take no part, by name, or in one language alone as `en-de/refA`."""

    def leaves_out(self, language: str, system: str) -> bool:
        """Say whether a system takes no part."""
        return bool(system) and not self.leave_out.isdisjoint((system, f"{language}/{system}"))


def read_ratings(path: Path, columns: RatingColumns, into: Ratings | None = None) -> Ratings:
    """Read the ratings of a file: rows with an id, a translation judge's scores, or scores as WMT's tools keep them."""
    found = Ratings() if into is None else into
    found.ratings.extend(each_rating(path, columns, found))
    return found


def each_rating(path: Path, columns: RatingColumns, notes: Ratings) -> Iterator[Rating]:
    """Yield the ratings of a file; `notes` is told of who gave them and of what could not be used."""
    if path.name.endswith((".seg.score", ".sys.score")):
        yield from _of_systems(path, columns, notes)
    elif path.suffix.lower() == ".json":
        yield from _of_translation_scores(path, columns, notes)
    else:
        for place, row in newest_rows(rows_of(path)):
            found = row if isinstance(row, str) else _of_row(row, columns, notes)
            if isinstance(found, Rating):
                yield found
            elif found:
                notes.note(f"{place}: {found}")


def _of_row(row: Mapping[str, Any], columns: RatingColumns, notes: Ratings) -> Rating | str:
    """Return the rating of one row, or what is wrong with it; empty where it takes no part."""
    if row.get("id") in (None, "") or isinstance(row["id"], dict | list | bool):
        return "no 'id'"
    system = _text(row.get("system"))
    if columns.leaves_out(str(row.get("language") or ""), system):
        return ""
    given = _value(row, columns)
    if isinstance(given, str):
        return given
    _name_judge(row, notes)
    return Rating(
        id=str(row["id"]),
        value=given,
        language=str(row.get("language") or row.get("languageCode") or ""),
        group=_text(row.get(columns.group)) if columns.group else "",
        cluster=_cluster(row, columns),
        annotator=str(row.get("annotator") or ""),
        system=system,
        in_words=_is_word(row, columns),
    )


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _cluster(row: Mapping[str, Any], columns: RatingColumns) -> str:
    names = (columns.cluster,) if columns.cluster else CLUSTER_COLUMNS
    return next((str(row[name]) for name in names if row.get(name) not in (None, "")), "")


def _value(row: Mapping[str, Any], columns: RatingColumns) -> float | str | None:
    """Return a row's rating, None where there is none to be had, or what is wrong with it."""
    if row.get("outcome") == "failure" or row.get("error"):
        return None
    given = [_at(row, name) for name in ((columns.value,) if columns.value else _NAMES)]
    there = [each for each in given if each is not _MISSING]
    if there:
        return _number(there[0] if there[0] != "" else next((each for each in there if each != ""), None))
    return f"no column {' or '.join(map(repr, [columns.value] if columns.value else _NAMES))}"


def _is_word(row: Mapping[str, Any], columns: RatingColumns) -> bool:
    given = [_at(row, name) for name in ((columns.value,) if columns.value else _NAMES)]
    return any(isinstance(each, str) and each.strip().casefold() in _WORDS for each in given)


_MISSING = object()


def _at(row: Mapping[str, Any], name: str) -> object:
    """Return what stands under a name, or under `one.two` in a row within the row."""
    if name in row:
        return row[name]
    first, dot, rest = name.partition(".")
    inner = row.get(first)
    return _at(cast(Mapping[str, Any], inner), rest) if dot and isinstance(inner, Mapping) else _MISSING


def _number(given: object) -> float | str | None:
    if given is None:
        return None
    if isinstance(given, bool | int | float):
        return _finite(given)
    word = str(given).strip().casefold()
    if word in _NO_RATING:
        return None
    if word in _WORDS:
        return _WORDS[word]
    try:
        return _finite(float(word))
    except ValueError:
        return f"{str(given)[:40]!r} is no rating: a number, or pass or fail"


def _finite(number: float) -> float | str | None:
    try:
        return float(number) if math.isfinite(number) else None
    except OverflowError:
        return "a number of hundreds of digits is no rating"


_OF_JUDGES = ("provider", "model", "rubric", "rubricFingerprint", "modelAnswered")


def _name_judge(row: Mapping[str, Any], notes: Ratings) -> None:
    """Take note of who gave a row's rating, where it says so."""
    given = row.get("provenance")
    if not isinstance(given, Mapping):
        return
    told = {name: value for name in _OF_JUDGES if (value := cast(Mapping[str, Any], given).get(name))}
    said = tuple(map(repr, told.values()))
    if said in notes.named:
        return
    notes.named.add(said)
    with suppress(DataError):
        notes.name_judge(from_json(JudgeIdentity, told))


def _of_translation_scores(path: Path, columns: RatingColumns, notes: Ratings) -> Iterator[Rating]:
    """Yield a translation judge's scores of single prompts, under ids such as `th:0`."""
    if columns.value.removesuffix("Score") not in ("", "score", "script", "grammar", "coherence"):
        raise DataError(f"has no column {columns.value!r}, but script, grammar and coherence", path=path)
    scores = TranslationScores(path)
    for language in scores:
        tag = language.language_code or language.language_name
        for prompt in language.prompts:
            value = None if prompt.error else _of_prompt(prompt, columns.value)
            yield Rating(id=f"{tag}:{prompt.index}", value=value, language=tag)
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
    """Yield a system's scores, each on a line with its name; with segments, those of a system follow one another."""
    pairs = _PAIR.findall("/".join(path.parts[-2:]))
    language = pairs[-1] if pairs else ""
    of_segments = path.name.endswith(".seg.score")
    counts: dict[str, int] = {}
    for line, (system, score) in _system_lines(path):
        place = counts[system] = counts.get(system, 0) + 1
        if columns.leaves_out(language, system):
            continue
        value = _number(score)
        if isinstance(value, str):
            notes.note(f"{path}:{line}: {value}")
            continue
        yield Rating(
            id=f"{language}/{system}/{place}" if of_segments else f"{language}/{system}",
            value=value,
            language=language,
            group=f"{language}/{place}" if of_segments and columns.group == "item" else "",
            cluster=f"{language}/{place}" if of_segments else "",
            system=system,
        )


def _system_lines(path: Path) -> Iterator[tuple[int, tuple[str, str]]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                system, tab, score = line.rstrip("\n").partition("\t")
                if not tab:
                    raise DataError("is not a system's name and its score with a tab between", path=path, line=number)
                yield number, (system, score)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    except UnicodeDecodeError:
        raise DataError("is not UTF-8 text", path=path) from None
