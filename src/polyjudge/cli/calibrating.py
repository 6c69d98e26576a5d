"""What the commands that question a judge share: the texts, the judge and its name, and the run itself."""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from polyjudge.calibration import sample_texts
from polyjudge.engine import Stop, run_sync
from polyjudge.errors import ConfigError, MissingExtraError, MissingKeyError
from polyjudge.files import TextSource, card_path, fingerprint
from polyjudge.judges import close_judge
from polyjudge.providers import Access, ModelName
from polyjudge.records import Failure, GoodText, Item, JudgeIdentity, JudgeResult, Outcome, Rubric
from polyjudge.rubrics import rubric_fingerprint
from polyjudge.suites import Answer
from polyjudge.text import harmless

from .asking import ask_all
from .options import Several, at_least, filters_of, open_access, open_cache
from .progress import ProgressShow
from .score_rows import open_rows
from .stopping import Ended, until_stopped
from .summaries import print_estimate, spent_line, too_many_unjudged

RUNS_FOLDER = Path(".polyjudge/calibration")


def add_text_options(parser: argparse.ArgumentParser, *, per_language: int = 20) -> None:
    """Add which good texts a judge is questioned about."""
    parser.set_defaults(retry_failures=False)  # what failed is asked again by itself: failures are not kept
    add = parser.add_argument
    by_default = "good texts: a results file, or rows with candidate or reference; default: a shipped sample"
    add("texts", type=Path, nargs="?", metavar="TEXTS", help=by_default)
    add("--column", default="", metavar="NAME", help="where the good text stands; default: candidate, else reference")
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help="only rows with one of these values")
    add("--texts-per-language", type=at_least(1), default=per_language, metavar="N", help="default: %(default)s")
    add("--seed", type=int, default=0, metavar="N", help="of what is drawn and how it is spoiled; default: 0")


def good_texts(options: argparse.Namespace) -> tuple[GoodText, ...]:
    """Return the texts that the options name; what of a file cannot be used is said on stderr."""
    filters = filters_of(options.filter)
    if options.texts is None:
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


def place_of_card(options: argparse.Namespace, judge: JudgeIdentity) -> Path:
    """Return the card to write: the one named, or the judge's own."""
    return options.card or card_path(judge)


@dataclass(slots=True)
class Answers:
    """What a run of questions brought."""

    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    """By the ids of the questions; without what a report does not need."""
    unjudged: int = 0
    model_answered: str = ""

    def take(self, item: Item, outcome: Outcome) -> None:
        """Take in one answer."""
        self.unjudged += isinstance(outcome, Failure)
        if outcome.provenance is not None and outcome.provenance.model_answered:
            self.model_answered = self.model_answered or outcome.provenance.model_answered
        self.outcomes[item.id] = _light(outcome)


def _light(outcome: Outcome) -> Outcome:
    """Return an outcome without its texts: a run asks many questions, and only the scores are counted."""
    if isinstance(outcome, Failure):
        return Failure(outcome.reason, outcome.kind)
    return JudgeResult(outcome.score, "", outcome.subscores, verdict=outcome.verdict, flags=outcome.flags)


@dataclass(frozen=True, slots=True)
class Opened:
    """Judges ready to be asked."""

    answer: Answer
    opened: tuple[object, ...]
    """What is to be closed in the end."""


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
        """Where the answers stand: where the user says, or among the runs of calibration."""
        return self.options.output or RUNS_FOLDER / f"{self.doing}-{self.fingerprint}.jsonl"

    @property
    def fingerprint(self) -> str:
        """What makes an unfinished run the same as this one."""
        asked = fingerprint([[item.id, item.candidate, dict(item.context)] for item in self.items], 16)
        judges = list(map(str, self.judges)) or ["offline"]
        return fingerprint([asked, rubric_fingerprint(self.rubric), judges, self.options.refresh], 12)

    def run(self, open_answer: Callable[[Access], "Opened"]) -> Ended[Answers] | int:
        """Ask all questions; return what they brought, or an exit code where nothing can be made of it."""
        with ExitStack() as opened:
            try:
                cache = open_cache(self.options)
                if cache is not None:
                    opened.callback(cache.close)
                place = None if self.options.dry_run else self.rows_file
                rows = opened.enter_context(open_rows(place, self.fingerprint))
                access = open_access(self.options, cache, rows.began)
                judge = open_answer(access)
            except (MissingKeyError, MissingExtraError) as error:
                print(error, file=sys.stderr)
                return 3 if self.options.require_judge else 0

            async def work(stop: Stop) -> Answers:
                answers = Answers()
                shown = not self.options.dry_run
                with ProgressShow(len(self.items), access.meter.spent, shown=shown) as progress:
                    async for item, outcome in ask_all(judge.answer, iter(self.items), rows, self.options, stop=stop):
                        answers.take(item, outcome)
                        progress.advance(unjudged=isinstance(outcome, Failure))
                return answers

            async def asked() -> Ended[Answers]:
                try:
                    return await until_stopped(work, deadline_s=self.options.deadline)
                finally:
                    for each in judge.opened:
                        await close_judge(each)

            return self._ended(run_sync(asked()), access)

    def _ended(self, ended: Ended[Answers], access: Access) -> Ended[Answers] | int:
        """Say what was asked; return the exit code of a run that ended early, or was no run."""
        answers, count = ended.result, len(self.items)
        if access.estimate is not None and not ended.stop.requested:
            print_estimate(access.estimate, count, self.options.format)
            return 0
        if self.judges:
            print(f"polyjudge: asked {spent_line(access.meter.spent)}", file=sys.stderr)
        if ended.early:
            code = ended.explain(f"{count - len(answers.outcomes)} of {count} questions were not reached")
            print("polyjudge: what was done is kept; the same command goes on from there", file=sys.stderr)
            return code
        if len(answers.outcomes) == answers.unjudged or answers.unjudged > self.options.max_unjudged * count:
            return too_many_unjudged(answers.unjudged, count)
        return ended
