"""What a run is about: its items, its judge, the fingerprint by which it is resumed, and what it need not ask again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from glob import escape
from pathlib import Path
from typing import cast

from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.items import FORMER_CONTEXT, ItemList, ItemSource
from polyjudge.judges.base import ItemWorker, Judge, ModelAddresses, as_item_judge
from polyjudge.judges.jury import Jury, RepeatedJudge
from polyjudge.judges.offline import OfflineJudge
from polyjudge.records.fingerprint import fingerprint, prompt_sha256
from polyjudge.records.outcomes import Item, JudgeResult, Outcome, Provenance, RunOutcome
from polyjudge.records.rubrics import Rubric
from polyjudge.rubrics.prompts import PromptRenderer
from polyjudge.store.run_file import StoredOutcomes, is_unfinished

Items = ItemSource | ItemList


@dataclass(frozen=True, slots=True)
class Plan:
    """The items and the judge of a run, as they were found before the first call."""

    items: int
    """Items to judge."""
    skipped: int
    """Rows without an item."""
    problems: tuple[str, ...]
    """What is wrong with the first few of them."""
    languages: tuple[str, ...]
    """The languages of the items; an empty one if an item has none."""
    items_fingerprint: str
    fingerprint: str
    """Two runs with the same fingerprint are the same run: one resumes the other."""
    note: str = ""
    """What the user should know about how it is resumed."""


def make_plan(
    items: Items, judge: ItemWorker, *, repeats: int, refresh: bool, reread: bool, retried: Path | None
) -> Plan:
    """Read the items once, and return the plan; `retried` is the file whose failures are judged again."""
    survey = items.survey()
    judges = [[str(name), address] for name, address in models_of(judge)]
    how = [_version(retried) if retried is not None else None, refresh, reread]
    own = getattr(judge, "fingerprint", "")
    return Plan(
        items=survey.count,
        skipped=survey.skipped,
        problems=survey.problems,
        languages=survey.languages,
        items_fingerprint=survey.fingerprint,
        fingerprint=fingerprint([survey.fingerprint, own, judges, getattr(judge, "repeats", repeats), how], 12),
    )


_FORMER_PROMPTS = (
    "resuming a run of an earlier version, whose prompts do not name the language; the other items get the same prompts"
)


def former_run(items: Items, plan: Plan, output: object, plan_of: Callable[[Items], Plan]) -> tuple[Items, Plan]:
    """Return the items and their plan, as an earlier version judged them if it left this run unfinished.

    Its judges did not see the language by default. With the same prompts for the remaining items, all rows are alike.
    """
    if not isinstance(items, ItemSource) or not isinstance(output, Path) or items.context is not None:
        return items, plan
    has_others = any(output.parent.glob(f"{escape(output.name)}.*"))
    if not has_others or is_unfinished(output, plan.fingerprint):
        return items, plan
    former = replace(items, default_context=FORMER_CONTEXT)
    former_plan = plan_of(former)
    is_former = is_unfinished(output, former_plan.fingerprint)
    return (former, replace(former_plan, note=_FORMER_PROMPTS)) if is_former else (items, plan)


def models_of(judge: object) -> ModelAddresses:
    """Return the models that a judge asks; none for a judge without a model."""
    return cast(ModelAddresses, getattr(judge, "models", ()))


def rubric_of(judge: object) -> Rubric | None:
    """Return the rubric of a judge, if it has one."""
    rubric = getattr(judge, "rubric", None)
    return rubric if isinstance(rubric, Rubric) else None


def repeated(given: ItemWorker | Judge, repeats: int) -> ItemWorker:
    """Return a judge that asks each question several times; the members of a jury each do."""
    judge = cast(ItemWorker, given) if hasattr(given, "judge") else as_item_judge(cast(Judge, given))
    if repeats == 1 or not models_of(judge):
        return judge
    if isinstance(judge, Jury):
        return judge.with_judges([RepeatedJudge(member, repeats) for member in judge.judges])
    return RepeatedJudge(cast(Judge, judge), repeats)


def _version(path: Path) -> list[int]:
    """Return values that change when the file does; none if there is no file."""
    if not path.is_file():
        return []
    found = path.stat()
    return [found.st_size, found.st_mtime_ns]


def stored_results(rows: Iterable[tuple[str, RunOutcome]], items: Iterable[Item], judge: object) -> StoredOutcomes:
    """Return the results of a finished run by the ids of their items, so that only its failures are judged again.

    A result counts unless it is known to answer another prompt than its item has now. Results of another judge are an
    error: all of them would be judged again. Results of items that are no longer there are included, and not marked as
    needed.
    """
    rubric = getattr(judge, "rubric", None)
    if not isinstance(rubric, Rubric):
        raise ConfigError("failures can be retried only for a judge with a rubric")
    known, names = StoredOutcomes(), _own_names(judge)
    hashes: Callable[[Item], set[str]] = getattr(judge, "prompt_hashes", None) or partial(
        _prompt_hashes, PromptRenderer(rubric)
    )
    for item_id, outcome in rows:
        if isinstance(outcome, JudgeResult):
            known.add(item_id, outcome)
    for item in items:
        if not isinstance(result := known.get(item.id), JudgeResult):
            continue
        known.want(item.id)
        if others := {f"{each.provider}/{each.model}" for each in _provenances(result)} - names:
            message = f"the results are of {', '.join(sorted(others))}, not of this judge"
            raise ConfigError(f"{message}. Give the same judge to retry failures, or another output")
        prompts = {each.prompt_sha256 for each in _provenances(result)}
        if not prompts <= hashes(item):
            known.drop(item.id)
    return known


def _own_names(judge: object) -> set[str]:
    """Return by which names results are known as those of a judge: its models, also as a jury, or the checks."""
    names = [str(name) for name, _ in models_of(judge)]
    return {*names, f"jury/{'+'.join(dict.fromkeys(names))}"} if names else {f"offline/{OfflineJudge.model}"}


def _prompt_hashes(renderer: PromptRenderer, item: Item) -> set[str]:
    return {prompt_sha256(renderer.render(item.candidate, item.context))}


def results_to_keep(
    path: Path, rows: Iterable[tuple[str, RunOutcome]], items: Iterable[Item], judge: object
) -> StoredOutcomes:
    """Return the results of a file whose failures are judged again; it is an error if one would be lost."""
    known = stored_results(rows, items, judge)
    for item_id in known.unwanted():
        message = f"contains a result of {item_id!r}, which is not among the items. Give all items, or another output"
        raise DataError(message, path=path)
    return known


def _provenances(outcome: Outcome) -> list[Provenance]:
    """Return the provenance of each part of a result."""
    return [part.provenance for part in outcome.members or (outcome,) if part.provenance is not None]
