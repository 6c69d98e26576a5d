"""Word records: one file for each model, word and prompt."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.files.atomic import readable_json, write_atomically
from polyjudge.files.json_lines import parse_data
from polyjudge.files.names import safe_names
from polyjudge.files.ownership import refuse_foreign
from polyjudge.records.codec import from_json, to_json
from polyjudge.records.vocabulary import PromptName, WordRecord

SCHEMA_VERSION = 1
JUDGEMENTS_FILE = "judgements.jsonl"
SUMMARY_FILE = "summary.json"
_TAKEN = (JUDGEMENTS_FILE, f"{JUDGEMENTS_FILE}.partial", f"{JUDGEMENTS_FILE}.earlier", SUMMARY_FILE)
_PROMPT_B = ".prompt_b"


class WordRecords:
    """The records of some models and words under one folder."""

    def __init__(self, folder: Path, models: Iterable[str], words: Iterable[str], *, force: bool = False) -> None:
        self.folder = folder
        self._force = force
        self.damaged: set[Path] = set()
        """Files that should be records and cannot be read."""
        self._models = safe_names(models, taken=_TAKEN)
        self._words = safe_names(words, endings=[_PROMPT_B])

    def name(self, model: str, word: str, prompt: PromptName) -> str:
        """Return what a record is called, within the folder and without its ending."""
        return f"{self._models[model]}/{self._words[word]}{_PROMPT_B if prompt == 'b' else ''}"

    def path(self, model: str, word: str, prompt: PromptName) -> Path:
        """Return where a record stands."""
        return self.folder / f"{self.name(model, word, prompt)}.json"

    def read(self, model: str, word: str, prompt: PromptName) -> WordRecord | None:
        """Return a record; one that is missing, damaged or about something else is none."""
        path = self.path(model, word, prompt)
        record = _read(path)
        if record is None and path.exists():
            self.damaged.add(path)
        return record if record is not None and (record.model, record.word) == (model, word) else None

    def refuse_foreign(self) -> None:
        """Refuse a file in the place of a record that polyjudge did not write, before anything is asked."""
        for model in self._models:
            for word in self._words:
                for prompt in ("a", "b"):
                    refuse_foreign(self.path(model, word, prompt), force=self._force)

    def remove_leftovers(self) -> None:
        """Remove what runs that were killed left half written; no other may be at work in the folder."""
        for path in [*self.folder.glob(".*.part"), *self.folder.glob("*/.*.part")]:
            path.unlink(missing_ok=True)

    def write(self, record: WordRecord, prompt: PromptName) -> None:
        """Write a record, over the one that is there."""
        with write_atomically(self.path(record.model, record.word, prompt), force=self._force) as file:
            file.write(readable_json(_row(record), indent=2) + "\n")


def recorded_models(folder: Path) -> list[str]:
    """Return the models that a folder holds records of, by the names in the records."""
    found: list[str] = []
    for each in sorted(folder.iterdir()) if folder.is_dir() else []:
        records = (_read(path) for path in sorted(each.glob("*.json")) if each.is_dir())
        record = next((record for record in records if record is not None), None)
        if record is not None:
            found.append(record.model)
    return list(dict.fromkeys(found))


def _row(record: WordRecord) -> dict[str, Any]:
    row = to_json(record)
    return {**row, "schemaVersion": SCHEMA_VERSION}


def _read(path: Path) -> WordRecord | None:
    try:
        data: Any = parse_data(path.read_text(encoding="utf-8-sig"), path)
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    row = cast(dict[str, Any], data)
    try:
        return from_json(WordRecord, {key: row[key] for key in row if row[key] is not None or key == "response"})
    except DataError:
        return None
