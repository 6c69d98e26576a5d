"""`polyjudge providers`: list providers, and what each one still needs."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from polyjudge.concurrency.pool import StopToken, in_order
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import PolyjudgeError, UnusableError
from polyjudge.providers.base import close_provider
from polyjudge.providers.local import local_models
from polyjudge.providers.models import resolve_model
from polyjudge.providers.registry import OWN_GROUP, Readiness, readiness
from polyjudge.providers.retrying import RetryPolicy
from polyjudge.providers.services import chosen_addresses, is_own_server, services
from polyjudge.records.requests import ModelName, Request
from polyjudge.runs.stack import ProviderStack
from polyjudge.text.display import one_line

from .environment import load_environment
from .options import add_timing_options
from .output import print_table
from .progress import Heartbeat
from .signals import Ended, until_stopped

_MOST_TOKENS = 2048
"""Leaves room for a model that reasons before its one word."""
_QUESTION = "Reply with the single word: ready"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--format", choices=["text", "json"], default="text", help="output format; default: %(default)s")
    add("--check", action="store_true", help="send a one-line question to each provider that is ready, at a small cost")
    add_timing_options(add)


def run(options: argparse.Namespace) -> int:
    """Print each provider and, with `--check`, whether it answers."""
    load_environment()
    entries = readiness()
    checked: dict[str, tuple[bool, str]] = {}
    if options.check:
        ended = run_sync(_until_stopped(entries, options))
        if ended.cut_short(left := len(_asked(entries)) - len(ended.result)):
            return ended.explain(f"{left} of {len(_asked(entries))} were not asked")
        checked = ended.result
    if options.format == "json":
        rows = [{**asdict(entry), "ready": not entry.missing, **_json(entry, checked)} for entry in entries]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        _show(entries, checked)
    return 3 if any(failed for failed, _ in checked.values()) else 0


def _show(entries: Sequence[Readiness], checked: dict[str, tuple[bool, str]]) -> None:
    header = ["Provider", "State", "Default model", "Answered by", "What to do"]
    rows = [[each.name, _state(each), each.default_model, each.answers, _remedy(each)] for each in entries]
    if checked:
        header.insert(2, "Check")
        for row in rows:
            row.insert(2, checked.get(row[0], (False, ""))[1])
    print_table(header, rows, groups=[each.group for each in entries])


def _state(entry: Readiness) -> str:
    if entry.missing:
        return "missing"
    return "no key needed" if entry.group == OWN_GROUP else "ready"


def _remedy(entry: Readiness) -> str:
    if entry.missing or entry.group != OWN_GROUP:
        return "; ".join(entry.missing)
    return f"at {entry.address}; set {services()[entry.name].address_variables[0]} if it is elsewhere"


def _json(entry: Readiness, checked: dict[str, tuple[bool, str]]) -> dict[str, object]:
    if entry.name not in checked:
        return {}
    failed, text = checked[entry.name]
    return {"answers_now": not failed, "said": text}


async def _until_stopped(
    entries: Sequence[Readiness], options: argparse.Namespace
) -> Ended[dict[str, tuple[bool, str]]]:
    async def work(stop: StopToken) -> dict[str, tuple[bool, str]]:
        return await _checked(entries, options.timeout, stop)

    with Heartbeat(lambda: "waiting for answers"):
        return await until_stopped(work, deadline_s=options.deadline)


async def _checked(
    entries: Sequence[Readiness], timeout_s: float | None, stop: StopToken
) -> dict[str, tuple[bool, str]]:
    """Return for each provider that is ready whether it failed, and its answer or error."""
    access = ProviderStack(timeout_s=timeout_s, retries=RetryPolicy(attempts=1, rate_limited_attempts=1))
    asked = _asked(entries)

    async def one(name: str) -> tuple[str, tuple[bool, str]]:
        try:
            return name, (False, await _answer(name, access))
        except PolyjudgeError as error:
            return name, (True, one_line(str(error), 200))

    return dict([each async for each in in_order(one, asked, concurrency=len(asked) or 1, stop=stop)])


def _asked(entries: Sequence[Readiness]) -> list[str]:
    """Return the names of the providers that can be asked."""
    return [entry.name for entry in entries if not entry.missing and entry.name != "scripted"]


async def _answer(provider: str, access: ProviderStack) -> str:
    if is_own_server(provider):
        is_chosen = bool(chosen_addresses().keys() & services()[provider].address_variables)
        try:
            models = await local_models(provider, timeout_s=access.timeout_s or 10.0)
        except UnusableError:
            if is_chosen:
                raise
            return "no server is running"  # most users have none, so it is not a failure
        if not models and not is_chosen:
            return "no server is running"  # something else answers at the usual port
        name = ModelName(provider, models[0] if models else "default")
    else:
        name = resolve_model(provider)
    opened = access.open(name)
    try:
        reply = await opened.complete(Request(prompt=_QUESTION, model=name.model, max_tokens=_MOST_TOKENS))
    finally:
        await close_provider(opened)
    text = f"{one_line(reply.text, 40)!r} from {one_line(reply.model, 60)} after {reply.duration_ms / 1000:.1f} s"
    return f"{text}, {reply.client}" if reply.client else text
