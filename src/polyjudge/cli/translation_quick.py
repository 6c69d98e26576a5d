"""`polyjudge translation quick`: judge the must-have languages and the most spoken one of each script family."""

import argparse

from polyjudge.suites.translation import MUST_HAVE, LanguageJudge, quick_choice

from .translation_judging import Job, configure_judging, run_judging

_MOST_TOKENS = 512


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = f"{parser.description} The must-have languages are {', '.join(MUST_HAVE)}."
    configure_judging(parser, tier="quick", default_judge="sonnet")


def run(options: argparse.Namespace) -> int:
    """Judge each output of the chosen languages in a call of its own."""
    return run_judging(options, "quick", quick_choice, _judge)


def _judge(job: Job) -> LanguageJudge:
    return LanguageJudge(
        job.rubric, job.judges, job.tasks, max_tokens=_MOST_TOKENS, repeats=job.options.repeats, checks=job.checks
    )
