"""Accuracy and cost of the checks of script and language, on real news in the languages of the table.

The text is NTREX-128, found through POLYJUDGE_DATA; each sentence is checked whole, and a piece of 5 to 12 words of it.
"""

import csv
import gzip
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from polyjudge.checks.checker import TextChecker
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.translation import Language

NAME = "ntrex128_200x73.tsv.gz"
WITHOUT_SPACES = {"zh-Hans", "zh-Hant", "yue", "ja", "th", "lo", "km", "my"}


def run() -> None:
    folder = os.environ.get("POLYJUDGE_DATA", "")
    if not folder or not (Path(folder) / NAME).is_file():
        print("checks: skipped, POLYJUDGE_DATA is not set or has no", NAME)
        return
    table = language_table()
    for kind in ("whole sentences", "pieces of 5 to 12 words"):
        sentences = list(_sentences(Path(folder) / NAME, table, whole=kind.startswith("whole")))
        print(f"checks: {kind}, {len(sentences):,} in {len({tag for tag, *_ in sentences})} languages")
        measures = measure(sentences, table)
        for name, value in measures.items():
            print(f"  {name:58} {value}")


Sentence = tuple[str, Language, str, str]
"""Tag of the column, language, text, English source."""


def measure(sentences: list[Sentence], table: LanguageTable) -> dict[str, str]:
    checker = TextChecker(table)
    right: dict[str, Counter[str]] = defaultdict(Counter)
    script: Counter[str] = Counter()
    other: Counter[str] = Counter()
    english: Counter[str] = Counter()
    others = {tag: language for tag, language, *_ in sentences}
    pick = random.Random(0)
    for tag, language, text, source in sentences:
        right[tag][checker.check_language(text, language).state] += 1
        script[checker.check(text, language, source=source).script.state] += 1
        for strange in pick.sample(sorted(others), 8):
            if not _same(language, others[strange]):
                other[checker.check_language(text, others[strange]).state] += 1
        if language.detector != "en":
            found = checker.check(source, language, source=source)
            english["found" if found.fails else "missed"] += 1
    return {
        "right text accepted by script": f"{1 - script['fail'] / script.total():.2%}",
        "right text accepted by language, macro, without unsure": f"{_macro(right):.2%}",
        "unsure outside the inseparable": f"{_unsure(right, others):.2%}",
        "another language accepted, outside the inseparable": f"{other['right'] / other.total():.2%}",
        "another language found": f"{other['wrong'] / other.total():.2%}",
        "English left untranslated found": f"{english['found'] / english.total():.2%}",
        "worst languages": ", ".join(f"{tag} {share:.0%}" for share, tag in _worst(right)),
        "time a phrase, language": _time(sentences, lambda language, text, _: checker.check_language(text, language)),
        "time a phrase, all": _time(
            sentences, lambda language, text, source: checker.check(text, language, source=source)
        ),
    }


def _sentences(path: Path, table: LanguageTable, *, whole: bool) -> Iterator[Sentence]:
    pick = random.Random(1)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        _, _, *tags = next(rows)
        for _, source, *texts in rows:
            for tag, text in zip(tags, texts, strict=True):
                language = table.find(tag)
                assert language is not None, tag
                if text.strip():
                    yield tag, language, text if whole else _piece(text, tag, pick), source


def _piece(text: str, tag: str, pick: random.Random) -> str:
    parts = list(text) if tag in WITHOUT_SPACES else text.split()
    count = pick.randint(12, 30) if tag in WITHOUT_SPACES else pick.randint(5, 12)
    start = pick.randrange(max(1, len(parts) - count + 1))
    return ("" if tag in WITHOUT_SPACES else " ").join(parts[start : start + count])


def _same(one: Language, other: Language) -> bool:
    return one.detector == other.detector != "" or one.tag == other.tag or other.tag in one.inseparable


def _macro(states: dict[str, Counter[str]]) -> float:
    return sum(_accepted(counts) for counts in states.values()) / len(states)


def _accepted(counts: Counter[str]) -> float:
    sure = counts["right"] + counts["wrong"]
    return counts["right"] / sure if sure else 1.0


def _unsure(states: dict[str, Counter[str]], languages: dict[str, Language]) -> float:
    shares = [counts["unsure"] / counts.total() for tag, counts in states.items() if not languages[tag].inseparable]
    return sum(shares) / len(shares)


def _worst(states: dict[str, Counter[str]]) -> list[tuple[float, str]]:
    return sorted((_accepted(counts), tag) for tag, counts in states.items())[:6]


def _time(sentences: list[Sentence], work: Callable[[Language, str, str], object]) -> str:
    started = time.process_time()
    for _, language, text, source in sentences:
        work(language, text, source)
    return f"{(time.process_time() - started) / len(sentences) * 1e6:.0f} µs"
