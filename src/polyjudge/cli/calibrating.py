"""The shared part of the commands that question a judge: the texts, the run and the trust card."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from polyjudge.calibration.cards import new_card
from polyjudge.errors import ConfigError, DataError, MissingExtraError, MissingKeyError
from polyjudge.files.json_lines import readable_json
from polyjudge.files.kinds import FileKind
from polyjudge.folder_trust import private_path
from polyjudge.formats.reference_texts import TextSource, sample_texts
from polyjudge.judges.base import ItemJudge
from polyjudge.judges.offline import can_judge_offline, offline_model
from polyjudge.languages.table import LanguageMatcher
from polyjudge.records.calibration import JudgeIdentity, ReferenceText, TrustCard
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.reports.blocks import BLOCK_FORMATS, Block
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.runs.run import Run
from polyjudge.store.trust_cards import card_path, expiry, read_card, update_card, write_card
from polyjudge.text.display import one_line

from .check_options import add_offline_options
from .options import (
    Several,
    add_batch_option,
    add_force_option,
    add_judging_options,
    add_report_options,
    at_least,
    check_output,
    filters_of,
    refuse_batch,
    run_options,
    whole,
)
from .output import warn_of_skipped, write_pieces
from .progress import RunProgress, counted
from .signals import explain_end, stop_on_signals
from .summaries import explain_skip, show_estimate, spent_line, too_many_unjudged
from .tables import add_table_options, input_of, table_options_of

if TYPE_CHECKING:
    from polyjudge.checks.policy import CheckPolicy

_MANY_CALLS = 5_000
_RUNS_FOLDER = "calibration"


def add_text_options(parser: argparse.ArgumentParser, *, per_language: int = 20) -> None:
    """Add the options of the reference texts."""
    parser.set_defaults(retry_failures=False)  # failures are not stored, so they are always asked again
    add = parser.add_argument
    texts = "reference texts: a results file, or rows with candidate or reference; default: a shipped sample"
    add("texts", type=Path, nargs="?", metavar="TEXTS", help=texts)
    add("--column", default="", metavar="NAME", help="column of the reference text; default: candidate, else reference")
    chosen = "use only rows with one of these values; language=… takes tags and names"
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help=chosen)
    add_force_option(add)
    most = "maximum number of texts per language; default: %(default)s"
    add("--texts-per-language", type=at_least(1), default=per_language, metavar="N", help=most)
    add("--seed", type=whole, default=0, metavar="N", help="seed of sampling and perturbation; default: 0")
    add_table_options(parser.add_argument_group("table").add_argument)


def add_question_options(parser: argparse.ArgumentParser, *, formats: Sequence[str]) -> None:
    """Add the options of the card, the answers, the report, the judge and its calls."""
    add = parser.add_argument
    card = "trust card to add the result to; default: the judge's own in .polyjudge/cards"
    add("--card", type=Path, metavar="FILE", help=card)
    answers = "file for the answers as JSON Lines; default: in .polyjudge/calibration"
    add("--answers", type=Path, metavar="FILE", help=answers)
    add_report_options(add, formats, force=False)
    add_offline_options(parser, of_many=True)
    add_judging_options(parser, default_judge="opus")
    add_batch_option(add)


def reference_texts(options: argparse.Namespace) -> tuple[ReferenceText, ...]:
    """Return the reference texts of the options, and warn of rows that cannot be used."""
    filters = filters_of(options.filter)
    check_output(options.answers, [options.texts, options.output], kind=FileKind.SCORES, force=options.force)
    check_output(options.output, [options.texts], force=options.force)
    check_output(
        options.card, [options.texts, options.answers, options.output], kind=FileKind.CARD, force=options.force
    )
    if options.texts is None:
        other = [name for name in filters if name != "language"]
        if other:
            raise ConfigError(f"The shipped sample can be filtered by language only, not by {other[0]!r}.")
        wanted = filters.get("language")
        matcher = LanguageMatcher()
        texts = tuple(text for text in sample_texts() if wanted is None or matcher.is_among(text.language, wanted))
        if not texts:
            close = matcher.suggestions(wanted or ())
            raise ConfigError(f"The shipped sample has no text in {', '.join(sorted(wanted or ()))}.{close}")
        return texts
    table = table_options_of(options)
    found = TextSource(input_of(options.texts, table), options.column, filters, table).read()
    warn_of_skipped(found.problems, found.skipped)
    return found.texts


def questions(number: int, calls_each: int) -> str:
    """Return the number of questions and the maximum number of calls, in words."""
    calls = f"{counted(number * calls_each, 'call')} at most" if calls_each else "no call"
    return f"{counted(number, 'question')}, {calls}"


def refuse_many_calls(options: argparse.Namespace, calls: int) -> None:
    """Refuse to make thousands of calls without an explicit limit."""
    has_limit = options.budget or options.max_calls or options.max_cost or options.dry_run or options.reread
    if calls > _MANY_CALLS and not has_limit:
        fewer = "Give --budget N or --filter for fewer, or --max-calls N or --max-cost USD as a limit"
        raise ConfigError(f"This run would make {calls:,} calls and has no limit. {fewer}. --dry-run prints the cost.")


def check_card(options: argparse.Namespace, judge: JudgeIdentity) -> None:
    """Refuse, before any call is made, a card of another judge."""
    if options.card is None or not options.card.exists():
        return
    known = read_card(options.card).judge
    if (known.provider, known.model, known.rubric) != (judge.provider, judge.model, judge.rubric):
        whose = f"{known.provider}/{known.model} by the rubric {known.rubric}"
        raise DataError(f"this is the card of another judge, {whose}. Give another file.", path=options.card)


def add_to_card(
    options: argparse.Namespace, judge: JudgeIdentity, change: Callable[[TrustCard], TrustCard], *, at: str
) -> Path:
    """Add to the judge's card and return its path; an expired card is first renamed."""
    place = options.card or card_path(judge)
    expired: list[str] = []

    def changed(card: TrustCard | None) -> TrustCard:
        if card is not None and (why := expiry(card.judge, judge)):
            write_card(place.with_name(f"{place.name}.expired"), card)
            expired.append(why)
        return change(new_card(card, judge, at=at))

    update_card(place, changed)
    for why in expired:
        print(f"polyjudge: the old card has expired ({why}) and was renamed to {place.name}.expired", file=sys.stderr)
    return place


def write_figures(options: argparse.Namespace, found: Mapping[str, object], blocks: Iterable[Block]) -> None:
    """Write a report: all figures as JSON, or the blocks in another format."""
    if options.format == "json":
        pieces = iter([readable_json(found, indent=1) + "\n"])
    else:
        pieces = BLOCK_FORMATS[options.format](blocks)
    write_pieces(options.output, pieces, format_name=options.format, force=options.force)


@dataclass(slots=True)
class Answers:
    """The outcomes of a run of questions."""

    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    """By question id, without the fields that a report does not need."""
    unjudged: int = 0
    kinds: Counter[str] = field(default_factory=Counter[str])
    """Why there was no verdict."""
    reason: str = ""
    """The reason of the first failure."""
    model_answered: str = ""

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Add one answer."""
        if isinstance(outcome, Failure):
            self.unjudged += 1
            self.kinds[outcome.kind] += 1
            self.reason = self.reason or outcome.reason
        if outcome.provenance is not None and outcome.provenance.model_answered:
            self.model_answered = self.model_answered or outcome.provenance.model_answered
        self.outcomes[item.id] = _light(outcome)


def _light(outcome: RunOutcome) -> Outcome:
    """Return an outcome without its texts, to save memory: only the scores are needed."""
    if isinstance(outcome, Failure):
        return Failure(outcome.reason, outcome.kind)
    assert isinstance(outcome, JudgeResult)
    return JudgeResult(
        outcome.score, "", outcome.subscores, verdict=outcome.verdict, flags=outcome.flags, spans=outcome.spans
    )


@dataclass(frozen=True, slots=True)
class Questioning:
    """One run of questions to a judge."""

    options: argparse.Namespace
    rubric: Rubric
    judges: Sequence[ModelName]
    items: Sequence[Item]
    doing: str
    checks: "CheckPolicy | None" = None
    """What the project wants of the checks, for the judge `offline`."""

    @property
    def rows_file(self) -> Path:
        """The file of the answers: `--answers`, or a file of its own in the private folder."""
        name = f"{self.doing}-{self.fingerprint}.jsonl"
        return self.options.answers or private_path(_RUNS_FOLDER, name)

    @property
    def fingerprint(self) -> str:
        """The fingerprint in the names of the answers file, and of unfinished files of earlier versions."""
        asked = fingerprint([[item.id, item.candidate, dict(item.context)] for item in self.items], 16)
        judges = list(map(str, self.judges)) or [f"offline/{offline_model(self.checks)}"]
        how = [judges, self.options.repeats, self.options.refresh]
        return fingerprint([asked, rubric_fingerprint(self.rubric), how], 12)

    def run(self, judge: ItemJudge, *, repeats: int = 1) -> Answers | int:
        """Ask all questions; return the answers, or an exit code if they cannot be used."""
        refuse_batch(self.options, self.judges)
        answers = Answers()
        run = Run(
            self.items,
            judge,
            output=None if self.options.dry_run else self.rows_file,
            repeats=repeats,
            exports=[answers],
            legacy_fingerprints=[self.fingerprint],
            **run_options(self.options),
        )
        try:
            if self.options.dry_run:
                return show_estimate(run, self.options.format, what="questions")
            return self._execute(run, answers)
        except (MissingKeyError, MissingExtraError) as error:
            offline = can_judge_offline(self.rubric)
            return explain_skip(error, is_required=self.options.require_judge, offline=offline)

    def _execute(self, run: Run, answers: Answers) -> Answers | int:
        """Execute the run and print its cost; return the answers, or the exit code of a run that ended early."""
        with stop_on_signals(run) as signals, RunProgress(run.budget.spent) as progress:
            summary = run.execute(progress)
        count = len(self.items)
        if self.judges:
            print(f"polyjudge: asked {spent_line(summary.spent)}", file=sys.stderr)
        if summary.status in ("stopped", "capped"):
            left = f"{count - len(answers.outcomes)} of {count} questions were not asked"
            return explain_end(signals, summary.stopped_by, left, self.rows_file)
        if summary.status == "unjudged":
            kinds = ", ".join(f"{number} {kind}" for kind, number in answers.kinds.most_common())
            first = one_line(answers.reason, 200)
            print(f"polyjudge: {answers.unjudged} without a verdict: {kinds}. First reason: {first}", file=sys.stderr)
            print(f"polyjudge: all answers: {self.rows_file}", file=sys.stderr)
            return too_many_unjudged(answers.unjudged, count, self.options.max_unjudged, answers.kinds)
        return answers
