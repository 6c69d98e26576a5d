"""Put the trials to a judge: what it is told, what its answers are worth, and the whole of it in one call."""

from collections.abc import Iterable

from polyjudge.engine import in_order, run_sync
from polyjudge.judges import Judge, OfflineJudge, close_judge
from polyjudge.languages import LanguageTable, language_table
from polyjudge.records import Failure, GoodText, Item, Outcome, Rubric

from .measuring import Measurement, measure_judge
from .trials import Trial, TrialOptions, plan_trials


def text_context(text: GoodText, table: LanguageTable, *, by_tag: bool) -> dict[str, str]:
    """Return what a judge is told beside a text; the checks know a language by its tag, a model by its names."""
    told = {**({"source": text.source} if text.source else {}), **text.context}
    if not text.language or by_tag:
        return told
    known = table.find(text.language)
    return {"language": f"{known.name} ({known.native_name})" if known else text.language, **told}


def trial_item(trial: Trial, table: LanguageTable, *, by_tag: bool) -> Item:
    """Return a trial as an item to be judged."""
    return Item(trial.id, trial.candidate, text_context(trial.text, table, by_tag=by_tag), trial.text.language)


def share_of_scale(rubric: Rubric, outcome: Outcome) -> float | None:
    """Return a score from 0, the worst, to 1; a result that lacks a flag it needs to pass is worth nothing."""
    if isinstance(outcome, Failure):
        return None
    if rubric.passing is not None and any(outcome.flags.get(flag) is False for flag in rubric.passing.flags):
        return 0.0
    return (outcome.score - rubric.scale.lowest) / (rubric.scale.highest - rubric.scale.lowest)


async def calibrate(
    judge: Judge,
    texts: Iterable[GoodText],
    rubric: Rubric,
    options: TrialOptions | None = None,
    *,
    concurrency: int = 5,
) -> Measurement:
    """Spoil good texts, ask a judge about all versions, and return what it notices, by kind and by language."""
    wanted, table = options or TrialOptions(), language_table()
    plan = plan_trials(texts, wanted, table)
    by_tag = isinstance(judge, OfflineJudge)

    async def one(trial: Trial) -> tuple[str, float | None]:
        item = trial_item(trial, table, by_tag=by_tag)
        context = {**item.context, "language": item.language} if by_tag else item.context
        return trial.id, share_of_scale(rubric, await judge.outcome(item.candidate, context))

    scores = {name: score async for name, score in in_order(one, plan.trials, concurrency=concurrency)}
    return measure_judge(plan, scores, wanted.severities)


def calibrate_sync(
    judge: Judge, texts: Iterable[GoodText], rubric: Rubric, options: TrialOptions | None = None
) -> Measurement:
    """Do what `calibrate` does, from ordinary code or a notebook."""

    async def work() -> Measurement:
        try:
            return await calibrate(judge, texts, rubric, options)
        finally:
            await close_judge(judge)

    return run_sync(work())
