"""Print what a run would cost, what it found, and how far its judge can be trusted."""

import argparse
import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from msgspec import to_builtins

from polyjudge.errors import MissingExtraError, MissingKeyError, StoppedError
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import Interval
from polyjudge.records.runs import Estimate, Gate, ScoreSummary, Spent
from polyjudge.runs.run import Run
from polyjudge.runs.summary import RunSummary
from polyjudge.text.display import harmless
from polyjudge.verdicts.trust import JudgeTrust, unmet_trust

from .output import add_to_step_summary
from .progress import counted
from .signals import stop_on_signals

_MOST_NAMED = 12


def print_summary(summary: RunSummary, gate: Gate | None, options: argparse.Namespace) -> None:
    """Print the summary: to stdout, or to stderr where the rows went to stdout."""
    to = sys.stdout if options.output is not None else sys.stderr
    scores = summary.scores
    if options.format == "json":
        found = {**to_builtins(scores), "skipped_rows": summary.skipped, "spent": to_builtins(summary.spent)}
        if gate is not None and gate.results:
            found["gate"] = to_builtins(gate)
        print(json.dumps(found, indent=2), file=to)
        return
    if options.format == "text" or _add_to_step(summary, gate, options, to):
        _print_text(summary, gate, options, to)


def _print_text(summary: RunSummary, gate: Gate | None, options: argparse.Namespace, to: TextIO) -> None:
    scores = summary.scores
    _print_scores(scores, to)
    kinds = ", ".join(f"{count} {kind}" for kind, count in scores.unjudged_by_kind.items())
    if scores.unjudged:
        print(f"unjudged: {scores.unjudged} ({kinds})", file=to)
    if scores.abstained:
        print(f"abstained: {scores.abstained} (in no mean and no rate)", file=to)
    if summary.skipped:
        print(f"skipped:  {counted(summary.skipped, 'row')} without an item", file=to)
    print(f"asked:    {spent_line(summary.spent)}; {scores.cached} results from the cache", file=to)
    if options.output is not None and not scores.not_reached:
        print(f"results:  {options.output}", file=to)
    if gate is not None and gate.results:
        from polyjudge.reports.score_summary import gate_lines  # here, because most runs have no gate

        for line in gate_lines(gate, language_table()):
            print(f"gate:     {line}", file=to)


def _add_to_step(summary: RunSummary, gate: Gate | None, options: argparse.Namespace, to: TextIO) -> bool:
    """Add the summary to that of the workflow step, or print it as Markdown; return whether there is a step."""
    from polyjudge.reports.blocks import markdown  # here, because most runs need none of it
    from polyjudge.reports.score_summary import gate_commands, summary_blocks

    table, title = language_table(), step_title(options)
    notes = (f"Asked: {spent_line(summary.spent)}; {summary.scores.cached} results from the cache.",)
    blocks = summary_blocks(summary.scores, table, title=title, status=summary.status, gate=gate, notes=notes)
    pieces = list(markdown(blocks))
    is_step = add_to_step_summary(pieces)
    if not is_step:
        to.writelines(pieces)
    to.writelines(gate_commands(gate, table) if gate is not None else ())
    return is_step


def step_title(options: argparse.Namespace) -> str:
    """Return the title of a run in the summary of a workflow step."""
    return f"Scores of {options.items.name} by the rubric {options.rubric}"


def explain_gate(gate: Gate, form: str) -> int:
    """Print on stderr which requirements are not met, unless the summary did; return the exit code."""
    if form == "json" and gate.exit_code:
        from polyjudge.reports.score_summary import gate_lines  # here, because most runs have no gate

        for line in gate_lines(gate, language_table()):
            print(f"polyjudge: {line}", file=sys.stderr)
    return gate.exit_code


def show_estimate(run: Run, form: str, *, what: str = "items", more: Mapping[str, int] | None = None) -> int:
    """Print how many calls a run would make and what they would cost; return the exit code.

    `what` names the items in the message of an interrupted count; `more` are further counts to print.
    """
    items = run.plan().items
    with stop_on_signals(run) as signals:
        try:
            estimate = run.estimate()
        except StoppedError as error:
            return signals.explain(error, f"not all of the {items} {what} were counted")
    _print_estimate(estimate, items, form, more or {})
    return 0


def _print_estimate(estimate: Estimate, items: int, form: str, more: Mapping[str, int]) -> None:
    if form == "json":
        print(json.dumps({"items": items, **more, **to_builtins(estimate)}, indent=2))
        return
    for name, count in more.items():
        print(f"{name.replace('_', ' ') + ':':<9} {count}")
    print(f"items:    {items}")
    print(f"calls:    {estimate.calls}, and {estimate.cached} replies from the cache")
    print(f"tokens:   about {estimate.input_tokens:,} in and {estimate.output_tokens:,} out")
    if estimate.unpriced_calls:
        print("cost:     unknown; give --price INPUT,OUTPUT in USD per million tokens")
    else:
        print(f"cost:     about ${estimate.cost_usd:.4f}")


def explain_skip(
    error: MissingKeyError | MissingExtraError, *, skipped: str = "", is_required: bool = False, offline: bool = False
) -> int:
    """Print what a judge lacks and what is therefore `skipped`; return the exit code.

    A missing key ends with 0, so that a pipeline without keys passes, unless a judge is required. A missing package
    ends with 3: else the command would seem to have done its work. `offline` if `--judge offline` would work.
    """
    if isinstance(error, MissingExtraError):
        print(f"polyjudge: {error}", file=sys.stderr)
        return 3
    print(error.instead(skipped=skipped), file=sys.stderr)
    if offline:
        print("Or without a key: --judge offline", file=sys.stderr)
    return 3 if is_required else 0


def too_many_unjudged(unjudged: int, items: int, allowed: float, kinds: Mapping[str, int]) -> int:
    """Print that more items than allowed are unjudged, with the most frequent kind; return the exit code."""
    share = unjudged / items if items else 1.0
    most = max(kinds.items(), key=lambda each: each[1], default=None)
    why = f"; most frequent reason: {most[0]} ({most[1]})" if most else ""
    print(
        f"polyjudge: {share:.1%} of the items could not be judged, more than --max-unjudged {allowed:g}{why}",
        file=sys.stderr,
    )
    return 3


def _print_scores(summary: ScoreSummary, to: TextIO) -> None:
    coverage = f"{summary.judged} of {summary.items} judged"
    if summary.mean is None:
        print(f"mean:     none ({coverage})", file=to)
        return
    print(f"mean:     {summary.mean:.2f}{_between(summary.interval, 1)} ({coverage})", file=to)
    if summary.passed is not None and summary.decided:
        share = f"{summary.passed / summary.decided:.1%} of {summary.decided}"
        undecided = summary.judged - summary.decided
        if undecided:  # an item with missing scores can be known to fail, but not to pass: a rate would mislead
            failed = summary.decided - summary.passed
            print(f"passed:   {summary.passed}, failed: {failed}, undecided: {undecided} (scores missing)", file=to)
        else:
            print(f"passed:   {summary.passed} ({share}){_between(summary.pass_interval, 100, '%')}", file=to)
    if summary.mean_spread is not None:
        flipped = (
            ""
            if summary.flipped is None
            else f"; for {summary.flipped:.1%} of the items, some answers pass and others fail"
        )
        print(f"spread:   {summary.mean_spread:.2f} between answers to one item, on average{flipped}", file=to)


def unmet_calibration(trust: JudgeTrust, languages: Sequence[str]) -> str:
    """Return why a judge is not calibrated for all items of these languages ("" is no language); empty if it is."""
    if trust.card is None:
        return f"{trust.judge} is not calibrated: {trust.why}"
    missing = unmet_trust(trust, languages, language_table())
    return f"{trust.judge} is not calibrated for all languages: {_by_word(missing)}" if missing else ""


def print_trust(trust: JudgeTrust, languages: Sequence[str], options: argparse.Namespace, to: TextIO) -> None:
    """Print how far a judge's scores can be trusted in the languages of a run, or how to measure it."""
    if trust.card is None:
        print(f"trust:    not calibrated ({trust.why}). Make one: {card_command(options)}", file=to)
    else:
        print(f"trust:    {_by_word(trust.by_verdict(languages, language_table()))}", file=to)


def card_command(options: argparse.Namespace) -> str:
    """Return the command that makes the trust card of a judge."""
    words = ["--judge", options.judge]
    if options.judge_model is not None:
        words += ["--judge-model", options.judge_model]
    if getattr(options, "rubric", "translation") != "translation":
        words += ["--rubric", str(options.rubric)]
    for name in ("checks", "skip_checks", "accepted"):
        if given := getattr(options, name, None):
            words += [f"--{name.replace('_', '-')}", str(given)]
    return f"polyjudge calibrate perturb {shlex.join(words)}"


def _by_word(languages: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{word} in {_named(tags)}" for word, tags in languages.items())


def _named(tags: Sequence[str]) -> str:
    shown = ", ".join(harmless(tag) or "items without a language" for tag in tags[:_MOST_NAMED])
    return shown if len(tags) <= _MOST_NAMED else f"{shown} and {len(tags) - _MOST_NAMED} more"


def _between(interval: Interval | None, scale: float, unit: str = "") -> str:
    if interval is None:
        return ""
    return f", 95% interval {interval.low * scale:.2f}{unit} to {interval.high * scale:.2f}{unit}"


def spent_line(spent: Spent) -> str:
    """Return the calls, tokens and cost of a run as one line."""
    calls = f"{spent.calls} {'call' if spent.calls == 1 else 'calls'}"
    parts = [calls, f"{spent.input_tokens:,} tokens in, {spent.output_tokens:,} out"]
    if spent.unpriced_calls:
        parts.append(f"cost unknown for {spent.unpriced_calls} of them")
    if spent.cost_usd or not spent.unpriced_calls:
        parts.append(f"${spent.cost_usd:.4f}")
    if spent.lost_calls:
        parts.append(f"{spent.lost_calls} disconnected and may have been charged")
    if spent.rate_limited:
        parts.append(f"{spent.rate_limited} rate-limited")
    return ", ".join(parts)
