"""What a run is about: its items, its judge, the fingerprint by which it is resumed, and what it need not ask again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from glob import escape
from itertools import islice
from pathlib import Path
from typing import cast

from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.items import FORMER_CONTEXT, ItemList, ItemSource, read_results
from polyjudge.judges.base import ItemWorker, Judge, ModelAddresses, as_item_judge
from polyjudge.judges.jury import Jury, RepeatedJudge
from polyjudge.judges.offline import offline_model
from polyjudge.records.fingerprint import fingerprint, prompt_sha256
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, Provenance, RunOutcome
from polyjudge.records.rubrics import Rubric
from polyjudge.records.spans import VERIFICATION
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
        note=_FORMER_RESULTS if isinstance(items, ItemSource) and retried and items.is_former else "",
    )


_FORMER_RESULTS = (
    "the results are of an earlier version, whose prompts lack the language; its failures get the same prompts"
)
_FIRST = 1_000
_FORMER_PROMPTS = (
    "resuming a run of an earlier version, whose prompts do not name the language; the other items get the same prompts"
)


def retried_items(items: Items, judge: object, output: object) -> Items:
    """Return the items whose failures are judged again, as an earlier version judged them if the results are its own.

    Its judges did not see the language by default, and a result of another prompt would be asked for again.
    """
    if not isinstance(items, ItemSource) or items.context is not None or not isinstance(output, Path):
        return items
    if rubric_of(judge) is None:
        return items
    former, hashes = replace(items, default_context=FORMER_CONTEXT), prompt_hashes_of(judge)
    asked = _asked_prompts(output)
    for item, as_before in zip(items, former, strict=True):
        prompts = asked.get(item.id)
        if prompts and item.context != as_before.context:  # the first row with a language says it for all
            return former if not prompts <= hashes(item) and prompts <= hashes(as_before) else items
    return items


def _asked_prompts(output: Path) -> dict[str, set[str]]:
    """Return the hashes of the prompts by which the first results were judged, by the ids of their items."""
    if not output.exists():
        return {}
    first = islice(((own_id, each) for own_id, each in read_results(output) if isinstance(each, JudgeResult)), _FIRST)
    return {own_id: {each.prompt_sha256 for each in _provenances(result)} for own_id, result in first}


def former_run(items: Items, output: object, plan_of: Callable[[Items], Plan]) -> tuple[Items, Plan]:
    """Return the items and their plan, as an earlier version judged them if it left this run unfinished.

    Its judges did not see the language by default. With the same prompts for the remaining items, all rows are alike.
    """
    plan = plan_of(items)
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
    if rubric_of(judge) is None:
        raise ConfigError("failures can be retried only for a judge with a rubric")
    known, names = StoredOutcomes(), _own_names(judge)
    hashes = prompt_hashes_of(judge)
    for item_id, outcome in rows:
        if isinstance(outcome, JudgeResult) or (isinstance(outcome, Failure) and outcome.kind == "abstained"):
            known.add(item_id, outcome)
    for item in items:
        result = known.get(item.id)
        if not isinstance(result, JudgeResult | Failure):
            continue
        known.want(item.id)
        if others := {f"{each.provider}/{each.model}" for each in _provenances(result)} - names:
            message = f"the results are from {', '.join(sorted(others))}, not from this judge"
            raise ConfigError(f"{message}. Give the same judge to retry failures, or another output")
        prompts = {each.prompt_sha256 for each in _provenances(result)}
        if not prompts <= hashes(item):
            known.drop(item.id)
    return known


def _own_names(judge: object) -> set[str]:
    """Return by which names results are known as those of a judge: its models, also as a jury, or the checks."""
    names = [str(name) for name, _ in models_of(judge)]
    if names:
        return {*names, f"jury/{'+'.join(dict.fromkeys(names))}"}
    return {f"offline/{offline_model(getattr(judge, 'policy', None))}"}


def prompt_hashes_of(judge: object) -> Callable[[Item], set[str]]:
    """Return the function for the hashes of the prompts by which a judge with a rubric may judge an item."""
    own = getattr(judge, "prompt_hashes", None)
    if own is not None:
        return own
    renderer = PromptRenderer(cast(Rubric, rubric_of(judge)))
    return lambda item: {prompt_sha256(renderer.render(item.candidate, item.context))}


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
    """Return the provenance of each part of a result; a second judge of error spans is no part of its own."""
    parts = [each for each in outcome.members if each.provenance is None or each.provenance.rubric != VERIFICATION]
    return [part.provenance for part in parts or (outcome,) if part.provenance is not None]
