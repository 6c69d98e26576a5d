"""What is evaluated: the flow of each kind of run."""

from typing import TYPE_CHECKING

from polyjudge.lazy import lazily

if TYPE_CHECKING:
    from .kept_answers import kept_answers
    from .prompt_sets import PromptSet, load_prompt_set, prompt_set_names
    from .regression import TranslatorCommand, clean_environment, is_match, run_case, run_cases, translator_command
    from .regression_audit import Finding, audit
    from .regression_capture import captured_text, changes, recorded_now
    from .regression_lines import fits_one_line, run_line_by_line
    from .scoring import Answer, ScoreSummary, Tally, answer_of, open_judge, score_items
    from .shard_caps import shares
    from .shard_orders import ShardJob, ShardOrder, ShardReport, Trouble
    from .shard_placing import ShardPlacing
    from .shard_scoring import score_shard
    from .transcript_rendering import Rendering, render_transcript
    from .translation_generation import (
        CommandTranslator,
        ModelTranslator,
        Order,
        Translation,
        Translator,
        assembled,
        generate,
        orders_for,
        translation_row,
    )
    from .translation_judging import BatchOptions, BatchRun, Drift, judge_each
    from .translation_scores import kept_result, language_score
    from .translation_tasks import MUST_HAVE, Task, quick_choice, tasks_of
    from .vocabulary import WordTask, load_vocabulary, vocabulary_names, word_tasks, wording_of
    from .vocabulary_generation import Generation, generate_answers
    from .vocabulary_judging import WordQuestion, judge_answers, settled_judgement

__all__ = [
    "MUST_HAVE",
    "Answer",
    "BatchOptions",
    "BatchRun",
    "CommandTranslator",
    "Drift",
    "Finding",
    "Generation",
    "ModelTranslator",
    "Order",
    "PromptSet",
    "Rendering",
    "ScoreSummary",
    "ShardJob",
    "ShardOrder",
    "ShardPlacing",
    "ShardReport",
    "Tally",
    "Task",
    "Translation",
    "Translator",
    "TranslatorCommand",
    "Trouble",
    "WordQuestion",
    "WordTask",
    "answer_of",
    "assembled",
    "audit",
    "captured_text",
    "changes",
    "clean_environment",
    "fits_one_line",
    "generate",
    "generate_answers",
    "is_match",
    "judge_answers",
    "judge_each",
    "kept_answers",
    "kept_result",
    "language_score",
    "load_prompt_set",
    "load_vocabulary",
    "open_judge",
    "orders_for",
    "prompt_set_names",
    "quick_choice",
    "recorded_now",
    "render_transcript",
    "run_case",
    "run_cases",
    "run_line_by_line",
    "score_items",
    "score_shard",
    "settled_judgement",
    "shares",
    "tasks_of",
    "translation_row",
    "translator_command",
    "vocabulary_names",
    "word_tasks",
    "wording_of",
]

lazily(__name__)
