"""Say the instructions of a rubric in other words, to see how far verdicts depend on the words."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from msgspec import Struct
from msgspec.structs import replace

from polyjudge.records.codec import from_json
from polyjudge.records.rubrics import Rubric


class OtherWords(Struct, frozen=True, forbid_unknown_fields=True):
    """One rewording of instructions."""

    before: str
    after: str
    phrases: Mapping[str, str]
    """By phrases of the shipped rubrics, what replaces them."""


class _Rewordings(Struct, frozen=True, forbid_unknown_fields=True):
    rewordings: tuple[OtherWords, ...]


@lru_cache(maxsize=1)
def rewordings() -> Sequence[OtherWords]:
    """Return the shipped rewordings."""
    text = (files("polyjudge.rubrics") / "rewordings.toml").read_text(encoding="utf-8")
    return from_json(_Rewordings, tomllib.loads(text)).rewordings


def reworded(rubric: Rubric, words: OtherWords) -> Rubric:
    """Return a rubric with another instruction of the same meaning; criteria, scale and form of answers stay."""
    instruction = rubric.instruction.strip("\n")
    for phrase, other in words.phrases.items():
        instruction = instruction.replace(phrase, other)
    return replace(rubric, instruction=f"{words.before}\n\n{instruction}\n\n{words.after}")
