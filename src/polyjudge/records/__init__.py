"""What flows and what lies on disk: frozen records without behaviour."""

from typing import TYPE_CHECKING

from polyjudge.lazy import lazily

if TYPE_CHECKING:
    from .answers import Finish, Origin, Reply, Request
    from .batches import BatchForm, BatchIntent, BatchState, ItemFailure, ItemTrouble, is_batch_id
    from .calibration import (
        ControlResult,
        CurvePoint,
        Effect,
        GoodText,
        JudgeIdentity,
        LanguageTrust,
        MonotonicityResult,
        Sensitivity,
        TrustCard,
    )
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
    from .figure import Figure
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
    "BatchForm",
    "BatchIntent",
    "BatchState",
    "CaseResult",
    "CaseStatus",
    "ControlResult",
    "CurvePoint",
    "Direction",
    "Effect",
    "EventKind",
    "Failure",
    "FailureKind",
    "Figure",
    "Finish",
    "Fixture",
    "Flag",
    "GoodText",
    "Item",
    "ItemFailure",
    "ItemTrouble",
    "JudgeIdentity",
    "JudgeResult",
    "Judgement",
    "Language",
    "LanguageCheck",
    "LanguageResult",
    "LanguageScore",
    "LanguageState",
    "LanguageTrust",
    "MonotonicityResult",
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
    "Sensitivity",
    "Severity",
    "Suite",
    "TextCheck",
    "TranscriptEvent",
    "TrustCard",
    "Vocabulary",
    "VocabularyWord",
    "WordRecord",
    "WordState",
    "is_batch_id",
]

lazily(__name__)
