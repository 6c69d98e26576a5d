"""How the checks treat short strings of user interfaces, as shipped in Debian's catalogues, in 80 languages."""

import csv
import gzip
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from polyjudge.checks.checker import TextChecker
from polyjudge.languages.table import language_table
from polyjudge.records.translation import Language

NAME = "ui_strings_dev.tsv.gz"
TUNED = {"cinnamon-l10n", "pidgin-data", "vlc-l10n"}
"""Packages whose alarms were read while the checks were written; the others were only measured."""
POOLED = 20
FEWEST_STRINGS = 50
"""Of a language, for its own rate of false alarms."""
NEIGHBOURS = (
    "no da sv",
    "cs sk",
    "pt gl es ca",
    "it es fr",
    "ru uk bg mk be",
    "sr bg",
    "hi mr ne",
    "fa ar ur",
    "az tr uz",
    "nl af de",
    "sl hr",
    "et fi",
    "lt lv",
    "id jv",
    "en tl cy ga",
    "zu xh",
)
"""Languages that are close enough to be confused, and that the table does not call inseparable."""
_ESCAPES = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}


class String(NamedTuple):
    """A string of a catalogue with its translation."""

    language: Language
    package: str
    stratum: str
    source: str
    text: str


def run() -> None:
    """Print the figures of the packages that the checks were tuned on, and those of the others."""
    path = Path(os.environ.get("POLYJUDGE_DATA", "")) / NAME
    if not path.is_file():
        print("check_strings: skipped, POLYJUDGE_DATA is not set or has no", NAME)
        return
    strings = list(read(path))
    for name, is_tuned in (("tuned", True), ("held out", False)):
        part = [each for each in strings if (each.package in TUNED) is is_tuned]
        print(f"strings of {', '.join(sorted({each.package for each in part}))} ({name})")
        for measure, value in measure_strings(part).items():
            print(f"  {measure:58} {value}")


def read(path: Path) -> Iterator[String]:
    """Yield the strings whose language the table has."""
    table = language_table()
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            language = table.find(row["language"])
            if language is not None:
                source, text = _unescaped(row["msgid"]), _unescaped(row["msgstr"])
                yield String(language, row["package"], row["stratum"], source, text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\[\\tnr]", lambda match: _ESCAPES[match[0]], text)


def measure_strings(strings: Sequence[String]) -> dict[str, str]:
    """Return what was measured, ready to be printed."""
    checker = TextChecker(language_table())
    found = [(each, checker.check(each.text, each.language, source=each.source)) for each in strings]
    short = [(each, check) for each, check in found if each.stratum == "short"]
    states = Counter(check.language.state for _, check in short)
    kinds = Counter(
        kind
        for each, check in found
        if each.stratum == "format"
        for kind in {finding.kind for finding in check.problems if finding.severity == "fail"}
    )
    fails = Counter(each.stratum for each, check in found if check.fails)
    warned = Counter(each.stratum for each, check in found if check.problems and not check.fails)
    totals = Counter(each.stratum for each, _ in found)
    return {
        "1-4 words, wrong": f"{states['wrong'] / len(short):.2%}",
        "1-4 words, unsure": f"{states['unsure'] / len(short):.1%}",
        **_pooled_measures([each for each, _ in short], checker),
        **{f"{name}: FAIL per 1,000": f"{1000 * fails[name] / totals[name]:.1f}" for name in sorted(totals)},
        **{f"{name}: WARN per 1,000": f"{1000 * warned[name] / totals[name]:.1f}" for name in sorted(totals)},
        "format: kinds that fail": ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()),
        "languages above 4% FAIL": _worst(Counter(each.language.tag for each, check in found if check.fails), strings),
        "languages above 4% wrong language": _worst(
            Counter(each.language.tag for each, check in found if check.language.state == "wrong"), strings
        ),
    }


def _worst(alarms: Counter[str], strings: Sequence[String]) -> str:
    totals = Counter(each.language.tag for each in strings)
    shares = {tag: alarms[tag] / count for tag, count in totals.items() if count >= FEWEST_STRINGS}
    return ", ".join(f"{tag} {share:.1%}" for tag, share in sorted(shares.items()) if share > 0.04) or "none"


def _pooled_measures(strings: Sequence[String], checker: TextChecker) -> dict[str, str]:
    """Identify twenty strings of a language together, for their language and for its neighbours."""
    by_language = defaultdict[str, list[String]](list)
    for each in random.Random(1).sample(strings, len(strings)):
        by_language[each.language.tag].append(each)
    own, others = Counter[str](), Counter[str]()
    for tag, given in by_language.items():
        for start in range(0, len(given) - POOLED + 1, POOLED):
            texts = [each.text for each in given[start : start + POOLED]]
            own[checker.check_language_of(texts, given[0].language).state] += 1
            for other in _neighbours(tag):
                language = checker.table.find(other)
                assert language is not None
                others[checker.check_language_of(texts, language).state] += 1
    return {
        "pooled by 20, wrong": f"{own['wrong'] / max(1, own.total()):.2%} of {own.total()}",
        "pooled by 20, unsure": f"{own['unsure'] / max(1, own.total()):.2%}",
        "pooled by 20, for a neighbour: found": f"{others['wrong'] / max(1, others.total()):.2%} of {others.total()}",
        "pooled by 20, for a neighbour: accepted": f"{others['right'] / max(1, others.total()):.2%}",
    }


def _neighbours(tag: str) -> set[str]:
    base = tag.partition("-")[0]
    groups = [group.split() for group in NEIGHBOURS]
    return {other for group in groups if base in group for other in group} - {base}
