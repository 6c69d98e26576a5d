"""Report what a consensus of error spans was learnt from, and how good it is on other texts."""

from collections.abc import Iterator, Mapping, Sequence

from polyjudge.calibration.span_validation import Validation
from polyjudge.records.calibration import Figure
from polyjudge.records.spans import SpanConsensus
from polyjudge.verdicts.span_consensus import weights_of
from polyjudge.verdicts.span_pieces import AnnotatedText
from polyjudge.verdicts.trust import figure_text

from .blocks import Block, Heading, Lines, Table
from .wording import counted

_DIGITS = 3
_MEASURES = {
    "char_precision_any_severity": "Precision",
    "char_recall_any_severity": "Recall",
    "char_f1_any_severity": "F1",
    "char_f1": "F1, other severity half",
    "mpp_f1": "F1 of spans, partial",
}
_MOST_WEIGHTS = 12


def consensus_blocks(
    texts: Sequence[AnnotatedText],
    consensus: SpanConsensus | None,
    measured: Mapping[str, Validation],
    *,
    at_least: int | None,
) -> Iterator[Block]:
    """Yield what was combined and how, then the figures on texts that nothing was learnt from."""
    yield Heading(1, f"Error spans of several judges combined on {counted(len(texts), 'text')}")
    if consensus is None:
        yield Lines((f"A span is what at least {at_least} judges mark. It has no probability: nothing was learnt.",))
        return
    aim = f"a precision of {consensus.precision:g}" if consensus.aim == "precision" else "the best F1"
    learnt = f"{counted(consensus.texts, 'text')} of {counted(consensus.clusters, 'document')}"
    yield Lines(
        (
            f"Learnt from {learnt}, for {aim}: a character is in a span from a probability of "
            f"{consensus.threshold:.3f} on.",
        )
    )
    for name, each in measured.items():
        yield Heading(2, f"On {name}")
        yield _figures(each)
        gain = figure_text(each.gain, _DIGITS)
        yield Lines((f"F1 of the consensus less that of {each.best_single}, the best judge: {gain}.",))
    yield Heading(2, "Largest weights")
    weights = list(weights_of(consensus).items())[:_MOST_WEIGHTS]
    yield Table(("Feature", "Weight"), tuple((name, f"{weight:+.3f}") for name, weight in weights), (1,))


def _figures(each: Validation) -> Table:
    rows: list[tuple[str, Mapping[str, Figure]]] = [("consensus", each.consensus)]
    rows += each.single.items()
    rows += ((f"at least {least}", figures) for least, figures in each.votes.items())
    body = tuple(
        (name, *(figure_text(figures.get(measure, Figure()), _DIGITS) for measure in _MEASURES))
        for name, figures in rows
    )
    return Table(("Spans of", *_MEASURES.values()), body, tuple(range(1, len(_MEASURES) + 1)))
