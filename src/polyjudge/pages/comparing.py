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
    from polyjudge.reports.comparison_rules import notes_on, rule, unlike

    if before.compared is None or after.compared is None:
        name = before.name if before.compared is None else after.name
        raise ConfigError(f"{name} has no judge scores, so there is nothing to compare")
    first = replace(read_run(before.compared), path=Path(before.name))  # people know it by that name
    second = replace(read_run(after.compared), path=Path(after.name))
    notes = (*unlike(first, second).values(), *notes_on(first, second))
    comparison = compare_runs(first, second, ComparisonOptions(), notes)
    return comparison_html(comparison, rule(comparison, None, None), table)
