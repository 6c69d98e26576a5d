"""What flows and what lies on disk: frozen records without behaviour."""

from .answers import Finish, Origin, Reply, Request
from .checks import (
    LanguageCheck,
    LanguageState,
    Problem,
    ProblemKind,
    ScriptCheck,
    ScriptState,
    Severity,
    TextCheck,
)
from .fixture import CaseResult, CaseStatus, Fixture, Recorded, Suite
from .item import Item
from .language import Direction, Language
from .outcomes import Failure, FailureKind, JudgeResult, Outcome, PairwiseResult, Preference, Provenance
from .rubric import Flag, PassRule, Rubric, RubricCriterion, Scale
from .transcript import EventKind, Review, ReviewVerdict, TranscriptEvent
from .translation import DIMENSIONS, LanguageResult, LanguageScore, PromptResult, PromptScore
from .vocabulary import Judgement, PromptName, Vocabulary, VocabularyWord, WordRecord, WordState

__all__ = [
    "DIMENSIONS",
    "CaseResult",
    "CaseStatus",
    "Direction",
    "EventKind",
    "Failure",
    "FailureKind",
    "Finish",
    "Fixture",
    "Flag",
    "Item",
    "JudgeResult",
    "Judgement",
    "Language",
    "LanguageCheck",
    "LanguageResult",
    "LanguageScore",
    "LanguageState",
    "Origin",
    "Outcome",
    "PairwiseResult",
    "PassRule",
    "Preference",
    "Problem",
    "ProblemKind",
    "PromptName",
    "PromptResult",
    "PromptScore",
    "Provenance",
    "Recorded",
    "Reply",
    "Request",
    "Review",
    "ReviewVerdict",
    "Rubric",
    "RubricCriterion",
    "Scale",
    "ScriptCheck",
    "ScriptState",
    "Severity",
    "Suite",
    "TextCheck",
    "TranscriptEvent",
    "Vocabulary",
    "VocabularyWord",
    "WordRecord",
    "WordState",
]
