"""polyjudge judges what language models write, in any language, with judges that have themselves been checked."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyjudge.cache.sqlite import JudgeCache
    from polyjudge.errors import PolyjudgeError, UnreadableReplyError
    from polyjudge.formats.items import read_items
    from polyjudge.judges.choice import BinaryJudge, ChoiceJudge
    from polyjudge.judges.critique import parse_critique
    from polyjudge.judges.jury import Jury, jury_agreement
    from polyjudge.judges.pairwise import PairwiseJudge, position_bias
    from polyjudge.judges.parsing import parse_judge_json, read_judge_json
    from polyjudge.judges.rubric import RubricJudge
    from polyjudge.providers.scripted import ScriptedProvider
    from polyjudge.records.outcomes import Failure, Item, JudgeResult, PairwiseResult
    from polyjudge.records.requests import Reply, Request
    from polyjudge.records.rubrics import Rubric, RubricCriterion
    from polyjudge.records.runs import Limits
    from polyjudge.rubrics.loading import load_rubric
    from polyjudge.runs.run import Run
    from polyjudge.runs.summary import RunSummary
    from polyjudge.version import __version__


__all__ = [
    "BinaryJudge",
    "ChoiceJudge",
    "Failure",
    "Item",
    "JudgeCache",
    "JudgeResult",
    "Jury",
    "Limits",
    "PairwiseJudge",
    "PairwiseResult",
    "PolyjudgeError",
    "Reply",
    "Request",
    "Rubric",
    "RubricCriterion",
    "RubricJudge",
    "Run",
    "RunSummary",
    "ScriptedProvider",
    "UnreadableReplyError",
    "__version__",
    "jury_agreement",
    "load_rubric",
    "parse_critique",
    "parse_judge_json",
    "position_bias",
    "read_items",
    "read_judge_json",
]

# Loaded on first use: `polyjudge --help` must not wait for judges it does not need.
_HOMES = {
    "cache.sqlite": "JudgeCache",
    "errors": "PolyjudgeError UnreadableReplyError",
    "formats.items": "read_items",
    "judges.choice": "BinaryJudge ChoiceJudge",
    "judges.critique": "parse_critique",
    "judges.jury": "Jury jury_agreement",
    "judges.pairwise": "PairwiseJudge position_bias",
    "judges.parsing": "parse_judge_json read_judge_json",
    "judges.rubric": "RubricJudge",
    "providers.scripted": "ScriptedProvider",
    "records.outcomes": "Failure Item JudgeResult PairwiseResult",
    "records.requests": "Reply Request",
    "records.rubrics": "Rubric RubricCriterion",
    "records.runs": "Limits",
    "rubrics.loading": "load_rubric",
    "runs.run": "Run",
    "runs.summary": "RunSummary",
    "version": "__version__",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'polyjudge' has no attribute {name!r}")
    return getattr(import_module(f"polyjudge.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
