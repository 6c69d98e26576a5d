"""`polyjudge translation full RESULTS`: judge all languages, several in one call, and measure the drift of batches."""

import argparse

from polyjudge.errors import ConfigError
from polyjudge.judges.grouped import GroupedJudge
from polyjudge.providers.registry import is_judge_plugin
from polyjudge.suites.translation import LanguageJudge
from polyjudge.suites.translation_grouped import BatchOptions, GroupedTranslationJudge, judge_of_failures

from .options import finite, whole
from .translation_judging import Job, TranslationJudge, configure_judging, run_judging


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    configure_judging(parser, tier="full", default_judge="gemini-flash")
    add = parser.add_argument_group("several languages in a call").add_argument
    add(
        "--batch-size",
        type=whole,
        default=8,
        metavar="N",
        help="number of languages per call, 1 to 10; default: %(default)s",
    )
    controls = "share of outputs that are also judged alone, to measure drift; default: %(default)s"
    add("--control-share", type=finite, default=0.05, metavar="SHARE", help=controls)
    tolerance = (
        "halve the number of languages per call if grouping changes scores by more than this, on average; default: "
        "%(default)s"
    )
    add("--drift-tolerance", type=finite, default=0.5, metavar="POINTS", help=tolerance)
    single = "continue after two groups without a usable row, and ask about missing rows alone"
    add("--allow-single", action="store_true", help=single)


def run(options: argparse.Namespace) -> int:
    """Judge all languages."""
    if not 1 <= options.batch_size <= 10:
        raise ConfigError(f"--batch-size must be 1 to 10, not {options.batch_size}")
    if not 0 <= options.control_share <= 1 or not options.drift_tolerance >= 0:
        raise ConfigError("--control-share must be between 0 and 1, and --drift-tolerance at least 0.")
    if options.batch_size > 1 and (options.repeats != 1 or "," in options.judge):
        raise ConfigError("Several judges and --repeats need --batch-size 1.")
    return run_judging(options, "full", lambda languages, _: (languages, ()), _judge)


def _judge(job: Job) -> TranslationJudge:
    options = job.options
    if not job.judges or options.batch_size == 1 or any(is_judge_plugin(name.provider) for name in job.judges):
        return LanguageJudge(job.rubric, job.judges, job.tasks, repeats=options.repeats, checks=job.checks)
    if options.retry_failures:
        return judge_of_failures(job.rubric, job.judges, job.tasks, job.output)
    judge = GroupedJudge(job.rubric, str(job.judges[0]), allow_single=options.allow_single)
    batches = BatchOptions(options.batch_size, options.control_share, options.drift_tolerance, options.seed)
    return GroupedTranslationJudge(judge, job.tasks, batches)
