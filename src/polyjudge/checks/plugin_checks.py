"""The checks that other packages, or the caller, add to the built-in ones."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast

from polyjudge.plugins import PLUGINS, Plugin, described
from polyjudge.records.findings import SEVERITIES, CheckedText, Finding

CHECK_FAILED = "check_failed"
"""Kind of the finding that says that a plugin's check failed, so that it did not check the text."""


class Check(Protocol):
    """A check of a plugin."""

    def find(self, text: CheckedText) -> Iterable[Finding]:
        """Return what is to be said about a text; nothing for a text without fault."""
        ...


@dataclass(frozen=True, slots=True)
class PluginCheck:
    """A check that another package, or the caller, has added."""

    plugin: Plugin
    find: Callable[[CheckedText], Iterable[Finding]]

    def findings(self, text: CheckedText) -> list[Finding]:
        """Return what the check finds; if it fails, a warning is given once and the finding says so."""
        try:
            found = list(self.find(text))
            for each in found:
                _refuse_unfit(each, text.text)
        except Exception as error:  # noqa: BLE001 - code that is not ours may raise anything
            PLUGINS.warn(self.plugin, f"failed, and the text was not checked by it: {described(error)}")
            return [Finding(CHECK_FAILED, "info", f"the check {self.plugin.name!r} failed: {described(error)}")]
        return found


def _refuse_unfit(finding: object, text: str) -> None:
    """Raise for what no report could show."""
    if not isinstance(finding, Finding):
        raise TypeError(f"{finding!r} is no Finding")
    if finding.severity not in SEVERITIES or not finding.kind.isprintable() or not finding.kind:
        raise ValueError(f"a finding needs a kind and a severity, one of {', '.join(SEVERITIES)}: {finding!r}")
    if finding.start is not None and not 0 <= finding.start <= (finding.end or 0) <= len(text):
        raise ValueError(f"the place is not in the text: {finding!r}")


def plugin_checks() -> tuple[PluginCheck, ...]:
    """Return the checks that were added; one that cannot be loaded is warned of and left out."""
    return tuple(PluginCheck(plugin, _finder(target)) for plugin, target in PLUGINS.each("checks"))


def _finder(target: object) -> Callable[[CheckedText], Iterable[Finding]]:
    """Return the function of a check that is given as a function, an object with `find`, or a class of such objects."""
    made = cache(target) if isinstance(target, type) else lambda: target  # made when the first text is checked

    def find(text: CheckedText) -> Iterable[Finding]:
        check = made()
        return cast(Check, check).find(text) if hasattr(check, "find") else cast(_Function, check)(text)

    return find


_Function = Callable[[CheckedText], Iterable[Finding]]
