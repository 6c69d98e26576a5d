"""The page on which a run opens onto its items: counts by language, filters, and fifty items at a time."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from polyjudge.errors import DataError
from polyjudge.languages.table import LanguageTable
from polyjudge.text.display import one_line

from .items import ON_A_PAGE, SHOWS, Group, RunIndex, Show, ShownItem, State, shown_item
from .runs import RunEntry

_WORDS: Mapping[State, str] = {"passed": "passes", "failed": "does not pass", "judged": "", "unjudged": "no verdict"}
_MOST_GROUPS = 500
_LONGEST_NAME = 120


def items_page(run: RunEntry, index: RunIndex, query: Mapping[str, str], table: LanguageTable) -> dict[str, Any]:
    """Return what the template shows: the items that the query asks for, or one item."""
    values: dict[str, Any] = {"name": run.name, "title": one_line(run.name, 300), "alone": "row" in query, "pages": []}
    report = f"polyjudge report {shlex.quote(run.name)} --items ITEMS --format html --output report.html"
    values["with_texts"] = one_line(report, 500)
    if "row" in query:
        number = _number(query["row"], len(index))
        return {**values, "items": [_item(run, shown_item(number, index.row(number), table, alone=True), table)]}
    known: Mapping[str, Show] = {each: each for each in SHOWS}
    show = known.get(query.get("show", "all"))
    if show is None:
        raise DataError(f"show must be one of {', '.join(SHOWS)}.")
    group = _group_in(query, index)
    numbers = index.select(show, group)
    last = max(0, (len(numbers) - 1) // ON_A_PAGE)
    page = min(_number(query.get("page", "0"), 1_000_000_000), last)
    first = page * ON_A_PAGE
    chosen = [shown_item(number, index.row(number), table) for number in numbers[first : first + ON_A_PAGE]]
    return {
        **values,
        **_counts(run, index, table),
        "is_first": group is None and show == "all" and not page,
        "show": show,
        "shows": [(value, words) for value, words in SHOWS.items() if _is_useful(value, index)],
        "chosen": "" if group is None else str(index.groups[group].number),
        "found": _found(len(numbers), first, len(chosen)),
        "items": [_item(run, each, table) for each in chosen],
        "pages": _pages(run, show, query.get("group", ""), page, last),
    }


def _number(text: str, below: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 12 and int(text) < max(below, 1)):
        raise DataError("No such row or page in this run.")
    return int(text)


def _group_in(query: Mapping[str, str], index: RunIndex) -> str | None:
    """Return the chosen group, None for all; addresses have its number, because its name may be any text."""
    given = query.get("group", "")
    if not given:
        return None
    number = _number(given, len(index.groups))
    return next(name for name, group in index.groups.items() if group.number == number)


def _is_useful(show: Show, index: RunIndex) -> bool:
    if show == "lowest":
        return any(group.mean.count for group in index.groups.values())
    return show == "all" or any(group.states[show] for group in index.groups.values())


def _counts(run: RunEntry, index: RunIndex, table: LanguageTable) -> dict[str, Any]:
    """Return the counts over all items and by group."""
    states = sum((group.states for group in index.groups.values()), Counter[State]())
    has_rule, has_scores = bool(states["passed"] + states["failed"]), _is_useful("lowest", index)
    shown = sorted(index.groups.items(), key=lambda each: (each[0] == "", _title(run, each[0], table).casefold()))
    unjudged = states["unjudged"]
    parts = [f"{len(index):,} items", f"{len(index) - unjudged:,} judged", f"{unjudged:,} without a verdict"]
    parts += [f"{states['passed']:,} pass", f"{states['failed']:,} do not"] if has_rule else []
    columns = ["Items", *(["Pass", "Do not pass"] if has_rule else []), "No verdict"]
    return {
        "summary": f"{', '.join(parts)}.",
        "unreadable": f"{index.unreadable:,}" if index.unreadable else "",
        "group_word": "model" if run.kind == "vocabulary" else "language",
        "columns": [*columns, *(["Mean score", "95% interval"] if has_scores else [])],
        "groups": [
            {
                "title": _title(run, name, table),
                "address": _address(run, group=str(group.number)),
                "cells": _cells(group, has_rule=has_rule, has_scores=has_scores),
            }
            for name, group in shown[:_MOST_GROUPS]
        ],
        "choices": [(str(group.number), _title(run, name, table)) for name, group in shown[:_MOST_GROUPS]],
    }


def _cells(group: Group, *, has_rule: bool, has_scores: bool) -> Sequence[str]:
    states, interval = group.states, group.mean.interval()
    cells = [states.total(), *([states["passed"], states["failed"]] if has_rule else []), states["unjudged"]]
    mean = f"{group.mean.mean:.2f}" if group.mean.count else "–"
    between = "–" if interval is None else f"{interval.low:.2f} to {interval.high:.2f}"
    return [*(f"{cell:,}" for cell in cells), *([mean, between] if has_scores else [])]


def _title(run: RunEntry, group: str, table: LanguageTable) -> str:
    if run.kind == "vocabulary":
        return one_line(group, _LONGEST_NAME) or "no model"
    found = table.find(group) if group else None
    return f"{found.name} ({one_line(group, 40)})" if found else one_line(group, _LONGEST_NAME) or "no language"


def _item(run: RunEntry, shown: ShownItem, table: LanguageTable) -> dict[str, Any]:
    words = [_WORDS[shown.state], f"score {shown.score}" if shown.score else ""]
    address = _address(run, row=str(shown.number))
    group = _title(run, shown.group, table)
    return {"shown": shown, "words": " · ".join(filter(None, words)), "address": address, "group": group}


def _address(run: RunEntry, **more: str) -> str:
    given = {name: value for name, value in {"name": run.name, **more}.items() if value}
    return f"run?{urlencode(given, errors='surrogatepass')}"


def _found(count: int, first: int, shown: int) -> str:
    if not count:
        return "No items."
    return f"{count:,} {'item' if count == 1 else 'items'}, {first + 1:,} to {first + shown:,} on this page."


def _pages(run: RunEntry, show: str, group: str, page: int, last: int) -> list[tuple[str, str]]:
    """Return the links to other pages; the address of the shown one is empty."""
    if not last:
        return []

    def link(number: int) -> str:
        return _address(run, show=show, group=group, page=str(number))

    near = sorted({0, last, *range(max(0, page - 2), min(last, page + 2) + 1)})
    links = [(f"{number + 1:,}", "" if number == page else link(number)) for number in near]
    before = [("Previous", link(page - 1))] if page else []
    return [*before, *links, *([("Next", link(page + 1))] if page < last else [])]
