"""Learn the plan of a cascade, by the options of the commands that do."""

import argparse
from collections.abc import Mapping, Sequence

from polyjudge.calibration.cascade import CascadeItem, Learnt, Unguaranteed, learn
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError
from polyjudge.formats.ratings import Ratings
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.cascades import AgreementRule, CascadePlan
from polyjudge.reports.cascades import unguaranteed_sentence
from polyjudge.version import __version__

from .rating_sides import MOST_PASS, are_preferences, are_words


def agreement_rule(judged: Sequence[Ratings], labels: Ratings, options: argparse.Namespace) -> AgreementRule:
    """Return when an answer agrees with a label, by the options and the kind of the labels."""
    tolerance: float | None = options.tolerance
    pass_from: float | None = getattr(options, "pass_from", None)
    label_from: float | None = getattr(options, "label_pass_from", None)
    if tolerance is not None:
        if pass_from is not None or label_from is not None:
            raise ConfigError(
                "--tolerance cannot be combined with --pass-from or --label-pass-from. Give one or the other."
            )
        return AgreementRule(same="tolerance", tolerance=tolerance)
    if are_preferences(labels) or (are_words(labels) and all(map(are_words, judged)) and pass_from is None):
        return AgreementRule()
    label_from = MOST_PASS if label_from is None and are_words(labels) else label_from
    knows = all(any(rating.passed is not None for rating in each.ratings) for each in judged)
    if label_from is not None and (pass_from is not None or knows):
        return AgreementRule(same="pass", pass_from=pass_from, label_pass_from=label_from)
    if label_from is None and pass_from is None:
        prefers = any(rating.verdict is not None for each in judged for rating in each.ratings)
        if prefers and {rating.value for rating in labels.ratings if rating.value is not None} <= {0.0, 1.0, 2.0}:
            raise ConfigError(
                "The labels are numbers, the verdicts preferences. Write the labels first, second or tie."
            )
        raise ConfigError("The labels are scores. Give --tolerance, or --pass-from and --label-pass-from.")
    if label_from is None:
        raise ConfigError("--pass-from needs --label-pass-from, the lowest label that passes. Give both.")
    raise ConfigError(
        "The labels are pass and fail, but the judge's scores are not. Give --pass-from, the judge's lowest score "
        "that passes."
    )


def learn_plan(
    items: Sequence[CascadeItem],
    judges: Sequence[JudgeIdentity],
    rule: AgreementRule,
    options: argparse.Namespace,
    target: float,
    *,
    repeats: int = 1,
    token_probabilities: bool = False,
    coming: Mapping[str, int] | None = None,
) -> CascadePlan:
    """Learn the thresholds of a cascade; a plan without any has the reasons.

    `coming` has the numbers of items without a label, by language, if the guarantee is to be about these.
    """
    if not any(item.agrees for item in items):
        raise ConfigError(
            "No item of the results has a label. Compare the ids of the results with those of the labels."
        )
    refuse_without_confidence(items, judges, getattr(options, "confidence", None))
    found: Learnt = learn(items, target, options.delta, by_language=options.by_language, coming=coming)
    return CascadePlan(
        judges=tuple(judges),
        repeats=repeats,
        token_probabilities=token_probabilities,
        target=target,
        delta=options.delta,
        rule=rule,
        groups=found.groups,
        languages=found.languages,
        unguaranteed={tag: _why(target, each, rule) for tag, each in found.unguaranteed.items()},
        coming=sum((coming or {}).values()),
        placed_by=found.placed_by,
        curve=found.curve,
        created_at=utc_now(),
        polyjudge_version=__version__,
    )


def _why(target: float, found: Unguaranteed, rule: AgreementRule) -> str:
    return unguaranteed_sentence(
        target,
        found.labels,
        reachable=found.reachable,
        needed=found.needed,
        best=found.best,
        of_two=rule.same != "tolerance",
    )


def refuse_without_confidence(
    items: Sequence[CascadeItem], judges: Sequence[JudgeIdentity], column: str | None
) -> None:
    """Refuse a judge, other than the last one, whose results do not show how sure it is.

    `column` names the confidence in recorded results, and is empty for that of polyjudge; None if the judges are asked.
    """
    for place, judge in enumerate(judges[:-1]):
        if not any(item.confidences[place] for item in items):
            name = f"{judge.provider}/{judge.model}".strip("/")
            message = f"no confidence for {name}, so the cascade cannot decide when to ask the next judge"
            raise ConfigError(f"{message}. {_advice(column)}")


def _advice(column: str | None) -> str:
    if column is None:
        return "Give --token-probabilities, or --repeats."
    if column:
        return f"The column {column!r} has no number above 0 in its results. Name another one: --confidence COLUMN."
    return (
        "Score with --token-probabilities or --repeats, or name the column of the confidence with --confidence COLUMN."
    )
