"""polyjudge judges what language models write, in any language, with judges that have themselves been checked."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from polyjudge import register
    from polyjudge.cache.sqlite import JudgeCache
    from polyjudge.calibration.edits import Draft, Edit, EditPlan, plan_edits
    from polyjudge.checks.checker import check
    from polyjudge.checks.plugin_checks import Check
    from polyjudge.errors import (
        CacheError,
        CapReachedError,
        ConfigError,
        DataError,
        DuplicateKeyError,
        EmptyBatchesError,
        ForeignFileError,
        MalformedResponseError,
        MissingExtraError,
        MissingKeyError,
        NotRecordedError,
        PolyjudgeError,
        ProviderError,
        RateLimitedError,
        RefusedError,
        StoppedError,
        TransientError,
        UnknownNameError,
        UnreadableReplyError,
        UnusableError,
    )
    from polyjudge.formats.items import read_items, read_results
    from polyjudge.formats.row_files import Format
    from polyjudge.judges.choice import BinaryJudge, ChoiceJudge
    from polyjudge.judges.critique import parse_critique
    from polyjudge.judges.jury import Jury, RepeatedJudge, jury_agreement
    from polyjudge.judges.offline import OfflineJudge
    from polyjudge.judges.pairwise import PairwiseJudge, position_bias
    from polyjudge.judges.parsing import parse_judge_json, read_judge_json
    from polyjudge.judges.rubric import RubricJudge, trust_card
    from polyjudge.judges.span_checks import SpanVerifier
    from polyjudge.judges.spans import SpanJudge
    from polyjudge.plugins import PluginWarning
    from polyjudge.providers.base import Provider
    from polyjudge.providers.registry import open_provider
    from polyjudge.providers.scripted import ScriptedProvider
    from polyjudge.records.calibration import TrustCard
    from polyjudge.records.comparison import Comparison, ComparisonOptions
    from polyjudge.records.findings import CheckedText, Finding
    from polyjudge.records.messages import Review, ReviewFinding
    from polyjudge.records.outcomes import Failure, Generated, Item, JudgeResult, PairwiseResult
    from polyjudge.records.ranking import Ranking, RankingOptions
    from polyjudge.records.requests import Origin, Reply, Request
    from polyjudge.records.rubrics import Rubric, RubricCriterion
    from polyjudge.records.runs import Limits
    from polyjudge.records.spans import ErrorSpan
    from polyjudge.records.translation import Language
    from polyjudge.reports.comparison import compare
    from polyjudge.reports.ranking import rank
    from polyjudge.reports.translation import Report
    from polyjudge.reports.translation_formats import render_report, report
    from polyjudge.review.review_files import review_files
    from polyjudge.rubrics.loading import load_rubric
    from polyjudge.runs.run import Run
    from polyjudge.runs.summary import RunSummary
    from polyjudge.version import __version__


__all__ = [
    "BinaryJudge",
    "CacheError",
    "CapReachedError",
    "Check",
    "CheckedText",
    "ChoiceJudge",
    "Comparison",
    "ComparisonOptions",
    "ConfigError",
    "DataError",
    "Draft",
    "DuplicateKeyError",
    "Edit",
    "EditPlan",
    "EmptyBatchesError",
    "ErrorSpan",
    "Failure",
    "Finding",
    "ForeignFileError",
    "Format",
    "Generated",
    "Item",
    "JudgeCache",
    "JudgeResult",
    "Jury",
    "Language",
    "Limits",
    "MalformedResponseError",
    "MissingExtraError",
    "MissingKeyError",
    "NotRecordedError",
    "OfflineJudge",
    "Origin",
    "PairwiseJudge",
    "PairwiseResult",
    "PluginWarning",
    "PolyjudgeError",
    "Provider",
    "ProviderError",
    "Ranking",
    "RankingOptions",
    "RateLimitedError",
    "RefusedError",
    "RepeatedJudge",
    "Reply",
    "Report",
    "Request",
    "Review",
    "ReviewFinding",
    "Rubric",
    "RubricCriterion",
    "RubricJudge",
    "Run",
    "RunSummary",
    "ScriptedProvider",
    "SpanJudge",
    "SpanVerifier",
    "StoppedError",
    "TransientError",
    "TrustCard",
    "UnknownNameError",
    "UnreadableReplyError",
    "UnusableError",
    "__version__",
    "check",
    "compare",
    "jury_agreement",
    "load_rubric",
    "open_provider",
    "parse_critique",
    "parse_judge_json",
    "plan_edits",
    "position_bias",
    "rank",
    "read_items",
    "read_judge_json",
    "read_results",
    "register",
    "render_report",
    "report",
    "review_files",
    "trust_card",
]

# Loaded on first use: `polyjudge --help` must not wait for judges it does not need.
_HOMES = {
    "cache.sqlite": "JudgeCache",
    "calibration.edits": "Draft Edit EditPlan plan_edits",
    "checks.checker": "check",
    "checks.plugin_checks": "Check",
    "errors": (
        "CacheError CapReachedError ConfigError DataError DuplicateKeyError EmptyBatchesError "
        "ForeignFileError MalformedResponseError MissingExtraError MissingKeyError NotRecordedError "
        "PolyjudgeError ProviderError RateLimitedError RefusedError StoppedError TransientError "
        "UnknownNameError UnreadableReplyError UnusableError"
    ),
    "formats.items": "read_items read_results",
    "formats.row_files": "Format",
    "judges.choice": "BinaryJudge ChoiceJudge",
    "judges.critique": "parse_critique",
    "judges.jury": "Jury RepeatedJudge jury_agreement",
    "judges.offline": "OfflineJudge",
    "judges.pairwise": "PairwiseJudge position_bias",
    "judges.parsing": "parse_judge_json read_judge_json",
    "judges.rubric": "RubricJudge trust_card",
    "judges.span_checks": "SpanVerifier",
    "judges.spans": "SpanJudge",
    "plugins": "PluginWarning",
    "providers.base": "Provider",
    "providers.registry": "open_provider",
    "providers.scripted": "ScriptedProvider",
    "records.calibration": "TrustCard",
    "records.comparison": "Comparison ComparisonOptions",
    "records.findings": "CheckedText Finding",
    "records.messages": "Review ReviewFinding",
    "records.outcomes": "Failure Generated Item JudgeResult PairwiseResult",
    "records.ranking": "Ranking RankingOptions",
    "records.requests": "Origin Reply Request",
    "records.rubrics": "Rubric RubricCriterion",
    "records.runs": "Limits",
    "records.spans": "ErrorSpan",
    "records.translation": "Language",
    "reports.comparison": "compare",
    "reports.ranking": "rank",
    "reports.translation": "Report",
    "reports.translation_formats": "render_report report",
    "review.review_files": "review_files",
    "rubrics.loading": "load_rubric",
    "runs.run": "Run",
    "runs.summary": "RunSummary",
    "version": "__version__",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name == "register":  # a module, the functions of which are decorators
        return import_module("polyjudge.register")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'polyjudge' has no attribute {name!r}")
    return getattr(import_module(f"polyjudge.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
