"""Read a vocabulary suite: `vocabulary_short.json`, `prompts.json` and, if present, `models_list.txt`."""

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.files.json_lines import parse_data
from polyjudge.records.codec import from_json
from polyjudge.records.vocabulary import PromptName, Vocabulary, VocabularyWord

WORDS_FILE = "vocabulary_short.json"
PROMPTS_FILE = "prompts.json"
MODELS_FILE = "models_list.txt"
_PROMPTS: dict[str, PromptName] = {"prompt_a": "a", "prompt_b": "b"}
_JUDGE_PROMPTS = ("judge_prompt_a", "judge_prompt_b")
_VERDICTS = ("correct", "incorrect")


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
    names = [line.strip() for line in _read(file, path).splitlines()]
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
        return parse_data(_read(folder / file, path), path)
    except RecursionError:
        raise DataError("is nested too deeply", path=path) from None
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", path=path) from None


def _read(file: Path | Traversable, path: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 text ({error.reason} at byte {error.start})", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None


def _place(name: str, file: str) -> Path:
    return Path(name) / file
