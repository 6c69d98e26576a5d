"""`polyjudge batch list|status|cancel`: batches that were submitted from this folder."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from polyjudge.batches.client import BatchClient, open_batch_client
from polyjudge.batches.journal import BatchJob, BatchJournal
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, MissingExtraError, MissingKeyError, PolyjudgeError, UnknownNameError
from polyjudge.providers.services import origin_of
from polyjudge.records.requests import ModelName
from polyjudge.text.display import harmless, one_line

from .environment import load_environment
from .output import print_table, print_warning


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, title="actions")
    for name, run_action, add_options, summary in _ACTIONS:
        action = actions.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        action.set_defaults(run_action=run_action)
        add_options(action)


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    load_environment()
    return options.run_action(options)


def _list(options: argparse.Namespace) -> int:
    rows = [_row(job) for job in _jobs()]
    if options.format == "json":
        print(json.dumps(rows, indent=2))
        return 0
    header = ("Provider", "Model", "Id", "Last known state", "Requests", "Failed", "Submitted")
    _show(header, [[str(value) for key, value in row.items() if key not in _UNSHOWN] for row in rows])
    return 0


def _status(options: argparse.Namespace) -> int:
    jobs = _jobs()
    unfinished = [job for job in jobs if not job.stored_in and not job.is_abandoned]
    wanted = _named(jobs, [options.id]) if options.id else unfinished
    answers, code = run_sync(_each(wanted, _ask_status))
    if options.format == "json":
        print(json.dumps([{**_row(job), **answers[job.intent.tag]} for job in wanted], indent=2))
        return code
    header = ("Provider", "Model", "Id", "Current state", "Done", "Submitted")
    rows: list[list[str]] = []
    for job in wanted:
        answer = answers[job.intent.tag]
        done = str(min(answer["done"], len(job.keys))) if answer.get("asked") else "?"
        intent, of_all = job.intent, f"{done}/{len(job.keys)}"
        rows.append([intent.provider, intent.model, job.id, answer["said"], of_all, intent.created_at])
    _show(header, rows)
    return code


def _cancel(options: argparse.Namespace) -> int:
    if not options.id and not options.all:
        raise ConfigError("Give the id of a batch, or --all.")
    jobs = _jobs()
    named = _named(jobs, options.id) if options.id else jobs
    wanted = [job for job in named if job.id and job.state == "running" and not job.stored_in]
    answers, code = run_sync(_each(wanted, _ask_to_cancel))
    lost = [job for job in named if not job.id and not job.is_abandoned]
    for job in named:
        if job in wanted:
            print(harmless(f"{job.id}: {answers[job.intent.tag]['said']}"))
        elif job in lost:
            print(f"{job.intent.tag}: may have been submitted. Run its command again with --batch to look for it.")
        elif options.id:
            print(harmless(f"{job.id or job.intent.tag}: nothing to cancel: the batch is {job.state_label}"))
    if wanted and not code:
        print("To collect the results so far, run the commands that submitted them again.", file=sys.stderr)
    return 3 if lost or any(not each.get("asked") for each in answers.values()) else code


def _jobs() -> list[BatchJob]:
    problems: list[str] = []
    jobs = BatchJournal().readable_jobs(problems)
    for problem in problems:
        print_warning(f"{harmless(problem)}")
    return jobs


def _named(jobs: Sequence[BatchJob], names: Sequence[str]) -> list[BatchJob]:
    if not jobs:
        raise ConfigError(f"No batches in {BatchJournal().folder}.")
    known = {name: job for job in jobs for name in (job.intent.tag, job.id) if name}
    for name in names:
        if name not in known:
            raise UnknownNameError("batch", name, [job.id or job.intent.tag for job in jobs])
    return [known[name] for name in names]


_UNSHOWN = {"tag", "baseUrl"}


def _row(job: BatchJob) -> dict[str, Any]:
    intent = job.intent
    return {
        "provider": intent.provider,
        "model": intent.model,
        "id": job.id,
        "state": job.state_label,
        "requests": len(job.keys),
        "failed": job.failed_items,
        "createdAt": intent.created_at,
        "tag": intent.tag,
        "baseUrl": intent.base_url,
    }


def _show(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if rows:
        print_table(header, rows)
    else:
        print(f"No batches in {BatchJournal().folder}.")


Ask = Callable[[BatchClient, str], Any]


async def _each(jobs: Sequence[BatchJob], ask: Ask) -> tuple[dict[str, dict[str, Any]], int]:
    """Ask about each batch; return the answers by its tag, and the exit code."""
    answers: dict[str, dict[str, Any]] = {}
    code = 0
    for job in jobs:
        try:
            answers[job.intent.tag] = {"asked": True, **await _ask_one(job, ask)}
        except (MissingKeyError, MissingExtraError, _OtherAddressError) as error:  # the batch itself may be fine
            answers[job.intent.tag] = {
                "asked": False,
                "said": one_line(f"last known as {job.state_label}: {error}", 200),
            }
        except PolyjudgeError as error:
            answers[job.intent.tag], code = {"asked": False, "said": one_line(str(error), 200)}, 3
    return answers, code


class _OtherAddressError(ConfigError):
    """A batch is stored at another address than the one in use."""


async def _ask_one(job: BatchJob, ask: Ask) -> dict[str, Any]:
    intent = job.intent
    if not job.id:
        return {"said": job.state_label, "done": 0}
    if (in_use := origin_of(intent.provider).base_url) != intent.base_url:
        raise _OtherAddressError(
            f"the batch was submitted to {intent.base_url}, but the address in use is {in_use}. Set the address of "
            "that time to ask about it."
        )
    client = open_batch_client(ModelName(intent.provider, intent.model))
    try:
        return await ask(client, job.id)
    finally:
        await client.aclose()


async def _ask_status(client: BatchClient, batch_id: str) -> dict[str, Any]:
    status = await client.status(batch_id)
    return {"said": status.state, "done": status.done}


async def _ask_to_cancel(client: BatchClient, batch_id: str) -> dict[str, Any]:
    await client.cancel(batch_id)
    return {"said": "is being canceled"}


def _format_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="output format; default: %(default)s"
    )


def _status_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="batch to ask about; default: all unfinished ones")
    _format_option(parser)


def _cancel_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="*", metavar="ID", help="batch to cancel, as `batch list` shows it")
    parser.add_argument("--all", action="store_true", help="cancel all running batches")


_ACTIONS = (
    ("list", _list, _format_option, "list all batches with their last known state"),
    ("status", _status, _status_options, "ask the provider for the state of batches"),
    ("cancel", _cancel, _cancel_options, "ask the provider to cancel batches"),
)
