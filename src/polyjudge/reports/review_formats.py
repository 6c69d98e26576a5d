"""Render a review in each of its formats, and read one that was stored as JSON."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import to_builtins

from polyjudge.errors import DataError
from polyjudge.files.json_lines import readable_json
from polyjudge.files.ownership import own_fields
from polyjudge.languages.table import language_table
from polyjudge.records.codec import from_json
from polyjudge.records.messages import Review

from .review_comment import review_comment
from .review_page import review_page
from .review_programs import review_annotations, review_junit, review_sarif
from .review_text import review_text
from .run_kinds import read_object

_KIND = {"kind": "polyjudge localisation review"}


def review_json(review: Review) -> str:
    """Render a review as JSON, from which it can be read again."""
    return readable_json({**own_fields(), **_KIND, **to_builtins(review)}, indent=2) + "\n"


def read_review(path: Path) -> Review:
    """Read a review that was stored as JSON."""
    found = read_object(path)
    if found.get("kind") != _KIND["kind"]:
        raise DataError("not a review of localisation files in the format json", path=path)
    if found.get("schemaVersion") != 1:
        raise DataError("a review of another version of polyjudge; review the files again", path=path)
    try:
        return from_json(Review, found)
    except DataError as error:
        raise DataError(f"not a usable review: {error}", path=path) from None


_PLAIN: Mapping[str, Callable[[Review], str]] = {
    "json": review_json,
    "sarif": review_sarif,
    "github": lambda review: "".join(review_annotations(review)),
    "junit": review_junit,
    "html": lambda review: "".join(review_page(review, language_table())),
}
REVIEW_FORMATS = ("text", *_PLAIN, "comment")


def render_review(review: Review, format: str, *, name: str = "", width: int | None = None) -> str:
    """Render a review in one of REVIEW_FORMATS.

    The marker of a comment has the `name`, which keeps several reviews of one pull request apart. With a `width`, text
    fits that many columns.
    """
    if format == "text":
        return "".join(review_text(review, width))
    if format == "comment":
        return review_comment(review, language_table(), name=name)
    return _PLAIN[format](review)
