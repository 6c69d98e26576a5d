"""Add providers, judges, checks, perturbations, formats and languages from Python, each under a name.

For example::

    @register.check("greeting")
    def greeting(text: CheckedText) -> Iterator[Finding]:
        ...

A package adds the same to the command line by an entry point, `[project.entry-points."polyjudge.checks"]`.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from polyjudge.plugins import PLUGINS, Group

if TYPE_CHECKING:
    from polyjudge.calibration.edits import Draft, EditPlan
    from polyjudge.checks.plugin_checks import Check
    from polyjudge.formats.row_files import Format
    from polyjudge.judges.base import ItemJudge
    from polyjudge.providers.registry import ProviderPlugin
    from polyjudge.records.findings import CheckedText, Finding
    from polyjudge.records.rubrics import Rubric
    from polyjudge.records.translation import Language

CheckFunction: TypeAlias = "Callable[[CheckedText], Iterable[Finding]]"
ProviderT = TypeVar("ProviderT", bound="Callable[[str], ProviderPlugin]")
JudgeT = TypeVar("JudgeT", bound="Callable[[Rubric, str], ItemJudge]")
CheckT = TypeVar("CheckT", bound="Callable[[], Check] | CheckFunction")
PerturbationT = TypeVar("PerturbationT", bound="Callable[[Draft], EditPlan]")
FormatT = TypeVar("FormatT", bound="Callable[[], Format]")
LanguageT = TypeVar("LanguageT", bound="Callable[[], Language | Iterable[Language]]")


Target = TypeVar("Target")


def _added(group: Group, name: str, target: Target) -> Target:
    PLUGINS.add(group, name, target)
    return target


def provider(name: str) -> Callable[[ProviderT], ProviderT]:
    """Register a provider: a function that opens it for a model's name, or a class with `complete`."""
    return lambda target: _added("providers", name, target)


def judge(name: str) -> Callable[[JudgeT], JudgeT]:
    """Register a judge: a class with `judge`, made from a rubric and a model's name, which may be empty."""
    return lambda target: _added("judges", name, target)


def check(name: str) -> Callable[[CheckT], CheckT]:
    """Register a check: a function of a `CheckedText` that returns findings, or a class with `find`."""
    return lambda target: _added("checks", name, target)


def perturbation(name: str) -> Callable[[PerturbationT], PerturbationT]:
    """Register a perturbation: a function that returns the edits of a `Draft` in their order, by `plan_edits`."""
    return lambda target: _added("perturbations", name, target)


def format(name: str) -> Callable[[FormatT], FormatT]:
    """Register a format of files that hold rows: a class with `suffixes`, `recognises` and `read`."""
    return lambda target: _added("formats", name, target)


def language(name: str) -> Callable[[LanguageT], LanguageT]:
    """Register languages for the table: a function that returns a `Language` or several."""
    return lambda target: _added("languages", name, target)
