"""What the commands that question a judge share: the texts, the judge and its name, and the run itself."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from polyjudge.calibration.cards import new_card
from polyjudge.errors import ConfigError, DataError, MissingExtraError, MissingKeyError
from polyjudge.folder_trust import private_path
from polyjudge.formats.reference_texts import TextSource, sample_texts
from polyjudge.judges.base import ItemJudge
from polyjudge.records.calibration import JudgeIdentity, ReferenceText, TrustCard
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.runs.run import Run
from polyjudge.store.trust_cards import card_path, expiry, read_card, update_card, write_card
from polyjudge.text.display import harmless, one_line

from .options import Several, add_force_option, at_least, check_output, filters_of, refuse_batch, run_options
from .progress import RunProgress
from .signals import explain_end, stop_on_signals
from .summaries import show_estimate, spent_line, too_many_unjudged

_MANY_CALLS = 5_000
_RUNS_FOLDER = "calibration"


def add_text_options(parser: argparse.ArgumentParser, *, per_language: int = 20) -> None:
    """Add which good texts a judge is questioned about."""
    parser.set_defaults(retry_failures=False)  # what failed is asked again by itself: failures are not kept
    add = parser.add_argument
    by_default = "good texts: a results file, or rows with candidate or reference; default: a shipped sample"
    add("texts", type=Path, nargs="?", metavar="TEXTS", help=by_default)
    add("--column", default="", metavar="NAME", help="where the good text stands; default: candidate, else reference")
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help="only rows with one of these values")
    add_force_option(add)
    add("--texts-per-language", type=at_least(1), default=per_language, metavar="N", help="default: %(default)s")
    add("--seed", type=int, default=0, metavar="N", help="of what is drawn and how it is spoiled; default: 0")


def good_texts(options: argparse.Namespace) -> tuple[ReferenceText, ...]:
    """Return the texts that the options name; what of a file cannot be used is said on stderr."""
    filters = filters_of(options.filter)
    check_output(options.answers, [options.texts, options.output], force=options.force)
    check_output(options.output, [options.texts], force=options.force)
    check_output(options.card, [options.texts, options.answers, options.output], force=options.force)
    if options.texts is None:
        other = [name for name in filters if name != "language"]
        if other:
            raise ConfigError(f"the shipped sample has no column {other[0]!r}; it can be filtered by language")
        wanted = filters.get("language")
        texts = tuple(text for text in sample_texts() if wanted is None or text.language in wanted)
        if not texts:
            raise ConfigError(f"the shipped sample has no text in {', '.join(sorted(wanted or ()))}")
        return texts
    found = TextSource(options.texts, options.column, filters).read()
    for problem in found.problems:
        print(f"polyjudge: warning: skipped {harmless(problem)}", file=sys.stderr)
    if found.skipped > len(found.problems):
        print(f"polyjudge: warning: skipped {found.skipped} rows in all", file=sys.stderr)
    return found.texts


def counted(number: int, what: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def questions(number: int, calls_each: int) -> str:
    """Return how many questions are asked, and how many calls that takes at most."""
    calls = f"{counted(number * calls_each, 'call')} at most" if calls_each else "no call"
    return f"{counted(number, 'question')}, {calls}"


def refuse_many_calls(options: argparse.Namespace, calls: int) -> None:
    """Refuse to make thousands of calls that nobody has asked for in so many words."""
    is_meant = options.budget or options.max_calls or options.max_cost or options.dry_run or options.reread
    if calls > _MANY_CALLS and not is_meant:
        how = "--budget N or --filter for fewer, --max-calls N or --max-cost USD for a limit; --dry-run tells the price"
        raise ConfigError(f"that would be {calls:,} calls: give {how}")


def place_of_card(options: argparse.Namespace, judge: JudgeIdentity) -> Path:
    """Return the card to write: the one named, or the judge's own."""
    return options.card or card_path(judge)


def check_card(options: argparse.Namespace, judge: JudgeIdentity) -> None:
    """Refuse, before anything is asked, a card that cannot be added to."""
    if options.card is None or not options.card.exists():
        return
    known = read_card(options.card).judge
    if (known.provider, known.model, known.rubric) != (judge.provider, judge.model, judge.rubric):
        whose = f"{known.provider}/{known.model} by the rubric {known.rubric}"
        raise DataError(f"is the card of {whose}; name another file", path=options.card)


def add_to_card(
    options: argparse.Namespace, judge: JudgeIdentity, change: Callable[[TrustCard], TrustCard], *, at: str
) -> Path:
    """Add to the judge's card, and return where it stands; one that has expired is set aside."""
    place = place_of_card(options, judge)
    expired: list[str] = []

    def changed(card: TrustCard | None) -> TrustCard:
        if card is not None and (why := expiry(card.judge, judge)):
            write_card(place.with_name(f"{place.name}.expired"), card)
            expired.append(why)
        return change(new_card(card, judge, at=at))

    update_card(place, changed)
    for why in expired:
        print(f"polyjudge: the old card has expired ({why}) and is kept as {place.name}.expired", file=sys.stderr)
    return place


@dataclass(slots=True)
class Answers:
    """What a run of questions brought."""

    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    """By the ids of the questions; without what a report does not need."""
    unjudged: int = 0
    kinds: Counter[str] = field(default_factory=Counter[str])
    """Why there was no verdict."""
    reason: str = ""
    """What the first failure said."""
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
    """Return an outcome without its texts: a run asks many questions, and only the scores are counted."""
    if isinstance(outcome, Failure):
        return Failure(outcome.reason, outcome.kind)
    assert isinstance(outcome, JudgeResult)
    return JudgeResult(outcome.score, "", outcome.subscores, verdict=outcome.verdict, flags=outcome.flags)


@dataclass(frozen=True, slots=True)
class Questioning:
    """One run of questions to a judge."""

    options: argparse.Namespace
    rubric: Rubric
    judges: Sequence[ModelName]
    items: Sequence[Item]
    doing: str

    @property
    def rows_file(self) -> Path:
        """Where the answers are stored: where the user says, or among the runs of calibration."""
        name = f"{self.doing}-{self.fingerprint}.jsonl"
        return self.options.answers or private_path(_RUNS_FOLDER, name)

    @property
    def fingerprint(self) -> str:
        """Names the file of the answers, and the unfinished files of earlier versions."""
        asked = fingerprint([[item.id, item.candidate, dict(item.context)] for item in self.items], 16)
        judges = list(map(str, self.judges)) or ["offline"]
        how = [judges, self.options.repeats, self.options.refresh]
        return fingerprint([asked, rubric_fingerprint(self.rubric), how], 12)

    def run(self, judge: ItemJudge, *, repeats: int = 1) -> Answers | int:
        """Ask all questions; return the answers, or an exit code if nothing can be measured from them."""
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
            print(error, file=sys.stderr)
            return 3 if self.options.require_judge else 0

    def _execute(self, run: Run, answers: Answers) -> Answers | int:
        """Execute the run and print what was asked; return the exit code of a run that ended early."""
        with stop_on_signals(run) as signals, RunProgress(run.budget.spent) as progress:
            summary = run.execute(progress)
        count = len(self.items)
        if self.judges:
            print(f"polyjudge: asked {spent_line(summary.spent)}", file=sys.stderr)
        if summary.status in ("stopped", "capped"):
            left = f"{count - len(answers.outcomes)} of {count} questions were not reached"
            return explain_end(signals, summary.stopped_by, left, self.rows_file)
        if summary.status == "unjudged":
            kinds = ", ".join(f"{number} {kind}" for kind, number in answers.kinds.most_common())
            told = f"{answers.unjudged} without a verdict: {kinds}; the first: {one_line(answers.reason, 200)}"
            print(f"polyjudge: {told}; all of them: {self.rows_file}", file=sys.stderr)
            return too_many_unjudged(answers.unjudged, count)
        return answers
