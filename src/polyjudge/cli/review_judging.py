"""Ask a judge about the meaning of reviewed messages, within the limits of the options."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from polyjudge.checks.policy import CheckPolicy
from polyjudge.errors import MissingExtraError, MissingKeyError
from polyjudge.languages.table import LanguageTable
from polyjudge.records.messages import Review
from polyjudge.records.outcomes import Item, RunOutcome
from polyjudge.records.requests import ModelName
from polyjudge.review.meaning import Questions, with_meaning
from polyjudge.review.reviewing import MessageToJudge
from polyjudge.review.verdict_store import VerdictStore
from polyjudge.runs.run import Run
from polyjudge.text.display import harmless

from .options import run_options
from .progress import RunProgress
from .signals import RESUME, stop_on_signals
from .summaries import explain_skip, show_estimate, spent_line, too_many_unjudged


class Judged(NamedTuple):
    """A review with what a judge said, and an exit code; without a review, the output is already printed."""

    review: Review | None
    code: int = 0


def judge_meaning(
    options: argparse.Namespace,
    judge: ModelName,
    messages: Sequence[MessageToJudge],
    review: Review,
    policy: CheckPolicy,
    table: LanguageTable,
) -> Judged:
    """Ask about the messages whose questions are not answered yet, and add the findings to the review."""
    store = None if options.cache == "none" else VerdictStore()
    asks_again = options.refresh or options.reread
    questions = Questions(messages, str(judge), table, store=store, refresh=asks_again)
    if options.show_prompt:
        print(harmless(questions.prompt()) or "There are no messages to judge.")
        return Judged(None)
    items, code = questions.items(), 0
    outcomes = list[tuple[Item, RunOutcome]]()
    if options.dry_run and not items:
        print(f"calls:    0; all {len(questions.questions):,} questions were answered before")
        return Judged(None)
    try:
        if items:
            run = Run(items, questions.judge(), **run_options(options))
            if options.dry_run:
                known = {"answered_before": len(questions.questions) - len(items)}
                return Judged(None, show_estimate(run, options.format, what="messages", more=known))
            code = _execute(run, outcomes)
    except (MissingKeyError, MissingExtraError) as error:
        code = explain_skip(error, skipped="the judgement of meaning", is_required=options.require_judge)
        note = f"{len(messages):,} messages were not judged: {str(error).splitlines()[0]}"
        return Judged(replace(review, skipped=(*review.skipped, note)), code)
    judged = with_meaning(review, questions, outcomes, policy, table)
    return Judged(judged, code or _exit_code(options, judged, len(messages)))


def _execute(run: Run, outcomes: list[tuple[Item, RunOutcome]]) -> int:
    """Ask, and gather the outcomes; return the exit code if the run ended early."""
    with stop_on_signals(run) as signals, RunProgress(run.budget.spent) as progress:
        summary = run.execute(progress)
    outcomes += summary.outcomes()
    print(f"asked:   {spent_line(summary.spent)}", file=sys.stderr)
    if summary.status not in ("stopped", "capped"):
        return 0
    left = f"{summary.scores.not_reached} of {summary.scores.items} messages were not judged"
    code = signals.explain(summary.stopped_by, left)
    print(f"polyjudge: {RESUME}", file=sys.stderr)
    return code


def _exit_code(options: argparse.Namespace, review: Review, messages: int) -> int:
    if len(review.unjudged) <= options.max_unjudged * messages:
        return 0
    reasons = Counter(each.reason for each in review.unjudged)
    return too_many_unjudged(len(review.unjudged), messages, options.max_unjudged, reasons)
