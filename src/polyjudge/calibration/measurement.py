"""Judge the trials, and compute from the scores how reliable the judge is."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polyjudge.concurrency.pool import in_order
from polyjudge.concurrency.sync import run_sync
from polyjudge.judges.base import Judge, close_judge
from polyjudge.judges.offline import OfflineJudge
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.calibration import ControlResult, Figure, LanguageTrust, MonotonicityResult, ReferenceText
from polyjudge.records.outcomes import Failure, Item, Outcome
from polyjudge.records.rubrics import Rubric
from polyjudge.verdicts.trust import reliability

from .monotonicity import (
    Floats,
    Measured,
    SeverityScores,
    alarm_rate,
    control_result,
    discrimination,
    drawn,
    measure,
    over_languages,
)
from .perturbations import CONTROL_TYPES
from .trials import CLEAN, Trial, TrialOptions, TrialPlan, plan_trials, trial_id


@dataclass(frozen=True, slots=True)
class Measurement:
    """The results of one run."""

    languages: Mapping[str, LanguageTrust] = field(default_factory=dict[str, LanguageTrust])
    perturbations: Mapping[str, MonotonicityResult] = field(default_factory=dict[str, MonotonicityResult])
    """Over all languages."""
    controls: Mapping[str, ControlResult] = field(default_factory=dict[str, ControlResult])
    texts: int = 0
    judged: int = 0
    unjudged: int = 0


class _Answers:
    """The scores by text, kind and severity."""

    def __init__(self, plan: TrialPlan, scores: Mapping[str, float | None], severities: Sequence[float]) -> None:
        self.severities = (0.0, *sorted(severities))
        self._answered_by = {trial.id: known for trial, known in plan.repeats}
        self._scores = scores
        self.texts: dict[str, list[ReferenceText]] = defaultdict(list)
        self.kinds: dict[tuple[str, str], set[str]] = defaultdict(set)
        for trial in plan.trials:
            if trial.kind == CLEAN:
                self.texts[trial.text.language].append(trial.text)
        for trial in (*plan.trials, *(repeat for repeat, _ in plan.repeats)):
            self.kinds[trial.text.language, trial.text.id].add(trial.kind)

    def score(self, text: ReferenceText, kind: str, severity: float) -> tuple[float, str]:
        """Return a score, or nan and the id of the trial that failed."""
        asked = trial_id(text, kind, severity)
        asked = self._answered_by.get(asked, asked)
        score = self._scores.get(asked)
        return (float("nan") if score is None else score), asked if asked in self._scores and score is None else ""

    def severity_scores(self, language: str, kind: str) -> SeverityScores:
        """Return the scores of all texts of a language; nan where the perturbation does not apply."""
        severities = (0.0, 1.0) if kind in CONTROL_TYPES else self.severities
        rows, failed = list[list[float]](), set[str]()
        for text in self.texts[language]:
            if kind not in self.kinds[language, text.id]:
                rows.append([float("nan")] * len(severities))
                continue
            found = [self.score(text, kind if severity else CLEAN, severity) for severity in severities]
            rows.append([score for score, _ in found])
            failed |= {asked for _, asked in found if asked}
        return SeverityScores(severities, np.array(rows, dtype=np.float64).reshape(-1, len(severities)), len(failed))

    def all_kinds(self, language: str) -> list[str]:
        """Return the kinds of all perturbed texts of a language."""
        return sorted({kind for text in self.texts[language] for kind in self.kinds[language, text.id]} - {CLEAN})


def measure_judge(
    plan: TrialPlan, scores: Mapping[str, float | None], severities: Sequence[float], *, measured_at: str = ""
) -> Measurement:
    """Compute the measurement from the scores, 0 to 1 by the id of the trial."""
    answers = _Answers(plan, scores, severities)
    weights = _weights(answers)
    languages: dict[str, LanguageTrust] = {}
    measured: dict[str, list[Measured]] = defaultdict(list)
    controls: dict[str, list[tuple[Floats, Floats, Floats]]] = defaultdict(list)
    for language in sorted(answers.texts):
        by_kind = {kind: answers.severity_scores(language, kind) for kind in answers.all_kinds(language)}
        perturbed = {kind: each for kind, each in by_kind.items() if kind not in CONTROL_TYPES}
        found = {kind: measure(kind, language, each, weights[language]) for kind, each in perturbed.items()}
        for kind, each in found.items():
            measured[kind].append(each)
        unchanged = {kind: each for kind, each in by_kind.items() if kind in CONTROL_TYPES}
        for kind, each in unchanged.items():
            controls[kind].append((each.scores[:, 0], each.scores[:, -1], weights[language]))
        languages[language] = _trust(perturbed, found, unchanged, measured_at)
    judged = sum(score is not None for score in scores.values())
    return Measurement(
        languages,
        {kind: over_languages(kind, each, answers.severities) for kind, each in sorted(measured.items())},
        {kind: _control(kind, each) for kind, each in sorted(controls.items())},
        texts=sum(map(len, answers.texts.values())),
        judged=judged,
        unjudged=len(scores) - judged,
    )


def _weights(answers: _Answers) -> dict[str, Floats]:
    """Return how often each text is drawn in each resample; translations of one source are drawn together."""
    contents = {text.source or f"{text.language}|{text.id}" for texts in answers.texts.values() for text in texts}
    indexes = {content: index for index, content in enumerate(sorted(contents))}
    draws = drawn(len(indexes))
    return {
        language: draws[:, [indexes[text.source or f"{language}|{text.id}"] for text in texts]]
        for language, texts in answers.texts.items()
    }


def _trust(
    perturbed: Mapping[str, SeverityScores],
    found: Mapping[str, Measured],
    unchanged: Mapping[str, SeverityScores],
    measured_at: str,
) -> LanguageTrust:
    figure, texts, comparisons = discrimination(perturbed)
    kinds = sum(each.result.texts > 0 for each in found.values())
    controls = np.vstack([each.scores for each in unchanged.values()]) if unchanged else np.empty((0, 2))
    return LanguageTrust(
        verdict=reliability(figure, comparisons, kinds),
        discrimination=figure,
        texts=texts,
        comparisons=comparisons,
        measured_at=measured_at,
        perturbations={kind: each.result for kind, each in found.items()},
        false_alarms=alarm_rate(controls[:, 0], controls[:, -1]),
    )


def _control(kind: str, parts: Sequence[tuple[Floats, Floats, Floats]]) -> ControlResult:
    clean, changed, weights = zip(*parts, strict=True)
    return control_result(kind, "", np.concatenate(clean), np.concatenate(changed), np.hstack(weights))


def pooled_trust(perturbations: Mapping[str, MonotonicityResult]) -> dict[str, Any]:
    """Return figure, verdict and count of a language from the results of its kinds, measured in several runs.

    Which texts the runs shared is unknown, so the interval is as wide as if all kinds erred together.
    """
    known = [each for each in perturbations.values() if each.texts and each.noticed.low is not None]
    comparisons = sum(each.texts for each in known)
    if not comparisons:
        return {}
    value, low, high = (
        round(sum((getattr(each.noticed, name) or 0.0) * each.texts for each in known) / comparisons, 4)
        for name in ("value", "low", "high")
    )
    figure = Figure(value, low, high)
    verdict = reliability(figure, comparisons, len(known))
    return {"discrimination": figure, "verdict": verdict, "comparisons": comparisons}


def text_context(text: ReferenceText, table: LanguageTable, *, by_tag: bool) -> dict[str, str]:
    """Return what a judge is shown besides a text; without the name of the language if the judge reads its tag."""
    shown = {**({"source": text.source} if text.source else {}), **text.context}
    if not text.language or by_tag:
        return shown
    known = table.find(text.language)
    return {"language": f"{known.name} ({known.native_name})" if known else text.language, **shown}


def trial_item(trial: Trial, table: LanguageTable, *, by_tag: bool) -> Item:
    """Return the item of a trial."""
    return Item(trial.id, trial.candidate, text_context(trial.text, table, by_tag=by_tag), trial.text.language)


def share_of_scale(rubric: Rubric, outcome: Outcome) -> float | None:
    """Return a score from 0, the worst, to 1; 0 if a flag that is needed to pass is false, None for a failure."""
    if isinstance(outcome, Failure):
        return None
    if rubric.passing is not None and any(outcome.flags.get(flag) is False for flag in rubric.passing.flags):
        return 0.0
    return (outcome.score - rubric.scale.lowest) / (rubric.scale.highest - rubric.scale.lowest)


async def calibrate(
    judge: Judge,
    texts: Iterable[ReferenceText],
    rubric: Rubric,
    options: TrialOptions | None = None,
    *,
    concurrency: int = 5,
) -> Measurement:
    """Perturb reference texts, judge all versions, and return what the judge notices, by kind and language."""
    wanted, table = options or TrialOptions(), language_table()
    plan = plan_trials(texts, wanted, table)
    by_tag = isinstance(judge, OfflineJudge)

    async def one(trial: Trial) -> tuple[str, float | None]:
        item = trial_item(trial, table, by_tag=by_tag)
        context = {**item.context, "language": item.language} if by_tag else item.context
        return trial.id, share_of_scale(rubric, await judge.outcome(item.candidate, context))

    scores = {name: score async for name, score in in_order(one, plan.trials, concurrency=concurrency)}
    return measure_judge(plan, scores, wanted.severities)


def calibrate_sync(
    judge: Judge, texts: Iterable[ReferenceText], rubric: Rubric, options: TrialOptions | None = None
) -> Measurement:
    """Call `calibrate` from synchronous code or a notebook."""

    async def work() -> Measurement:
        try:
            return await calibrate(judge, texts, rubric, options)
        finally:
            await close_judge(judge)

    return run_sync(work())
