"""`polyjudge calibrate perturb [TEXTS]`: measure whether a judge notices perturbed texts."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from polyjudge.calibration.cards import new_card, with_measurement, with_planted
from polyjudge.calibration.measurement import Measurement, measure_judge, share_of_scale, trial_item
from polyjudge.calibration.perturbations import CONTROL_TYPES, PERTURBATION_TYPES
from polyjudge.calibration.planted import measure_planted
from polyjudge.calibration.trials import SEVERITIES, TrialOptions, TrialPlan, plan_trials
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError
from polyjudge.judges.ahead import AheadJudge
from polyjudge.judges.base import ItemJudge
from polyjudge.judges.offline import offline_judge
from polyjudge.judges.rubric import identity_of_models
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.calibration import TrustCard
from polyjudge.records.outcomes import Item
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.reports.translation_formats import CARD_FORMATS
from polyjudge.rubrics.loading import load_rubric, rubric_names
from polyjudge.runs.stack import judge_by_models

from .calibrating import (
    Answers,
    Questioning,
    add_question_options,
    add_text_options,
    add_to_card,
    check_card,
    questions,
    reference_texts,
    refuse_many_calls,
)
from .check_options import checks_of_judge, jobs_of
from .environment import load_environment
from .options import at_least, judge_names
from .output import write_pieces
from .progress import counted


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add, shipped = parser.add_argument, ", ".join(rubric_names())
    add_text_options(parser)
    rubric = f"rubric: a TOML file, or one of {shipped}; default: %(default)s"
    add("--rubric", default="translation", metavar="FILE|NAME", help=rubric)
    types = f"{', '.join(PERTURBATION_TYPES)}, and as controls, which should not change a score, "
    add("--types", metavar="NAME,…", help=f"perturbations; default: all of {types}{', '.join(CONTROL_TYPES)}")
    usual = ",".join(f"{each:g}" for each in SEVERITIES)
    add("--severities", metavar="S,…", help=f"severities of the perturbations, up to 1; default: {usual}")
    add("--budget", type=at_least(1), metavar="N", help="ask at most N questions, the most informative first")
    add_question_options(parser, formats=list(CARD_FORMATS))


def run(options: argparse.Namespace) -> int:
    """Perturb the texts, ask the judge, measure, and add the result to its card."""
    load_environment()
    rubric, judges, table = load_rubric(options.rubric), judge_names(options), language_table()
    checks = checks_of_judge(options, judges, rubric)
    judge, wanted = identity_of_models(judges, rubric, checks=checks), trial_options(options)
    check_card(options, judge)
    plan = plan_trials(reference_texts(options), wanted, table)
    if not plan.trials:
        why = "Give a larger --budget" if plan.left_out else "Give other --types, or texts of several words"
        raise ConfigError(f"No questions to ask. {why}.")
    _announce(plan, judges, options.repeats)
    refuse_many_calls(options, len(plan.trials) * len(judges) * options.repeats)
    questioning = Questioning(options, rubric, judges, items_of(plan, table, judges), "perturb", checks)
    answers = questioning.run(_asked(options, questioning), repeats=options.repeats)
    if isinstance(answers, int):
        return answers
    measured = measurement(plan, answers, rubric, wanted)
    judge = replace(judge, model_answered=answers.model_answered if len(judges) == 1 else "")
    at, about = utc_now(), run_notes(measured, questioning.rows_file)
    planted = measure_planted(plan, answers.outcomes) if rubric.spans is not None else {}

    def changed(card: TrustCard) -> TrustCard:
        return with_planted(with_measurement(card, measured, about), planted)

    place = add_to_card(options, judge, changed, at=at)
    shown = changed(new_card(None, judge, at=at))
    pieces = CARD_FORMATS[options.format](shown, table)
    write_pieces(options.output, pieces, format_name=options.format, force=options.force)
    print(f"polyjudge: card: {place}; answers: {questioning.rows_file}", file=sys.stderr)
    return 0


def _asked(options: argparse.Namespace, questioning: Questioning) -> ItemJudge:
    """Return the judge that is asked; the checks run in several processes."""
    rubric, checks = questioning.rubric, questioning.checks
    if questioning.judges or options.repeats > 1:
        return judge_by_models(rubric, questioning.judges, checks=checks)
    return AheadJudge(offline_judge, (rubric, checks), questioning.items, jobs=jobs_of(options))


def trial_options(options: argparse.Namespace) -> TrialOptions:
    """Return the perturbations to make, from the options."""
    types = _listed(options.types) or (*PERTURBATION_TYPES, *CONTROL_TYPES)
    try:
        severities = tuple(float(each) for each in _listed(options.severities)) or SEVERITIES
    except ValueError:
        raise ConfigError(f"Invalid --severities {options.severities!r}. Write numbers such as 0.25,0.5,1.") from None
    return TrialOptions(types, tuple(sorted(set(severities))), options.texts_per_language, options.seed, options.budget)


def items_of(plan: TrialPlan, table: LanguageTable, judges: Sequence[ModelName]) -> list[Item]:
    """Return the trials as items for the judge."""
    return [trial_item(trial, table, by_tag=not judges) for trial in plan.trials]


def measurement(plan: TrialPlan, answers: Answers, rubric: Rubric, options: TrialOptions) -> Measurement:
    """Measure the judge from its answers."""
    scores = {name: share_of_scale(rubric, outcome) for name, outcome in answers.outcomes.items()}
    return measure_judge(plan, scores, options.severities, measured_at=utc_now())


def run_notes(measured: Measurement, rows: Path | None) -> dict[str, Any]:
    """Return what a card records about a run."""
    return {
        "kind": "perturb",
        "at": utc_now(),
        "languages": len(measured.languages),
        "texts": measured.texts,
        "judged": measured.judged,
        "unjudged": measured.unjudged,
        **({"answers": rows.name} if rows else {}),
    }


def _announce(plan: TrialPlan, judges: Sequence[ModelName], repeats: int) -> None:
    """Print how many questions will be asked."""
    texts = len({(trial.text.language, trial.text.id) for trial in plan.trials})
    kinds = {trial.kind for trial in plan.trials} - {""}
    counts = f"{counted(texts, 'reference text')} in {counted(len(plan.languages), 'language')}, "
    counts += counted(len(kinds - {*CONTROL_TYPES}), "perturbation")
    counts += f" and {counted(len(kinds & {*CONTROL_TYPES}), 'control')}" if kinds & {*CONTROL_TYPES} else ""
    left_out = f" ({plan.left_out:,} more left out by --budget)" if plan.left_out else ""
    print(f"polyjudge: {counts}: {questions(len(plan.trials), len(judges) * repeats)}{left_out}", file=sys.stderr)


def _listed(given: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (given or "").split(",") if part.strip())
