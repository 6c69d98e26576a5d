"""What a project wants of the checks: which of them run, how severe their findings are, and which are accepted."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from polyjudge.errors import ConfigError
from polyjudge.records.findings import SEVERITIES, CheckedText, Finding, ScriptCheck, TextCheck
from polyjudge.records.fingerprint import fingerprint as digest_of

from .accepted import AcceptedFindings, fingerprint
from .catalogue import known_finding, require_known

OFF = "off"
Setting = Literal["fail", "warn", "info", "off"]
_DIGITS = 8
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

    @property
    def digest(self) -> str:
        """A short text that changes with all that may change a finding; empty if nothing is changed."""
        if self.changes_nothing:
            return ""
        chosen = [sorted(self.only), sorted(self.skipped), self.settings, self.accepted.fingerprints]
        return digest_of(chosen, _DIGITS)

    def setting_of(self, kind: str) -> Setting | None:
        """Return the severity that is set for a kind of finding, or for its check; None if it keeps its own."""
        known = known_finding(kind)
        own = self.settings.get(kind)
        return self.settings.get(known.check) if own is None and known is not None else own

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
            wanted = self.wanted(finding)
            if wanted is not None:
                is_accepted = len(self.accepted) and self.accepted.reason_for(fingerprint(finding, checked)) is not None
                (accepted if is_accepted else shown).append(wanted)
        failing = {finding.kind for finding in shown if finding.severity == "fail"}
        script = _script_without(found.script, shown, failing, is_off=not self.wants("script"))
        language, without_finding = found.language, script.state == "fail" and self.wants("wrong_language", "language")
        if language.state == "wrong" and not (without_finding or "wrong_language" in failing):
            language = replace(language, state="unsure")
        return replace(found, script=script, language=language, problems=tuple(shown), accepted=tuple(accepted))

    def of_plugin(self, name: str, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Yield the findings of a plugin's check with the severity that is set for it."""
        setting = self.settings.get(name)
        for finding in findings:
            yield finding if setting is None or setting == OFF else replace(finding, severity=setting)

    def wanted(self, finding: Finding) -> Finding | None:
        """Return a finding with the severity that is set for it; None if it is not wanted."""
        known = known_finding(finding.kind)
        if known is None:  # of a plugin, which was not run if it is not wanted
            return finding
        if not self.wants(finding.kind, known.check):
            return None
        setting = self.setting_of(finding.kind)
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
            raise ConfigError(f"{name} = {setting!r}: not a severity. Use one of {', '.join((*SEVERITIES, OFF))}.")
        given[name] = setting
    return CheckPolicy(frozenset(only), frozenset(skipped), given, accepted or AcceptedFindings())


def _script_without(
    script: ScriptCheck, shown: Collection[Finding], failing: Collection[str], *, is_off: bool
) -> ScriptCheck:
    """Return the script check without the findings that are not shown.

    It passes if none is left that counts; what fails nothing any more is a warning.
    """
    problems = tuple(
        each for each in shown if any(each.kind == own.kind and each.start == own.start for own in script.problems)
    )
    state = script.state
    if (script.problems or is_off) and all(each.severity == "info" for each in problems):
        state = "unknown" if script.share is None else "pass"
    elif state == "fail" and _SCRIPT_FAILS.isdisjoint(failing):
        state = "warn"
    return replace(script, problems=problems, state=state)
