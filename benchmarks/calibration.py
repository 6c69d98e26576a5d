"""Calibrate the judge `offline` on real translations in all languages of a parallel corpus, and draw its card.

The corpus (NTREX-128: news sentences, one column a language) is found through POLYJUDGE_DATA. Only numbers are written:
the card into `docs/cards`, with a plot for each perturbation.
"""

import csv
import gzip
import json
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from polyjudge.cli import main

CORPUS = "ntrex128_200x73.tsv.gz"
CARDS = Path("docs/cards")
NOT_LANGUAGES = {"line", "src"}
TEXTS = 20


def run() -> None:
    data = os.environ.get("POLYJUDGE_DATA")
    if not data:
        print("calibration: POLYJUDGE_DATA is not set; skipped")
        return
    with TemporaryDirectory() as folder:
        texts = Path(folder) / "texts.jsonl"
        languages = _write_texts(Path(data) / CORPUS, texts)
        card, rows = Path(folder) / "offline.json", Path(folder) / "rows.jsonl"
        started, cpu = time.perf_counter(), time.process_time()
        offline = ["--judge", "offline", "--card", str(card), "--answers", str(rows), "--cache", "none"]
        wanted = ["--texts-per-language", str(TEXTS)]
        main(["calibrate", "perturb", str(texts), *offline, *wanted, "--format", "json"])
        seconds, busy = time.perf_counter() - started, time.process_time() - cpu
        with rows.open(encoding="utf-8") as lines:
            questions = sum(1 for _ in lines)
        rows.unlink()
        main(["calibrate", "bias", str(texts), *offline, "--texts-per-language", "5", "--format", "json"])
        CARDS.mkdir(parents=True, exist_ok=True)
        (CARDS / "offline.json").write_text(card.read_text(encoding="utf-8"), encoding="utf-8")
    shown = ["--format", "markdown", "--output", str(CARDS / "offline.md"), "--plots", str(CARDS), "--force"]
    main(["calibrate", "card", str(CARDS / "offline.json"), *shown])
    add_pictures(CARDS / "offline.md")
    print(f"calibration: {languages} languages, {questions} questions, {seconds:.0f} s ({busy:.0f} s of CPU)")


def add_pictures(page: Path) -> None:
    """Add to a card the pictures beside it, and the origin of its numbers."""
    drawn = "\n".join(f"![{each.stem.replace('_', ' ')}]({each.name})" for each in sorted(page.parent.glob("*.svg")))
    message = f"Measured on {TEXTS} sentences of NTREX-128 in each language, by `python -m benchmarks calibration`."
    text = page.read_text(encoding="utf-8")
    page.write_text(f"{text}\n## Score against severity\n\n{message}\n\n{drawn}\n", encoding="utf-8")


def _write_texts(corpus: Path, path: Path) -> int:
    """Write each sentence in each language as a row; return how many languages there are."""
    with gzip.open(corpus, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    languages = [name for name in rows[0] if name not in NOT_LANGUAGES]
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            for tag in languages:
                text = {"id": row["line"], "language": tag, "source": row["src"], "candidate": row[tag]}
                file.write(json.dumps(text, ensure_ascii=False) + "\n")
    return len(languages)
