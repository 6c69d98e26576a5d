"""Build the page of a comparison: the answer, the items that decide, every language, and what cannot be shown."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.comparison import Change, Comparison, ItemChange, LanguageChange, Ruling
from polyjudge.store.trust_cards import trust_in
from polyjudge.text.difference import difference
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import OFFLINE, Status

from .blocks import fill_page
from .calibration import language_title
from .charts import difference_axis, difference_dots, difference_limit
from .comparison_report import comparison_sections, gate_result
from .comparison_summary import (
    CHANGE_WORDS,
    comparison_advice,
    comparison_headline,
    comparison_limits,
    difference_text,
    digits_of,
    pooled_text,
    question,
)
from .page import STYLES, anchor
from .page_items import LONGEST_TEXT, cut
from .tallies import judge_title
from .translation_summary import trust_words
from .wording import counted, listed, plain

_LONGEST_NAME = 100
_LONGEST_REASON = 600
_MOST_ALIKE = 0.4
"""Texts with a smaller common share are different throughout: their differences are not marked."""
_STYLES: dict[Change, str] = {"worse": "worse", "no change seen": "same", "too few items": "few", "better": "better"}
_MEANINGS: dict[Change, str] = {
    "worse": "B scores significantly lower.",
    "no change seen": "The interval includes no change. This is not “equal”.",
    "too few items": "No verdict can be given with so few items.",
    "better": "B scores significantly higher.",
}


def comparison_page(comparison: Comparison, ruling: Ruling, table: LanguageTable) -> Iterator[str]:
    """Render the page."""
    rows = comparison.languages if len(comparison.languages) > 1 else ()
    counts: Counter[Change] = Counter(row.score.verdict for row in rows)
    headline = comparison_headline(comparison)
    content: dict[str, Any] = {
        "question": question(comparison),
        "names": (comparison.name_before, comparison.name_after),
        "sentence_spans": headline,
        "advice": list(comparison_advice(comparison, table)),
        "facts": list(_facts(comparison)),
        "parts": [
            (verdict, CHANGE_WORDS[verdict], _STYLES[verdict], counts[verdict], _MEANINGS[verdict])
            for verdict in _STYLES
            if counts[verdict]
        ],
        "sum_note": _sum_note(comparison, counts),
        "gate": gate_result(comparison, ruling) if ruling.fail_on is not None or ruling.exit_code else "",
        "changes": list(_changes(comparison, table)),
        "rows": [_row(comparison, row, table, place) for place, row in enumerate(_sorted(rows, table))],
        "axis": difference_axis(_limit(comparison)),
        "overall": _row(comparison, comparison.overall, table, 0),
        "has_status": any(row.status_before or row.status_after for row in rows),
        "limits": [*comparison_limits(comparison, table), *_judge_limits(comparison)],
        "sections": list(comparison_sections(comparison, table)),
        "status_styles": STYLES,
    }
    style = "".join(f".segs .n{count}{{flex-grow:{count}}}" for count in sorted(set(counts.values())))
    title = one_line(f"{plain(headline)} {comparison.name_before} and {comparison.name_after} compared", 200)
    styles = ("page.css", "report.css", "compare.css")
    return fill_page("compare.html", title, content, styles=styles, more_style=style)


def _facts(comparison: Comparison) -> Iterator[tuple[str, str]]:
    counts, options = comparison.overall.counts, comparison.options
    languages = f" in {counted(len(comparison.languages), 'language')}" if len(comparison.languages) > 1 else ""
    clusters = f", in {counted(counts.clusters, 'cluster')}" if counts.clusters != counts.paired else ""
    yield "Pairs", f"{counted(counts.paired, 'item')}{languages} with a score in both runs{clusters}"
    unpaired = {
        "newly unjudged": counts.newly_unjudged,
        "newly judged": counts.newly_judged,
        "unjudged in both": counts.unjudged,
        "removed": counts.missing,
        "new": counts.added,
    }
    others = [f"{number:,} {name}" for name, number in unpaired.items() if number]
    if others:
        yield "Not paired", ", ".join(others)
    yield "A", comparison.before
    yield "B", comparison.after
    judges = [_judge_text(each) for each in (comparison.judges_before, comparison.judges_after)]
    yield "Judge", f"{judges[0]} for both" if judges[0] == judges[1] else f"{judges[0]} for A, {judges[1]} for B"
    tests = len(comparison.languages)
    adjusted = f", adjusted for {tests:,} languages" if tests > 1 else ""
    yield "Chance", f"paired permutation test at {options.alpha:.3g}{adjusted}; 95% intervals"
    for note in comparison.notes:
        yield "Note", one_line(note, _LONGEST_REASON)


def _judge_text(judges: Sequence[JudgeIdentity]) -> str:
    if not judges:
        return "not named"
    rubric = f", rubric {judges[0].rubric} {judges[0].rubric_fingerprint[:7]}" if judges[0].rubric else ""
    return f"{listed([judge_title(judge) for judge in judges])}{rubric}"


def _sum_note(comparison: Comparison, counts: Counter[Change]) -> str:
    if not counts:
        return ""
    total = counted(counts.total(), "language")
    added = " + ".join(f"{counts[verdict]:,}" for verdict in _STYLES if counts[verdict])
    return f"{added} = {total}. {pooled_text(comparison)}"


def _sorted(rows: Sequence[LanguageChange], table: LanguageTable) -> list[LanguageChange]:
    order: tuple[Change, ...] = ("worse", "better", "no change seen", "too few items")
    return sorted(
        rows, key=lambda row: (order.index(row.score.verdict), language_title(row.language, table).casefold())
    )


def _limit(comparison: Comparison) -> float:
    found = [row.score for row in (*comparison.languages, comparison.overall)]
    ends = [(each.difference.low, each.difference.high, each.difference.value, each.detectable) for each in found]
    return difference_limit([abs(value) for each in ends for value in each if value is not None])


def _row(comparison: Comparison, row: LanguageChange, table: LanguageTable, place: int) -> dict[str, Any]:
    """Return what the page shows of a language."""
    known = table.find(row.language) if row.language else None
    digits, score = digits_of(comparison), row.score
    name = known.name if known else one_line(row.language, _LONGEST_NAME) or "no language"
    value, _, interval = difference_text(score, digits).partition(" ")
    return {
        "name": name,
        "native": known.native_name if known else "",
        "tag": known.tag if known else "",
        "direction": known.direction if known else "auto",
        "anchor": anchor(row.language, place),
        "verdict": CHANGE_WORDS[score.verdict],
        "style": _STYLES[score.verdict],
        "plot": difference_dots(name, score, _limit(comparison)),
        "value": value,
        "number": "" if score.difference.value is None else f"{score.difference.value:.6g}",
        "interval": interval,
        "means": " → ".join("–" if mean is None else f"{mean:.{digits}f}" for mean in (score.before, score.after)),
        "statuses": _statuses(row),
        "items": row.counts.paired,
        "fell": row.counts.worse,
        "rose": row.counts.better,
        "by_chance": _is_by_chance(row),
    }


def _statuses(row: LanguageChange) -> list[Status | None]:
    """Return the status before and after; one if it is the same."""
    found: list[Any] = [status for status in (row.status_before, row.status_after) if status]
    return found[:1] if len(set(found)) == 1 else found


def _is_by_chance(row: LanguageChange) -> bool:
    """Return whether the interval excludes zero, but the adjusted test does not count it."""
    low, high = row.score.difference.low, row.score.difference.high
    excludes = low is not None and high is not None and (low > 0 or high < 0)
    return excludes and row.score.verdict == "no change seen"


def _changes(comparison: Comparison, table: LanguageTable) -> Iterator[dict[str, Any]]:
    """Yield the items that fell and rose, with the languages that got worse or better."""
    for kind, words, verb in (("worse", "What got worse", "fell"), ("better", "What got better", "rose")):
        items: Sequence[ItemChange] = getattr(comparison, kind)
        if not items:
            continue
        named = [row for row in comparison.languages if row.score.verdict == kind]
        languages = listed([language_title(row.language, table) for row in named])
        title = f"{words}: {languages}" if languages else f"The items that {verb} most"
        counts = comparison.overall.counts
        number = counts.worse if kind == "worse" else counts.better
        note = f"{number:,} of {counted(counts.paired, 'item')} {verb}."
        shown = f" The {len(items):,} that {verb} furthest:" if number > len(items) else ""
        yield {
            "anchor": kind,
            "title": title,
            "note": f"{note}{shown}",
            "items": [_item(item, table, is_fall=kind == "worse") for item in items],
        }


def _item(item: ItemChange, table: LanguageTable, *, is_fall: bool) -> dict[str, Any]:
    known = table.find(item.language) if item.language else None
    old, new = _pieces(item.text_before, item.text_after)
    reasons = {"A": item.reason_before, "B": item.reason_after}
    return {
        "id": one_line(item.id, _LONGEST_NAME),
        "language": known.name if known else one_line(item.language, _LONGEST_NAME),
        "tag": known.tag if known else "",
        "direction": known.direction if known else "auto",
        "before": "–" if item.before is None else f"{item.before:.4g}",
        "after": "–" if item.after is None else f"{item.after:.4g}",
        "is_fall": is_fall,
        "source": cut(item.source),
        "has_texts": bool(item.text_before or item.text_after),
        "old": old,
        "new": new,
        "reasons": [(name, one_line(text, _LONGEST_REASON)) for name, text in reasons.items() if text],
    }


_Pieces = list[tuple[str, bool]]
"""Pieces of a text, and whether the other text lacks them."""


def _pieces(old: str, new: str) -> tuple[_Pieces, _Pieces]:
    """Split two texts where they differ; long texts, and those with little in common, are not split."""
    if not old or not new or old == new or max(len(old), len(new)) > LONGEST_TEXT // 4:
        return [(cut(old), False)], [(cut(new), False)]
    found = difference(old, new)
    same = sum(len(text) for part, text in found.actual if part == "same")
    whole = "".join(text for _, text in found.actual)
    if len(whole) < len(new) or same < _MOST_ALIKE * max(len(old), len(new)):
        return [(cut(old), False)], [(cut(new), False)]
    return [(text, part != "same") for part, text in found.expected], [
        (text, part != "same") for part, text in found.actual
    ]


def _judge_limits(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Yield what the judge is known to miss."""
    judges = {judge_title(judge): judge for judge in (*comparison.judges_before, *comparison.judges_after)}
    for name, judge in judges.items():
        if judge.provider != OFFLINE:
            known, missed = trust_words(trust_in(judge))
            yield (
                "What the judge misses",
                f"{one_line(name, _LONGEST_NAME)}: {known} {missed} If B has more of it, this page does not show it.",
            )
