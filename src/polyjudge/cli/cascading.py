"""Ask judges as a cascade: learn its plan if there is none, and print who answered and what it guarantees."""

import argparse
import heapq
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from polyjudge.calibration.cascade_items import Evidence, cascade_items, evidence_of, refuse_unequal
from polyjudge.errors import ConfigError, DataError
from polyjudge.files.kinds import FileKind
from polyjudge.files.ownership import refuse_foreign
from polyjudge.formats.columns import AS_IT_IS
from polyjudge.formats.items import ItemList
from polyjudge.formats.rating_values import PREFERENCES
from polyjudge.formats.ratings import Rating, RatingColumns, Ratings, label_column, read_ratings
from polyjudge.formats.row_files import spooled
from polyjudge.judges.base import CandidateJudge, ModelAddresses, asked_fingerprint
from polyjudge.judges.cascade import Cascade
from polyjudge.judges.jury import Jury, RepeatedJudge
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.cascades import CascadePlan
from polyjudge.records.fingerprint import fingerprint
from polyjudge.records.outcomes import Failure, Generated, Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.rubrics import Rubric
from polyjudge.records.runs import Spent
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.cascades import cascade_blocks, guarantee
from polyjudge.runs.run import Run
from polyjudge.store.cascade_plans import write_plan

from .cascade_learning import agreement_rule, learn_plan
from .cascade_options import CascadeRequest
from .options import run_options
from .output import print_warning, warn_of_skipped
from .progress import RunProgress
from .rating_sides import check_labels
from .signals import explain_end, stop_on_signals
from .summaries import spent_line, too_many_unjudged

_PLACING = 100
"""Items without a label about which all judges are asked too, to place the thresholds."""


def cascade_of(
    request: CascadeRequest, judges: Sequence[CandidateJudge], items: Iterable[Item], options: argparse.Namespace
) -> Cascade | Jury | int:
    """Return the cascade, after learning its plan if there is none yet; an exit code if that did not succeed.

    Each judge is asked as often as the options say. In a dry run, return a jury of the judges.
    """
    if options.repeats > 1:
        judges = [RepeatedJudge(judge, options.repeats) for judge in judges]
    if isinstance(request, CascadePlan):
        cascade = Cascade(judges, request)  # refuses other judges, in a dry run too
        return _asking_all(judges) if options.dry_run else cascade
    if options.dry_run:
        return _asking_all(judges)
    learnt = _learn(request, judges, items, options)
    return learnt if isinstance(learnt, int) else Cascade(judges, learnt)


def _asking_all(judges: Sequence[CandidateJudge]) -> Jury:
    note = "this is the maximum: later judges are asked only about items that earlier ones leave open"
    print(f"polyjudge: {note}", file=sys.stderr)
    return Jury(judges, quorum=1)


@dataclass(slots=True)
class _Answers:
    """The answers of all judges about the labelled items and some others."""

    judges: int
    outcomes: dict[str, tuple[Item, tuple[Outcome, ...]]] = field(
        default_factory=dict[str, tuple[Item, tuple[Outcome, ...]]]
    )

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Take the outcome of a jury."""
        members: tuple[Outcome, ...] = getattr(outcome, "members", ())
        if len(members) == self.judges:
            self.outcomes[item.id] = item, members


def _learn(
    target: float, judges: Sequence[CandidateJudge], items: Iterable[Item], options: argparse.Namespace
) -> CascadePlan | int:
    plan_path = options.output.with_name(f"{options.output.name}.cascade.json")
    evidence_path = options.output.with_name(f"{options.output.name}.labelled.jsonl")
    refuse_foreign(plan_path, kind=FileKind.CASCADE, force=options.force)
    labels = _labels(options.labels)
    refuse_unequal(labels)
    agreement_rule([_expected(judge) for judge in judges], labels, options)  # refuses other labels before it costs
    sample, coming = _sample(items, {rating.id for rating in labels.ratings if rating.value is not None})
    answers = _Answers(len(judges))
    run = Run(ItemList(sample), Jury(judges, quorum=1), output=evidence_path, exports=[answers], **run_options(options))
    print(f"polyjudge: asking all judges about {len(sample):,} items, to learn from the labels", file=sys.stderr)
    with stop_on_signals(run) as signals, RunProgress(run.budget.spent) as progress:
        summary = run.execute(progress)
    print(f"polyjudge: asked {spent_line(summary.spent)}", file=sys.stderr)
    scores = summary.scores
    if summary.status in ("stopped", "capped"):
        left = f"{scores.not_reached} of {scores.items} labelled items were not judged"
        return explain_end(signals, summary.stopped_by, left, options.output)
    if summary.status == "unjudged":
        return too_many_unjudged(scores.unjudged, scores.items, options.max_unjudged, scores.unjudged_by_kind)
    _spend(options, summary.spent)
    plan = _plan(target, judges, answers, labels, options, coming)
    sys.stderr.writelines(BLOCK_FORMATS["text"](cascade_blocks(plan, language_table())))
    if not plan.groups:
        print(
            "polyjudge: the target cannot be guaranteed; the remaining items were not judged. Lower --cascade, or "
            "give more labels.",
            file=sys.stderr,
        )
        return 1
    write_plan(plan_path, plan, force=options.force)
    print(f"polyjudge: plan: {plan_path}", file=sys.stderr)
    return plan


def _plan(
    target: float,
    judges: Sequence[CandidateJudge],
    answers: _Answers,
    labels: Ratings,
    options: argparse.Namespace,
    coming: Mapping[str, int],
) -> CascadePlan:
    columns = [
        [(item, members[place]) for item, members in answers.outcomes.values()] for place in range(answers.judges)
    ]
    judged = [Ratings([_rating(item, outcome) for item, outcome in column]) for column in columns]
    rule = agreement_rule(judged, labels, options)
    evidence: list[Mapping[str, Evidence]] = [
        {item.id: evidence_of(outcome, rule) for item, outcome in column} for column in columns
    ]
    return learn_plan(
        cascade_items(judged, evidence, labels, rule),
        [_identity(judge) for judge in judges],
        rule,
        options,
        target,
        repeats=options.repeats,
        token_probabilities=options.token_probabilities,
        coming=coming,
    )


def _identity(judge: CandidateJudge) -> JudgeIdentity:
    models = cast(ModelAddresses, getattr(judge, "models", ()))
    name = next(name for name, _ in models)
    rubric: object = getattr(judge, "rubric", None)
    return JudgeIdentity(
        provider=name.provider,
        model=name.model,
        rubric=getattr(rubric, "name", "pairwise"),
        rubric_fingerprint=asked_fingerprint(judge),
    )


def _expected(judge: CandidateJudge) -> Ratings:
    """Return a rating as a judge may give it, by the scale and the pass rule of its rubric."""
    rubric: object = getattr(judge, "rubric", None)
    if not isinstance(rubric, Rubric):
        return Ratings()
    value = 0.0 if (rubric.scale.lowest, rubric.scale.highest) == (0, 1) else None
    return Ratings([Rating(id="", value=value, passed=None if rubric.passing is None else True)])


def _rating(item: Item, outcome: Outcome) -> Rating:
    if isinstance(outcome, Failure):
        return Rating(id=item.id, value=None, language=item.language)
    verdict = PREFERENCES.get(outcome.verdict)  # of repeated questions about a pair, the score is between two verdicts
    return Rating(id=item.id, value=outcome.score, language=item.language, passed=outcome.passed, verdict=verdict)


def _labels(paths: Sequence[Path]) -> Ratings:
    found, read = Ratings(), [spooled(path) for path in paths]
    for path in read:
        read_ratings(path, RatingColumns(value=label_column(path, AS_IT_IS), option="label"), found)
    warn_of_skipped(found.problems, found.skipped)
    check_labels(found, read)
    if not any(rating.value is not None for rating in found.ratings):
        raise DataError("no labels found; expected a column label with values", path=paths[0])
    return found


def _sample(items: Iterable[Item], labelled: set[str]) -> tuple[list[Item], Mapping[str, int]]:
    """Return the labelled items and some of the others, by a hash of their ids, and how many there are by language."""
    coming: Counter[str] = Counter()
    known, others, unknown = list[Item](), list[tuple[str, str, Item]](), set(labelled)
    for item in items:
        if item.id in labelled:
            known.append(item)
            unknown.discard(item.id)
        else:
            coming[item.language] += 1
            others.append((fingerprint([item.id], 16), item.id, item))
            if len(others) > 2 * _PLACING:
                others = heapq.nsmallest(_PLACING, others, key=lambda each: each[:2])
    if not known:
        raise ConfigError("No label matches an item. Compare the ids in --labels with those of the items.")
    if unknown:
        print_warning(f"ignored {len(unknown)} labels of other items, such as {min(unknown)[:40]!r}")
    return [*known, *(item for *_, item in heapq.nsmallest(_PLACING, others, key=lambda each: each[:2]))], coming


def _spend(options: argparse.Namespace, spent: Spent) -> None:
    """Take what was spent on learning from the limits of the run that follows."""
    if options.max_calls is not None:
        options.max_calls = max(options.max_calls - spent.calls, 0)
    if options.max_tokens is not None:
        options.max_tokens = max(options.max_tokens - spent.tokens, 0)
    if options.max_cost is not None:
        options.max_cost = max(options.max_cost - spent.cost_usd, 0.0)


def tally_of(judge: object) -> "CascadeTally | None":
    """Return what counts the answers of a cascade; None for another judge."""
    return CascadeTally(judge.plan) if isinstance(judge, Cascade) else None


class CascadeTally:
    """Counts who answered, and what it cost against asking the last judge alone."""

    def __init__(self, plan: CascadePlan) -> None:
        self._plan = plan
        self._names = [f"{judge.provider}/{judge.model}" for judge in plan.judges]
        self._answered: Counter[str] = Counter()
        self._items = self._abstained = 0
        self._cost = 0.0
        self._last: list[float] = []

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Count one outcome."""
        del item
        self._items += 1
        if isinstance(outcome, JudgeResult):
            self._answered[outcome.answered_by] += 1
        self._abstained += isinstance(outcome, Failure) and outcome.kind == "abstained"
        for place, each in enumerate(self._asked(outcome)):
            cost = each.provenance.cost_usd if each.provenance is not None else None
            self._cost += cost or 0.0
            if place == len(self._names) - 1 and cost is not None:
                self._last.append(cost)

    def _asked(self, outcome: RunOutcome) -> tuple[Outcome, ...]:
        """Return the outcomes of the judges that were asked."""
        if isinstance(outcome, JudgeResult) and outcome.answered_by == self._names[0]:
            return (outcome,)
        return () if isinstance(outcome, Generated) else outcome.members

    def print(self, options: argparse.Namespace) -> None:
        """Print who answered, what was saved, what is guaranteed and what people are to label."""
        output: Path | None = options.output
        to = sys.stdout if output is not None and options.format == "text" else sys.stderr
        shares = [f"{name} {self._answered[name]:,} ({self._share(self._answered[name])})" for name in self._names]
        print(f"answered: {', '.join(shares)}", file=to)
        abstained = f"{self._abstained:,} ({self._share(self._abstained)})"
        print(f"abstained: {abstained}; these neither pass nor fail, and are left to people", file=to)
        if self._last and self._cost:
            alone = sum(self._last) / len(self._last) * self._items
            saved = f"${self._cost:.4f}, against about ${alone:.4f} for {self._names[-1]} alone"
            print(f"cost:     {saved} ({self._cost / alone:.0%})" if alone else f"cost:     {saved}", file=to)
        print(f"guarantee: {guarantee(self._plan)}", file=to)
        if self._abstained and output is not None:
            items: Path | None = getattr(options, "items", None)
            texts = f" --items {shlex.quote(str(items))}" if items is not None else ""
            print(f"to label: polyjudge label {shlex.quote(str(output))}{texts} --filter kind=abstained", file=to)

    def _share(self, count: int) -> str:
        return f"{count / self._items:.0%}" if self._items else "0%"
