"""Pages that list runs, show one as a report, or compare two."""

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aiohttp import web

from polyjudge.clock import utc_now
from polyjudge.errors import ConfigError
from polyjudge.formats.scored_runs import read_run
from polyjudge.languages.table import LanguageTable
from polyjudge.records.comparison import ComparisonOptions
from polyjudge.reports.blocks import html_page
from polyjudge.reports.run_page import RUN_FORMATS
from polyjudge.reports.run_rows import RunRows
from polyjudge.reports.runs import RunReport, Selection
from polyjudge.reports.translation_formats import FORMATS
from polyjudge.reports.wording import Commands
from polyjudge.text.display import one_line

from .item_list import items_page
from .items import RunIndex
from .runs import RunEntry, find_run, find_runs, report_of, review_blocks, summary_of
from .server import Site, answer, document, page


def report_page(run: RunEntry, table: LanguageTable) -> Iterator[str]:
    """Yield the report on a run, without commands: their paths would be those of another folder."""
    if run.kind == "translation":
        return FORMATS["html"](report_of(run, table))
    report = RunReport(RunRows(run.path), table, timestamp=utc_now(), selection=Selection(all_rows=True))
    report.path = Path(run.name)  # shown by its name in the list
    return RUN_FORMATS["html"](report, Commands())


def comparison_page(before: RunEntry, after: RunEntry, table: LanguageTable) -> Iterator[str]:
    """Yield a page about what changed between two runs; differing judges are noted, not refused."""
    # here, because they load numpy, which the list of runs does not need
    from polyjudge.reports.comparison import compare_runs, comparison_notes
    from polyjudge.reports.comparison_report import comparison_html
    from polyjudge.verdicts.comparison import compare_gate

    paths = _compared(before, after)
    first, second = (  # shown by their names in the list
        replace(read_run(path), path=Path(run.name)) for path, run in zip(paths, (before, after), strict=True)
    )
    comparison = compare_runs(first, second, ComparisonOptions(), tuple(comparison_notes(first, second)))
    return comparison_html(comparison, compare_gate(comparison, None, None), table)


def _compared(before: RunEntry, after: RunEntry) -> tuple[Path, Path]:
    """Return the files with scores of items; for two translators, those of the same kind of judge."""
    for run in (before, after):
        if run.kind in ("vocabulary", "transcript"):
            raise ConfigError(f"{run.name} cannot be compared here. Select results of score, or of a translator.")
    first, second = _scores(before), _scores(after)
    if "score" in (before.kind, after.kind):
        return next(iter(first.values())), next(iter(second.values()))
    for judge in first:
        if judge in second:
            return first[judge], second[judge]
    judges = f"{before.name} has a {' and '.join(first)} judge, {after.name} a {' and '.join(second)} judge"
    raise ConfigError(f"{judges}. Only scores of the same kind of judge can be compared.")


def _scores(run: RunEntry) -> dict[str, Path]:
    """Return the files with scores by the kind of judge, the full one first."""
    if run.kind == "score":
        return {"": run.path}
    found = {judge: run.scores[judge] for judge in ("full", "quick") if judge in run.scores}
    if not found:
        raise ConfigError(f"{run.name} has no judge scores, so there is nothing to compare.")
    return found


_MOST_SUMMARIES = 500
_MOST_INDEXES = 4


@dataclass(frozen=True, slots=True)
class ViewSite:
    """The pages about the runs under a folder, and their requests."""

    folder: Path
    table: LanguageTable
    _summaries: dict[Any, dict[str, Any]] = field(default_factory=dict[Any, dict[str, Any]])
    """Summaries by the stamps of their files."""
    _indexes: dict[Any, RunIndex] = field(default_factory=dict[Any, RunIndex])
    """Where the rows of the runs that were opened last are, by the stamps of their files."""
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    def site(self) -> Site:
        """Return the routes, under a new secret."""
        return Site(
            [
                ("GET", "", self.first_page),
                ("GET", "summary", self.summary),
                ("GET", "run", self.run),
                ("GET", "report", self.report),
                ("GET", "compare", self.compare),
            ]
        )

    async def first_page(self, request: web.Request) -> web.Response:
        """Return the list of runs; the page requests their summaries one after the other."""
        del request
        found = await asyncio.to_thread(find_runs, self.folder)
        rows = [{"name": run.name, "shown": one_line(run.name, 300), "what": _what(run)} for run in found.runs]
        folder = os.fsencode(self.folder).decode(errors="replace")
        return page("view.html", {"folder": one_line(folder, 200), "runs": rows, "notes": found.notes})

    async def summary(self, request: web.Request) -> web.Response:
        """Return the summary of a run, computed again only if its files have changed."""
        run = await self._run(request, "name")
        async with self._one_at_a_time:
            stamp = run.stamp  # before the files are read: a file that changes then is read again next time
            if stamp not in self._summaries:
                if len(self._summaries) >= _MOST_SUMMARIES:
                    self._summaries.clear()
                self._summaries[stamp] = await asyncio.to_thread(summary_of, run, self.table)
            return answer(self._summaries[stamp])

    async def run(self, request: web.Request) -> web.Response:
        """Return one run: a translator's as a report, others as their items."""
        run = await self._run(request, "name")
        if run.kind == "translation":
            return await self._document(lambda: report_page(run, self.table))
        if run.kind == "transcript":
            return await self._document(lambda: html_page(f"Review in {run.name}", review_blocks(run, self.folder)))
        async with self._one_at_a_time:
            values = await asyncio.to_thread(lambda: items_page(run, self._index(run), request.query, self.table))
        return page("items.html", values)

    async def report(self, request: web.Request) -> web.Response:
        """Return the report on one run."""
        run = await self._run(request, "name")
        return await self._document(lambda: report_page(run, self.table))

    def _index(self, run: RunEntry) -> RunIndex:
        stamp = run.stamp  # before the file is read: one that changes then is read again next time
        index = self._indexes.pop(stamp, None) or RunIndex(run.path)
        self._indexes[stamp] = index
        while len(self._indexes) > _MOST_INDEXES:
            self._indexes.pop(next(iter(self._indexes)))
        return index

    async def compare(self, request: web.Request) -> web.Response:
        """Return what changed between two runs."""
        first, second = await self._run(request, "a"), await self._run(request, "b")
        return await self._document(lambda: comparison_page(first, second, self.table))

    async def _run(self, request: web.Request, key: str) -> RunEntry:
        return await asyncio.to_thread(find_run, self.folder, request.query.get(key, ""))

    async def _document(self, make: Callable[[], Iterator[str]]) -> web.Response:
        async with self._one_at_a_time:
            return document([await asyncio.to_thread(lambda: "".join(make()))])


def _what(run: RunEntry) -> str:
    if run.kind != "translation":
        return {"score": "scores", "vocabulary": "words", "transcript": "review of a session"}[run.kind]
    judges = " and ".join(run.scores)
    return f"translator, judged: {judges}" if judges else "translator, not judged"
