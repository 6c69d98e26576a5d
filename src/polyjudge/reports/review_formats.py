"""Render a review in each of its formats, and read one that was stored as JSON."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from msgspec import to_builtins

from polyjudge.errors import DataError
from polyjudge.files.json_lines import parse_data, readable_json
from polyjudge.files.ownership import own_fields
from polyjudge.files.text_files import read_text
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.records.codec import from_json
from polyjudge.records.messages import Review

from .review_comment import review_comment
from .review_page import review_page
from .review_programs import review_annotations, review_junit, review_sarif
from .review_text import review_text

_KIND = {"kind": "polyjudge localisation review"}


def review_json(review: Review) -> str:
    """Render a review as JSON, from which it can be read again."""
    return readable_json({**own_fields(), **_KIND, **to_builtins(review)}, indent=2) + "\n"


def read_review(path: Path) -> Review:
    """Read a review that was stored as JSON."""
    data = parse_data(read_text(path), path)
    if not isinstance(data, dict) or cast(dict[str, Any], data).get("kind") != _KIND["kind"]:
        raise DataError("not a review of localisation files in the format json", path=path)
    if cast(dict[str, Any], data).get("schemaVersion") != 1:
        raise DataError("a review of another version of polyjudge; review the files again", path=path)
    try:
        return from_json(Review, data)
    except DataError as error:
        raise DataError(f"not a usable review: {error}", path=path) from None


_Render = Callable[[Review, LanguageTable, str, int | None], str]
_RENDERERS: Mapping[str, _Render] = {
    "text": lambda review, table, name, width: "".join(review_text(review, width)),
    "json": lambda review, table, name, width: review_json(review),
    "sarif": lambda review, table, name, width: review_sarif(review),
    "github": lambda review, table, name, width: "".join(review_annotations(review)),
    "junit": lambda review, table, name, width: review_junit(review),
    "comment": lambda review, table, name, width: review_comment(review, table, name=name),
    "html": lambda review, table, name, width: "".join(review_page(review, table)),
}
REVIEW_FORMATS = tuple(_RENDERERS)


def render_review(review: Review, format: str, *, name: str = "", width: int | None = None) -> str:
    """Render a review in one of REVIEW_FORMATS.

    A comment has the `name` in its marker, which keeps several reviews of one pull request apart. Text is cut to `width`
    columns.
    """
    return _RENDERERS[format](review, language_table(), name, width)
