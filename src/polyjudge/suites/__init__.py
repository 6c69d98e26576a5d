"""What is evaluated: the flow of each kind of run."""

from .prompt_sets import PromptSet, load_prompt_set, prompt_set_names
from .scoring import ScoreSummary, Tally, open_judge, score_items
from .translation_generation import (
    CommandTranslator,
    ModelTranslator,
    Translator,
    assembled,
    generate,
    orders_for,
    translation_row,
)
from .translation_judging import BatchOptions, BatchRun, Drift, judge_each
from .translation_scores import language_score
from .translation_tasks import MUST_HAVE, Task, quick_choice, tasks_of

__all__ = [
    "MUST_HAVE",
    "BatchOptions",
    "BatchRun",
    "CommandTranslator",
    "Drift",
    "ModelTranslator",
    "PromptSet",
    "ScoreSummary",
    "Tally",
    "Task",
    "Translator",
    "assembled",
    "generate",
    "judge_each",
    "language_score",
    "load_prompt_set",
    "open_judge",
    "orders_for",
    "prompt_set_names",
    "quick_choice",
    "score_items",
    "tasks_of",
    "translation_row",
]
