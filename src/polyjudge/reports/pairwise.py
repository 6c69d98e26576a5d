"""Sum up a judge's preferences between two systems."""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from polyjudge.files.json_lines import readable_json
from polyjudge.formats.ratings import ALL_INDEPENDENT
from polyjudge.formats.systems import Codes, Compared
from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Figure
from polyjudge.records.codec import to_json
from polyjudge.records.outcomes import Failure, Item, JudgeResult, Outcome, RunOutcome
from polyjudge.records.ranking import PairwiseSummary, RankingOptions
from polyjudge.statistics.intervals import RunningMean, wilson_interval

from .blocks import BLOCK_FORMATS, Block, Heading, Lines
from .ranking import ranking_of
from .ranking_report import ranking_blocks
from .wording import figure_words

SCHEMA_VERSION = 1
_TIE = 0.5


class PairTally:
    """Takes the outcomes of a run of pairs as they come."""

    def __init__(self, systems: tuple[str, str], cluster: str = "") -> None:
        self.systems = systems
        self._is_independent = cluster == ALL_INDEPENDENT
        self._languages, self._clusters = Codes(), Codes()
        self._shares, self._places, self._tags = array("d"), array("q"), array("q")
        self._names_clusters = self._is_independent
        self._kinds: Counter[str] = Counter()
        self._compared = self._inconsistent = 0
        self._first_shown = RunningMean()
        self._decided = 0

    def put(self, item: Item, outcome: RunOutcome) -> None:
        """Add the outcome of a pair."""
        if isinstance(outcome, Failure):
            self._kinds[outcome.kind] += 1
        if not isinstance(outcome, JudgeResult):
            return
        self._shares.append(outcome.score)
        self._tags.append(self._languages.number(item.language))
        named = "" if self._is_independent else item.cluster
        self._names_clusters |= bool(named)
        own = item.id if self._is_independent else named or item.context.get("source") or item.id
        self._places.append(self._clusters.number(own))
        for forward, backward in _asked_twice(outcome):
            self._compared += 1
            self._inconsistent += forward.verdict != backward.verdict
            shown = [forward.score] * (forward.score != _TIE) + [1 - backward.score] * (backward.score != _TIE)
            self._decided += bool(shown)
            for share in shown:
                self._first_shown.add(share)

    def summary(self, options: RankingOptions) -> PairwiseSummary:
        """Return the summary of the outcomes so far."""
        judged = len(self._shares)
        return PairwiseSummary(
            pairs=judged + self._kinds.total(),
            judged=judged,
            unjudged=self._kinds.total(),
            unjudged_by_kind=dict(self._kinds.most_common()),
            inconsistent=_share(self._inconsistent, self._compared),
            first_shown_wins=_share(self._first_shown.mean * self._decided, self._decided),
            ranking=ranking_of(self._as_compared(), (), options) if judged else None,
        )

    def _as_compared(self) -> Compared:
        count = len(self._shares)
        failures = Counter(dict.fromkeys(self.systems, self._kinds.total())) if self._kinds else Counter[str]()
        return Compared(
            systems=self.systems,
            languages=self._languages.names,
            first=np.zeros(count, dtype=np.int64),
            second=np.ones(count, dtype=np.int64),
            share=np.array(self._shares, dtype=np.float64),
            language=np.array(self._tags, dtype=np.int64),
            clusters=np.array(self._places, dtype=np.int64),
            names_clusters=self._names_clusters,
            failures=failures,
        )


def _asked_twice(outcome: Outcome) -> Iterator[tuple[JudgeResult, JudgeResult]]:
    """Yield both answers of each judge that was asked in both orders; of a jury, those of its members."""
    members: Sequence[Outcome] = outcome.members
    results = [member for member in members if isinstance(member, JudgeResult)]
    if len(results) == len(members) == 2 and [each.order for each in results] == ["given", "swapped"]:
        yield results[0], results[1]
    else:
        for member in results:
            yield from _asked_twice(member)


def _share(hits: float, count: int) -> Figure:
    interval = wilson_interval(hits, count)
    return Figure(hits / count, interval.low, interval.high) if interval is not None else Figure()


def pairwise_blocks(summary: PairwiseSummary, table: LanguageTable) -> Iterator[Block]:
    """Yield which system is better, and how far the order of the texts decided."""
    if summary.ranking is None:
        yield Heading(1, "No verdicts")
    else:
        yield from ranking_blocks(summary.ranking, table)
    yield Heading(2, "Judge")
    yield Lines(tuple(_judge_lines(summary)))


def _judge_lines(summary: PairwiseSummary) -> Iterator[str]:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in summary.unjudged_by_kind.items())
    yield f"Pairs: {summary.judged:,} of {summary.pairs:,} judged{f'; without a verdict: {kinds}' if kinds else ''}."
    if summary.inconsistent.value is not None:
        yield (
            f"Position bias: {_percent(summary.inconsistent)} of the pairs got different answers in the two orders; "
            "they count as ties."
        )
    if summary.first_shown_wins.value is not None:
        yield f"The text shown first won {_percent(summary.first_shown_wins)} of the decided answers; 50% without bias."


def _percent(figure: Figure) -> str:
    return figure_words(figure, ".1f", factor=100, unit="%")


def pairwise_report(summary: PairwiseSummary, form: str, table: LanguageTable) -> Iterator[str]:
    """Render a summary as text, Markdown, HTML or JSON."""
    if form == "json":
        yield readable_json({"schemaVersion": SCHEMA_VERSION, **to_json(summary)}, indent=1) + "\n"
        return
    if form == "html" and summary.ranking is not None:
        from .ranking_page import ranking_page  # imported late: templates are slow to load

        yield from ranking_page(summary.ranking, table, about_judge=[*_judge_lines(summary)])
        return
    yield from BLOCK_FORMATS[form](pairwise_blocks(summary, table))
