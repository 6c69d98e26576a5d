"""Review localisation files from Python."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from polyjudge.cache.protocol import Cache
from polyjudge.cache.sqlite import JudgeCache
from polyjudge.checks.accepted import AcceptedFindings, read_accepted
from polyjudge.checks.policy import CheckPolicy, check_policy
from polyjudge.folder_trust import DEFAULT_CACHE
from polyjudge.languages.table import language_table
from polyjudge.plugins import PLUGINS
from polyjudge.providers.base import Provider
from polyjudge.records.messages import FailOn, Review
from polyjudge.records.outcomes import Item, RunOutcome
from polyjudge.records.runs import Limits
from polyjudge.runs.run import Run

from .glossary import read_glossary
from .meaning import Questions, with_meaning
from .reviewing import Reviewer, ReviewOptions
from .verdict_store import VerdictStore

_AnyCache = Cache | JudgeCache | Path | str | None


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
    cache: _AnyCache = DEFAULT_CACHE,
    limits: Limits | None = None,
    refresh: bool = False,
) -> Review:
    """Review localisation files, and folders of them: their form, plurals, language, terms and consistency.

    With `since`, only messages that changed since a git revision are reviewed. With a `judge`, a model's name, or a
    `provider`, messages are also judged for what they say, each only once unless `refresh` is set or there is no cache.
    """
    table = language_table()
    options = ReviewOptions(
        paths=[Path(each) for each in ([paths] if isinstance(paths, Path | str) else paths)],
        since=since,
        source=source,
        languages=frozenset(languages),
        policy=_policy(checks, skip_checks, accepted),
        glossary=None if glossary is None else read_glossary(Path(glossary), table),
        fail_on=fail_on,
    )
    reviewer = Reviewer(options, table=table, gathers=bool(judge or provider))
    review = reviewer.review()
    if not (judge or provider):
        return review
    store = None if cache is None else VerdictStore()
    model = judge or ("" if provider is None else provider.origin.provider)
    questions = Questions(reviewer.to_judge, model, table, provider=provider, store=store, refresh=refresh)
    return with_meaning(review, questions, _outcomes(questions, cache, limits, refresh=refresh), options.policy, table)


def _outcomes(
    questions: Questions, cache: _AnyCache, limits: Limits | None, *, refresh: bool
) -> Iterable[tuple[Item, RunOutcome]]:
    """Ask what is not answered yet."""
    items = questions.items()
    if not items:
        return ()
    return Run(items, questions.judge(), cache=cache, limits=limits, refresh=refresh).execute().outcomes()


def _policy(checks: Iterable[str], skip_checks: Iterable[str], accepted: Path | str | None) -> CheckPolicy:
    known = AcceptedFindings() if accepted is None else read_accepted(Path(accepted))
    plugins = PLUGINS.names("checks")
    return check_policy(only=list(checks), skipped=list(skip_checks), accepted=known, plugins=plugins)
