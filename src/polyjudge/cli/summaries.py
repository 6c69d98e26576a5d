"""What `polyjudge score` says at the end."""

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TextIO

from msgspec import to_builtins

from polyjudge.records.calibration import Interval
from polyjudge.records.runs import Estimate, Spent
from polyjudge.runs.summary import ScoreSummary


def print_summary(summary: ScoreSummary, spent: Spent, options: argparse.Namespace, *, skipped: int) -> None:
    """Print the summary: to stdout, or to stderr where the rows went to stdout."""
    to = sys.stdout if options.output is not None else sys.stderr
    if options.format == "json":
        found = {**to_builtins(summary), "skipped_rows": skipped, "spent": to_builtins(spent)}
        print(json.dumps(found, indent=2), file=to)
        return
    _print_scores(summary, to)
    kinds = ", ".join(f"{count} {kind}" for kind, count in summary.unjudged_by_kind.items())
    if summary.unjudged:
        print(f"unjudged: {summary.unjudged} ({kinds})", file=to)
    if skipped:
        print(f"skipped:  {skipped} rows that hold no item", file=to)
    print(f"asked:    {spent_line(spent)}; {summary.cached} results from the cache", file=to)
    if options.output is not None and not summary.not_reached:
        print(f"results:  {options.output}", file=to)


def print_estimate(estimate: Estimate, items: int, form: str, more: Mapping[str, int] | None = None) -> None:
    """Print what a run would ask, and what more there is to say of it."""
    if form == "json":
        print(json.dumps({"items": items, **(more or {}), **to_builtins(estimate)}, indent=2))
        return
    for name, count in (more or {}).items():
        print(f"{name.replace('_', ' ') + ':':<9} {count}")
    print(f"items:    {items}")
    print(f"calls:    {estimate.calls}, and {estimate.cached} answers from the cache")
    print(f"tokens:   about {estimate.input_tokens:,} in and {estimate.output_tokens:,} out")
    if estimate.unpriced_calls:
        print("cost:     unknown; give --price INPUT,OUTPUT in USD per million tokens")
    else:
        print(f"cost:     about ${estimate.cost_usd:.4f}")


def too_many_unjudged(unjudged: int, items: int) -> int:
    """Say that the judge could not do its work, and return the exit code."""
    share = unjudged / items if items else 1.0
    print(f"polyjudge: {share:.1%} of the items could not be judged, more than --max-unjudged allows", file=sys.stderr)
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
        if undecided:  # of those with missing scores only failures can be told, so a rate would mislead
            failed = summary.decided - summary.passed
            print(
                f"passed:   {summary.passed}, failed: {failed}, cannot be told: {undecided} (scores missing)", file=to
            )
        else:
            print(f"passed:   {summary.passed} ({share}){_between(summary.pass_interval, 100, '%')}", file=to)
    if summary.mean_spread is not None:
        flipped = "" if summary.flipped is None else f"; {summary.flipped:.1%} of the items flip between pass and fail"
        print(f"spread:   {summary.mean_spread:.2f} between answers to one item, on average{flipped}", file=to)


def _between(interval: Interval | None, scale: float, unit: str = "") -> str:
    if interval is None:
        return ""
    return f", 95% interval {interval.low * scale:.2f}{unit} to {interval.high * scale:.2f}{unit}"


def spent_line(spent: Spent) -> str:
    """Return what a run asked and paid."""
    calls = f"{spent.calls} {'call' if spent.calls == 1 else 'calls'}"
    parts = [calls, f"{spent.input_tokens:,} tokens in, {spent.output_tokens:,} out"]
    if spent.unpriced_calls:
        parts.append(f"cost unknown for {spent.unpriced_calls} of them")
    if spent.cost_usd or not spent.unpriced_calls:
        parts.append(f"${spent.cost_usd:.4f}")
    if spent.lost_calls:
        parts.append(f"{spent.lost_calls} broke off and may have been charged")
    if spent.rate_limited:
        parts.append(f"{spent.rate_limited} refused for asking too often")
    return ", ".join(parts)
