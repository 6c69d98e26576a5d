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
from .item import Item
from .language import Direction, Language
from .outcomes import Failure, FailureKind, JudgeResult, Outcome, PairwiseResult, Preference, Provenance
from .rubric import Flag, PassRule, Rubric, RubricCriterion, Scale

__all__ = [
    "Direction",
    "Failure",
    "FailureKind",
    "Finish",
    "Flag",
    "Item",
    "JudgeResult",
    "Language",
    "LanguageCheck",
    "LanguageState",
    "Origin",
    "Outcome",
    "PairwiseResult",
    "PassRule",
    "Preference",
    "Problem",
    "ProblemKind",
    "Provenance",
    "Reply",
    "Request",
    "Rubric",
    "RubricCriterion",
    "Scale",
    "ScriptCheck",
    "ScriptState",
    "Severity",
    "TextCheck",
]
