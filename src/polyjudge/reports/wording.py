"""The sentences of reports: the headline, what a status means, the rule for passing, counts and dates."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from polyjudge.records.calibration import Figure, Interval
from polyjudge.verdicts.items import Status
from polyjudge.verdicts.translation import NEEDED_SHARE, is_enough

Span = tuple[str, str]
"""A piece of a sentence, and how a page shows it: `good`, `bad`, `open`, `strong` or nothing."""

STATUS_MEANINGS: Mapping[Status, str] = {
    "PASS": "A judge scored it, and it is good enough.",
    "CHECKED": "No check fails it. Grammar and meaning were not judged.",
    "UNJUDGED": "A judge was asked and gave no usable answer.",
    "UNRELIABLE": "The judge is not reliable in this language, so its verdict does not count.",
    "CONFLICT": "A judge passes it, but a check is sure that it is in another language.",
    "FAIL": "It does not pass. The reasons follow.",
    "SKIPPED": "There was nothing to judge.",
}
UNCALIBRATED: Mapping[Status, str] = {
    **STATUS_MEANINGS,
    "PASS": "A judge looked at it and passes it. The judge is not calibrated.",
}
"""The same where no judge has a trust card."""
_PLURALS = {"language": "languages", "reply": "replies"}


def plain(spans: Sequence[Span]) -> str:
    """Return a sentence without its styles."""
    return "".join(text for text, _ in spans)


def units(count: int, unit: str) -> str:
    """Return the name of a unit in the right number."""
    return unit if count == 1 else _PLURALS.get(unit, f"{unit}s")


def counted(count: int, unit: str) -> str:
    """Return a count with its unit."""
    return f"{count:,} {units(count, unit)}"


def headline(counts: Mapping[Status, int], unit: str, *, is_calibrated: bool) -> list[Span]:
    """Return what a report says in one sentence, from the number of units by status."""
    total = sum(counts.values()) - counts["SKIPPED"]
    ready, failing = counts["PASS"], counts["FAIL"] + counts["CONFLICT"]
    unknown = total - ready - failing
    if not total:
        return [(f"Nothing to report: no {unit} has an output.", "")]
    if counts["CHECKED"] and counts["CHECKED"] + counts["FAIL"] == total:
        return _checked_only(counts, total, unit)
    loose = [] if is_calibrated or not ready else [(" The judge is not calibrated.", "")]
    if failing:
        open_part = [(f"{unknown:,} {'is' if unknown == 1 else 'are'} unknown", "open")] if unknown else []
        fails = (f"{failing:,} {'fails' if failing == 1 else 'fail'}", "bad")
        return [*_parts("Not yet. ", [*_ready(ready, total, unit), fails, *open_part]), *loose]
    if unknown:
        verb = "is" if unknown == 1 else "are"
        return [
            ("Nothing fails, but ", ""),
            (f"{unknown:,} of {counted(total, unit)} {verb} unknown", "open"),
            (".", ""),
        ]
    every = f"The {unit} passes" if total == 1 else f"All {counted(total, unit)} pass"
    return [("Yes. ", ""), (every, "good"), (".", ""), *loose]


def _checked_only(counts: Mapping[Status, int], total: int, unit: str) -> list[Span]:
    faults: list[Span] = [(" and ", ""), (f"faults in {counts['FAIL']:,}", "bad")] if counts["FAIL"] else []
    return [
        ("Not known. ", ""),
        (f"The checks found no fault in {counts['CHECKED']:,} of {counted(total, unit)}", "open"),
        *faults,
        ("; no judge looked at grammar and meaning.", ""),
    ]


def _ready(ready: int, total: int, unit: str) -> list[Span]:
    if not ready:
        return [(f"None of {counted(total, unit)} is ready", "open")]
    return [(f"{ready:,} of {counted(total, unit)} {'is' if ready == 1 else 'are'} ready", "good")]


def _parts(start: str, parts: Sequence[Span]) -> list[Span]:
    """Join the parts of a sentence with commas and a last `and`."""
    found: list[Span] = [(start, ""), parts[0]]
    for part in parts[1:-1]:
        found += [(", ", ""), part]
    if len(parts) > 1:
        found += [(" and " if len(parts) == 2 else ", and ", ""), parts[-1]]
    return [*found, (".", "")]


def share_rule(failed: int, total: int) -> str:
    """Explain why a number of failed outputs is or is not allowed."""
    allowed = next(count for count in range(total, -1, -1) if is_enough(total - count, total))
    most = "none may fail" if not allowed else f"at most {allowed:,} may fail"
    verdict = "allowed" if failed <= allowed else "not allowed"
    return f"{failed:,} of {total:,} failed: {verdict}; {NEEDED_SHARE:.0%} must pass, so of {total:,} {most}"


def language_rule(unit: str) -> str:
    """Explain when a language passes, with an example of each side."""
    needed = f"at least {NEEDED_SHARE:.0%} of its {units(2, unit)} do"
    return f"A language passes if {needed}: 1 of 5 may fail, 1 of 4 may not."


def share_bar(passed: int, total: int) -> str:
    """Return a share in words, and whether it is enough."""
    side = "enough" if is_enough(passed, total) else "too few"
    return f"{passed:,} of {total:,} is {passed / total:.0%}: {side}, {NEEDED_SHARE:.0%} must pass"


def percent_range(interval: Interval | None) -> str:
    """Return a 95% interval of a share as text; empty without one."""
    return "" if interval is None else f"[{interval.low:.0%} to {interval.high:.0%}]"


def number_range(interval: Interval | None, digits: int = 2) -> str:
    """Return a 95% interval of a mean as text; empty without one."""
    return "" if interval is None else f"[{interval.low:.{digits}f} to {interval.high:.{digits}f}]"


def figure_words(figure: Figure, value: str, ends: str = "", *, factor: float = 1, unit: str = "") -> str:
    """Return a figure with its interval in brackets, each in a format such as `+.2f`; a dash if it is not known."""
    if figure.value is None:
        return "–"
    text = f"{factor * figure.value:{value}}{unit}"
    if figure.low is None or figure.high is None:
        return text
    return f"{text} [{factor * figure.low:{ends or value}}, {factor * figure.high:{ends or value}}]"


def human_time(text: str) -> str:
    """Return an ISO timestamp as people write it: 16 November 2026, 03:27 UTC; other text unchanged."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return text
    zone = found.tzinfo is not None
    return f"{found.astimezone(UTC) if zone else found:%-d %B %Y, %H:%M}{' UTC' if zone else ''}"


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names as a list in words, with the number of those left out."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do next, with the command that does it; empty if there is none."""

    text: str
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """The commands that a report can name, with `{values}` for the languages; empty ones are not named."""

    judge: str = ""
    """Judges all languages."""
    judge_again: str = ""
    """Judges some languages again."""
    retry: str = ""
    """Judges again what has no verdict."""
    calibrate: str = ""
    """Measures whether the judge is reliable."""
    explain: str = ""
    """Says why one language has its status."""
    with_texts: str = ""
    """Makes the report with the texts."""
    with_rule: str = ""
    """Makes the report with a pass rule."""
    label: str = ""
    """Lets people label items in some languages."""

    def filled(self, name: str, values: Sequence[str]) -> str:
        """Return a command for some languages; empty if it is not known."""
        return getattr(self, name).replace("{values}", shlex.quote(",".join(values)))
