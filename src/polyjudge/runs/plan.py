"""Decide which stored outcomes a resumed run keeps."""

from collections.abc import Iterable, Sequence

from polyjudge.errors import ConfigError
from polyjudge.records.fingerprint import prompt_sha256
from polyjudge.records.outcomes import Failure, Item, Outcome, Provenance
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.rubrics.prompts import PromptRenderer
from polyjudge.store.run_file import StoredOutcomes


def kept_answers(
    outcomes: Iterable[tuple[str, Outcome]], items: Iterable[Item], rubric: Rubric, judges: Sequence[ModelName]
) -> StoredOutcomes:
    """Return by the ids of their items the results that answer the very prompts of these items, by these judges.

    Results of what is not among the items are in it, too, and unwanted. Those of other judges are an error: it would be
    all that is asked again.
    """
    known = StoredOutcomes()
    for item_id, outcome in outcomes:
        if not isinstance(outcome, Failure):
            known.add(item_id, outcome)
    renderer = PromptRenderer(rubric)
    for item in items:
        outcome = known.get(item.id)
        if outcome is None:
            continue
        known.want(item.id)
        if others := {f"{each.provider}/{each.model}" for each in _asked(outcome)} - set(map(str, judges)):
            told = f"the results are of {', '.join(sorted(others))}; --retry-failures asks the same judge again"
            raise ConfigError(f"{told}: name it, or another --output")
        prompt = prompt_sha256(renderer.render(item.candidate, item.context))
        if {each.prompt_sha256 for each in _asked(outcome)} != {prompt}:
            known.drop(item.id)
    return known


def _asked(outcome: Outcome) -> list[Provenance]:
    """Return where the parts of a result come from."""
    return [part.provenance for part in outcome.members or (outcome,) if part.provenance is not None]
