"""From what a judge says of single prompts to what it says of a language."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from polyjudge.records import DIMENSIONS, Failure, JudgeResult, LanguageResult, LanguageScore, Outcome, PromptScore
from polyjudge.rubrics import PASSING_SCORE, scores_pass
from polyjudge.statistics import reached_at_best, reached_by

NEEDED_SHARE = 0.8
_NOTES_KEPT = 3


def prompt_score(index: int, outcome: Outcome) -> PromptScore:
    """Return what a judge said of one prompt, as it stands in a scores file."""
    if isinstance(outcome, Failure):
        error = f"{outcome.kind}: {outcome.reason}"
        return PromptScore(index=index, error=error, raw=outcome.raw, provenance=outcome.provenance)
    return PromptScore(
        index=index,
        script_score=outcome.subscores.get("script"),
        grammar_score=outcome.subscores.get("grammar"),
        coherence_score=outcome.subscores.get("coherence"),
        is_correct_language=outcome.flags.get("isCorrectLanguage"),
        notes=outcome.reason,
        provenance=outcome.provenance,
    )


def kept_result(score: PromptScore) -> JudgeResult | None:
    """Return the result that a scores file holds of a prompt; None where it holds none."""
    values = {"script": score.script_score, "grammar": score.grammar_score, "coherence": score.coherence_score}
    known = {name: value for name, value in values.items() if value is not None}
    if score.error or not known:
        return None
    flags = {} if score.is_correct_language is None else {"isCorrectLanguage": score.is_correct_language}
    mean = fmean(known.values())
    return JudgeResult(mean, score.notes, known, flags=flags, provenance=score.provenance)


def language_score(
    language: LanguageResult,
    outcomes: Mapping[int, Outcome],
    judge: str,
    batching: Mapping[str, Any] | None = None,
) -> LanguageScore:
    """Return a language's scores: what at least 80% of its judged prompts reach, with the means beside."""
    prompts = tuple(prompt_score(index, outcome) for index, outcome in sorted(outcomes.items()))
    results = [outcome for outcome in outcomes.values() if isinstance(outcome, JudgeResult)]
    values = {name: [result.subscores.get(name) for result in results] for name in DIMENSIONS}
    flags = [result.flags.get("isCorrectLanguage") for result in results]
    reached = _score([None if flag is None else float(flag) for flag in flags], sure_below=1.0)
    unjudged = len(prompts) - len(results)
    return LanguageScore(
        language_name=language.language_name,
        language_code=language.language_code,
        script_score=_score(values["script"]),
        grammar_score=_score(values["grammar"]),
        coherence_score=_score(values["coherence"]),
        is_correct_language=None if reached is None else bool(reached),
        notes=_notes(prompts),
        error="" if results else _error(prompts),
        judge=judge,
        judged=len(results),
        unjudged=unjudged,
        means=dict(_means(values)),
        prompts=prompts,
        batching=batching or {},
    )


def _score(values: Sequence[float | None], sure_below: float = PASSING_SCORE) -> float | None:
    """Return what 80% reach; where that hangs on unknown values, what they reach at best if even that is too low."""
    best = reached_at_best(values, NEEDED_SHARE)
    return best if best is not None and best < sure_below else reached_by(values, NEEDED_SHARE)


def _means(values: Mapping[str, Sequence[float | None]]) -> Iterator[tuple[str, float]]:
    for name, given in values.items():
        known = [value for value in given if value is not None]
        if known:
            yield name, round(fmean(known), 4)


def _notes(prompts: Sequence[PromptScore]) -> str:
    """Return what the judge said of the prompts that fail, the worst first; of one that passes where all do."""
    failing = sorted((prompt for prompt in prompts if scores_pass(prompt) is False), key=_goodness)
    passing = [prompt for prompt in prompts if scores_pass(prompt)][:1]
    notes = list(dict.fromkeys(prompt.notes for prompt in failing or passing if prompt.notes))
    return " | ".join(notes[:_NOTES_KEPT])


def _goodness(prompt: PromptScore) -> float:
    values = (prompt.script_score, prompt.grammar_score, prompt.coherence_score)
    lowest = min((value for value in values if value is not None), default=0.0)
    return lowest - 10 * (prompt.is_correct_language is False)


def _error(prompts: Sequence[PromptScore]) -> str:
    if not prompts:
        return "no prompt to judge"
    (reason, _), *_ = Counter(prompt.error for prompt in prompts).most_common(1)
    return reason
