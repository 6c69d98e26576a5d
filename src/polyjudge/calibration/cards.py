"""The trust card of a judge: what runs have measured, put together."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from polyjudge.files import expiry
from polyjudge.records import Effect, Figure, JudgeIdentity, LanguageTrust, TrustCard
from polyjudge.version import __version__

from .measuring import Measurement

_RUNS_KEPT = 50


def begun(card: TrustCard | None, judge: JudgeIdentity, *, at: str) -> TrustCard:
    """Return the card to add to: the one there is, or a new one where it is of another model or rubric."""
    if card is None or expiry(card.judge, judge):
        return TrustCard(judge=judge, updated_at=at, polyjudge_version=__version__)
    return replace(card, judge=_known(card.judge, judge), updated_at=at, polyjudge_version=__version__)


def with_measurement(card: TrustCard, found: Measurement, about: Mapping[str, Any]) -> TrustCard:
    """Add what a run over spoiled texts found; what was measured before and not now stays."""
    languages = dict(card.languages)
    for tag, trust in found.languages.items():
        languages[tag] = _joined(card.languages.get(tag), trust)
    perturbations = dict(card.perturbations)
    for kind, result in found.perturbations.items():
        if kind not in perturbations or result.texts >= perturbations[kind].texts:
            perturbations[kind] = result
    controls = dict(card.controls)
    for kind, control in found.controls.items():
        if kind not in controls or control.texts >= controls[kind].texts:
            controls[kind] = control
    return replace(
        card,
        languages=dict(sorted(languages.items())),
        perturbations=dict(sorted(perturbations.items())),
        controls=dict(sorted(controls.items())),
        runs=(*card.runs, about)[-_RUNS_KEPT:],
    )


def with_effects(card: TrustCard, effects: Mapping[str, Effect], about: Mapping[str, Any]) -> TrustCard:
    """Add biases; a newer one takes the place of the older."""
    measured = {name: effect for name, effect in effects.items() if effect.size.value is not None}
    return replace(card, effects={**card.effects, **measured}, runs=(*card.runs, about)[-_RUNS_KEPT:])


def with_agreement(
    card: TrustCard, by_language: Mapping[str, tuple[int, Mapping[str, Figure]]], about: Mapping[str, Any]
) -> TrustCard:
    """Add how far the judge agrees with people; the empty tag stands for all languages."""
    languages = dict(card.languages)
    for tag, (labels, figures) in by_language.items():
        if tag:
            languages[tag] = replace(languages.get(tag, LanguageTrust()), agreement=figures, labels=labels)
    labels, overall = by_language.get("", (0, {}))
    return replace(
        card,
        languages=dict(sorted(languages.items())),
        agreement=overall or card.agreement,
        labels=labels or card.labels,
        runs=(*card.runs, about)[-_RUNS_KEPT:],
    )


def _joined(old: LanguageTrust | None, new: LanguageTrust) -> LanguageTrust:
    """Join two measurements of a language: its verdict rests on the one with more comparisons."""
    if old is None:
        return new
    base = new if new.comparisons >= old.comparisons else old
    return replace(
        base,
        perturbations={**old.perturbations, **new.perturbations},
        agreement=new.agreement or old.agreement,
        labels=new.labels or old.labels,
    )


def _known(carded: JudgeIdentity, judge: JudgeIdentity) -> JudgeIdentity:
    return replace(judge, model_answered=judge.model_answered or carded.model_answered)
