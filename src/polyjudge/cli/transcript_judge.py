"""`polyjudge transcript judge TRANSCRIPT`: have agents or models review an agent's session."""

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from polyjudge.errors import ConfigError, DataError, MissingExtraError, MissingKeyError
from polyjudge.files.json_lines import readable_json
from polyjudge.formats.session_reviews import ReviewFiles
from polyjudge.formats.transcripts import Transcript
from polyjudge.judges.jury import Panel
from polyjudge.judges.session_review import ReviewJudge, review_prompt
from polyjudge.providers.agents import NOT_IN_WORKSPACE
from polyjudge.providers.registry import check_workspace, is_provider
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome
from polyjudge.records.requests import ModelName
from polyjudge.reports.blocks import BLOCK_FORMATS, Block, Heading, Lines, Table
from polyjudge.runs.run import Run
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
    limits_of,
    run_options,
)
from .output import ignore_closed_pipe, print_table, print_warning, warn_of_skipped
from .progress import RunProgress
from .signals import stop_on_signals
from .summaries import explain_skip, show_estimate, spent_line, too_many_unjudged

_HEADER = ("Judge", "Agent", "System", "Verdict")
_WARNINGS_SHOWN = 5
_ABOUT_WORKSPACE = (
    "The files of the scenario are in your working folder (a copy, {digest}); read what you need of them."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    formats = "session of Claude Code, Codex, Gemini CLI or an OpenAI-style list of messages, or plain text"
    add("transcript", type=Path, metavar="TRANSCRIPT", help=formats)
    add("--template", type=Path, metavar="FILE", help="instructions that the agent had to follow")
    add("--prompt", type=Path, metavar="FILE", help="review prompt to use instead of the shipped one")
    add("--scenario", metavar="ID", help="name for the output files; default: the transcript's name")
    folder = "folder for the reviews; default: %(default)s"
    add("--output", type=Path, default=Path("eval-reviews"), metavar="DIR", help=folder)
    add("--format", choices=["text", "json", "html"], default="text", help="output format; default: %(default)s")
    window = "show the judge at most this much of the session; default: %(default)s"
    add("--window", type=at_least(1000), default=150_000, metavar="TOKENS", help=window)
    add("--workspace", type=Path, metavar="DIR", help="folder of which the judging agent may read a copy")
    add("--show-prompt", action="store_true", help="print the prompt, and stop")
    judge = "model or agent that reviews, written --judge=NAME with the equals sign; default: claude"
    add_judge_options(parser.add_argument_group("judge").add_argument, default="claude", help=judge)
    add_call_options(parser.add_argument_group("calls").add_argument)
    add_cache_options(parser.add_argument_group("cache").add_argument)


def prepared(given: Sequence[str]) -> list[str]:
    """Return the command line with a bare `--judge` as `--judge=claude`; a value needs the equals sign."""
    for word, following in pairwise(given):
        if word == "--judge" and is_provider(following.partition("/")[0]) and not Path(following).exists():
            raise ConfigError(f"Write --judge={following} with the equals sign.")
    return [f"{word}=claude" if word == "--judge" else word for word in given]


@dataclass(frozen=True, slots=True)
class _Job:
    options: argparse.Namespace
    transcript: Transcript
    rendering: Rendering
    instruction: str | None
    prompt: str
    judges: list[ModelName]


def run(options: argparse.Namespace) -> int:
    """Read the session, have it reviewed, write the reviews, and print the scores."""
    load_environment()
    options.batch = options.force = False
    job = _job(options)
    if options.show_prompt:
        print(harmless(job.prompt))
        return 0
    judges, code = _usable(job)
    if not judges or (code == 3 and options.require_judge):
        return code
    return (
        show_estimate(_run_of(job, judges), options.format, what="judges") if options.dry_run else _execute(job, judges)
    )


def _usable(job: _Job) -> tuple[list[ModelName], int]:
    """Return the judges that can be opened, and the exit code if that is none; print what the others lack."""
    usable, code, stack = list[ModelName](), 0, ProviderStack(workspace=job.options.workspace)
    for name in job.judges:
        try:
            if not job.options.reread and not job.options.dry_run:
                stack.open(name)
        except (MissingKeyError, MissingExtraError) as error:
            is_required = job.options.require_judge
            code = max(code, explain_skip(error, skipped="transcript judging", is_required=is_required))
        else:
            usable.append(name)
    return usable, code


def _run_of(job: _Job, judges: Sequence[ModelName], done: Callable[[Item, Outcome], None] | None = None) -> Run:
    """Return a run with one item for each judge; reviews are stored in their own files, and the run is not resumed."""
    options = job.options
    panel = Panel(
        {str(name): ReviewJudge(str(name), None, job.instruction) for name in judges}, lambda item: item.id, done
    )
    given = run_options(options)
    given["limits"] = replace(limits_of(options), concurrency=len(judges))
    return Run([Item(str(name), job.prompt) for name in judges], panel, workspace=options.workspace, **given)


def _job(options: argparse.Namespace) -> _Job:
    judges = judge_names(options)
    if not judges:
        raise ConfigError("The judge 'offline' cannot review a session. Give an agent or a model.")
    if options.judge_model == "":
        raise ConfigError("--judge-model is empty. Give a model.")
    if options.workspace is not None:
        for name in judges:
            check_workspace(name)
    if options.workspace is not None and not options.workspace.is_dir():
        raise ConfigError(f"--workspace {str(options.workspace)!r} is not a folder.")
    template = "" if options.template is None else _text(options.template)
    instruction = None if options.prompt is None else _text(options.prompt)
    transcript = Transcript(options.transcript)
    rendering = render_transcript(transcript, window_tokens=options.window)
    if not rendering.events:
        raise DataError(
            "no events found; expected a session of Claude Code, Codex or Gemini CLI, a list of messages, or plain "
            "text.",
            path=options.transcript,
        )
    _warn_of(transcript, rendering)
    note = [rendering.omissions] if rendering.omissions else []
    if options.workspace is not None:
        note.append(_ABOUT_WORKSPACE.format(digest=_digest(options.workspace)))
    prompt = review_prompt(rendering.text, template=template, instruction=instruction, note=" ".join(note))
    return _Job(options, transcript, rendering, instruction, prompt, judges)


def _warn_of(transcript: Transcript, rendering: Rendering) -> None:
    warn_of_skipped(transcript.problems[:_WARNINGS_SHOWN], transcript.skipped)
    if transcript.unknown:
        named = ", ".join(f"{one_line(name, 60)} ({count})" for name, count in transcript.unknown.most_common(10))
        print_warning(f"events of unknown kinds, shown as they are: {named}")
    if rendering.omissions:
        print(f"polyjudge: {rendering.omissions}", file=sys.stderr)


def _execute(job: _Job, judges: Sequence[ModelName]) -> int:
    reviews = ReviewFiles(
        folder=job.options.output,
        transcript=job.transcript,
        scenario=job.options.scenario or "",
        template=job.options.template,
        events=job.rendering.events,
        omissions=job.rendering.omissions,
    )
    reviews.claim(list(judges))
    by_id = {str(name): name for name in judges}
    outcomes, files = dict[ModelName, Outcome](), dict[ModelName, Path]()

    def write(item: Item, outcome: Outcome) -> None:
        """Write each review when it arrives, so that a slow judge does not delay the others."""
        name = by_id[item.id]
        outcomes[name], files[name] = outcome, reviews.write(name, outcome)

    run = _run_of(job, judges, write)
    try:
        with stop_on_signals(run) as signals, RunProgress(run.budget.spent, doing="reviewing") as progress:
            summary = run.execute(progress)
    finally:
        reviews.release()
    outcomes = {name: outcomes[name] for name in judges if name in outcomes}
    with ignore_closed_pipe():
        _show(job.options, outcomes, files)
    print(f"asked:   {spent_line(summary.spent)}", file=sys.stderr)
    for path in files.values():
        print(f"review:  {path.with_suffix('.md')}", file=sys.stderr)
    left = len(judges) - len(outcomes)
    if left and summary.status in ("stopped", "capped"):
        return signals.explain(summary.stopped_by, f"{left} of {len(job.judges)} judges have not answered")
    return _exit_code(job, outcomes)


def _exit_code(job: _Job, outcomes: Mapping[ModelName, Outcome]) -> int:
    kinds = Counter(outcome.kind for outcome in outcomes.values() if isinstance(outcome, Failure))
    failed = kinds.total()
    if failed == len(outcomes) or failed > job.options.max_unjudged * len(outcomes):
        return too_many_unjudged(failed, len(outcomes), job.options.max_unjudged, kinds)
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
    yield Table(_HEADER, tuple(_rows(outcomes, unjudged="unjudged")), (1, 2))
    for name, outcome in outcomes.items():
        yield Heading(2, str(name))
        text = outcome.reason if isinstance(outcome, Failure) else outcome.raw
        yield Lines(tuple(line for line in text.splitlines() if line.strip()) or ("empty review",))


def _console_line(name: str, outcome: Outcome) -> str:
    """Return the line that is printed for one judge."""
    if isinstance(outcome, Failure):
        return f"Judge [{name}]: unjudged: {one_line(outcome.reason, 300)}"
    agent, system = (f"{outcome.subscores[key]:g}/100" for key in ("agent", "system"))
    note = " (no verdict given: from the scores)" if outcome.flags["derived"] else ""
    note = " (contradicts the scores)" if outcome.flags["contradictory"] else note
    return f"Judge [{name}]: Agent {agent} | System {system} | {outcome.verdict}{note}"


def _show_table(outcomes: Mapping[ModelName, Outcome]) -> None:
    """Print a table of several judges, and their agreement."""
    print_table(_HEADER, _rows(outcomes, unjudged="–"), numbers=(1, 2))
    judged = [outcome for outcome in outcomes.values() if isinstance(outcome, JudgeResult)]
    if len(judged) > 1:
        same = exact_agreement([[outcome.verdict for outcome in judged]])
        distances = [mean_difference([[outcome.subscores[key] for outcome in judged]]) for key in ("agent", "system")]
        print(
            f"agreement: {same or 0:.0%} of pairs give the same verdict; scores differ by {distances[0]:g} (agent) "
            f"and {distances[1]:g} (system) on average"
        )


def _rows(outcomes: Mapping[ModelName, Outcome], *, unjudged: str) -> list[tuple[str, str, str, str]]:
    """Return the scores and the verdict of each judge; `unjudged` stands for a verdict that is missing."""
    rows: list[tuple[str, str, str, str]] = []
    for name, outcome in outcomes.items():
        if isinstance(outcome, Failure):
            rows.append((str(name), "–", "–", unjudged))
        else:
            agent, system = (f"{outcome.subscores[key]:g}" for key in ("agent", "system"))
            rows.append((str(name), agent, system, outcome.verdict))
    return rows


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("not UTF-8 text", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    if not text.strip():
        raise DataError("the file is empty", path=path)
    return text


def _digest(folder: Path) -> str:
    """Return a digest of a folder's files, so that changed files make a new question for the cache."""
    digest = hashlib.sha256()
    left_out = NOT_IN_WORKSPACE
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and not left_out & set(each.parts)):
        digest.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode(errors="surrogateescape"))
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
