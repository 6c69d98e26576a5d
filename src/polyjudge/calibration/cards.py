"""Build a trust card from measurements; find the family of a model."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, TypeVar

from msgspec.structs import replace

from polyjudge.records.calibration import (
    ControlResult,
    Effect,
    Figure,
    JudgeIdentity,
    LanguageTrust,
    MonotonicityResult,
    PlantedResult,
    Replacement,
    TrustCard,
)
from polyjudge.store.trust_cards import expiry
from polyjudge.version import __version__

from .agreement import NO_LANGUAGE
from .measurement import Measurement, pooled_trust


def family_of(model: str) -> str:
    """Return the family of a model, such as claude; empty if its name does not say."""
    parts = [part for part in model.casefold().replace(":", "/").split("/") if part]
    for part in (parts[-1], *parts[:-1]) if parts else ():
        for family, names in _families():
            if part.startswith(names):
                return family
    return ""


@lru_cache(maxsize=1)
def _families() -> tuple[tuple[str, tuple[str, ...]], ...]:
    lines = (files("polyjudge.calibration") / "fact_tables" / "families.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")][1:]
    return tuple((family, tuple(names.split(";"))) for family, names in rows)


_MAX_RUNS = 50
Sized = TypeVar("Sized", MonotonicityResult, ControlResult, PlantedResult)


def new_card(card: TrustCard | None, judge: JudgeIdentity, *, at: str) -> TrustCard:
    """Return the existing card, or a new one if it is of another model, rubric or prompt."""
    if card is None or expiry(card.judge, judge):
        return TrustCard(judge=judge, updated_at=at, polyjudge_version=__version__)
    known = replace(
        judge,
        model_answered=judge.model_answered or card.judge.model_answered,
        prompt_sha256=judge.prompt_sha256 or card.judge.prompt_sha256,
    )
    return replace(card, judge=known, updated_at=at, polyjudge_version=__version__)


def with_run(card: TrustCard, about: Mapping[str, Any]) -> TrustCard:
    """Add what a measurement says about itself; the newest runs stay."""
    return replace(card, runs=(*card.runs, about)[-_MAX_RUNS:])


def with_measurement(card: TrustCard, found: Measurement, about: Mapping[str, Any]) -> TrustCard:
    """Add the results of a run over perturbed texts; earlier results that this run did not measure stay."""
    languages = dict(card.languages)
    for tag, trust in found.languages.items():
        languages[tag] = _merged(card.languages.get(tag), trust)
    card = replace(
        card,
        languages=dict(sorted(languages.items())),
        perturbations=_larger(card.perturbations, found.perturbations),
        controls=_larger(card.controls, found.controls),
    )
    return with_run(card, about)


def with_planted(card: TrustCard, found: Mapping[str, PlantedResult]) -> TrustCard:
    """Add what a judge of error spans finds of planted errors; the measurement with more texts stays."""
    return replace(card, planted=_larger(card.planted, found))


def with_effects(card: TrustCard, effects: Mapping[str, Effect], about: Mapping[str, Any]) -> TrustCard:
    """Add biases; each replaces its earlier measurement."""
    measured = {name: effect for name, effect in effects.items() if effect.size.value is not None}
    return with_run(replace(card, effects={**card.effects, **measured}), about)


def with_agreement(
    card: TrustCard, by_language: Mapping[str, tuple[int, Mapping[str, Figure]]], about: Mapping[str, Any]
) -> TrustCard:
    """Add agreement with people if it has at least as many labels; the empty tag is all languages together."""
    languages = dict(card.languages)
    for tag, (labels, figures) in by_language.items():
        known = languages.get(tag, LanguageTrust())
        if tag and tag != NO_LANGUAGE and figures and labels >= known.labels:
            languages[tag] = replace(known, agreement=figures, labels=labels)
    labels, overall = by_language.get("", (0, {}))
    if labels < card.labels:
        labels, overall = card.labels, card.agreement
    card = replace(
        card,
        languages=dict(sorted(languages.items())),
        agreement=overall,
        labels=labels,
    )
    return with_run(card, about)


def with_span_agreement(
    card: TrustCard, by_language: Mapping[str, tuple[int, Mapping[str, Figure]]], about: Mapping[str, Any]
) -> TrustCard:
    """Add how far error spans are those of people, if at least as many texts were compared; the empty tag is all."""
    languages = dict(card.languages)
    for tag, (texts, figures) in by_language.items():
        known = languages.get(tag, LanguageTrust())
        if tag and tag != NO_LANGUAGE and texts >= (known.span_texts or 0):
            languages[tag] = replace(known, spans=figures, span_texts=texts)
    texts, overall = by_language.get("", (0, {}))
    if texts < (card.span_texts or 0):
        texts, overall = card.span_texts or 0, card.spans
    card = replace(
        card,
        languages=dict(sorted(languages.items())),
        spans=overall,
        span_texts=texts,
    )
    return with_run(card, about)


def with_replacement(card: TrustCard, by_language: Mapping[str, Replacement], about: Mapping[str, Any]) -> TrustCard:
    """Add whether the judge could replace a person, if at least as many items were compared; the empty tag is all."""
    languages = dict(card.languages)
    for tag, found in by_language.items():
        known = languages.get(tag, LanguageTrust())
        if tag and tag != NO_LANGUAGE and (known.replacement is None or found.items >= known.replacement.items):
            languages[tag] = replace(known, replacement=found)
    overall = by_language.get("", card.replacement)
    if card.replacement is not None and (overall is None or overall.items < card.replacement.items):
        overall = card.replacement
    card = replace(
        card,
        languages=dict(sorted(languages.items())),
        replacement=overall,
    )
    return with_run(card, about)


def _merged(old: LanguageTrust | None, new: LanguageTrust) -> LanguageTrust:
    """Merge two measurements of a language: the verdict is that of the one with more comparisons.

    If each has perturbations that the other has not, the verdict is computed from all of them.
    """
    if old is None:
        return new
    perturbations = _larger(old.perturbations, new.perturbations)
    base = new if new.comparisons >= old.comparisons else old
    if not {*old.perturbations} <= {*new.perturbations} and not {*new.perturbations} <= {*old.perturbations}:
        base = replace(base, **pooled_trust(perturbations))
    return replace(
        base,
        perturbations=perturbations,
        false_alarms=new.false_alarms if new.false_alarms.value is not None else old.false_alarms,
        agreement=old.agreement,
        labels=old.labels,
        spans=old.spans,
        span_texts=old.span_texts,
        replacement=old.replacement,
        verdicts=old.verdicts,
        ordering=old.ordering,
        people_ordering=old.people_ordering,
    )


def _larger(old: Mapping[str, Sized], new: Mapping[str, Sized]) -> dict[str, Sized]:
    """Return for each kind the measurement with more texts; the newer one if they are equal."""
    kept = {kind: each for kind, each in old.items() if kind not in new or each.texts > new[kind].texts}
    return dict(sorted({**new, **kept}.items()))
