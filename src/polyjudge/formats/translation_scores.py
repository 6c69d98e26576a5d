"""Read and write translation scores, and compute them from outcomes."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.files.json_pieces import readable_pieces
from polyjudge.files.json_stream import JsonStream, is_deep
from polyjudge.files.kinds import FileKind, refuse_other_kind
from polyjudge.files.spill import Spilled, SpillFile
from polyjudge.records.codec import from_open_json, to_open_json
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.translation import DIMENSIONS, LanguageResult, LanguageScore, PromptScore
from polyjudge.verdicts.translation import dimension_scores, has_scores, reached_by_enough, scores_pass

SCHEMA_VERSION = 1
_NULLS = dict.fromkeys(("scriptScore", "grammarScore", "coherenceScore", "isCorrectLanguage"))
_LIST_NAMES = ("scores", "judgeScores")
_MAX_PROBLEMS_SHOWN = 20
_LONGEST_PROBLEM = 300
_SCALE = (1.0, 5.0)
Score = TypeVar("Score", LanguageScore, PromptScore)


class ScoresFile:
    """A file of translation scores as the output of a run, with item ids `TAG:INDEX`, or `NAME:INDEX` without a tag."""

    retries_failures = False

    def __init__(
        self,
        path: Path,
        languages: Sequence[LanguageResult],
        judge: str,
        *,
        batching: Callable[[], Mapping[str, Any]] | None = None,
        force: bool = False,
    ) -> None:
        """Write scores to `path`; `batching` returns what was measured about several languages in one call."""
        self.path = path
        self.scores: list[LanguageScore] = []
        """One row for each language, after `finish`."""
        self._languages = languages
        self._judge = judge
        self._batching = batching
        self._force = force
        self._outcomes: dict[str, dict[int, Outcome]] = {_key(each): {} for each in languages}

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Add the next outcome."""
        assert isinstance(outcome, JudgeResult | Failure)
        key, _, index = item.id.rpartition(":")
        self._outcomes[key][int(index)] = outcome

    def finish(self) -> None:
        """Write the scores."""
        batching = self._batching() if self._batching is not None else None
        self.scores = [
            language_score(each, self._outcomes[_key(each)], self._judge, batching) for each in self._languages
        ]
        write_translation_scores(self.path, self.scores, force=self._force)

    def rows(self) -> Iterator[tuple[str, Outcome]]:
        """Yield the outcomes of an earlier run, with the ids of their items."""
        for score in TranslationScores(self.path):
            for prompt in score.prompts:
                failure = Failure(prompt.error, "unreadable", prompt.raw, provenance=prompt.provenance)
                yield f"{_key(score)}:{prompt.index}", result_of(prompt) or failure


def _key(language: LanguageResult | LanguageScore) -> str:
    return language.language_code or language.language_name


def write_translation_scores(path: Path, scores: Iterable[LanguageScore], *, force: bool = False) -> None:
    """Write scores, one row per language."""
    with write_atomically(path, kind=FileKind.TRANSLATION_SCORES, force=force) as file:
        file.write("[\n")
        for number, score in enumerate(scores):
            file.write(",\n" if number else "")
            file.write(readable_json(score_row(score), indent=1))
        file.write("\n]\n")


def score_row(score: LanguageScore) -> dict[str, Any]:
    """Return a score as a row of a file; an unknown score is null."""
    return {**_fields(score), "prompts": list(_prompt_rows(score))}


def score_pieces(score: LanguageScore, **more: str) -> Iterator[str]:
    """Yield the row of a score as JSON in pieces, after more fields."""
    return readable_pieces({**more, **_fields(score), "prompts": _prompt_rows(score)})


def _fields(score: LanguageScore) -> dict[str, Any]:
    """Return the row of a score without its prompts, which are at the place of `prompts` if there are any."""
    fields = to_open_json(replace(score, prompts=score.prompts[:1]))
    return {"schemaVersion": SCHEMA_VERSION, **_NULLS, **fields}


def _prompt_rows(score: LanguageScore) -> Iterator[dict[str, Any]]:
    return ({"index": each.index, **_NULLS, **to_open_json(each)} for each in score.prompts)


def read_score_row(row: Mapping[str, Any]) -> LanguageScore:
    """Return the score of a row that `score_row` returned."""
    prompts = tuple(_read(PromptScore, each) for each in row["prompts"])
    return replace(_read(LanguageScore, {**row, "prompts": []}), prompts=prompts)


class TranslationScores:
    """The rows of a scores file by language; the rows are on disk, their positions in memory.

    Invalid rows are counted in `skipped` and described in `problems`. An invalid row that names its language counts
    as a language without scores.
    """

    def __init__(self, path: Path) -> None:
        refuse_other_kind(path, FileKind.TRANSLATION_SCORES)
        self.path = path
        self.problems: list[str] = []
        self.skipped = 0
        self._prompts = SpillFile()
        self._rows: dict[str, LanguageScore] = {}
        """By name or tag; the prompts are on disk."""
        self.holds_scores = False
        """Whether any row has a score, or an error or notes instead."""
        for line, row in JsonStream(path, _LIST_NAMES, inner="prompts"):
            self._add(line, self._score(line, row))

    def __len__(self) -> int:
        """Return the number of names and tags that have a row."""
        return len(self._rows)

    def __iter__(self) -> Iterator[LanguageScore]:
        """Yield the rows in the order of the file."""
        for score in {id(each): each for each in self._rows.values()}.values():
            yield _loaded(score)

    def find(self, code: str, name: str) -> LanguageScore | None:
        """Return the row of a language by its tag, or by its name if the row has no tag."""
        tags = [f"tag {code.casefold()}"] if code else [f"name with tag {name.casefold()}"]
        for key in (*tags, f"name {name.casefold()}"):
            if key in self._rows:
                return _loaded(self._rows[key])
        return None

    def _add(self, line: int, score: LanguageScore | None) -> None:
        if score is None:
            return
        self.holds_scores |= bool(score.error or score.notes) or has_scores(score)
        tag, name = score.language_code.casefold(), score.language_name.casefold()
        key = f"tag {tag}" if tag else f"name {name}"
        if key in self._rows:
            self._note(line, f"duplicate language {score.language_name!r}")
            return
        self._rows[key] = score
        if tag:
            self._rows.setdefault(f"name with tag {name}", score)

    def _score(self, line: int, row: object) -> LanguageScore | None:
        """Return the score of a row; report an invalid row."""
        if not isinstance(row, Mapping):
            return self._note(line, "must be a JSON object")
        data = cast(Mapping[str, Any], row)
        if is_deep(data):
            return self._note(line, "nested too deeply")
        try:
            score = _read(LanguageScore, {**data, "prompts": []})
        except DataError as error:
            self._note(line, str(error))
            return _unjudged(data, str(error))
        given = (self._prompt(line, score.language_name, each) for each in self._given(line, data))
        prompts = Spilled((prompt for prompt in given if prompt is not None), file=self._prompts)
        return replace(score, prompts=prompts.close())

    def _given(self, line: int, row: Mapping[str, Any]) -> Sequence[object]:
        given: object = row.get("prompts")
        if given is not None and not isinstance(given, list | Spilled):
            self._note(line, "prompts must be a list")
        return cast(Sequence[object], given) if isinstance(given, list | Spilled) else []

    def _prompt(self, line: int, name: str, row: object) -> PromptScore | None:
        if not isinstance(row, Mapping):
            return self._note(line, f"{name!r}: a prompt must be a JSON object")
        if is_deep(cast(object, row)):
            return self._note(line, f"{name!r}: a prompt is nested too deeply")
        try:
            return _read(PromptScore, cast(Mapping[str, Any], row))
        except DataError as error:
            return self._note(line, f"{name!r}, a prompt: {error}")

    def _note(self, line: int, problem: str) -> None:
        self.skipped += 1
        if len(self.problems) < _MAX_PROBLEMS_SHOWN:
            self.problems.append(f"{self.path}:{line}: {problem[:_LONGEST_PROBLEM]}")


def _loaded(score: LanguageScore) -> LanguageScore:
    """Return a score with its prompts in memory, unless they are many."""
    return replace(score, prompts=score.prompts.short()) if isinstance(score.prompts, Spilled) else score


def _read(kind: type[Score], row: Mapping[str, Any]) -> Score:
    """Return a record; raise DataError for a score that is not on the scale."""
    score = from_open_json(kind, {key: value for key, value in row.items() if key != "schemaVersion"})
    lowest, highest = _SCALE
    for name, value in dimension_scores(score).items():
        if value is not None and not lowest <= value <= highest:
            raise DataError(f"{name}Score: {value!r} is not on the scale from {lowest:g} to {highest:g}")
    return score


def _unjudged(row: Mapping[str, Any], problem: str) -> LanguageScore | None:
    """Return the language of an invalid row without scores, or None if the row does not name it."""
    given = (row.get(key) for key in ("languageName", "languageCode"))
    name, code = (value if isinstance(value, str) else "" for value in given)
    error = f"invalid row: {problem[:_LONGEST_PROBLEM]}"
    return LanguageScore(language_name=name or code, language_code=code, error=error) if name or code else None


_MAX_NOTES = 3


def prompt_score(index: int, outcome: Outcome) -> PromptScore:
    """Return the score of one prompt for a scores file."""
    if isinstance(outcome, Failure):
        error = f"{outcome.kind}: {outcome.reason}"
        return PromptScore(index=index, error=error, raw=outcome.raw, provenance=outcome.provenance)
    return PromptScore(
        index=index,
        script_score=outcome.subscores.get("script"),
        grammar_score=outcome.subscores.get("grammar"),
        coherence_score=outcome.subscores.get("coherence"),
        is_correct_language=outcome.flags.get("isCorrectLanguage"),
        notes=outcome.reason,
        provenance=outcome.provenance,
    )


def result_of(score: PromptScore) -> JudgeResult | None:
    """Return the judge's result of a prompt in a scores file, or None if there is none."""
    known = {name: value for name, value in dimension_scores(score).items() if value is not None}
    if score.error or not known:
        return None
    flags = {} if score.is_correct_language is None else {"isCorrectLanguage": score.is_correct_language}
    mean = fmean(known.values())
    return JudgeResult(mean, score.notes, known, flags=flags, provenance=score.provenance)


def language_score(
    language: LanguageResult,
    outcomes: Mapping[int, Outcome],
    judge: str,
    batching: Mapping[str, Any] | None = None,
) -> LanguageScore:
    """Return the scores of a language: those that the needed share of its judged prompts reach, and the means."""
    prompts = tuple(prompt_score(index, outcome) for index, outcome in sorted(outcomes.items()))
    results = [outcome for outcome in outcomes.values() if isinstance(outcome, JudgeResult)]
    values = {name: [result.subscores.get(name) for result in results] for name in DIMENSIONS}
    flags = [result.flags.get("isCorrectLanguage") for result in results]
    reached = reached_by_enough([None if flag is None else float(flag) for flag in flags], sure_below=1.0)
    unjudged = len(prompts) - len(results)
    return LanguageScore(
        language_name=language.language_name,
        language_code=language.language_code,
        script_score=reached_by_enough(values["script"]),
        grammar_score=reached_by_enough(values["grammar"]),
        coherence_score=reached_by_enough(values["coherence"]),
        is_correct_language=None if reached is None else bool(reached),
        notes=_notes(prompts),
        error="" if results else _error(prompts),
        judge=judge,
        judged=len(results),
        unjudged=unjudged,
        means=dict(_means(values)),
        prompts=prompts,
        batching=batching or {},
    )


def _means(values: Mapping[str, Sequence[float | None]]) -> Iterator[tuple[str, float]]:
    for name, given in values.items():
        known = [value for value in given if value is not None]
        if known:
            yield name, round(fmean(known), 4)


def _notes(prompts: Sequence[PromptScore]) -> str:
    """Return the notes on the failing prompts, the worst first; if none fails, on the first scored prompt."""
    failing = sorted((prompt for prompt in prompts if scores_pass(prompt) is False), key=_rank)
    scored = [prompt for prompt in prompts if has_scores(prompt)][:1]
    notes = list(dict.fromkeys(prompt.notes for prompt in failing or scored if prompt.notes))
    return " | ".join(notes[:_MAX_NOTES])


def _rank(prompt: PromptScore) -> float:
    lowest = min((value for value in dimension_scores(prompt).values() if value is not None), default=0.0)
    return lowest - 10 * (prompt.is_correct_language is False)


def _error(prompts: Sequence[PromptScore]) -> str:
    if not prompts:
        return "no prompt to judge"
    (reason, _), *_ = Counter(prompt.error for prompt in prompts).most_common(1)
    return reason
