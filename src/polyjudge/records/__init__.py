"""What flows and what lies on disk: frozen records without behaviour."""

from .answers import Finish, Origin, Reply, Request
from .item import Item
from .outcomes import Failure, FailureKind, JudgeResult, Outcome, PairwiseResult, Preference, Provenance
from .rubric import Flag, PassRule, Rubric, RubricCriterion, Scale

__all__ = [
    "Failure",
    "FailureKind",
    "Finish",
    "Flag",
    "Item",
    "JudgeResult",
    "Origin",
    "Outcome",
    "PairwiseResult",
    "PassRule",
    "Preference",
    "Provenance",
    "Reply",
    "Request",
    "Rubric",
    "RubricCriterion",
    "Scale",
]
