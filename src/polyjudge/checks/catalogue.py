"""What the built-in checks find: the check and severity of each finding, why it matters, and how often it is right."""

from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib.resources import files

from msgspec import Struct, convert

from polyjudge.errors import ConfigError, suggestion
from polyjudge.files.text_files import read_toml
from polyjudge.records.findings import Finding, Severity

DATA = "WMT24"
"""Where the precision of findings was measured."""


class KnownFinding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of finding of the built-in checks."""

    check: str
    """The check that finds it; `--checks` and `--skip-checks` take this name as well as the kind."""
    severity: Severity
    """The highest one."""
    finds: str
    matters: str


class Measured(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `python -m benchmarks check_precision` measured of a kind of finding at one severity."""

    alarms: int
    references: float
    """Alarms in 1,000 references."""
    best: float
    """Alarms in 1,000 outputs of the best quarter."""
    worst: float
    """Share of the worst outputs found."""
    precision: float | None = None
    """1 - alarm rate on references / alarm rate on the worst quarter; none below 20 alarms."""
    flagged_score: float | None = None
    unflagged_score: float | None = None


@lru_cache(maxsize=1)
def known_findings() -> Mapping[str, KnownFinding]:
    """Return the findings of the built-in checks by kind."""
    return convert(read_toml(files("polyjudge.checks") / "catalogue.toml"), dict[str, KnownFinding])


@lru_cache(maxsize=1)
def message_findings() -> Mapping[str, KnownFinding]:
    """Return the findings in the messages of localisation files, beside those in any text."""
    return convert(read_toml(files("polyjudge.checks") / "messages.toml"), dict[str, KnownFinding])


def known_finding(kind: str) -> KnownFinding | None:
    """Return a finding in a text or in a message, by its kind."""
    return known_findings().get(kind) or message_findings().get(kind)


@lru_cache(maxsize=1)
def measured_findings() -> Mapping[str, Mapping[str, Measured]]:
    """Return what was measured, by severity and kind."""
    return convert(read_toml(files("polyjudge.checks") / "precision.toml"), dict[str, dict[str, Measured]])


def check_names() -> list[str]:
    """Return the names of the built-in checks."""
    return list(dict.fromkeys(each.check for each in known_findings().values()))


def message_check_names() -> list[str]:
    """Return the names of the checks of messages, with those that check any text."""
    return list(dict.fromkeys([*check_names(), *(each.check for each in message_findings().values())]))


def require_known(names: Collection[str], plugins: Collection[str]) -> None:
    """Refuse a name that is neither a check, nor a kind of finding, nor a check of a plugin.

    The names of the checks of messages are known too: a project has one list of settings for all commands.
    """
    known = {*message_check_names(), *known_findings(), *message_findings(), *plugins}
    for name in names:
        if name not in known:
            offered = ", ".join([*message_check_names(), *sorted(plugins)])
            message = f"There is no check or finding {name!r}.{suggestion(name, sorted(known))} Checks: {offered}."
            raise ConfigError(f"{message} Findings: {', '.join(known_findings())}.")


def track_record(finding: Finding) -> str:
    """Say how often findings of this kind and severity are right, as far as it was measured."""
    measured = measured_findings().get(finding.severity, {}).get(finding.kind)
    return "" if measured is None else record_of(measured)


def record_of_kind(kind: str) -> str:
    """Say how often findings of a kind are right, by severity where it has several."""
    records = [
        (severity, record_of(measured[kind])) for severity, measured in measured_findings().items() if kind in measured
    ]
    said = {severity: record for severity, record in records if record}
    known = known_finding(kind)
    if known is not None and list(said) == [known.severity]:
        return said[known.severity]
    return "; ".join(f"{severity}: {record}" for severity, record in said.items())


def record_of(measured: Measured) -> str:
    """Say in words how often a kind of finding is right."""
    if measured.precision is None:
        return ""
    if measured.precision <= 0:
        return f"not more frequent in bad translations on {DATA}"
    return f"right in {measured.precision:.0%} of cases on {DATA}"


def anchor(kind: str) -> str:
    """Return where a kind of finding is documented, relative to the documentation."""
    return f"reference/checks.html#{kind.replace('_', '-')}"
