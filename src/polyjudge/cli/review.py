"""`polyjudge review PATH…`: review localisation files, all of them or what changed since a revision."""

import argparse
from pathlib import Path

from polyjudge.checks.accepted import write_accepted
from polyjudge.errors import ConfigError
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.providers.registry import is_judge_plugin
from polyjudge.records.messages import Review
from polyjudge.records.requests import ModelName
from polyjudge.review.glossary import read_glossary
from polyjudge.review.reviewing import Reviewer, ReviewOptions
from polyjudge.text.display import harmless

from .check_options import add_check_options, add_jobs_option, jobs_of
from .checking import policy_of, print_accepted
from .environment import load_environment
from .options import (
    Several,
    add_batch_option,
    add_cache_options,
    add_call_options,
    add_judge_options,
    check_output,
    filters_of,
    judge_names,
    refuse_batch,
)
from .progress import StatusLine
from .review_judging import judge_meaning
from .review_output import add_output_options, show_review, stored_review


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    paths = "localisation files, or folders with such files: gettext, Android, JSON, XLIFF, .strings, ARB and others"
    add("paths", type=Path, nargs="*", metavar="PATH", help=paths)
    since = "review only messages that changed since this git revision, such as origin/main"
    add("--since", default="", metavar="REV", help=since)
    source = "language of the sources, if the files do not name it; default: en"
    add("--source", default="", metavar="LANG", help=source)
    terms = "CSV or TSV with the columns source, target and language, or source and one column for each language"
    add("--glossary", type=Path, metavar="FILE", help=terms)
    chosen = "review only these languages, each a tag or name"
    add("--filter", action=Several, default=[], metavar="language=NAME,…", help=chosen)
    add_output_options(add)
    add_check_options(add, of_messages=True)
    add_jobs_option(add)
    baseline = (
        "add all findings of severity fail or warn to this file of accepted findings, so that later reviews show "
        "only new ones"
    )
    add("--write-accepted", type=Path, metavar="FILE", help=baseline)
    add("--reason", default="", metavar="TEXT", help="why the findings of --write-accepted are accepted")
    group = parser.add_argument_group("judge").add_argument
    judged = "model that is asked whether the translations say what the sources say; default: none, checks only"
    add_judge_options(group, default="", help=judged, metavar="NAME[/MODEL]")
    group("--show-prompt", action="store_true", help="print the prompt of the first call, and stop")
    add_call_options(parser.add_argument_group("calls").add_argument)
    add_cache_options(parser.add_argument_group("cache").add_argument)
    add_batch_option(add)


def run(options: argparse.Namespace) -> int:
    """Review the files, print the review, and return the exit code."""
    load_environment()
    _refuse_unused_reason(options)
    check_output(options.output, [*options.paths, *filter(None, [options.stored])], force=options.force)
    if options.stored is not None:
        review = stored_review(options)
        return _accept(options, review) if options.write_accepted is not None else show_review(options, review)
    if not options.paths:
        raise ConfigError("Name the files or folders to review, such as locale/.")
    return _review(options)


def _review(options: argparse.Namespace) -> int:
    table = language_table()
    judge = _judge(options)
    reviewing = _options(options, table)
    reviewer = Reviewer(reviewing, table=table, gathers=judge is not None)
    with StatusLine() as status:
        review = reviewer.review(lambda _: status.count("files reviewed"), jobs=jobs_of(options))
    code = 0
    if judge is not None:
        judged = judge_meaning(options, judge, reviewer.to_judge, review, reviewing.policy, table)
        if judged.review is None:
            return judged.code
        review, code = judged.review, judged.code
    if options.write_accepted is not None:
        return code or _accept(options, review)
    failed = show_review(options, review)
    is_whole = not (reviewing.since or reviewing.languages)
    print_accepted(reviewing.policy, len(review.accepted), warn_of_unused=is_whole)
    return code or failed


def _accept(options: argparse.Namespace, review: Review) -> int:
    count = write_accepted(options.write_accepted, review.findings, options.reason)
    print(f"Accepted: {count} findings, in {harmless(str(options.write_accepted))}")
    return 0


def _judge(options: argparse.Namespace) -> ModelName | None:
    """Return the judge of meaning; None if only the checks are run."""
    if not options.judge.strip():
        for name in ("show_prompt", "dry_run", "require_judge", "batch", "judge_model"):
            if getattr(options, name):
                raise ConfigError(f"--{name.replace('_', '-')} needs --judge.")
        return None
    judges = judge_names(options)
    if len(judges) > 1:
        raise ConfigError("--judge: a review asks one judge. Name only one.")
    if judges and is_judge_plugin(judges[0].provider):
        raise ConfigError(
            f"--judge {judges[0].provider}: a review asks about several messages in a call. Name a model, such as "
            "openai/gpt-5-mini."
        )
    refuse_batch(options, judges)
    return judges[0] if judges else None


def _refuse_unused_reason(options: argparse.Namespace) -> None:
    if options.write_accepted is None and options.reason:
        raise ConfigError("--reason is only for --write-accepted FILE. Add it, or leave out --reason.")
    if options.write_accepted is not None and not options.reason.strip():
        raise ConfigError("--write-accepted needs --reason TEXT: the next reader needs to know why they are accepted.")


def _options(options: argparse.Namespace, table: LanguageTable) -> ReviewOptions:
    filters = filters_of(options.filter)
    unknown = [name for name in filters if name != "language"]
    if unknown:
        raise ConfigError(f"--filter {unknown[0]}=… is not supported here. Write --filter language=NAME,….")
    return ReviewOptions(
        paths=options.paths,
        since=options.since,
        source=options.source,
        languages=filters.get("language", frozenset()),
        policy=policy_of(options),
        glossary=read_glossary(options.glossary, table) if options.glossary is not None else None,
        fail_on=options.fail_on or "fail",
    )
