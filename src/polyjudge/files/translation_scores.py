"""Judge scores on disk: a JSON list, one row per language."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

from polyjudge.errors import DataError
from polyjudge.records import LanguageScore, PromptScore

from .json_records import from_open_json, to_open_json
from .json_stream import JsonStream, is_deep
from .scratch_rows import ScratchRows
from .writing import readable_json, write_atomically

SCHEMA_VERSION = 1
_NULLS = dict.fromkeys(("scriptScore", "grammarScore", "coherenceScore", "isCorrectLanguage"))
_LIST_NAMES = ("scores", "judgeScores")
_PROBLEMS_NAMED = 20
_LONGEST_PROBLEM = 300
_SCALE = (1.0, 5.0)
Score = TypeVar("Score", LanguageScore, PromptScore)


def write_translation_scores(path: Path, scores: Iterable[LanguageScore], *, force: bool = False) -> None:
    """Write scores, one row per language."""
    with write_atomically(path, force=force) as file:
        file.write("[\n")
        for number, score in enumerate(scores):
            file.write(",\n" if number else "")
            file.write(readable_json(score_row(score), indent=1))
        file.write("\n]\n")


def score_row(score: LanguageScore) -> dict[str, Any]:
    """Return a score as it stands on disk; what a judge cannot tell is null."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        **_NULLS,
        **to_open_json(score),
        "prompts": [{"index": each.index, **_NULLS, **to_open_json(each)} for each in score.prompts],
    }


def read_score_row(row: Mapping[str, Any]) -> LanguageScore:
    """Return a score from a row that `score_row` made."""
    prompts = tuple(_read(PromptScore, each) for each in row["prompts"])
    return replace(_read(LanguageScore, {**row, "prompts": []}), prompts=prompts)


class TranslationScores:
    """The rows of a scores file by language; they stand on disk, and memory holds only where.

    Rows that cannot be used are counted in `skipped` and named in `problems`. Where such a row says at least which
    language it is of, that language was asked about and has no score.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []
        self.skipped = 0
        self._rows = ScratchRows()
        self._places: dict[str, int] = {}
        self.holds_scores = False
        """Some row has a score, or says why it has none."""
        for line, row in JsonStream(path, _LIST_NAMES):
            self._keep(line, self._score(line, row))

    def __len__(self) -> int:
        """Return how many names and tags have a row."""
        return len(self._places)

    def __iter__(self) -> Iterator[LanguageScore]:
        """Yield the rows in the order of the file."""
        for place in sorted(set(self._places.values())):
            yield read_score_row(self._rows.at(place))

    def find(self, code: str, name: str) -> LanguageScore | None:
        """Return the row of a language, by its tag and else by its name; never the row of another tag."""
        tags = [f"tag {code.casefold()}"] if code else [f"name with tag {name.casefold()}"]
        for key in (*tags, f"name {name.casefold()}"):
            if key in self._places:
                return read_score_row(self._rows.at(self._places[key]))
        return None

    def _keep(self, line: int, score: LanguageScore | None) -> None:
        if score is None:
            return
        told = (score.script_score, score.grammar_score, score.coherence_score, score.is_correct_language)
        self.holds_scores |= bool(score.error or score.notes) or any(value is not None for value in told)
        tag, name = score.language_code.casefold(), score.language_name.casefold()
        key = f"tag {tag}" if tag else f"name {name}"
        if key in self._places:
            self._note(line, f"{score.language_name!r} stands there already")
            return
        self._places[key] = self._rows.add(score_row(score))
        if tag:
            self._places.setdefault(f"name with tag {name}", self._places[key])

    def _score(self, line: int, row: object) -> LanguageScore | None:
        """Return a row as a score; what is wrong with it is noted."""
        if not isinstance(row, Mapping):
            return self._note(line, "a row must be an object")
        data = cast(Mapping[str, Any], row)
        if is_deep(data):
            return self._note(line, "is nested too deeply")
        try:
            score = _read(LanguageScore, {**data, "prompts": []})
        except DataError as error:
            self._note(line, str(error))
            return _unjudged(data, str(error))
        prompts = [self._prompt(line, score.language_name, each) for each in self._prompts(line, data)]
        return replace(score, prompts=tuple(prompt for prompt in prompts if prompt is not None))

    def _prompts(self, line: int, row: Mapping[str, Any]) -> list[object]:
        given: object = row.get("prompts")
        if given is not None and not isinstance(given, list):
            self._note(line, "the prompts are no list")
        return cast(list[object], given) if isinstance(given, list) else []

    def _prompt(self, line: int, name: str, row: object) -> PromptScore | None:
        if not isinstance(row, Mapping):
            return self._note(line, f"{name!r}: a prompt must be an object")
        try:
            return _read(PromptScore, cast(Mapping[str, Any], row))
        except DataError as error:
            return self._note(line, f"{name!r}, a prompt: {error}")

    def _note(self, line: int, problem: str) -> None:
        self.skipped += 1
        if len(self.problems) < _PROBLEMS_NAMED:
            self.problems.append(f"{self.path}:{line}: {problem[:_LONGEST_PROBLEM]}")


def _read(kind: type[Score], row: Mapping[str, Any]) -> Score:
    """Return a record; a score off the scale is none."""
    score = from_open_json(kind, {key: value for key, value in row.items() if key != "schemaVersion"})
    lowest, highest = _SCALE
    for name, value in zip(_NULLS, (score.script_score, score.grammar_score, score.coherence_score), strict=False):
        if value is not None and not lowest <= value <= highest:
            raise DataError(f"{name}: {value!r} is not on the scale from {lowest:g} to {highest:g}")
    return score


def _unjudged(row: Mapping[str, Any], problem: str) -> LanguageScore | None:
    """Return, for a row that cannot be used, that its language was asked about; None where it does not say which."""
    given = (row.get(key) for key in ("languageName", "languageCode"))
    name, code = (value if isinstance(value, str) else "" for value in given)
    error = f"the row cannot be used: {problem[:_LONGEST_PROBLEM]}"
    return LanguageScore(language_name=name or code, language_code=code, error=error) if name or code else None
