"""`polyjudge transcript judge TRANSCRIPT`: an agent's session, reviewed by agents or models."""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from polyjudge.clock import utc_now
from polyjudge.concurrency.pool import StopToken, in_order
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError, MissingExtraError, MissingKeyError, StoppedError
from polyjudge.files.atomic import readable_json
from polyjudge.formats.transcripts import Transcript
from polyjudge.judges.base import close_judge
from polyjudge.judges.review import ReviewJudge, review_prompt
from polyjudge.providers.agents import NOT_IN_WORKSPACE
from polyjudge.providers.registry import check_workspace
from polyjudge.records.outcomes import Failure, JudgeResult, Outcome
from polyjudge.records.requests import ModelName
from polyjudge.reports.blocks import BLOCK_FORMATS, Block, Heading, Lines, Table
from polyjudge.runs.stack import ProviderStack
from polyjudge.statistics.agreement import exact_agreement, mean_difference
from polyjudge.suites.transcript import Rendering, render_transcript
from polyjudge.text.display import harmless, one_line

from .environment import load_environment
from .options import (
    add_cache_options,
    add_call_options,
    add_judge_options,
    at_least,
    judge_names,
    open_access,
    open_cache,
)
from .output import reader_may_leave
from .progress import ProgressShow
from .stopping import Ended, until_stopped
from .summaries import print_estimate, spent_line, too_many_unjudged
from .tables import print_table
from .transcript_artifacts import Artifacts

_WARNINGS_SHOWN = 5
_ABOUT_WORKSPACE = (
    "The files of the scenario are in your working folder (a copy, {digest}); read what you need of them."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    formats = "a session of Claude Code, Codex, Gemini CLI or an OpenAI-style list of messages, or plain text"
    add("transcript", type=Path, metavar="TRANSCRIPT", help=formats)
    add("--template", type=Path, metavar="FILE", help="what the agent was to follow")
    add("--prompt", type=Path, metavar="FILE", help="the review prompt, instead of the shipped one")
    add("--scenario", metavar="ID", help="names the files; default: the transcript's name")
    add("--output", type=Path, default=Path("eval-reviews"), metavar="DIR", help="default: %(default)s")
    add("--format", choices=["text", "json", "html"], default="text", help="of what is printed; default: %(default)s")
    add("--window", type=at_least(1000), default=150_000, metavar="TOKENS", help="of the session; default: %(default)s")
    add("--workspace", type=Path, metavar="DIR", help="files that an agent may read while it judges, as a copy")
    add("--show-prompt", action="store_true", help="print what would be asked and stop")
    told = "--judge=NAME, with the sign; --judge alone is claude, and so is none"
    add_judge_options(parser.add_argument_group("judge").add_argument, default="claude", told=told)
    add_call_options(parser.add_argument_group("calls").add_argument)
    add_cache_options(parser.add_argument_group("cache").add_argument)


@dataclass(frozen=True, slots=True)
class _Job:
    options: argparse.Namespace
    transcript: Transcript
    rendering: Rendering
    instruction: str | None
    prompt: str
    judges: list[ModelName]


def run(options: argparse.Namespace) -> int:
    """Read the session, have it reviewed, write what was said, and sum up."""
    load_environment()
    options.retry_failures = False
    job = _job(options)
    if options.show_prompt:
        print(harmless(job.prompt))
        return 0
    cache = open_cache(options)
    try:
        access = open_access(options, cache, utc_now(), workspace=options.workspace)
        judges = _opened(job, access)
        if len(judges) < len(job.judges) and (options.require_judge or not judges):
            return 3 if options.require_judge else 0
        return run_sync(_run(job, judges, access))
    finally:
        if cache is not None:
            cache.close()


def _opened(job: _Job, access: ProviderStack) -> dict[ModelName, ReviewJudge]:
    """Open the judges; of one that cannot be used it is said what is missing, and the others are asked."""
    opened: dict[ModelName, ReviewJudge] = {}
    for name in job.judges:
        try:
            opened[name] = ReviewJudge(name.model, access.open(name), job.instruction)
        except (MissingKeyError, MissingExtraError) as error:
            told = error.instead("transcript judging") if isinstance(error, MissingKeyError) else error
            print(told, file=sys.stderr)
    return opened


def _job(options: argparse.Namespace) -> _Job:
    judges = judge_names(options)
    if not judges:
        raise ConfigError("the judge 'offline' cannot review a session; name an agent or a model")
    if options.judge_model == "":
        raise ConfigError("--judge-model names no model")
    if options.workspace is not None:
        for name in judges:
            check_workspace(name)
    if options.workspace is not None and not options.workspace.is_dir():
        raise ConfigError(f"--workspace {str(options.workspace)!r} is no folder")
    template = "" if options.template is None else _text(options.template)
    instruction = None if options.prompt is None else _text(options.prompt)
    transcript = Transcript(options.transcript)
    rendering = render_transcript(transcript, window_tokens=options.window)
    if not rendering.events:
        raise DataError("holds no event of a session", path=options.transcript)
    _warn_of(transcript, rendering)
    note = [rendering.omissions] if rendering.omissions else []
    if options.workspace is not None:
        note.append(_ABOUT_WORKSPACE.format(digest=_digest(options.workspace)))
    prompt = review_prompt(rendering.text, template=template, instruction=instruction, note=" ".join(note))
    return _Job(options, transcript, rendering, instruction, prompt, judges)


def _warn_of(transcript: Transcript, rendering: Rendering) -> None:
    for problem in transcript.problems[:_WARNINGS_SHOWN]:
        print(f"polyjudge: warning: skipped {harmless(problem)}", file=sys.stderr)
    if transcript.skipped > _WARNINGS_SHOWN:
        print(f"polyjudge: warning: skipped {transcript.skipped} rows in all", file=sys.stderr)
    if transcript.unknown:
        named = ", ".join(f"{one_line(name, 60)} ({count})" for name, count in transcript.unknown.most_common(10))
        print(f"polyjudge: warning: events of unknown kinds, shown as they are: {named}", file=sys.stderr)
    if rendering.omissions:
        print(f"polyjudge: {rendering.omissions}", file=sys.stderr)


async def _run(job: _Job, judges: dict[ModelName, ReviewJudge], access: ProviderStack) -> int:
    artifacts = Artifacts(job.options, job.transcript, job.rendering)
    if not job.options.dry_run:
        artifacts.claim(list(judges))
    is_real, outcomes, files = not job.options.dry_run, dict[ModelName, Outcome](), dict[ModelName, Path]()

    async def one(name: ModelName) -> tuple[ModelName, Outcome]:
        """Ask one judge, and keep what it says at once; one that cannot be used does not keep the others from it."""
        try:
            outcome = await judges[name].outcome(job.prompt)
        except StoppedError as error:
            outcome = Failure(str(error), model=name.model)
        finally:
            await close_judge(judges[name])
        outcomes[name] = outcome
        if is_real:
            files[name] = artifacts.write(name, outcome)
        return name, outcome

    async def work(stop: StopToken) -> None:
        with ProgressShow(len(judges), access.meter.spent, shown=is_real, doing="reviewing") as progress:
            async with aclosing(in_order(one, judges, concurrency=len(judges), stop=stop)) as reviews:
                async for name, outcome in reviews:
                    progress.advance(unjudged=isinstance(outcome, Failure), current=str(name))

    try:
        ended = await until_stopped(work, deadline_s=job.options.deadline)
    finally:
        artifacts.release()
    if access.estimate is not None:
        print_estimate(access.estimate, len(judges), job.options.format)
        return 0
    outcomes = {name: outcomes[name] for name in judges if name in outcomes}
    with reader_may_leave():
        _show(job.options, outcomes, files)
    return _finish(job, ended, outcomes, files, access)


def _finish(
    job: _Job,
    ended: Ended[None],
    outcomes: Mapping[ModelName, Outcome],
    files: Mapping[ModelName, Path],
    access: ProviderStack,
) -> int:
    options = job.options
    print(f"asked:   {spent_line(access.meter.spent)}", file=sys.stderr)
    for path in files.values():
        print(f"review:  {path.with_suffix('.md')}", file=sys.stderr)
    if ended.cut_short(left := len(job.judges) - len(outcomes)):
        return ended.explain(f"{left} of {len(job.judges)} judges have not answered")
    failed = sum(isinstance(outcome, Failure) for outcome in outcomes.values())
    if failed == len(outcomes) or failed > options.max_unjudged * len(outcomes):
        return too_many_unjudged(failed, len(outcomes))
    return 1 if any(not isinstance(each, Failure) and each.verdict != "PASS" for each in outcomes.values()) else 0


def _show(options: argparse.Namespace, outcomes: Mapping[ModelName, Outcome], files: Mapping[ModelName, Path]) -> None:
    if options.format == "json":
        print(readable_json([json.loads(files[name].read_text(encoding="utf-8")) for name in outcomes], indent=2))
        return
    if options.format == "html":
        sys.stdout.writelines(BLOCK_FORMATS["html"](_blocks(outcomes)))
        return
    providers = [name.provider for name in outcomes]
    for name, outcome in outcomes.items():
        print(_console_line(str(name) if providers.count(name.provider) > 1 else name.provider, outcome))
    if len(outcomes) > 1:
        _show_table(outcomes)


def _blocks(outcomes: Mapping[ModelName, Outcome]) -> Iterator[Block]:
    """Yield the scores of all judges, then each review."""
    yield Heading(1, "Review of an agent's session")
    cells = {
        str(name): ("–", "–", "unjudged") if isinstance(outcome, Failure) else _cells(outcome)
        for name, outcome in outcomes.items()
    }
    rows = tuple((name, *scores) for name, scores in cells.items())
    yield Table(("Judge", "Agent", "System", "Verdict"), rows, (1, 2))
    for name, outcome in outcomes.items():
        yield Heading(2, str(name))
        said = outcome.reason if isinstance(outcome, Failure) else outcome.raw
        yield Lines(tuple(line for line in said.splitlines() if line.strip()) or ("no words",))


def _console_line(name: str, outcome: Outcome) -> str:
    """Return the founding line of one judge."""
    if isinstance(outcome, Failure):
        return f"Judge [{name}]: unjudged: {one_line(outcome.reason, 300)}"
    agent, system = (f"{outcome.subscores[key]:g}/100" for key in ("agent", "system"))
    told = " (no verdict given: from the scores)" if outcome.flags["derived"] else ""
    told = " (contradicts the scores)" if outcome.flags["contradictory"] else told
    return f"Judge [{name}]: Agent {agent} | System {system} | {outcome.verdict}{told}"


def _show_table(outcomes: Mapping[ModelName, Outcome]) -> None:
    """Print several judges side by side, and how far they agree."""
    rows = [
        (str(name), *(("–",) * 3 if isinstance(outcome, Failure) else _cells(outcome)))
        for name, outcome in outcomes.items()
    ]
    print_table(("Judge", "Agent", "System", "Verdict"), rows, numbers=(1, 2))
    judged = [outcome for outcome in outcomes.values() if isinstance(outcome, JudgeResult)]
    if len(judged) > 1:
        same = exact_agreement([[outcome.verdict for outcome in judged]])
        apart = [mean_difference([[outcome.subscores[key] for outcome in judged]]) for key in ("agent", "system")]
        print(
            f"agreement: {same or 0:.0%} of pairs give the same verdict; scores are apart by {apart[0]:g} (agent) "
            f"and {apart[1]:g} (system) on average"
        )


def _cells(outcome: JudgeResult) -> tuple[str, str, str]:
    return f"{outcome.subscores['agent']:g}", f"{outcome.subscores['system']:g}", outcome.verdict


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("is not UTF-8 text", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    if not text.strip():
        raise DataError("is empty", path=path)
    return text


def _digest(folder: Path) -> str:
    """Return what changes when any file of a folder does, so that the question is another then."""
    digest = hashlib.sha256()
    left_out = NOT_IN_WORKSPACE
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and not left_out & set(each.parts)):
        digest.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode(errors="surrogateescape"))
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
