"""`polyjudge calibrate bias [TEXTS]`: measure what moves a judge that should not, and how stable its scores are."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from polyjudge.calibration.cards import family_of, with_effects
from polyjudge.calibration.effects import effects_of, own_family
from polyjudge.calibration.matching import match
from polyjudge.calibration.measurement import text_context
from polyjudge.calibration.probes import EFFECTS, Probe, ProbeJudge, ProbeOptions, offline_probe_judge, plan_probes
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError
from polyjudge.files.kinds import FileKind
from polyjudge.files.ownership import own_fields
from polyjudge.formats.ratings import RatingColumns, label_column, read_ratings
from polyjudge.judges.ahead import AheadJudge
from polyjudge.judges.rubric import identity_of_models
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.calibration import Effect, JudgeIdentity
from polyjudge.records.codec import to_json
from polyjudge.records.outcomes import Item
from polyjudge.records.rubrics import Rubric
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.calibration import effect_blocks
from polyjudge.rubrics.loading import load_rubric, rubric_names

from .calibrating import (
    Questioning,
    add_question_options,
    add_text_options,
    add_to_card,
    check_card,
    questions,
    reference_texts,
    refuse_many_calls,
    write_figures,
)
from .check_options import checks_of_judge, jobs_of
from .environment import load_environment
from .options import at_least, check_output, judge_names
from .tables import table_options_of

_REPEATS = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add, shipped = parser.add_argument, ", ".join(rubric_names())
    add_text_options(parser, per_language=5)
    rubric = f"rubric: a TOML file, or one of {shipped}; default: %(default)s"
    add("--rubric", default="translation", metavar="FILE|NAME", help=rubric)
    add("--effects", metavar="NAME,…", help=f"effects to measure; default: all of {', '.join(EFFECTS)}")
    scores = "the judge's scores of texts by several systems, to measure whether it favours its own family"
    add("--scores", type=Path, metavar="FILE", help=scores)
    add("--labels", type=Path, metavar="FILE", help="people's labels of the same texts, with the column system")
    add("--budget", type=at_least(1), metavar="N", help="ask at most N questions, spread over the languages")
    add_question_options(parser, formats=[*BLOCK_FORMATS, "json"])


def run(options: argparse.Namespace) -> int:
    """Ask about texts and changed copies, measure each effect, and add the result to the card."""
    load_environment()
    rubric, judges, table = load_rubric(options.rubric), judge_names(options), language_table()
    if bool(options.scores) != bool(options.labels):
        raise ConfigError("--scores and --labels must be given together.")
    checks = checks_of_judge(options, judges, rubric)
    judge, wanted = identity_of_models(judges, rubric, checks=checks), _probe_options(options)
    check_card(options, judge)
    check_output(options.answers, [options.scores, options.labels], kind=FileKind.SCORES, force=options.force)
    effects = _family(options, judge, rubric)
    compares, reorders = len(judges) == 1, len(rubric.criteria) > 1
    _report_unmeasured(wanted, compares=compares, reorders=reorders)
    probes = plan_probes(reference_texts(options), wanted, table, compares=compares, reorders=reorders)
    if not any(probe.effect for probe in probes) and not (probes and "language" in wanted.effects):
        raise ConfigError("No questions to ask. Give a larger --budget, or other --effects.")
    print(f"polyjudge: {questions(len(probes), len(judges))}", file=sys.stderr)
    refuse_many_calls(options, len(probes) * len(judges))
    questioning = Questioning(options, rubric, judges, _items(probes, table, by_tag=not judges), "bias", checks)
    answers = questioning.run(
        ProbeJudge(probes, rubric, judges, checks=checks)
        if judges
        else AheadJudge(offline_probe_judge, (probes, rubric, checks), questioning.items, jobs=jobs_of(options))
    )
    if isinstance(answers, int):
        return answers
    judge = replace(judge, model_answered=answers.model_answered if compares else "")
    effects = effects_of(probes, answers.outcomes, rubric, wanted.effects) | effects
    at = utc_now()
    about = {"kind": "bias", "at": at, "effects": list(effects)}
    place = add_to_card(options, judge, lambda card: with_effects(card, effects, about), at=at)
    found = {**own_fields(), **{name: to_json(effect) for name, effect in effects.items()}}
    write_figures(options, found, effect_blocks(effects))
    print(f"polyjudge: card: {place}; answers: {questioning.rows_file}", file=sys.stderr)
    return 0


def _report_unmeasured(options: ProbeOptions, *, compares: bool, reorders: bool) -> None:
    """Print the effects that cannot be measured with this judge; an error if none can."""
    reasons = {
        "position": "" if compares else "it compares two texts, which only a single model can do",
        "length_in_pairs": "" if compares else "it compares two texts, which only a single model can do",
        "criteria_order": "" if reorders else "the rubric has one criterion",
    }
    left_out = [name for name in options.effects if reasons.get(name)]
    if len(left_out) == len(options.effects):
        raise ConfigError(f"{left_out[0]} cannot be measured: {reasons[left_out[0]]}")
    for name in left_out:
        print(f"polyjudge: {name} is not measured: {reasons[name]}", file=sys.stderr)


def _probe_options(options: argparse.Namespace) -> ProbeOptions:
    effects = [name.strip() for name in (options.effects or "").split(",") if name.strip()] or list(EFFECTS)
    unknown = [name for name in effects if name not in EFFECTS]
    if unknown:
        raise ConfigError(f"--effects: unknown {unknown[0]!r}. Available: {', '.join(EFFECTS)}.")
    repeats = options.repeats if options.repeats > 1 else _REPEATS
    return ProbeOptions(effects, options.texts_per_language, repeats, options.seed, options.budget)


def _items(probes: Sequence[Probe], table: LanguageTable, *, by_tag: bool) -> list[Item]:
    """Return the probes as items of a run; a second text is only stored in the row, not shown by the item."""
    return [
        Item(
            probe.id,
            f"{probe.candidate}\n\x1e\n{probe.other}" if probe.other else probe.candidate,
            text_context(probe.text, table, by_tag=by_tag),
            probe.text.language,
        )
        for probe in probes
    ]


def _family(options: argparse.Namespace, judge: JudgeIdentity, rubric: Rubric) -> dict[str, Effect]:
    """Measure whether the judge favours its own family, from its scores and people's labels of the same texts."""
    if not options.scores:
        return {}
    table = table_options_of(options)
    judged = read_ratings(options.scores, RatingColumns(table=table))
    labelled = read_ratings(options.labels, RatingColumns(value=label_column(options.labels, table), table=table))
    family = family_of(f"{judge.provider}/{judge.model}")
    if not family:
        name = f"{judge.provider}/{judge.model}"
        print(f"polyjudge: own_family is not measured: the model family of {name} is not known", file=sys.stderr)
        return {}
    pairs = match(judged.ratings, labelled.ratings).pairs
    values = [pair.people for pair in pairs]
    low, high = min(values, default=0.0), max(values, default=1.0)
    span, scale = (high - low) or 1.0, rubric.scale
    gaps: dict[bool, list[float]] = {True: [], False: []}
    for pair in pairs:
        share = (pair.judge - scale.lowest) / (scale.highest - scale.lowest)
        if pair.system:
            gaps[family_of(pair.system) == family].append(share - (pair.people - low) / span)
    return {"own_family": own_family(gaps[True], gaps[False], family)}
