"""polyjudge judges what language models write, in any language, with judges that have themselves been checked."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyjudge.cache import JudgeCache
    from polyjudge.errors import PolyjudgeError, UnreadableReplyError
    from polyjudge.judges import (
        BinaryJudge,
        ChoiceJudge,
        Jury,
        PairwiseJudge,
        RubricJudge,
        jury_agreement,
        parse_critique,
        parse_judge_json,
        position_bias,
        read_judge_json,
    )
    from polyjudge.providers import ScriptedProvider
    from polyjudge.records import Failure, JudgeResult, PairwiseResult, Reply, Request, Rubric, RubricCriterion
    from polyjudge.rubrics import load_rubric
    from polyjudge.version import __version__

__all__ = [
    "BinaryJudge",
    "ChoiceJudge",
    "Failure",
    "JudgeCache",
    "JudgeResult",
    "Jury",
    "PairwiseJudge",
    "PairwiseResult",
    "PolyjudgeError",
    "Reply",
    "Request",
    "Rubric",
    "RubricCriterion",
    "RubricJudge",
    "ScriptedProvider",
    "UnreadableReplyError",
    "__version__",
    "jury_agreement",
    "load_rubric",
    "parse_critique",
    "parse_judge_json",
    "position_bias",
    "read_judge_json",
]

# Loaded on first use: `polyjudge --help` must not wait for judges it does not need.
_HOMES = {
    "cache": "JudgeCache",
    "errors": "PolyjudgeError UnreadableReplyError",
    "judges": (
        "BinaryJudge ChoiceJudge Jury PairwiseJudge RubricJudge jury_agreement parse_critique parse_judge_json "
        "position_bias read_judge_json"
    ),
    "providers": "ScriptedProvider",
    "records": "Failure JudgeResult PairwiseResult Reply Request Rubric RubricCriterion",
    "rubrics": "load_rubric",
    "version": "__version__",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'polyjudge' has no attribute {name!r}")
    return getattr(import_module(f"polyjudge.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
