"""`polyjudge regression audit F`: unsafe content, padding, duplicates, and captured mistakes."""

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path

from polyjudge.clock import utc_now
from polyjudge.concurrency.pool import StopToken
from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import MissingExtraError, MissingKeyError
from polyjudge.formats.fixtures import FixtureFile, read_fixtures
from polyjudge.judges.base import Judge, as_item_judge, close_judge
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.outcomes import Item
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.local import judge_in_order
from polyjudge.runs.stack import open_judge
from polyjudge.suites.fixtures import AuditFinding, audit_fixtures
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import item_status

from .environment import load_environment
from .heartbeat import Heartbeat
from .options import add_judging_options, judge_names, open_access, open_cache
from .stopping import until_stopped
from .summaries import print_estimate


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("fixtures", type=Path, metavar="F", help="a TSV, or a folder of TSVs and case folders")
    add("--format", choices=["text", "json"], default="text", help="default: %(default)s")
    add_judging_options(parser, default_judge="")


def run(options: argparse.Namespace) -> int:
    """List what is wrong; with a judge, also what it doubts."""
    load_environment()
    file, table = read_fixtures(options.fixtures), language_table()
    findings, code = list(audit_fixtures(file, table)), 0
    if options.judge:
        doubtful, code = _ask(options, file, table)
        if options.dry_run:
            return code
        findings += doubtful
    if options.format == "json":
        print(json.dumps([asdict(finding) for finding in findings], indent=1))
    else:
        _show(findings, len(file.fixtures))
    return code or (1 if any(not finding.is_warning for finding in findings) else 0)


def _show(findings: Sequence[AuditFinding], cases: int) -> None:
    for finding in findings:
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        kind = f"{'warning: ' if finding.is_warning else ''}{finding.kind.replace('_', ' ')}"
        case = f" {finding.case_id}:" if finding.case_id else ""
        print(one_line(f"{place}:{case} {kind}: {finding.message}", 400))
    found = sum(not finding.is_warning for finding in findings)
    print(f"{cases} cases: {found} findings, {len(findings) - found} warnings")


def _ask(options: argparse.Namespace, file: FixtureFile, table: LanguageTable) -> tuple[list[AuditFinding], int]:
    """Return what a judge doubts, and an exit code where it could not do its work."""
    options.retry_failures = False
    rubric, cache = load_rubric("translation"), open_cache(options)
    try:
        access = open_access(options, cache, utc_now())
        judge = open_judge(rubric, judge_names(options), access, repeats=options.repeats)
        found = run_sync(_judged(options, file, table, judge))
        if access.estimate is not None:
            print_estimate(access.estimate, access.estimate.calls + access.estimate.cached, options.format)
            return [], 0
        return found
    except (MissingKeyError, MissingExtraError) as error:
        print(error.instead("the judge's look") if isinstance(error, MissingKeyError) else error, file=sys.stderr)
        return [], 3 if options.require_judge else 0
    finally:
        if cache is not None:
            cache.close()


async def _judged(
    options: argparse.Namespace, file: FixtureFile, table: LanguageTable, judge: Judge
) -> tuple[list[AuditFinding], int]:
    rubric = load_rubric("translation")
    fixtures = {each.case_id: each for each in file.fixtures if each.suite == "translation"}
    findings: list[AuditFinding] = []
    unjudged = seen = 0
    items: list[Item] = []
    for each in fixtures.values():
        known = table.find(each.target_lang)
        context = {"language": known.name if known else each.target_lang, "source": each.input_text}
        items.append(Item(each.case_id, each.expected_output, context, known.tag if known else each.target_lang))

    async def work(stop: StopToken) -> None:
        nonlocal unjudged, seen
        try:
            scored = judge_in_order(as_item_judge(judge).judge, items, concurrency=options.concurrency, stop=stop)
            async with aclosing(scored):
                async for item, outcome in scored:
                    seen += 1
                    status = item_status(outcome, (), rubric)
                    if status == "UNJUDGED":
                        unjudged += 1
                    elif status == "FAIL":
                        fixture = fixtures[item.id]
                        told = f"the judge doubts the expected output: {outcome.reason}"
                        findings.append(AuditFinding(item.id, "doubted", told, fixture.path, fixture.line))
        finally:
            await close_judge(judge)

    with Heartbeat(lambda: f"{seen}/{len(items)} cases judged"):
        ended = await until_stopped(work, deadline_s=options.deadline)
    if ended.cut_short(left := len(items) - seen):
        return findings, ended.explain(f"{left} of {len(items)} cases were not judged")
    if unjudged and not options.dry_run:
        print(f"polyjudge: {unjudged} of {len(items)} cases could not be judged", file=sys.stderr)
    return findings, 3 if unjudged > options.max_unjudged * len(items) else 0
