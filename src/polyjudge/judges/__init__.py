"""How to ask a model for a verdict, and how to read what it writes."""

from .batch import BatchItem, BatchJudge, with_question
from .binary import BinaryJudge
from .choice import ChoiceJudge
from .critique import Critique, parse_critique
from .jury import Jury, JuryAgreement, jury_agreement
from .offline import OfflineJudge
from .pairwise import PairwiseJudge, PairwiseOutcome, PositionBias, position_bias
from .reading import JudgeJson, parse_judge_json, read_judge_json
from .repeated import RepeatedJudge
from .rubric import RubricJudge
from .scoring import Judge, close_judge

__all__ = [
    "BatchItem",
    "BatchJudge",
    "BinaryJudge",
    "ChoiceJudge",
    "Critique",
    "Judge",
    "JudgeJson",
    "Jury",
    "JuryAgreement",
    "OfflineJudge",
    "PairwiseJudge",
    "PairwiseOutcome",
    "PositionBias",
    "RepeatedJudge",
    "RubricJudge",
    "close_judge",
    "jury_agreement",
    "parse_critique",
    "parse_judge_json",
    "position_bias",
    "read_judge_json",
    "with_question",
]
