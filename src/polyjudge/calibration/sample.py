"""The shipped sample: five good translations in each of more than seventy languages, written for polyjudge."""

import csv
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from polyjudge.records import GoodText


def sample_texts() -> tuple[GoodText, ...]:
    """Return the texts of the sample."""
    sources, languages = sample_table()
    return tuple(
        GoodText(id=category, text=text, language=tag, source=sources[category])
        for tag, row in languages.items()
        for category, text in row.items()
        if text
    )


@lru_cache(maxsize=1)
def sample_table() -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """Return the English sources by category, and by language tag the translation of each."""
    text = (files("polyjudge.calibration") / "facts" / "sample.tsv").read_text(encoding="utf-8")
    sources, *rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    del sources["tag"]
    return sources, {row.pop("tag"): row for row in rows}
