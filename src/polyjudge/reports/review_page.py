"""Build the page of a review: the answer, counts that add up, and every finding by language and file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import SEVERITIES, Finding, Severity
from polyjudge.records.messages import Review, ReviewedLanguage, ReviewFinding
from polyjudge.text.display import one_line

from .blocks import fill_page
from .page_items import cut, marked
from .review_wording import (
    SEVERITY_NAMES,
    Names,
    by_message,
    fails_at,
    headline,
    key_beside_source,
    kind_words,
    language_table,
    totals,
    worst_first,
)
from .wording import counted, plain

MOST_MESSAGES = 2_000
"""Messages with findings on one page; a browser needs seconds for more."""
_MOST_LISTED = 200
_STYLES: Mapping[Severity, tuple[str, str]] = {
    "fail": ("fail", "fail"),
    "warn": ("unreliable", "unreliable"),
    "info": ("checked", "scored"),
}
"""The colour and the icon of each severity."""
_MARKS: Mapping[Severity, str] = {"fail": "critical", "warn": "major", "info": "minor"}
_MEANINGS: Mapping[Severity, str] = {
    "fail": "Fix this message before it is merged.",
    "warn": "A person who reads the language should look at it.",
    "info": "For information.",
}


def review_page(review: Review, table: LanguageTable) -> Iterator[str]:
    """Render a review as a page, of which only the filter needs a script."""
    groups = by_message(worst_first(review.findings))
    sentence = headline(review)
    content: dict[str, Any] = {
        "sentence_spans": sentence,
        "facts": list(_facts(review, table)),
        "parts": _parts(review, groups),
        "languages": [_language_row(row, place, table) for place, row in enumerate(review.languages)],
        "columns": language_table(review, ()).header[1:],
        "figures": [row[1:] for row in language_table(review, review.languages).rows],
        "total": totals(review),
        "shown_tags": {group[0].language for group in groups[:MOST_MESSAGES]},
        "sections": list(_sections(groups[:MOST_MESSAGES], review, table)),
        "left_out": sum(map(len, groups[MOST_MESSAGES:])),
        "shown": sum(map(len, groups[:MOST_MESSAGES])),
        "severities": [(each, SEVERITY_NAMES[each], *_STYLES[each], _MEANINGS[each]) for each in SEVERITIES],
        "unjudged": review.unjudged[:_MOST_LISTED],
        "more_unjudged": max(0, len(review.unjudged) - _MOST_LISTED),
        "skipped": review.skipped[:_MOST_LISTED],
        "more_skipped": max(0, len(review.skipped) - _MOST_LISTED),
        "accepted": [(f"{each.file}:{each.line}", kind_words(each), each) for each in review.accepted[:_MOST_LISTED]],
        "accepted_count": len(review.accepted),
        "trust": review.trust,
        "has_judge": bool(review.judge),
    }
    title = one_line(f"{plain(sentence)} Localisation review", 200)
    styles = ("page.css", "report.css", "review.css")
    return fill_page("review.html", title, content, styles=styles, script="review.js", more_style=_widths(content))


def _facts(review: Review, table: LanguageTable) -> Iterator[tuple[str, str]]:
    total, source = totals(review), table.find(review.source_language) if review.source_language else None
    yield "Messages", f"{counted(total.messages, 'message')} in {counted(total.files, 'file')}"
    if total.untranslated:
        yield "Missing", f"{counted(total.untranslated, 'message')} without a translation"
    if review.source_language:
        yield "Source", source.name if source else review.source_language
    yield "Since", review.since or "all messages"
    yield "Judge", review.judge or "none: only the checks looked"


def _parts(review: Review, groups: Sequence[Sequence[ReviewFinding]]) -> list[dict[str, Any]]:
    """Return the reviewed messages by their worst finding, good ones first; empty if the counts do not add up."""
    worst = Counter(group[0].severity for group in groups if group[0].key)
    clean = totals(review).messages - sum(worst.values())
    if clean < 0 or not totals(review).messages:
        return []
    style = "pass" if review.judge and not totals(review).unjudged else "checked"
    meaning = "Checks and judge found nothing." if style == "pass" else "The checks found nothing."
    found = [{"name": "no finding", "style": style, "icon": style, "count": clean, "meaning": meaning}]
    for severity in reversed(SEVERITIES):
        colour, icon = _STYLES[severity]
        name = SEVERITY_NAMES[severity]
        part = {"name": name, "style": colour, "icon": icon, "count": worst[severity], "meaning": _MEANINGS[severity]}
        found.append(part)
    return [part for part in found if part["count"]]


def _widths(content: Mapping[str, Any]) -> str:
    return "".join(
        f".segs .n{count}{{flex-grow:{count}}}" for count in sorted({each["count"] for each in content["parts"]})
    )


def _language_row(row: ReviewedLanguage, place: int, table: LanguageTable) -> dict[str, Any]:
    known = table.find(row.language) if row.language else None
    return {
        "tag": row.language,
        "name": one_line(row.name or row.language or "no language", 100),
        "lang": known.tag if known else "",
        "native": known.native_name if known and known.native_name != row.name else "",
        "direction": known.direction if known else "auto",
        "anchor": f"language-{place}",
        "has_findings": bool(row.fails or row.warnings or row.infos),
    }


def _sections(
    groups: Sequence[Sequence[ReviewFinding]], review: Review, table: LanguageTable
) -> Iterator[dict[str, Any]]:
    """Yield each language with findings, its files and their messages; the worst come first."""
    names, places = Names(review), {row.language: place for place, row in enumerate(review.languages)}
    found: dict[str, dict[str, list[Sequence[ReviewFinding]]]] = {}
    for group in groups:
        found.setdefault(group[0].language, {}).setdefault(group[0].file, []).append(group)
    for number, (tag, files) in enumerate(found.items()):
        known = table.find(tag) if tag else None
        counts = Counter(each.severity for file in files.values() for group in file for each in group)
        yield {
            "anchor": f"language-{places[tag]}" if tag in places else f"other-{number}",
            "tag": tag,
            "name": names[tag],
            "lang": known.tag if known else "",
            "native": known.native_name if known else "",
            "direction": known.direction if known else "auto",
            "counts": [(SEVERITY_NAMES[each], *_STYLES[each], counts[each]) for each in SEVERITIES if counts[each]],
            "files": [(file, [_message(each, review, table) for each in files[file]]) for file in sorted(files)],
        }


def _message(group: Sequence[ReviewFinding], review: Review, table: LanguageTable) -> dict[str, Any]:
    first = group[0]
    known = table.find(first.language) if first.language else None
    source = table.find(review.source_language) if review.source_language else None
    findings = [Finding(each.kind, each.severity, each.message, each.start, each.end) for each in group]
    return {
        "line": first.line,
        "key": key_beside_source(first),
        "style": _STYLES[first.severity][0],
        "severities": " ".join(dict.fromkeys(each.severity for each in group)),
        "bad": fails_at(review, first.severity),
        "source": cut(first.source),
        "source_lang": source.tag if source else "",
        "source_direction": source.direction if source else "auto",
        "pieces": marked(first.translation, findings) if first.translation.strip() else [],
        "has_texts": bool(first.source.strip() or first.translation.strip() or first.key),
        "lang": known.tag if known else "",
        "direction": known.direction if known else "auto",
        "findings": [(_MARKS[each.severity], SEVERITY_NAMES[each.severity], kind_words(each), each) for each in group],
    }
