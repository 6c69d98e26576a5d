"""Show a record in a notebook, and turn it into a frame.

Both are methods of a record, because notebooks ask the object itself. What is shown is the work of `reports.notebook`,
which is loaded when a notebook asks: records know no layer above them.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from polyjudge.errors import MissingExtraError

FrameLibrary = Literal["pandas", "polars"]
_LIBRARIES: tuple[FrameLibrary, ...] = ("pandas", "polars")
_REPORTS = "polyjudge.reports.notebook"


def as_html(record: object, **more: object) -> str:
    """Return a short HTML summary of this record, for Jupyter."""
    return import_module(_REPORTS).html_of(record, **more)


def as_frame(record: object, library: FrameLibrary | None = None) -> Any:
    """Return a pandas or polars frame with one row for each language; `library` chooses if both are installed."""
    return frame_of(import_module(_REPORTS).rows_of(record), library)


def frame_of(rows: Sequence[Mapping[str, Any]], library: FrameLibrary | None = None) -> Any:
    """Return rows as a frame of pandas or polars, whichever is installed; pandas if both are."""
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    for each in _LIBRARIES if library is None else (library,):
        if find_spec(each) is not None:
            # Polars would otherwise refuse a column with whole numbers first and others later.
            options = {"strict": False} if each == "polars" else {}
            return import_module(each).DataFrame(columns, **options)
    raise MissingExtraError(f"to_frame needs {library or 'pandas or polars'}. Install it with pip.")
