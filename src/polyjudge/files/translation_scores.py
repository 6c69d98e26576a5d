"""Judge scores on disk: a JSON list, one row per language."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.records import LanguageScore, PromptScore

from .json_records import from_json, to_json
from .json_stream import JsonStream
from .writing import readable_json, write_atomically

SCHEMA_VERSION = 1
_NULLS = dict.fromkeys(("scriptScore", "grammarScore", "coherenceScore", "isCorrectLanguage"))
_LIST_NAMES = ("scores", "judgeScores")


def write_translation_scores(path: Path, scores: Iterable[LanguageScore]) -> None:
    """Write scores, one row per language."""
    with write_atomically(path) as file:
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
        **to_json(score),
        "prompts": [_prompt(each) for each in score.prompts],
    }


def _prompt(score: PromptScore) -> dict[str, Any]:
    return {"index": score.index, **_NULLS, **to_json(score)}


class TranslationScores:
    """The rows of a scores file by language; they stand on disk, and memory holds only where.

    Rows that cannot be used are named in `problems` and passed over.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []
        self._rows = TemporaryFile()  # noqa: SIM115 - open as long as this is
        self._places: dict[str, int] = {}
        for line, row in JsonStream(path, _LIST_NAMES):
            problem = self._keep(row)
            if problem:
                self.problems.append(f"{path}:{line}: {problem}")

    def __len__(self) -> int:
        """Return how many names and tags have a row."""
        return len(self._places)

    def find(self, code: str, name: str) -> LanguageScore | None:
        """Return the row of a language, by its tag and else by its name."""
        for key in (f"tag {code.casefold()}", f"name {name.casefold()}"):
            if key in self._places and len(key.split(" ", 1)[1]):
                self._rows.seek(self._places[key])
                return from_json(LanguageScore, json.loads(self._rows.readline()))
        return None

    def _keep(self, row: object) -> str:
        """Keep a row; return what is wrong with it."""
        if not isinstance(row, Mapping):
            return "a row must be an object"
        data = cast(Mapping[str, Any], row)
        try:
            score = from_json(LanguageScore, data)
        except DataError as error:
            return str(error)
        by_tag, by_name = f"tag {score.language_code.casefold()}", f"name {score.language_name.casefold()}"
        key = by_tag if score.language_code else by_name
        if key in self._places:
            return f"{score.language_name!r} stands there already"
        place = self._rows.seek(0, 2)
        self._rows.write(json.dumps(dict(data)).encode() + b"\n")
        self._places[key] = place
        self._places.setdefault(by_name, place)
        return ""
