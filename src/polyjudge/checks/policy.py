"""What a project wants of the checks: which of them run, how severe their findings are, and which are accepted."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from polyjudge.errors import ConfigError
from polyjudge.records.findings import SEVERITIES, CheckedText, Finding, LanguageCheck, ScriptCheck, TextCheck

from .accepted import AcceptedFindings, fingerprint
from .catalogue import known_findings, require_known

OFF = "off"
Setting = Literal["fail", "warn", "info", "off"]
_SCRIPT_FAILS = {"empty", "wrong_script"}


@dataclass(frozen=True, slots=True)
class CheckPolicy:
    """The settings of a project; by default, every check runs and nothing is accepted."""

    only: frozenset[str] = frozenset()
    """Checks or kinds of findings that are wanted; all of them if it is empty."""
    skipped: frozenset[str] = frozenset()
    settings: Mapping[str, Setting] = field(default_factory=dict[str, Setting])
    """The severity of checks or kinds of findings, or `off`."""
    accepted: AcceptedFindings = field(default_factory=AcceptedFindings)

    @property
    def changes_nothing(self) -> bool:
        """Whether all findings are shown as they are."""
        return not (self.only or self.skipped or self.settings or len(self.accepted))

    def wants(self, name: str, check: str = "") -> bool:
        """Say whether a check, or a kind of finding of a check, is wanted."""
        names = {name, check} - {""}
        is_off = self.settings.get(name, self.settings.get(check)) == OFF
        return not is_off and names.isdisjoint(self.skipped) and (not self.only or not names.isdisjoint(self.only))

    def applied(self, found: TextCheck, checked: CheckedText) -> TextCheck:
        """Return the check of a text with the findings that are wanted, and those that are accepted set apart."""
        if self.changes_nothing:
            return found
        shown, accepted = list[Finding](), list[Finding]()
        for finding in found.problems:
            wanted = self._wanted(finding)
            if wanted is not None:
                is_accepted = len(self.accepted) and self.accepted.reason_for(fingerprint(finding, checked)) is not None
                (accepted if is_accepted else shown).append(wanted)
        failing = {finding.kind for finding in shown if finding.severity == "fail"}
        script = _script_without(found.script, shown, failing)
        hidden = {finding.kind for finding in found.problems} - failing
        language = _language_without(found.language, hidden)
        return replace(found, script=script, language=language, problems=tuple(shown), accepted=tuple(accepted))

    def of_plugin(self, name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the findings of a plugin's check with the severity that is set for it."""
        setting = self.settings.get(name)
        for finding in findings:
            yield finding if setting is None or setting == OFF else replace(finding, severity=setting)

    def _wanted(self, finding: Finding) -> Finding | None:
        """Return a finding with the severity that is set for it; None if it is not wanted."""
        known = known_findings().get(finding.kind)
        if known is None:  # of a plugin, which was not run if it is not wanted
            return finding
        if not self.wants(finding.kind, known.check):
            return None
        setting = self.settings.get(finding.kind, self.settings.get(known.check))
        return finding if setting is None or setting == OFF else replace(finding, severity=setting)


def check_policy(
    *,
    only: Collection[str] = (),
    skipped: Collection[str] = (),
    settings: Mapping[str, str] | None = None,
    accepted: AcceptedFindings | None = None,
    plugins: Collection[str] = (),
) -> CheckPolicy:
    """Return a policy of names that exist; `plugins` are the names of the checks of plugins."""
    require_known([*only, *skipped, *(settings or {})], plugins)
    given = dict[str, Setting]()
    for name, setting in (settings or {}).items():
        if setting not in (*SEVERITIES, OFF):
            raise ConfigError(f"{name} = {setting!r} is no severity. Use {', '.join((*SEVERITIES, OFF))}.")
        given[name] = setting
    return CheckPolicy(frozenset(only), frozenset(skipped), given, accepted or AcceptedFindings())


def _script_without(script: ScriptCheck, shown: Collection[Finding], failing: Collection[str]) -> ScriptCheck:
    """Return the script check without the findings that are not shown; what fails nothing any more is a warning."""
    problems = tuple(
        each for each in shown if any(each.kind == own.kind and each.start == own.start for own in script.problems)
    )
    fails = script.state == "fail" and _SCRIPT_FAILS.isdisjoint(failing)
    return replace(script, problems=problems, state="warn" if fails else script.state)


def _language_without(language: LanguageCheck, hidden: Collection[str]) -> LanguageCheck:
    return replace(language, state="unsure") if language.state == "wrong" and "wrong_language" in hidden else language
