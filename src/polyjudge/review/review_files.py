"""Review localisation files from Python."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from polyjudge.cache.protocol import Cache
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.checks.accepted import AcceptedFindings, read_accepted
from polyjudge.checks.policy import check_policy
from polyjudge.languages.table import language_table
from polyjudge.plugins import PLUGINS
from polyjudge.providers.base import Provider
from polyjudge.providers.models import resolve_model
from polyjudge.records.messages import FailOn, Review
from polyjudge.records.requests import ModelName
from polyjudge.records.runs import Limits
from polyjudge.runs.run import Run
from polyjudge.runs.stack import DEFAULT_CACHE

from .glossary import read_glossary
from .meaning import Questions, with_meaning
from .reviewing import Reviewer, ReviewOptions
from .verdict_store import VerdictStore


def review_files(
    paths: Path | str | Sequence[Path | str],
    *,
    since: str = "",
    source: str = "",
    languages: Iterable[str] = (),
    glossary: Path | str | None = None,
    checks: Iterable[str] = (),
    skip_checks: Iterable[str] = (),
    accepted: Path | str | None = None,
    fail_on: FailOn = "fail",
    judge: str = "",
    provider: Provider | None = None,
    cache: Cache | JudgeCache | Path | str | None = DEFAULT_CACHE,
    limits: Limits | None = None,
    refresh: bool = False,
) -> Review:
    """Review localisation files, and folders of them: their form, plurals, language, terms and consistency.

    With `since`, only messages that changed since a git revision are reviewed. `source` is the language of the sources
    where the files do not say it. `accepted` is a file of accepted findings. With a `judge`, a model such as
    `openai/gpt-5-mini`, or a `provider`, messages are also judged for what they say; a message that was judged before
    is not asked about again, unless `refresh` is set or there is no cache.
    """
    given = [paths] if isinstance(paths, Path | str) else list(paths)
    table = language_table()
    policy = check_policy(
        only=list(checks),
        skipped=list(skip_checks),
        accepted=AcceptedFindings() if accepted is None else read_accepted(Path(accepted)),
        plugins=PLUGINS.names("checks"),
    )
    options = ReviewOptions(
        paths=[Path(each) for each in given],
        since=since,
        source=source,
        languages=frozenset(languages),
        policy=policy,
        glossary=None if glossary is None else read_glossary(Path(glossary), table),
        fail_on=fail_on,
    )
    asks = bool(judge) or provider is not None
    reviewer = Reviewer(options, table=table, gathers=asks)
    review = reviewer.review()
    if not asks:
        return review
    model = judge or (provider.origin.provider if provider is not None else "")
    name = resolve_model(model) if provider is None else ModelName(provider.origin.provider, model)
    questions = Questions(
        reviewer.to_judge,
        model,
        table,
        provider=provider,
        store=None if cache is None else VerdictStore(),
        refresh=refresh,
    )
    items = questions.items()
    if not items:
        return with_meaning(review, questions, (), name, policy, table)
    run = Run(items, questions.judge(), cache=cache, limits=limits, refresh=refresh)
    summary = run.execute()
    return with_meaning(review, questions, summary.outcomes(), name, policy, table)
