"""Say in sentences what a comparison found: the headline, what to do, and what it cannot show."""

from collections import Counter
from collections.abc import Iterator, Sequence

from polyjudge.languages.table import LanguageTable
from polyjudge.records.comparison import Change, Comparison, Difference, LanguageChange

from .calibration import language_title
from .wording import Span, counted, figure_words, listed, units

CHANGE_WORDS: dict[Change, str] = {
    "worse": "WORSE",
    "no change seen": "CANNOT TELL",
    "too few items": "TOO FEW ITEMS",
    "better": "BETTER",
}
_UNKNOWN: tuple[Change, ...] = ("no change seen", "too few items")


def question(comparison: Comparison) -> str:
    """Return the question that a comparison answers."""
    return f"Should B ({comparison.name_after}) replace A ({comparison.name_before})?"


def comparison_headline(comparison: Comparison) -> list[Span]:
    """Return the answer in one sentence."""
    if len(comparison.languages) < 2:
        return _overall_headline(comparison)
    counts = Counter(row.score.verdict for row in comparison.languages)
    total, better, worse = len(comparison.languages), counts["better"], counts["worse"]
    unknown = total - better - worse
    if not better and not worse:
        return _no_language_headline(comparison)
    if unknown:
        open_part: list[Span] = [("; ", ""), (f"in {unknown:,} this run cannot tell", "open"), (".", "")]
    else:
        open_part = [(".", "")]
    risen: Span = (f"better in {'all ' if better == total else ''}{counted(better, 'language')}", "good")
    fallen: Span = (f"worse in {'all ' if worse == total else ''}{worse:,}", "bad")
    if better and worse:
        return [("Not everywhere. B is ", ""), risen, (", ", ""), fallen, *open_part]
    if worse:
        return [("No. B is ", ""), (f"{fallen[0]} {units(worse, 'language')}", "bad"), *open_part]
    if unknown:
        return [("B is ", ""), risen, (" and worse in none", ""), *open_part]
    return [("Yes. B is ", ""), risen, (".", "")]


def _overall_headline(comparison: Comparison) -> list[Span]:
    found, counts = comparison.overall.score, comparison.overall.counts
    size = f", by {difference_text(found, digits_of(comparison))}"
    items = f", over {counted(counts.paired, 'item')}."
    if found.verdict == "better":
        return [("Yes. ", ""), ("B is better", "good"), (f"{size}{items}", "")]
    if found.verdict == "worse":
        return [("No. ", ""), ("B is worse", "bad"), (f"{size}{items}", "")]
    if found.verdict == "no change seen":
        return [("Not known. ", ""), ("This run cannot tell", "open"), (f": the difference is {size[5:]}{items}", "")]
    if not counts.paired:
        return [("Not known. ", ""), ("No item has a score in both runs", "open"), (".", "")]
    return [("Not known. ", ""), ("There are too few items to tell", "open"), (f": {_needed(comparison)}.", "")]


def _no_language_headline(comparison: Comparison) -> list[Span]:
    """Return the answer where no language alone shows a change: that over all languages."""
    found, total = comparison.languages_alike, counted(len(comparison.languages), "language")
    size = difference_text(found, digits_of(comparison))
    alone = f", by {size}; no language alone shows it."
    if found.verdict == "better":
        return [("Yes, over all languages: ", ""), ("B is better", "good"), (alone, "")]
    if found.verdict == "worse":
        return [("No. Over all languages ", ""), ("B is worse", "bad"), (alone, "")]
    if found.verdict == "too few items":
        clusters = [row.counts.clusters for row in comparison.languages]
        few = f"There are too few items to tell in any of {total}"
        return [("Not known. ", ""), (few, "open"), (f": {_needed(comparison, clusters)}.", "")]
    return [("Not known. ", ""), (f"This run cannot tell in any of {total}", "open"), (", nor over all of them.", "")]


def _needed(comparison: Comparison, counts: Sequence[int] = ()) -> str:
    """Say how many items a verdict needs, and how many there are."""
    overall = comparison.overall.counts
    plural = "items" if overall.clusters == overall.paired else "clusters"
    low, high = min(counts, default=overall.clusters), max(counts, default=overall.clusters)
    have = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    language = " a language" if counts else ""
    return f"{needed_text(comparison, f'{plural}{language}')}, and there {'is' if high == 1 else 'are'} {have}"


def needed_text(comparison: Comparison, unit: str) -> str:
    """Say how many items or clusters a verdict needs, and how many with named documents if they are not named."""
    least, needed = comparison.clusters_with_documents, comparison.clusters_needed
    fewer = f" ({least:,} if their documents are named, or if they are independent)" if needed > least else ""
    return f"{needed:,} {unit} are needed{fewer}"


def comparison_advice(comparison: Comparison, table: LanguageTable) -> Iterator[str]:
    """Yield what to do, in a sentence for each group of languages."""
    rows = comparison.languages
    yield from _if_independent(comparison)
    if len(rows) < 2:
        return
    named = {verdict: _names(rows, (verdict,), table) for verdict in ("better", "worse")}
    unknown = _names(rows, _UNKNOWN, table)
    if named["better"]:
        yield f"Switch to B for {listed(named['better'])}."
    if named["worse"]:
        falls = [
            row for row in rows if row.score.verdict == "worse" and (row.status_before, row.status_after) in _FALLS
        ]
        fallen = listed([language_title(row.language, table) for row in falls])
        if len(falls) == len(named["worse"]):
            fallen = "it" if len(falls) == 1 else "they"
        note = f": {fallen} {'falls' if len(falls) == 1 else 'fall'} from PASS to FAIL" if falls else ""
        yield f"Keep A for {listed(named['worse'])}{note}."
    if unknown and len(unknown) < len(rows):
        others = f"the other {len(unknown):,}" if len(unknown) > 1 else unknown[0]
        yield f"For {others}, no difference between A and B is shown."


def _if_independent(comparison: Comparison) -> Iterator[str]:
    """Yield what could be said if no two items were of one document, and how to say that they are not."""
    found = comparison.if_independent
    if found is None:
        return
    digits = digits_of(comparison)
    size = f"{difference_text(found, digits)}, p = {found.p:.2g}"
    said = (
        f"B would be {found.verdict} by {size}" if found.verdict in ("better", "worse") else f"no change seen, {size}"
    )
    finds = (
        ""
        if found.detectable is None
        else f"; a change of {found.detectable:.{digits}f} would be found in four of five cases"
    )
    yield (
        f"If no two items are of one document (separate questions, say), {said}{finds}. If that is so, set cluster to "
        "none; else name the column of documents."
    )


_FALLS = (("PASS", "FAIL"), ("CHECKED", "FAIL"))


def _names(rows: Sequence[LanguageChange], verdicts: Sequence[Change], table: LanguageTable) -> list[str]:
    return sorted(language_title(row.language, table) for row in rows if row.score.verdict in verdicts)


def pooled_text(comparison: Comparison) -> str:
    """Return what was found over all languages, each with the same weight; empty for fewer than two."""
    found = comparison.languages_alike
    if len(comparison.languages) < 2 or found.difference.value is None:
        return ""
    size = difference_text(found, digits_of(comparison))
    words = {"better": f"B is better by {size}", "worse": f"B is worse by {size}"}
    cannot = f"this run cannot tell, {size}"
    if found.verdict == "too few items":
        cannot = f"too few items to tell, {size}"
    return f"Over all languages, each with the same weight: {words.get(found.verdict, cannot)}."


def comparison_limits(comparison: Comparison, table: LanguageTable) -> Iterator[tuple[str, str]]:
    """Yield what the comparison cannot show: a title and an explanation each."""
    rows = comparison.languages or (comparison.overall,)
    yield from _unseen(comparison, rows)
    few = [row for row in rows if row.score.verdict == "too few items" and row.counts.paired]
    if few:
        names = listed([language_title(row.language, table) for row in few])
        clusters = [row.counts.clusters for row in few] if comparison.languages else ()
        yield "Too few items", f"{names}: {_needed(comparison, clusters)}."
    unreliable = [language_title(row.language, table) for row in comparison.languages if row.unreliable]
    if unreliable:
        text = (
            f"By its trust card, the judge is unreliable in {listed(unreliable)}. A difference there may be an error "
            "of the judge."
        )
        yield "Where the judge is not reliable", text
    changes = Counter((row.status_before, row.status_after) for row in rows if row.status_before and row.status_after)
    if changes:
        moved = [f"{count:,} from {was} to {now}" for (was, now), count in sorted(changes.items()) if was != now]
        kept = sum(count for (was, now), count in changes.items() if was == now)
        moves = f"Of {counted(changes.total(), 'language')}, {listed([*moved, f'{kept:,} keep their status'])}."
        yield (
            "Status and score can differ",
            f"The status is based on the share of items that pass, the difference on the mean score. {moves}",
        )


def _unseen(comparison: Comparison, rows: Sequence[LanguageChange]) -> Iterator[tuple[str, str]]:
    """Yield which changes mostly go unseen with so many items."""
    sizes = [row.score.detectable for row in rows if row.score.detectable is not None]
    if not sizes:
        return
    items = [row.counts.clusters for row in rows if row.score.detectable is not None]
    digits = digits_of(comparison)
    low, high = f"{min(sizes):.{digits}f}", f"{max(sizes):.{digits}f}"
    span = low if low == high else f"{low} to {high}"
    few, most = min(items), max(items)
    language = " a language" if comparison.languages else ""
    number = f"{few:,}" if few == most else f"{few:,} to {most:,}"
    unit = "items" if all(row.counts.clusters == row.counts.paired for row in rows) else "clusters"
    text = (
        f"With {number} {unit}{language} a change of {span} is detected in four of five cases. A smaller change is "
        "usually not detected. Four times as many items would halve the detectable change."
    )
    yield "“Cannot tell” is not “equal”", text


def digits_of(comparison: Comparison) -> int:
    """Return the number of digits of scores: more on a scale from 0 to 1."""
    means = (comparison.overall.score.before, comparison.overall.score.after)
    return 2 if any(abs(mean) > 1 for mean in means if mean is not None) else 3


def difference_text(found: Difference, digits: int, *, percent: bool = False) -> str:
    """Return a difference with its interval; a difference of shares is in percentage points."""
    factor, unit = (100, " points") if percent else (1, "")
    return figure_words(found.difference, f"+.{digits}f", factor=factor, unit=unit)
