"""How often each kind of finding is right, on outputs, references and human scores of WMT24.

Precision of a kind: 1 - (alarm rate on references / alarm rate on outputs of the worst quarter), where it has at least
20 alarms. "Worst" are outputs with a human score two standard deviations below the mean of their language pair.
"""

import csv
import gzip
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, quantiles
from typing import NamedTuple

from polyjudge.checks.checker import TextChecker
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.findings import Finding

NAME = "mt_outputs_dev.tsv.gz"
FEWEST_ALARMS = 20
"""With fewer, the precision of a kind is not measured."""
ROOT = Path(__file__).parent.parent
PRECISION = ROOT / "src/polyjudge/checks/precision.toml"
GUIDE = ROOT / "docs/guides/checks.md"
TABLE_STARTS, TABLE_ENDS = "<!-- precision -->", "<!-- end of precision -->"
ANY = "any kind"
TALK = {"code_fence", "model_note", "prompt_leak", "template_leak", "refusal", "extra_lines", "markup_added"}
"""Kinds that say that a model talks beside the translation."""
PLANTED_IN = 30
"""References for each form of talk."""
SEVERITIES = ("fail", "warn")
TUNED = {"cs-uk", "en-cs", "en-es"}
"""Language pairs whose alarms were read while the checks were written; the others were only measured."""


class Output(NamedTuple):
    """A text that a system or a person wrote, with what the checks found."""

    pair: str
    system: str
    source: str
    text: str
    score: float | None
    """Human score in standard deviations from the mean of the language pair."""
    findings: tuple[Finding, ...] = ()

    @property
    def is_reference(self) -> bool:
        """A person wrote it."""
        return self.system == "ref"


class Groups(NamedTuple):
    """The outputs that rates are computed over."""

    references: list[Output]
    best: list[Output]
    """The best quarter of each language pair."""
    worst_quarter: list[Output]
    worst: list[Output]
    scored: list[Output]

    @classmethod
    def of(cls, outputs: Iterable[Output]) -> "Groups":
        """Sort outputs into groups by their scores."""
        references, by_pair = list[Output](), defaultdict[str, list[tuple[float, Output]]](list)
        for each in outputs:
            if each.is_reference:
                references.append(each)
            elif each.score is not None:
                by_pair[each.pair].append((each.score, each))
        best, worst_quarter = list[Output](), list[Output]()
        for scored in by_pair.values():
            low, _, high = quantiles([score for score, _ in scored], n=4)
            best += [each for score, each in scored if score >= high]
            worst_quarter += [each for score, each in scored if score <= low]
        everything = [pair for scored in by_pair.values() for pair in scored]
        worst = [each for score, each in everything if score <= -2]
        return cls(references, best, worst_quarter, worst, [each for _, each in everything])


class Precision(NamedTuple):
    """What was measured of one kind of finding."""

    kind: str
    alarms: int
    references: float
    """Alarms per 1,000 references."""
    best: float
    """Alarms per 1,000 outputs of the best quarter."""
    worst: float
    """Share of the worst outputs found."""
    precision: float | None
    flagged_score: float | None
    unflagged_score: float | None


def run() -> None:
    """Print one table for the language pairs that the checks were tuned on, and one for the others."""
    path = Path(os.environ.get("POLYJUDGE_DATA", "")) / NAME
    if not path.is_file():
        print("check_precision: skipped, POLYJUDGE_DATA is not set or has no", NAME)
        return
    outputs = list(checked(read(path), language_table()))
    for name, is_tuned in (("tuned", True), ("held out", False)):
        part = [each for each in outputs if (each.pair in TUNED) is is_tuned]
        print(f"precision of the checks on {', '.join(sorted({each.pair for each in part}))} ({name})")
        show(measure(part))
        show_talk([each for each in part if each.is_reference])
    write(measure(outputs))


def write(rows: Sequence[Precision]) -> None:
    """Write the figures of all language pairs to the data file of the checks, and as a table to the guide."""
    kinds = [row for row in rows if not row.kind.endswith(ANY)]
    lines = [
        "# How often each kind of finding is right: written by `python -m benchmarks check_precision`, from WMT24."
    ]
    for row in kinds:
        severity, _, kind = row.kind.partition(" ")
        lines += ["", f"[{severity}.{kind}]", f"alarms = {row.alarms}"]
        lines += [f"{name} = {getattr(row, name):.3f}" for name in ("references", "best", "worst")]
        optional = [(name, getattr(row, name)) for name in ("precision", "flagged_score", "unflagged_score")]
        lines += [f"{name} = {value:.3f}" for name, value in optional if value is not None]
    PRECISION.write_text("\n".join(lines) + "\n", encoding="utf-8")
    guide = GUIDE.read_text(encoding="utf-8")
    before, _, rest = guide.partition(TABLE_STARTS)
    _, _, after = rest.partition(TABLE_ENDS)
    table = "\n".join([TABLE_STARTS, *table_of(kinds), TABLE_ENDS])
    GUIDE.write_text(f"{before}{table}{after}", encoding="utf-8")


def table_of(rows: Sequence[Precision]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield (
        "| finding | alarms | per 1,000 references | per 1,000 best outputs | worst outputs found | right"
        " | human score, flagged / others |"
    )
    yield "|---|---|---|---|---|---|---|"
    for row in sorted(rows, key=lambda row: (row.kind.split()[0], -row.alarms)):
        severity, _, kind = row.kind.partition(" ")
        right = "" if row.precision is None else f"{row.precision:.0%}"
        scores = " / ".join("–" if score is None else f"{score:.2f}".replace("-", "−") for score in row[-2:])
        yield (
            f"| `{kind}`, {severity} | {row.alarms} | {row.references:.1f} | {row.best:.1f} | {row.worst:.1%}"
            f" | {right.replace('-', '−')} | {scores} |"
        )


def read(path: Path) -> Iterator[Output]:
    """Yield the texts of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            score = float(row["human_z"]) if row["human_z"] else None
            yield Output(row["pair"], row["system"], row["source"], row["text"], score)


def checked(outputs: Iterable[Output], table: LanguageTable) -> Iterator[Output]:
    """Yield the texts with their findings."""
    checker = TextChecker(table)
    for each in outputs:
        language = table.find(each.pair.partition("-")[2])
        assert language is not None, each.pair
        yield each._replace(findings=checker.check(each.text, language, source=each.source).problems)


def measure(outputs: Iterable[Output]) -> list[Precision]:
    """Return the figures of each kind and severity, and of any finding of a severity."""
    groups = Groups.of(outputs)
    counted = [_counts(each) for each in groups]
    kinds = sorted({kind for counts in counted for kind in counts}, key=lambda kind: (not kind.endswith(ANY), kind))
    return [_precision(kind, groups, counted) for kind in kinds]


def _names(output: Output) -> set[str]:
    """Return what the findings of a text are counted under."""
    severe = {f"{each.severity} {each.kind}" for each in output.findings}
    return severe | {f"{each.severity} {ANY}" for each in output.findings} | ({ANY} if output.findings else set())


def _counts(outputs: Sequence[Output]) -> Counter[str]:
    return Counter(name for each in outputs for name in _names(each))


def _precision(kind: str, groups: Groups, counted: Sequence[Counter[str]]) -> Precision:
    rates = [counts[kind] / max(1, len(group)) for counts, group in zip(counted, groups, strict=True)]
    references, best, worst_quarter, worst, _ = rates
    alarms = counted[0][kind] + counted[4][kind]
    flagged = [each.score for each in groups.scored if each.score is not None and kind in _names(each)]
    others = [each.score for each in groups.scored if each.score is not None and kind not in _names(each)]
    return Precision(
        kind,
        alarms,
        1000 * references,
        1000 * best,
        worst,
        1 - references / worst_quarter if alarms >= FEWEST_ALARMS and worst_quarter else None,
        fmean(flagged) if flagged else None,
        fmean(others) if others else None,
    )


def show(rows: Iterable[Precision]) -> None:
    """Print the figures."""
    print(f"  {'':24} {'alarms':>6} {'ref/1000':>8} {'best/1000':>9} {'worst':>7} {'precision':>9} {'score':>12}")
    for row in rows:
        precision = "" if row.precision is None else f"{row.precision:.0%}"
        scores = " / ".join("–" if score is None else f"{score:.2f}" for score in row[-2:])
        print(
            f"  {row.kind:24} {row.alarms:6} {row.references:8.1f} {row.best:9.1f} {row.worst:7.1%} {precision:>9}"
            f" {scores:>13}"
        )


def show_talk(references: Sequence[Output]) -> None:
    """Print how much talk of a model is found when it is planted in references, by line breaks and by spaces."""
    table, pick = language_table(), random.Random(1)
    checker = TextChecker(table)
    lines = (Path(__file__).parent / "model_talk.txt").read_text(encoding="utf-8").splitlines()
    forms = [line for line in lines if not line.startswith("#")]
    for name, line_break in (("line breaks", "\n"), ("spaces", " ")):
        found = planted = 0
        for form in forms:
            for each in pick.sample(references, PLANTED_IN):
                language = table.find(each.pair.partition("-")[2])
                assert language is not None, each.pair
                text = form.replace("\\n", line_break).replace("{}", each.text)
                kinds = {problem.kind for problem in checker.check(text, language, source=each.source).problems}
                planted, found = planted + 1, found + bool(kinds & TALK)
        print(f"  talk of a model with {name}: found {found / planted:.1%} of {planted:,}")
    alarms = sum(any(problem.kind in TALK for problem in each.findings) for each in references)
    print(f"  talk of a model: false alarms per 1,000 references {1000 * alarms / len(references):.2f}")
