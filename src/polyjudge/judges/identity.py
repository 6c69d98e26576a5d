"""Which judge it is: what its trust card is known by."""

from polyjudge.providers import prompt_sha256
from polyjudge.records import JudgeIdentity, Rubric
from polyjudge.rubrics import render_prompt, rubric_fingerprint


def judge_identity(provider: str, model: str, rubric: Rubric, *, model_answered: str = "") -> JudgeIdentity:
    """Return which judge it is that a provider's model makes with a rubric."""
    return JudgeIdentity(
        provider=provider,
        model=model,
        rubric=rubric.name,
        rubric_fingerprint=rubric_fingerprint(rubric),
        prompt_sha256=prompt_sha256(render_prompt(rubric, "")),
        model_answered=model_answered,
    )
