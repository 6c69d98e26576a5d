"""`polyjudge calibrate consensus SPANS`: combine the error spans of several judges, by weights learnt from people."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from polyjudge.calibration.span_agreement import annotated_texts
from polyjudge.calibration.span_learning import learn_consensus
from polyjudge.calibration.span_validation import Validation, by_language, in_halves, validated
from polyjudge.errors import ConfigError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.files.ownership import own_fields
from polyjudge.records.codec import to_json
from polyjudge.records.outcomes import SCHEMA_VERSION
from polyjudge.records.spans import ErrorSpan, SpanConsensus
from polyjudge.reports.blocks import BLOCK_FORMATS
from polyjudge.reports.span_consensus import consensus_blocks
from polyjudge.store.span_consensus import read_consensus, write_consensus
from polyjudge.verdicts.span_consensus import consensus_spans, voted_spans
from polyjudge.verdicts.span_pieces import AnnotatedText

from .options import Several, add_force_option, at_least, check_output, share, whole
from .output import write_pieces
from .progress import counted
from .span_sides import read_span_sides
from .tables import add_table_options


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("results", type=Path, nargs="+", metavar="SPANS", help="error spans of several judges, or repeats of one")
    labels = "people's spans to learn from; default: the annotators in SPANS with names such as human/1"
    add("--labels", type=Path, action=Several, default=[], metavar="FILE", help=labels)
    people = "annotators in SPANS who are people, such as human*"
    add("--people", default="", metavar="NAME,…", help=people)
    add(
        "--model",
        type=Path,
        metavar="FILE",
        help="combine with the consensus that an earlier run saved with --save, without learning",
    )
    add("--save", type=Path, metavar="FILE", help="file for the consensus that was learnt, which --model reads")
    precision = "target precision: share of marked characters that people mark too; default: maximise F1"
    add("--precision", type=share, default=None, metavar="P", help=precision)
    vote = "combine by vote, without learning: keep the spans that at least K judges mark"
    add("--at-least", type=at_least(1), metavar="K", help=vote)
    add("--spans", type=Path, metavar="FILE", help="file for the combined spans, with a row for each text")
    resamples = "number of resamples for intervals; default: %(default)s"
    add("--resamples", type=at_least(100), default=1000, metavar="N", help=resamples)
    add(
        "--seed",
        type=whole,
        default=0,
        metavar="N",
        help="seed of the split into halves and of the resampling; default: 0",
    )
    add("--output", type=Path, metavar="FILE", help="file for the report; default: stdout")
    add_force_option(add)
    add("--format", choices=[*BLOCK_FORMATS, "json"], default="text", help="output format; default: %(default)s")
    add_table_options(parser.add_argument_group("table").add_argument)


def run(options: argparse.Namespace) -> int:
    """Read the annotations; learn, or read what was learnt; write the combined spans and the report."""
    if sum(map(bool, (options.model, options.at_least, options.precision))) > 1:
        raise ConfigError("Give only one of --model, --at-least and --precision.")
    inputs = [*options.results, *options.labels, options.model]
    for path in (options.save, options.spans, options.output):
        check_output(path, inputs, force=options.force)
    judges, people = read_span_sides(options)
    texts, _ = annotated_texts(judges, people)
    learns = not options.model and not options.at_least
    consensus = read_consensus(options.model) if options.model else None
    measured: Mapping[str, Validation] = {}
    if learns:
        if not people:
            raise ConfigError("There are no spans of people to learn from. Give --labels, --model or --at-least.")
        consensus = learn_consensus(texts, **_aim(options))
        measured = _measured(texts, options)
    if options.save:
        if consensus is None:
            raise ConfigError(
                "--save and --at-least cannot be combined, because --at-least does not learn a consensus. Leave one "
                "of them out."
            )
        write_consensus(options.save, consensus, force=options.force)
        print(f"polyjudge: saved: {options.save}", file=sys.stderr)
    if options.spans:
        _write_spans(texts, consensus, options)
    _report(texts, consensus, measured, options)
    return 0


def _aim(options: argparse.Namespace) -> dict[str, Any]:
    return {"aim": "f1"} if options.precision is None else {"aim": "precision", "precision": options.precision}


def _measured(texts: Sequence[AnnotatedText], options: argparse.Namespace) -> Mapping[str, Validation]:
    """Return how good the consensus is on texts that it was not learnt from, where there are enough."""
    settings = {**_aim(options), "resamples": options.resamples, "seed": options.seed}
    known = [text for text in texts if text.people and text.judges]
    found: dict[str, Validation] = {}
    if len({(text.any_one.cluster or text.any_one.unit) for text in known}) > 1:
        found["the other half of the documents"] = validated(known, in_halves(known, options.seed), **settings)
    if len({by_language(text) for text in known}) > 1:
        found["languages that were left out"] = validated(known, by_language, **settings)
    return found


def _write_spans(texts: Sequence[AnnotatedText], consensus: SpanConsensus | None, options: argparse.Namespace) -> None:
    name = "consensus" if consensus is not None else f"at least {options.at_least}"
    with write_atomically(options.spans, force=options.force) as file:
        for text in texts:
            if text.judges:
                spans = consensus_spans(text, consensus) if consensus else voted_spans(text, options.at_least)
                file.write(readable_json(_row(text, spans, name)) + "\n")
    print(f"polyjudge: spans of {counted(len(texts), 'text')}: {options.spans}", file=sys.stderr)


def _row(text: AnnotatedText, spans: Sequence[ErrorSpan], name: str) -> dict[str, Any]:
    one = text.any_one
    known = {
        "id": one.id,
        "languagePair": one.pair,
        "segment": one.unit,
        "system": one.system,
        "document": one.cluster,
        "language": one.language,
        "source": one.source,
        "candidate": one.candidate,
    }
    given = {key: value for key, value in known.items() if value}
    listed = [{"severity": each.severity, **to_json(each)} for each in spans]
    return {"schemaVersion": SCHEMA_VERSION, **given, "annotator": name, "spans": listed}


def _report(
    texts: Sequence[AnnotatedText],
    consensus: SpanConsensus | None,
    measured: Mapping[str, Validation],
    options: argparse.Namespace,
) -> None:
    if options.format == "json":
        report = {
            **own_fields(),
            "texts": len(texts),
            "consensus": None if consensus is None else to_json(consensus),
            "measured": {name: to_json(each) for name, each in measured.items()},
        }
        pieces: Iterator[str] = iter([readable_json(report, indent=1) + "\n"])
    else:
        blocks = consensus_blocks(texts, consensus, measured, at_least=options.at_least)
        pieces = BLOCK_FORMATS[options.format](blocks)
    write_pieces(options.output, pieces, format_name=options.format, force=options.force)
