"""The options of token probabilities and cascades, and what they have in common."""

import argparse
from collections.abc import Callable, Sequence

from polyjudge.calibration.cascade import CascadeItem, Learnt, Unguaranteed, learn
from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError
from polyjudge.formats.ratings import Ratings
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.cascades import AgreementRule, CascadePlan
from polyjudge.reports.cascades import unguaranteed_sentence
from polyjudge.version import __version__

from .options import level, positive
from .rating_sides import MOST_PASS, are_preferences, are_words


def add_token_option(add: Callable[..., object]) -> None:
    """Add the option of commands whose judges can give the probabilities of tokens."""
    wanted = "ask for token probabilities, for expected scores and confidence; cached replies without them are not used"
    add("--token-probabilities", action="store_true", help=wanted)


def add_guarantee_options(add: Callable[..., object]) -> None:
    """Add the options of what a cascade guarantees."""
    risk = "probability with which the guarantee may fail; default: %(default)s"
    add("--delta", type=level, default=0.1, metavar="SHARE", help=risk)
    close = "scores that differ by at most X agree; for labels that are scores"
    add("--tolerance", type=positive, metavar="X", help=close)
    alone = "learn each language that has enough labels by itself"
    add("--by-language", action="store_true", help=alone)


def target_share(text: str) -> float:
    """Read a target of agreement."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"must be a share between 0 and 1, such as 0.85, not {text!r}")
    return number


def agreement_rule(judged: Sequence[Ratings], labels: Ratings, options: argparse.Namespace) -> AgreementRule:
    """Return when an answer agrees with a label, by the options and the kind of the labels."""
    tolerance: float | None = options.tolerance
    pass_from: float | None = getattr(options, "pass_from", None)
    label_from: float | None = getattr(options, "label_pass_from", None)
    if tolerance is not None:
        if pass_from is not None or label_from is not None:
            raise ConfigError("Give --tolerance, or the lowest values that pass, not both.")
        return AgreementRule(same="tolerance", tolerance=tolerance)
    if are_preferences(labels) or (are_words(labels) and all(map(are_words, judged)) and pass_from is None):
        return AgreementRule()
    label_from = MOST_PASS if label_from is None and are_words(labels) else label_from
    knows = all(any(rating.passed is not None for rating in each.ratings) for each in judged)
    if label_from is not None and (pass_from is not None or knows):
        return AgreementRule(same="pass", pass_from=pass_from, label_pass_from=label_from)
    if label_from is None and pass_from is None:
        raise ConfigError("The labels are scores. Give --tolerance, or --pass-from and --label-pass-from.")
    if label_from is None:
        raise ConfigError("Both lowest passing values are needed. Give --label-pass-from too.")
    raise ConfigError("The labels say what passes. Give --pass-from, the judge's lowest score that passes.")


def learn_plan(
    items: Sequence[CascadeItem],
    judges: Sequence[JudgeIdentity],
    rule: AgreementRule,
    options: argparse.Namespace,
    target: float,
    *,
    repeats: int = 1,
    token_probabilities: bool = False,
) -> CascadePlan:
    """Learn the thresholds of a cascade; a plan without any has the reasons."""
    if not any(item.agrees for item in items):
        raise ConfigError("No item of the results has a label.")
    refuse_without_confidence(items, judges)
    found: Learnt = learn(items, target, options.delta, by_language=options.by_language)
    return CascadePlan(
        judges=tuple(judges),
        repeats=repeats,
        token_probabilities=token_probabilities,
        target=target,
        delta=options.delta,
        rule=rule,
        groups=found.groups,
        languages=found.languages,
        unguaranteed={tag: _why(target, each) for tag, each in found.unguaranteed.items()},
        placed_by=found.placed_by,
        curve=found.curve,
        created_at=utc_now(),
        polyjudge_version=__version__,
    )


def _why(target: float, found: Unguaranteed) -> str:
    return unguaranteed_sentence(target, found.labels, reachable=found.reachable, needed=found.needed, best=found.best)


def refuse_without_confidence(items: Sequence[CascadeItem], judges: Sequence[JudgeIdentity]) -> None:
    """Refuse a judge, other than the last one, whose results do not show how sure it is."""
    for place, judge in enumerate(judges[:-1]):
        if not any(item.confidences[place] for item in items):
            name = f"{judge.provider}/{judge.model}".strip("/")
            message = f"nothing shows how sure {name} is, so it cannot be known when to ask the next judge"
            raise ConfigError(f"{message}. Give --token-probabilities, or --repeats.")
