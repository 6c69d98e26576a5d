"""Rubrics: one TOML file each, turned into a prompt, a schema, a fingerprint and a pass rule."""

from .checking import check_rubric
from .loading import load_rubric, rubric_names
from .passing import passes, weighted_mean
from .rendering import PromptRenderer, answer_schema, render_context, render_prompt, rubric_fingerprint
from .templates import check_template, fill_template

__all__ = [
    "PromptRenderer",
    "answer_schema",
    "check_rubric",
    "check_template",
    "fill_template",
    "load_rubric",
    "passes",
    "render_context",
    "render_prompt",
    "rubric_fingerprint",
    "rubric_names",
    "weighted_mean",
]
