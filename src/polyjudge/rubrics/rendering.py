"""Turn a rubric into what a judge is asked: the prompt, the schema of the answer, and the fingerprint of both."""

from collections.abc import Mapping
from typing import Any

from polyjudge.files import fingerprint
from polyjudge.records import Rubric, RubricCriterion
from polyjudge.text import FENCE_NOTE, fence

from .templates import pieces_of


class PromptRenderer:
    """Turns candidates into prompts by one rubric; what is the same in all of them is worked out once."""

    def __init__(self, rubric: Rubric) -> None:
        self.criteria = "\n".join(_criterion_lines(criterion) for criterion in rubric.criteria)
        self.subscores_form = _subscores_form(rubric)
        told = {"criteria": self.criteria, "subscores_schema": self.subscores_form}
        self._pieces = pieces_of(rubric.instruction, told)

    def render(self, candidate: str, context: Mapping[str, object] | None = None) -> str:
        """Return the whole prompt, with all judged and quoted text fenced off."""
        values = {"candidate": fence(candidate), "context": render_context(context or {})}
        parts = [text if place is None else text + values[place] for text, place in self._pieces]
        return f"{FENCE_NOTE}\n\n{''.join(parts)}"


def render_prompt(rubric: Rubric, candidate: str, context: Mapping[str, object] | None = None) -> str:
    """Return the prompt for one candidate."""
    return PromptRenderer(rubric).render(candidate, context)


def render_context(context: Mapping[str, object]) -> str:
    """Return the context as a block of its own, each value fenced; nothing at all where there is none."""
    if not context:
        return ""
    return "\n\nContext:\n" + "\n".join(
        f"- {' '.join(str(key).split())}:\n{fence(str(value))}" for key, value in context.items()
    )


def answer_schema(rubric: Rubric) -> dict[str, Any]:
    """Return the JSON Schema of the answer, in the part of the language that every provider enforces."""
    subscores = {criterion.name: {"type": "number"} for criterion in rubric.criteria}
    properties: dict[str, Any] = {"score": {"type": "number"}} if rubric.overall else {}
    properties |= {"reason": {"type": "string"}, "subscores": _closed_object(subscores)}
    properties |= {flag.name: {"type": "boolean"} for flag in rubric.flags}
    return _closed_object(properties)


def rubric_fingerprint(rubric: Rubric) -> str:
    """Return sixteen hex digits that change when any word or number of the rubric does."""
    return fingerprint(rubric, 16)


def _criterion_lines(criterion: RubricCriterion) -> str:
    anchors = [f"  {value} = {meaning}" for value, meaning in sorted(criterion.anchors.items())]
    return "\n".join([f"- **{criterion.name}** (weight {criterion.weight}): {criterion.description}", *anchors])


def _subscores_form(rubric: Rubric) -> str:
    scale = f"<{rubric.scale.lowest:g}-{rubric.scale.highest:g}>"
    return ", ".join(f'"{criterion.name}": {scale}' for criterion in rubric.criteria)


def _closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
