"""Rubrics: one TOML file each, turned into a prompt, a schema, a fingerprint and a pass rule."""

from .checking import check_rubric
from .loading import load_rubric, rubric_names
from .passing import PASSING_SCORE, passes, scores_pass, weighted_mean
from .questions import language_question
from .rendering import PromptRenderer, answer_schema, render_context, render_prompt, rubric_fingerprint
from .templates import check_template, fill_template

__all__ = [
    "PASSING_SCORE",
    "PromptRenderer",
    "answer_schema",
    "check_rubric",
    "check_template",
    "fill_template",
    "language_question",
    "load_rubric",
    "passes",
    "render_context",
    "render_prompt",
    "rubric_fingerprint",
    "rubric_names",
    "scores_pass",
    "weighted_mean",
]
