"""`polyjudge translation quick RESULTS`: judge the must-have languages and one language of each script family."""

import argparse
import sys
from collections.abc import Sequence

from polyjudge.languages.table import LanguageTable
from polyjudge.records.translation import LanguageResult
from polyjudge.suites.translation import LanguageJudge, quick_choice

from .translation_judging import Job, configure_judging, run_judging

_MOST_TOKENS = 512


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    configure_judging(parser, tier="quick", default_judge="sonnet")


def run(options: argparse.Namespace) -> int:
    """Judge each output of the chosen languages in a call of its own."""
    return run_judging(options, "quick", _choose, _judge)


def _choose(languages: Sequence[LanguageResult], table: LanguageTable) -> Sequence[LanguageResult]:
    chosen, absent = quick_choice(languages, table)
    if absent:
        names = ", ".join(each.name for each in absent)
        print(f"polyjudge: must-have languages missing in the file: {names}", file=sys.stderr)
    return chosen


def _judge(job: Job) -> LanguageJudge:
    return LanguageJudge(job.rubric, job.judges, job.tasks, max_tokens=_MOST_TOKENS, repeats=job.options.repeats)
