"""`polyjudge regression audit F`: find unsafe content, redundant cases, and captured mistakes."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from polyjudge.errors import MissingExtraError, MissingKeyError
from polyjudge.formats.fixtures import FixtureFile, read_fixtures
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.outcomes import Item, JudgeResult, RunOutcome
from polyjudge.records.rubrics import Rubric
from polyjudge.records.sessions import Fixture
from polyjudge.rubrics.loading import load_rubric
from polyjudge.runs.run import Run
from polyjudge.runs.stack import judge_by_models
from polyjudge.suites.fixtures import AuditFinding, audit_fixtures
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import item_status

from .environment import load_environment
from .options import add_judging_options, judge_names, run_options
from .progress import RunProgress
from .signals import stop_on_signals
from .summaries import explain_skip, show_estimate


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("fixtures", type=Path, metavar="F", help="cases: a TSV, or a folder of TSVs and case folders")
    add("--format", choices=["text", "json"], default="text", help="output format; default: %(default)s")
    add_judging_options(parser, default_judge="")


def run(options: argparse.Namespace) -> int:
    """Print the findings; with a judge, also the expected outputs that it fails."""
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
    """Return the cases whose expected output a judge fails, and the exit code."""
    options.batch = options.force = False
    rubric = load_rubric("translation")
    fixtures = {each.case_id: each for each in file.fixtures if each.suite == "translation"}
    doubts = _Doubts(rubric, fixtures)
    judge = judge_by_models(rubric, judge_names(options))
    items = [_item(each, table) for each in fixtures.values()]
    run = Run(items, judge, repeats=options.repeats, exports=[doubts], **run_options(options))
    try:
        if options.dry_run:
            return [], show_estimate(run, options.format, what="cases")
        return _execute(run, doubts, len(items))
    except (MissingKeyError, MissingExtraError) as error:
        return [], explain_skip(error, skipped="the judge's audit", is_required=options.require_judge)


def _item(fixture: Fixture, table: LanguageTable) -> Item:
    known = table.find(fixture.target_lang)
    context = {"language": known.name if known else fixture.target_lang, "source": fixture.input_text}
    return Item(fixture.case_id, fixture.expected_output, context, known.tag if known else fixture.target_lang)


@dataclass(slots=True)
class _Doubts:
    """Collects the cases whose expected output a judge fails."""

    rubric: Rubric
    fixtures: Mapping[str, Fixture]
    findings: list[AuditFinding] = field(default_factory=list[AuditFinding])
    judged: int = 0

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Add one outcome."""
        self.judged += 1
        if item_status(outcome, (), self.rubric) == "FAIL" and isinstance(outcome, JudgeResult):
            fixture = self.fixtures[item.id]
            message = f"the judge fails the expected output: {outcome.reason}"
            self.findings.append(AuditFinding(item.id, "doubted", message, fixture.path, fixture.line))


def _execute(run: Run, doubts: _Doubts, cases: int) -> tuple[list[AuditFinding], int]:
    with stop_on_signals(run) as signals, RunProgress(run.budget.spent) as progress:
        summary = run.execute(progress)
    if summary.status in ("stopped", "capped"):
        return doubts.findings, signals.explain(
            summary.stopped_by, f"{cases - doubts.judged} of {cases} cases were not judged"
        )
    if unjudged := summary.scores.unjudged:
        print(f"polyjudge: {unjudged} of {cases} cases could not be judged", file=sys.stderr)
    return doubts.findings, 3 if summary.status == "unjudged" else 0
