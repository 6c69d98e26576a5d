"""Results of an earlier run that still hold, so that only what failed is asked again."""

from collections.abc import Iterable, Sequence

from polyjudge.files import StoredOutcomes
from polyjudge.providers import ModelName, prompt_sha256
from polyjudge.records import Failure, Item, Outcome, Rubric
from polyjudge.rubrics import PromptRenderer


def kept_answers(
    outcomes: Iterable[tuple[str, Outcome]], items: Iterable[Item], rubric: Rubric, judges: Sequence[ModelName]
) -> StoredOutcomes:
    """Return by the ids of their items the results that answer the very prompts of these items, by these judges.

    Results of what is not among the items are in it, too, and unwanted.
    """
    known = StoredOutcomes()
    for item_id, outcome in outcomes:
        if not isinstance(outcome, Failure):
            known.add(item_id, outcome)
    renderer, names = PromptRenderer(rubric), {(name.provider, name.model) for name in judges}
    for item in items:
        outcome = known.get(item.id)
        if outcome is None:
            continue
        known.want(item.id)
        if not _is_answer_to(outcome, prompt_sha256(renderer.render(item.candidate, item.context)), names):
            known.drop(item.id)
    return known


def _is_answer_to(outcome: Outcome, prompt: str, judges: set[tuple[str, str]]) -> bool:
    """Say whether a result answers this very prompt, by judges of this run."""
    parts = [part for part in outcome.members or (outcome,) if part.provenance is not None]
    asked = [part.provenance for part in parts if part.provenance is not None]
    return bool(asked) and all(each.prompt_sha256 == prompt and (each.provider, each.model) in judges for each in asked)
