"""Load sets of source prompts."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from msgspec import Struct

from polyjudge.errors import DataError, UnknownNameError
from polyjudge.files.text_files import read_toml
from polyjudge.records.codec import from_json

DEFAULT_TEMPLATE = "Translate the following text into {language}. Reply with the translation only.\n\n{text}"


class SourcePrompt(Struct, frozen=True, forbid_unknown_fields=True):
    """One text to translate."""

    text: str
    category: str = ""
    reference: str = ""


class PromptSet(Struct, frozen=True, forbid_unknown_fields=True):
    """Texts to translate, and the instruction for the model."""

    name: str
    prompts: tuple[SourcePrompt, ...]
    template: str = DEFAULT_TEMPLATE
    """With the placeholders {language} and {text}."""

    def instruction(self, language: str, text: str) -> str:
        """Return the instruction for a model; braces in the text are not placeholders."""
        return text.join(part.replace("{language}", language) for part in self.template.split("{text}"))


def prompt_set_names() -> list[str]:
    """Return the names of the shipped sets."""
    entries = [entry.name for entry in files("polyjudge.formats").iterdir()]
    return sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml"))


def load_prompt_set(name: str) -> PromptSet:
    """Return a shipped set by name, or a set from a TOML file by path."""
    if name in prompt_set_names():
        return _read(files("polyjudge.formats") / f"{name}.toml", Path(f"{name}.toml"))
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return _read(path, path)
    raise UnknownNameError("prompt set", name, prompt_set_names())


def _read(source: Path | Traversable, path: Path) -> PromptSet:
    data = read_toml(source, path=path)
    try:
        given = from_json(PromptSet, data)
    except DataError as error:
        raise DataError(f"invalid prompt set: {error}", path=path) from None
    if not given.prompts:
        raise DataError("no prompts found; write a table [[prompts]] for each", path=path)
    if "{text}" not in given.template:
        raise DataError("the template must contain {text}", path=path)
    return given
