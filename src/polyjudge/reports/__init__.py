"""From finished runs to pages: numbers first, then one file a format."""

from collections.abc import Callable, Iterator

from .json_report import json_report
from .junit import junit_xml
from .markdown import markdown
from .plain_text import plain_text, plain_text_scorecard
from .report import FamilyRow, Report
from .verdicts import STATUSES, Verdict, VerdictMaker, is_enough

FORMATS: dict[str, Callable[[Report], Iterator[str]]] = {
    "markdown": markdown,
    "text": plain_text,
    "json": json_report,
}

__all__ = [
    "FORMATS",
    "STATUSES",
    "FamilyRow",
    "Report",
    "Verdict",
    "VerdictMaker",
    "is_enough",
    "junit_xml",
    "plain_text_scorecard",
]
