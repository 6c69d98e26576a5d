"""`polyjudge demo`: judge a packaged sample with a recorded judge; it needs no key and no network."""

import argparse
import json
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from polyjudge.engine import run_sync
from polyjudge.files import outcome_row, read_json_lines, write_atomically
from polyjudge.judges import RubricJudge
from polyjudge.providers import ScriptedProvider
from polyjudge.records import Failure, Outcome, Reply, Request, Rubric
from polyjudge.rubrics import load_rubric, passes
from polyjudge.text import one_line

from .tables import print_table

_HEADER = ("Language", "Script", "Grammar", "Coherence", "Right language", "Status", "Read as", "Why")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("polyjudge-demo"),
        metavar="DIR",
        help="folder for files; default: %(default)s",
    )


def run(arguments: argparse.Namespace) -> int:
    """Judge the sample twice, the second time from the cache, and show what came of it."""
    rubric, items = load_rubric("translation"), _items()
    cache = arguments.output / "demo-cache.sqlite"
    with suppress(OSError):
        cache.unlink()  # an older demo's: this one begins with nothing paid for
    first, calls = _judge(rubric, items, cache)
    _, calls_again = _judge(rubric, items, cache)
    results = arguments.output / "results.jsonl"
    with write_atomically(results) as file:
        for item, outcome in zip(items, first, strict=True):
            file.write(json.dumps(outcome_row(item["id"], outcome), ensure_ascii=False) + "\n")
    _show(rubric, items, first)
    print(
        f"Asked the recorded judge {calls} times. A second run asked {calls_again} times, for the replies that failed;"
    )
    print("the others were in the cache.")
    print(f"Results with their provenance: {results}")
    return 0


def _items() -> list[dict[str, Any]]:
    with as_file(files("polyjudge.cli") / "demo_data" / "items.jsonl") as path:
        return [item for _, item in read_json_lines(path)]


def _judge(rubric: Rubric, items: Sequence[dict[str, Any]], cache: Path) -> tuple[list[Outcome], int]:
    """Return the outcomes, and how often the judge was really asked."""
    with as_file(files("polyjudge.cli") / "demo_data" / "recording.jsonl") as path:
        recorded = ScriptedProvider.from_recording(path)
    asked: list[Request] = []

    async def counting(request: Request) -> Reply:
        asked.append(request)
        return await recorded.complete(request)

    provider = ScriptedProvider(counting, name=recorded.origin.base_url)
    judge = RubricJudge(rubric, model="recorded-judge", cache_db=cache, provider=provider)
    contexts = [{"language": item["language"], "source": item["source"]} for item in items]
    pairs = [(item["candidate"], context) for item, context in zip(items, contexts, strict=True)]
    return run_sync(judge.score_batch(pairs)), len(asked)


def _show(rubric: Rubric, items: Sequence[dict[str, Any]], outcomes: Sequence[Outcome]) -> None:
    rows = [_row(rubric, item["language"], outcome) for item, outcome in zip(items, outcomes, strict=True)]
    print_table(_HEADER, rows, numbers=(1, 2, 3))
    counts = [f"{sum(row[5] == status for row in rows)} {status}" for status in ("PASS", "FAIL", "UNJUDGED")]
    print(f"{len(rows)} translations: {', '.join(counts)}. What could not be judged is never counted as failed.")


def _row(rubric: Rubric, language: str, outcome: Outcome) -> tuple[str, ...]:
    if isinstance(outcome, Failure):
        return language, "", "", "", "", "UNJUDGED", outcome.kind, one_line(outcome.reason, 60)
    scores = (f"{outcome.subscores[criterion.name]:g}" for criterion in rubric.criteria)
    right = "yes" if outcome.flags["isCorrectLanguage"] else "no"
    status = "PASS" if passes(rubric, outcome) else "FAIL"
    return language, *scores, right, status, outcome.rung, one_line(outcome.reason, 60)
