"""Error spans: places of quotes, agreement with people, and a consensus, on the recorded spans in POLYJUDGE_DATA."""

import gzip
import json
import os
import random
import time
from collections import Counter
from pathlib import Path

from polyjudge.calibration.span_agreement import SpanOptions, annotated_texts, measure_span_agreement
from polyjudge.calibration.span_validation import Part, by_language, in_halves, validated
from polyjudge.formats.span_rows import read_spans
from polyjudge.records.spans import Aim
from polyjudge.text.quotes import locate
from polyjudge.verdicts.span_pieces import AnnotatedText

PATH = Path(os.environ.get("POLYJUDGE_DATA", "")) / "spans_dev.jsonl.gz"
QUOTES, SEEDS, WANTED = 10_000, 5, 0.30
SHOWN = ("char_precision_any_severity", "char_recall_any_severity", "char_f1_any_severity", "char_f1")


def run() -> None:
    _large_texts()
    if not PATH.is_file():
        print("POLYJUDGE_DATA is not set or lacks spans_dev.jsonl.gz")
        return
    _located()
    started = time.perf_counter()
    found = read_spans(PATH).annotations
    judges = [each for each in found if not each.annotator.startswith("human")]
    people = [each for each in found if each.annotator.startswith("human")]
    result = measure_span_agreement(judges, people, SpanOptions(1000))
    print(f"agreement of {len(found):,} annotations, 1,000 resamples: {time.perf_counter() - started:.1f} s")
    for each in (*result.judges, *result.people):
        figures = "  ".join(f"{name} {each.figures[name].value:.3f}" for name in (*SHOWN, "mpp_f1", "exact_f1"))
        print(f"  {each.name:36} {figures}")
    texts, _ = annotated_texts(judges, people)
    for seed in range(SEEDS):
        _consensus(f"half, seed {seed}", texts, in_halves(texts, seed))
        _consensus(f"half, seed {seed}", texts, in_halves(texts, seed), "precision", WANTED)
    _consensus("left-out pair", texts, by_language)
    _consensus("left-out pair", texts, by_language, "precision", WANTED)


def _located() -> None:
    """Print how the quotes of each annotator are located, with and without their recorded place."""
    with_place: Counter[tuple[str, str]] = Counter()
    without: Counter[tuple[str, str]] = Counter()
    with gzip.open(PATH, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            for span in row["spans"]:
                hinted = locate(span["text"], row["output"], other=row["source"], near=span["start"])
                with_place[row["annotator"], hinted.method or hinted.refusal] += 1
                plain = locate(span["text"], row["output"], other=row["source"])
                right = "" if plain.start is None else "right " if plain.start == span["start"] else "elsewhere "
                without[row["annotator"], right + (plain.method or plain.refusal)] += 1
    for title, counts in (("with the recorded place as a hint", with_place), ("by the quote alone", without)):
        print(f"quotes located {title}")
        for name in sorted({name for name, _ in counts}):
            print(f"  {name:36} {', '.join(f'{n:,} {how}' for (who, how), n in sorted(counts.items()) if who == name)}")


def _large_texts() -> None:
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyzéабвгд", k=draw.randint(2, 9))) for _ in range(20_000)]
    text = " ".join(draw.choices(words, k=150_000))
    started, right = time.perf_counter(), 0
    for number in range(QUOTES):
        start = draw.randrange(len(text) - 200)
        quote = text[start : start + draw.randint(20, 120)]
        if number % 3 == 1:
            quote = quote[: len(quote) // 2] + "#" + quote[len(quote) // 2 + 1 :]
        quote = "zzz" + quote[::-1] if number % 3 == 2 else quote
        right += locate(quote, text).start == start
    seconds = time.perf_counter() - started
    print(f"{QUOTES:,} quotes in a text of {len(text):,} characters: {seconds:.1f} s; {right:,} of them are in it")


def _consensus(name: str, texts: list[AnnotatedText], part: Part, aim: Aim = "f1", wanted: float = 0.0) -> None:
    found = validated(texts, part, aim=aim, precision=wanted)
    gain = found.gain
    figures = "  ".join(f"{each} {found.consensus[each].value:.3f}" for each in SHOWN)
    single = found.single[found.best_single]["char_f1_any_severity"].value
    vote = max(each["char_f1_any_severity"].value or 0.0 for each in found.votes.values())
    five = found.votes["5"]["char_recall_any_severity"].value
    print(f"consensus, {name}, {aim}: {figures}")
    print(f"  best single {single:.3f}, best vote {vote:.3f}, recall of five of seven {five:.3f}")
    print(f"  F1 above the best single: {gain.value:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]")


if __name__ == "__main__":
    run()
