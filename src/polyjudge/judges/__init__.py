"""How to ask a model for a verdict, and how to read what it writes."""

from typing import TYPE_CHECKING

from polyjudge.lazy import lazily

if TYPE_CHECKING:
    from .asides import split_reasoning
    from .batch import BatchItem, BatchJudge, BatchRow, with_question
    from .binary import BinaryJudge
    from .choice import ChoiceJudge
    from .critique import Critique, parse_critique
    from .identity import judge_identity
    from .judged_text import ReplyContext
    from .jury import Jury, JuryAgreement, jury_agreement
    from .offline import OfflineJudge
    from .pairwise import PairwiseJudge, PairwiseOutcome, PositionBias, position_bias
    from .reading import JudgeJson, parse_judge_json, read_judge_json
    from .repeated import RepeatedJudge
    from .review import ReviewJudge, review_prompt
    from .reviews import due_verdict, read_review
    from .rubric import RubricJudge
    from .scoring import Judge, close_judge
    from .word import WORD_PLACES, WordJudge, word_prompt
    from .word_verdicts import WordReading, WordWording, load_wording, read_word_verdict, wording_languages

__all__ = [
    "WORD_PLACES",
    "BatchItem",
    "BatchJudge",
    "BatchRow",
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
    "ReplyContext",
    "ReviewJudge",
    "RubricJudge",
    "WordJudge",
    "WordReading",
    "WordWording",
    "close_judge",
    "due_verdict",
    "judge_identity",
    "jury_agreement",
    "load_wording",
    "parse_critique",
    "parse_judge_json",
    "position_bias",
    "read_judge_json",
    "read_review",
    "read_word_verdict",
    "review_prompt",
    "split_reasoning",
    "with_question",
    "word_prompt",
    "wording_languages",
]

lazily(__name__)
