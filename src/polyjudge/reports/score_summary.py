"""Summarize a run of `score` on half a page: a headline, the requirements, and a bar for each language."""

from collections.abc import Iterator, Sequence

from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Interval
from polyjudge.records.runs import Gate, GateResult, LanguageScores, RunStatus, ScoreSummary
from polyjudge.verdicts.score_gate import judged_items

from .blocks import Block, Heading, Lines, Table, shown
from .calibration import language_title
from .escaping import escape_command, escape_property, no_command

_BAR_WIDTH = 10
_EIGHTHS = " ▏▎▍▌▋▊▉"
_MOST_LANGUAGES = 60
_WORDS = {"passed": "Passed", "failed": "Failed", "undecided": "Not decided"}


def headline(scores: ScoreSummary, status: RunStatus, gate: Gate | None, table: LanguageTable) -> str:
    """Return the result of a run in one sentence."""
    if scores.not_reached:
        return f"Not finished: {scores.not_reached:,} of {scores.items:,} items were not judged."
    if status == "unjudged":
        return f"No result: {scores.unjudged:,} of {scores.items:,} items have no verdict."
    if gate is None or not gate.results:
        return f"{_measured(scores)}."
    decisive = [each for each in gate.results if each.status == gate.status]
    if gate.status == "passed" and len(decisive) > 1:
        return f"Passed: all {len(decisive)} requirements are met."
    more = f"; {len(decisive) - 1} more in the table" if len(decisive) > 1 else ""
    failed = [each for each in gate.results if each.status == "failed"] if gate.status == "undecided" else []
    also = f" {len(failed):,} failed for certain: {gate_sentence(failed[0], table)}." if failed else ""
    return f"{_WORDS[gate.status]}: {gate_sentence(decisive[0], table)}{more}.{also}"


def _measured(scores: ScoreSummary) -> str:
    if scores.mean is None:
        return f"No scores; {scores.judged:,} of {scores.items:,} items were answered"
    rate = "" if scores.decided is None or scores.decided < scores.judged else f"; {_rate(scores)} of them pass"
    return f"The mean score of {judged_items(scores.judged)} is {scores.mean:.2f}{rate}"


def gate_sentence(result: GateResult, table: LanguageTable) -> str:
    """Return what was measured and what is required, after the language if it is about one."""
    if result.language is None:
        return result.sentence
    return f"{shown(language_title(result.language, table))}: {result.sentence}"


def gate_lines(gate: Gate, table: LanguageTable) -> Iterator[str]:
    """Yield each requirement with its result, as a line for a terminal."""
    for result in gate.results:
        yield no_command(shown(f"{_WORDS[result.status].lower()}: {gate_sentence(result, table)} ({result.rule})"))


def summary_blocks(
    scores: ScoreSummary,
    table: LanguageTable,
    *,
    title: str,
    status: RunStatus = "finished",
    gate: Gate | None = None,
    notes: Sequence[str] = (),
) -> Iterator[Block]:
    """Yield the headline, the requirements, and the scores over all items and by language."""
    yield Heading(2, title)
    yield Lines((headline(scores, status, gate, table),))
    if gate is not None and gate.results:
        rows = tuple((_WORDS[each.status], each.rule, gate_sentence(each, table)) for each in gate.results)
        yield Table(("Result", "Required", "Measured"), rows)
    yield _chart(scores, gate, table)
    more = len(scores.languages) - _MOST_LANGUAGES
    left_out = (f"{more} more languages, all of which reach what is required.",) if more > 0 else ()
    yield Lines((*left_out, *_unjudged(scores), *notes))


def _chart(scores: ScoreSummary, gate: Gate | None, table: LanguageTable) -> Table:
    """Return a row for all items and one for each language, those that do not pass the gate first."""
    has_rule = scores.passed is not None
    missed = {each.language for each in (gate.results if gate is not None else ()) if each.status != "passed"}
    tags = sorted(scores.languages, key=lambda tag: (tag not in missed, language_title(tag, table).casefold()))
    rows = [_row("All items", scores, scores)]
    rows += [_row(language_title(tag, table), scores.languages[tag], scores) for tag in tags[:_MOST_LANGUAGES]]
    passed = ("Pass", "95% interval") if has_rule else ()
    header = ("Language", "", *passed, "Mean score", "95% interval", "Judged", "Unjudged")
    return Table(header, tuple(rows), tuple(range(2, len(header))))


def _row(name: str, found: ScoreSummary | LanguageScores, scores: ScoreSummary) -> tuple[str, ...]:
    passed: tuple[str, ...] = ()
    share: float | None = None
    if scores.passed is not None:
        is_known = found.decided == found.judged and found.judged
        share = (found.passed or 0) / found.judged if is_known else None
        passed = (_rate(found), _interval(found.pass_interval, 100, "%") if is_known else "–")
    elif scores.scale is not None and found.mean is not None and scores.scale.highest > scores.scale.lowest:
        share = (found.mean - scores.scale.lowest) / (scores.scale.highest - scores.scale.lowest)
    mean = "–" if found.mean is None else f"{found.mean:.2f}"
    judged = (f"{found.judged:,}", f"{found.items - found.judged:,}")
    return (name, bar(share), *passed, mean, _interval(found.interval, 1, ""), *judged)


def bar(share: float | None) -> str:
    """Return a share from 0 to 1 as a bar of characters; empty if it is not known."""
    if share is None:
        return ""
    eighths = round(min(max(share, 0.0), 1.0) * _BAR_WIDTH * 8)
    full, rest = divmod(eighths, 8)
    filled = "█" * full + (_EIGHTHS[rest] if rest else "")
    return filled + "░" * (_BAR_WIDTH - len(filled))


def _rate(found: ScoreSummary | LanguageScores) -> str:
    if found.passed is None or not found.judged or found.decided != found.judged:
        return "–"
    return f"{found.passed / found.judged:.1%}"


def _interval(interval: Interval | None, factor: float, unit: str) -> str:
    return "–" if interval is None else f"{interval.low * factor:.1f} to {interval.high * factor:.1f}{unit}"


def _unjudged(scores: ScoreSummary) -> Iterator[str]:
    if scores.unjudged:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in scores.unjudged_by_kind.items())
        yield f"Unjudged: {scores.unjudged:,} of {scores.items:,} items ({kinds}); they are in no mean and no rate."


def gate_commands(gate: Gate, table: LanguageTable) -> Iterator[str]:
    """Render each requirement that is not met as an error annotation of GitHub."""
    for result in gate.results:
        if result.status != "passed":
            title = escape_property(f"polyjudge score, {result.rule}")
            yield no_command(f"::error title={title}::{escape_command(gate_sentence(result, table))}\n")
