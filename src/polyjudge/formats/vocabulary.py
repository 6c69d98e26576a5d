"""Read a vocabulary suite, and read and write what was answered and judged.

A suite is `vocabulary_short.json`, `prompts.json` and, if present, `models_list.txt`. Answers are one file for each
model, word and prompt, and judgements one row for each answer and judge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.files.atomic import readable_json, write_atomically
from polyjudge.files.json_lines import RowLog, each_json_line, parse_data, row_line
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
    """Read a folder; a file that is missing or malformed is an error that names the place.

    Without `with_models` the suite's own list of models is not read, because the caller has another one.
    """
    words = _words(_json(folder, WORDS_FILE, name), _place(name, WORDS_FILE))
    given = _json(folder, PROMPTS_FILE, name)
    path = _place(name, PROMPTS_FILE)
    if not isinstance(given, Mapping):
        raise DataError("must be an object with prompt_a", path=path)
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
    """Return the models that a file lists, one a line as it stands; blank lines and those that begin with # are not."""
    names = [line.strip() for line in read_text(file, path=path).splitlines()]
    models = tuple(dict.fromkeys(name for name in names if name and not name.startswith("#")))
    if not models:
        raise DataError("names no model; write one a line", path=path)
    return models


def _words(given: object, path: Path) -> tuple[VocabularyWord, ...]:
    if not isinstance(given, list) or not given:
        raise DataError("must be a list of objects with word and answer", path=path)
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
            raise DataError(f"entries {seen[word.word]} and {number} are the same word, {word.word!r}", path=path)
        seen[word.word] = number
    return tuple(words)


def _prompts(texts: Mapping[str, Any], path: Path) -> dict[PromptName, str]:
    prompts: dict[PromptName, str] = {
        name: _text(texts, key, path) for key, name in _PROMPTS.items() if texts.get(key) is not None
    }
    if "a" not in prompts:
        raise DataError("has no prompt_a", path=path)
    for key, prompt in prompts.items():
        if "{word}" not in prompt:
            raise DataError(f"prompt_{key} has no place {{word}}", path=path)
    return prompts


def _judge_wording(texts: Mapping[str, Any], path: Path) -> dict[str, str | tuple[str, ...]]:
    """Return what the suite says itself about how judges are asked and read."""
    wording: dict[str, str | tuple[str, ...]] = {}
    for key in _JUDGE_PROMPTS:
        if texts.get(key) is not None:
            wording[key] = _text(texts, key, path)
            if "{model_response}" not in wording[key]:
                raise DataError(f"{key} has no place {{model_response}}", path=path)
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
                raise DataError(f"{key} must be a word, or a list of words, that this verdict begins with", path=path)
            wording[verdict] = tuple(cast(list[str], words))
    return wording


def _is_word(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _text(texts: Mapping[str, Any], key: str, path: Path, default: str = "") -> str:
    value = texts.get(key, default)
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"{key} must be text, not {value!r}", path=path)
    return value


def _json(folder: Path | Traversable, file: str, name: str) -> object:
    path = _place(name, file)
    try:
        return parse_data(read_text(folder / file, path=path), path)
    except RecursionError:
        raise DataError("is nested too deeply", path=path) from None
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", path=path) from None


def _place(name: str, file: str) -> Path:
    return Path(name) / file


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
        record = _read_record(path)
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
            file.write(readable_json(_record_row(record), indent=2) + "\n")


def recorded_models(folder: Path) -> list[str]:
    """Return the models that a folder holds records of, by the names in the records."""
    found: list[str] = []
    for each in sorted(folder.iterdir()) if folder.is_dir() else []:
        records = (_read_record(path) for path in sorted(each.glob("*.json")) if each.is_dir())
        record = next((record for record in records if record is not None), None)
        if record is not None:
            found.append(record.model)
    return list(dict.fromkeys(found))


def _record_row(record: WordRecord) -> dict[str, Any]:
    row = to_json(record)
    return {**row, "schemaVersion": SCHEMA_VERSION}


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
    """Yield the rows of a file; the same judgement twice is an error."""
    seen: set[str] = set()
    for number, judgement in _numbered_judgements(path):
        if judgement.id in seen:
            raise DataError(f"holds {judgement.id!r} a second time", path=path, line=number)
        seen.add(judgement.id)
        yield judgement


def _numbered_judgements(path: Path, *, may_be_torn: bool = False) -> Iterator[tuple[int, Judgement]]:
    torn = _torn_line(path) if may_be_torn else 0
    for number, row in each_json_line(path):
        if isinstance(row, str):
            if number == torn:
                return  # a run that was killed, or had no more room, left the last row without its end
            raise DataError(f"{row}; correct the line or remove the file", path=path, line=number)
        if row.get("schemaVersion") != SCHEMA_VERSION:
            told = f"schemaVersion is {row.get('schemaVersion')!r}, expected {SCHEMA_VERSION}"
            raise DataError(told, path=path, line=number)
        try:
            yield number, from_json(Judgement, row)
        except DataError as error:
            raise DataError(f"is no judgement: {error}", path=path, line=number) from None


def _torn_line(path: Path) -> int:
    """Return the number of the last line where it lacks its line break, else 0."""
    number, line = 0, b"\n"
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):  # noqa: B007 - the last one is wanted
            pass
    return 0 if line.endswith(b"\n") else number


class JudgementLog:
    """A file of judgements in the making, by the only run in its folder; its rows stand in `NAME.partial` until then.

    What was paid for and is no part of the present run, another judge's verdicts perhaps, stands in `NAME.earlier`.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._partial = path.with_name(f"{path.name}.partial")
        self._earlier = path.with_name(f"{path.name}.earlier")
        self._log: RowLog | None = None
        if not read_only:
            self._log = RowLog(self._partial)
            self._log.drop_incomplete_row()

    def kept(self) -> dict[str, Judgement]:
        """Return what earlier runs left, finished or not, by id; the latest counts."""
        files = [path for path in (self._earlier, self.path, self._partial) if path.exists()]
        return {
            each.id: each for path in files for _, each in _numbered_judgements(path, may_be_torn=path == self._partial)
        }

    def append(self, judgement: Judgement) -> None:
        """Keep a judgement at once; where nothing may be written, do nothing."""
        if self._log is not None:
            self._log.append(_judgement_row(judgement))

    def finish(self, judgements: Sequence[Judgement]) -> None:
        """Write all of them in order; what else was kept, and was paid for, is set aside."""
        ids = {each.id for each in judgements}
        others = [each for key, each in self.kept().items() if key not in ids and each.provenance is not None]
        if others:
            _write_judgements(self._earlier, others)
        _write_judgements(self.path, judgements)
        if not others:
            self._earlier.unlink(missing_ok=True)
        self._partial.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file; it is removed if nothing was written to it."""
        if self._log is not None:
            if self._log.is_empty:
                self._partial.unlink(missing_ok=True)
            self._log.close()
            self._log = None


def _write_judgements(path: Path, judgements: Iterable[Judgement]) -> None:
    with write_atomically(path) as file:
        file.writelines(row_line(_judgement_row(each)) for each in judgements)


def _judgement_row(judgement: Judgement) -> dict[str, object]:
    return {"schemaVersion": SCHEMA_VERSION, **to_json(judgement)}
