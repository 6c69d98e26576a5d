"""From finished runs to pages: numbers first, then one file a format."""

from collections.abc import Callable, Iterator

from .blocks import Block, Heading, Lines, Table
from .json_report import json_report
from .junit import junit_xml
from .markdown import markdown
from .plain_text import plain_text
from .report import FamilyRow, Report
from .translation_blocks import translation_blocks, translation_scorecard
from .verdicts import STATUSES, Verdict, VerdictMaker, is_enough
from .vocabulary import VocabularyReport
from .vocabulary_blocks import vocabulary_blocks
from .vocabulary_summary import vocabulary_summary

FORMATS: dict[str, Callable[[Report], Iterator[str]]] = {
    "markdown": lambda report: markdown(translation_blocks(report)),
    "text": lambda report: plain_text(translation_blocks(report)),
    "json": json_report,
}

__all__ = [
    "FORMATS",
    "STATUSES",
    "Block",
    "FamilyRow",
    "Heading",
    "Lines",
    "Report",
    "Table",
    "Verdict",
    "VerdictMaker",
    "VocabularyReport",
    "is_enough",
    "junit_xml",
    "markdown",
    "plain_text",
    "translation_scorecard",
    "vocabulary_blocks",
    "vocabulary_summary",
]
