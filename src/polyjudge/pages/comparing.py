"""Two runs side by side, as a page."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.files.baselines import read_run
from polyjudge.languages import LanguageTable
from polyjudge.records.comparison import ComparisonOptions

from .runs import Run


def comparison_page(before: Run, after: Run, table: LanguageTable) -> Iterator[str]:
    """Yield a page on what changed from one run to the other; unlike judges are named, not refused."""
    # here, because they need numpy, and looking at a list of runs does not
    from polyjudge.reports.comparison import compare_runs
    from polyjudge.reports.comparison_formats import comparison_html
    from polyjudge.reports.comparison_rules import notes_on, rule

    paths = _compared(before, after)
    first, second = (  # people know them by these names
        replace(read_run(path), path=Path(run.name)) for path, run in zip(paths, (before, after), strict=True)
    )
    comparison = compare_runs(first, second, ComparisonOptions(), tuple(notes_on(first, second)))
    return comparison_html(comparison, rule(comparison, None, None), table)


def _compared(before: Run, after: Run) -> tuple[Path, Path]:
    """Return the files with scores of single items; of two translators those of the same kind of judge."""
    first, second = _scores(before), _scores(after)
    if "score" in (before.kind, after.kind):
        return next(iter(first.values())), next(iter(second.values()))
    for judge in first:
        if judge in second:
            return first[judge], second[judge]
    told = f"{before.name} has a {' and '.join(first)} judge, {after.name} a {' and '.join(second)} one"
    raise ConfigError(f"{told}: only scores of the same kind of judge can be compared")


def _scores(run: Run) -> dict[str, Path]:
    """Return the files with scores by the kind of judge, the full one first."""
    if run.kind == "score":
        return {"": run.path}
    found = {judge: run.scores[judge] for judge in ("full", "quick") if judge in run.scores}
    if not found:
        raise ConfigError(f"{run.name} has no judge scores, so there is nothing to compare")
    return found
