"""Read a vocabulary suite, and read and write its answers and judgements.

A suite is `vocabulary_short.json`, `prompts.json` and, if present, `models_list.txt`. Answers are one file for each
model, word and prompt, and judgements one row for each answer and judge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError, other_version
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import RowLog, each_json_line, parse_data, readable_json, row_line
from polyjudge.files.kinds import FileKind
from polyjudge.files.names import safe_names
from polyjudge.files.ownership import refuse_foreign
from polyjudge.files.text_files import read_text
from polyjudge.records.codec import from_json, to_json
from polyjudge.records.vocabulary import Judgement, PromptName, Vocabulary, VocabularyWord, WordRecord

SCHEMA_VERSION = 1
WORDS_FILE = "vocabulary_short.json"
PROMPTS_FILE = "prompts.json"
MODELS_FILE = "models_list.txt"
_PROMPTS: dict[str, PromptName] = {"prompt_a": "a", "prompt_b": "b"}
_JUDGE_PROMPTS = ("judge_prompt_a", "judge_prompt_b")
_VERDICTS = ("correct", "incorrect")
JUDGEMENTS_FILE = "judgements.jsonl"
SUMMARY_FILE = "summary.json"
_TAKEN = (JUDGEMENTS_FILE, f"{JUDGEMENTS_FILE}.partial", f"{JUDGEMENTS_FILE}.earlier", SUMMARY_FILE)
_PROMPT_B = ".prompt_b"


def read_vocabulary(folder: Path | Traversable, name: str, *, with_models: bool = True) -> Vocabulary:
    """Read a suite; a missing or invalid file is an error.

    Without `with_models`, the suite's list of models is not read.
    """
    words = _words(_json(folder, WORDS_FILE, name), _place(name, WORDS_FILE))
    given = _json(folder, PROMPTS_FILE, name)
    path = _place(name, PROMPTS_FILE)
    if not isinstance(given, Mapping):
        raise DataError("expected an object with prompt_a", path=path)
    texts = cast(Mapping[str, Any], given)
    models = folder / MODELS_FILE
    return Vocabulary(
        name=name,
        words=words,
        prompts=_prompts(texts, path),
        language=_text(texts, "language", path, "es"),
        judge_wording=_judge_wording(texts, path),
        models=read_models(models, _place(name, MODELS_FILE)) if with_models and models.is_file() else None,
    )


def read_models(file: Path | Traversable, path: Path) -> tuple[str, ...]:
    """Return the models in a file, one per line; ignore blank lines and comments that start with #."""
    names = [line.strip() for line in read_text(file, path=path).splitlines()]
    models = tuple(dict.fromkeys(name for name in names if name and not name.startswith("#")))
    if not models:
        raise DataError("no models found; write one per line", path=path)
    return models


def _words(given: object, path: Path) -> tuple[VocabularyWord, ...]:
    if not isinstance(given, list) or not given:
        raise DataError("expected a list of objects with word and answer", path=path)
    words: list[VocabularyWord] = []
    for number, entry in enumerate(cast(list[object], given), start=1):
        try:
            word = from_json(VocabularyWord, entry)
        except DataError as error:
            raise DataError(f"entry {number}: {error}", path=path) from None
        if not word.word.strip() or not word.answer.strip():
            raise DataError(f"entry {number}: {'word' if not word.word.strip() else 'answer'} is empty", path=path)
        words.append(word)
    seen: dict[str, int] = {}
    for number, word in enumerate(words, start=1):
        if word.word in seen:
            raise DataError(f"duplicate word {word.word!r} in entries {seen[word.word]} and {number}", path=path)
        seen[word.word] = number
    return tuple(words)


def _prompts(texts: Mapping[str, Any], path: Path) -> dict[PromptName, str]:
    prompts: dict[PromptName, str] = {
        name: _text(texts, key, path) for key, name in _PROMPTS.items() if texts.get(key) is not None
    }
    if "a" not in prompts:
        raise DataError("prompt_a is missing", path=path)
    for key, prompt in prompts.items():
        if "{word}" not in prompt:
            raise DataError(f"prompt_{key} must contain {{word}}", path=path)
    return prompts


def _judge_wording(texts: Mapping[str, Any], path: Path) -> dict[str, str | tuple[str, ...]]:
    """Return the wording of the suite that replaces the default prompts and verdicts of judges."""
    wording: dict[str, str | tuple[str, ...]] = {}
    for key in _JUDGE_PROMPTS:
        if texts.get(key) is not None:
            wording[key] = _text(texts, key, path)
            if "{model_response}" not in wording[key]:
                raise DataError(f"{key} must contain {{model_response}}", path=path)
    for verdict in _VERDICTS:
        key = f"judge_{verdict}"
        if texts.get(key) is not None:
            given = texts[key]
            words = [given] if isinstance(given, str) else given
            if (
                not isinstance(words, list)
                or not words
                or not all(_is_word(each) for each in cast(list[object], words))
            ):
                raise DataError(f"{key} must be the first word of this verdict, or a list of such words", path=path)
            wording[verdict] = tuple(cast(list[str], words))
    return wording


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _text(texts: Mapping[str, Any], key: str, path: Path, default: str = "") -> str:
    value = texts.get(key, default)
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{key}: expected text, found {value!r}", path=path)
    return value


def _json(folder: Path | Traversable, file: str, name: str) -> object:
    path = _place(name, file)
    try:
        return parse_data(read_text(folder / file, path=path), path)
    except RecursionError:
        raise DataError("nested too deeply", path=path) from None
    except ValueError as error:
        raise DataError(f"not JSON: {error}", path=path) from None


def _place(name: str, file: str) -> Path:
    return Path(name) / file


class WordRecords:
    """The records of some models and words under one folder."""

    def __init__(self, folder: Path, models: Iterable[str], words: Iterable[str], *, force: bool = False) -> None:
        self.folder = folder
        self._force = force
        self.damaged: set[Path] = set()
        """Files of records that cannot be read."""
        self._models = safe_names(models, taken=_TAKEN)
        self._words = safe_names(words, endings=[_PROMPT_B])

    def name(self, model: str, word: str, prompt: PromptName) -> str:
        """Return the path of a record within the folder, without its suffix."""
        return f"{self._models[model]}/{self._words[word]}{_PROMPT_B if prompt == 'b' else ''}"

    def path(self, model: str, word: str, prompt: PromptName) -> Path:
        """Return the path of a record."""
        return self.folder / f"{self.name(model, word, prompt)}.json"

    def read(self, model: str, word: str, prompt: PromptName) -> WordRecord | None:
        """Return a record, or None if it is missing, damaged, or of another model or word."""
        path = self.path(model, word, prompt)
        record = _read_record(path)
        if record is None and path.exists():
            self.damaged.add(path)
        return record if record is not None and (record.model, record.word) == (model, word) else None

    def refuse_foreign(self) -> None:
        """Raise ForeignFileError if polyjudge did not write a file that would be replaced."""
        for model in self._models:
            for word in self._words:
                for prompt in ("a", "b"):
                    refuse_foreign(self.path(model, word, prompt), kind=FileKind.WORDS, force=self._force)

    def remove_leftovers(self) -> None:
        """Remove the temporary files of killed runs; requires the lock of the folder."""
        for path in [*self.folder.glob(".*.part"), *self.folder.glob("*/.*.part")]:
            path.unlink(missing_ok=True)

    def write(self, record: WordRecord, prompt: PromptName) -> None:
        """Write a record, replacing an earlier one."""
        path = self.path(record.model, record.word, prompt)
        with write_atomically(path, kind=FileKind.WORDS, force=self._force) as file:
            file.write(readable_json({**to_json(record), "schemaVersion": SCHEMA_VERSION}, indent=2) + "\n")


def recorded_models(folder: Path) -> list[str]:
    """Return the models of the records in a folder."""
    found: list[str] = []
    for each in sorted(folder.iterdir()) if folder.is_dir() else []:
        records = (_read_record(path) for path in sorted(each.glob("*.json")) if each.is_dir())
        record = next((record for record in records if record is not None), None)
        if record is not None:
            found.append(record.model)
    return list(dict.fromkeys(found))


def _read_record(path: Path) -> WordRecord | None:
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


def read_judgements(path: Path) -> Iterator[Judgement]:
    """Yield the judgements of a file; a duplicate is an error."""
    seen: set[str] = set()
    for number, judgement in _numbered_judgements(path):
        if judgement.id in seen:
            raise DataError(f"duplicate judgement {judgement.id!r}", path=path, line=number)
        seen.add(judgement.id)
        yield judgement


def _numbered_judgements(path: Path, *, may_be_incomplete: bool = False) -> Iterator[tuple[int, Judgement]]:
    incomplete = _incomplete_line(path) if may_be_incomplete else 0
    for number, row in each_json_line(path):
        if isinstance(row, str):
            if number == incomplete:
                return  # a kill or a full disk left the last row incomplete
            raise DataError(f"{row}; correct the line or delete the file", path=path, line=number)
        if row.get("schemaVersion") != SCHEMA_VERSION:
            message = other_version(row.get("schemaVersion"), SCHEMA_VERSION)
            raise DataError(message, path=path, line=number)
        try:
            yield number, from_json(Judgement, row)
        except DataError as error:
            raise DataError(f"invalid judgement: {error}", path=path, line=number) from None


def _incomplete_line(path: Path) -> int:
    """Return the number of the last line if it has no line break, else 0."""
    number, line = 0, b"\n"
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):  # noqa: B007 - the last line is used
            pass
    return 0 if line.endswith(b"\n") else number


class JudgementLog:
    """The judgements of a run that has locked its folder; the rows are in `NAME.partial` until `finish`.

    Paid judgements that are not part of the run, such as those of another judge, are stored in `NAME.earlier`.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._partial = path.with_name(f"{path.name}.partial")
        self._earlier = path.with_name(f"{path.name}.earlier")
        self._log: RowLog | None = None
        if not read_only:
            self._log = RowLog(self._partial)
            self._log.drop_incomplete_row()

    def stored(self) -> dict[str, Judgement]:
        """Return the judgements of earlier runs, finished or not, by id; the latest one of an id counts."""
        files = [path for path in (self._earlier, self.path, self._partial) if path.exists()]
        return {
            each.id: each
            for path in files
            for _, each in _numbered_judgements(path, may_be_incomplete=path == self._partial)
        }

    def append(self, judgement: Judgement) -> None:
        """Append a judgement; do nothing if the log is read-only."""
        if self._log is not None:
            self._log.append(_judgement_row(judgement))

    def finish(self, judgements: Sequence[Judgement]) -> None:
        """Write all judgements in order; move other paid judgements of earlier runs to `NAME.earlier`."""
        ids = {each.id for each in judgements}
        others = [each for key, each in self.stored().items() if key not in ids and each.provenance is not None]
        if others:
            _write_judgements(self._earlier, others)
        _write_judgements(self.path, judgements)
        if not others:
            self._earlier.unlink(missing_ok=True)
        self._partial.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; delete it if it is empty."""
        if self._log is not None:
            if self._log.is_empty:
                self._partial.unlink(missing_ok=True)
            self._log.close()
            self._log = None


def _write_judgements(path: Path, judgements: Iterable[Judgement]) -> None:
    with write_atomically(path, kind=FileKind.WORDS) as file:
        file.writelines(row_line(_judgement_row(each)) for each in judgements)


def _judgement_row(judgement: Judgement) -> dict[str, object]:
    return {"schemaVersion": SCHEMA_VERSION, **to_json(judgement)}
