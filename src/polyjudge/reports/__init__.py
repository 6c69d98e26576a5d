"""From finished runs to pages: numbers first, then one file a format."""

from collections.abc import Callable, Iterator

from polyjudge.languages import LanguageTable
from polyjudge.records import TrustCard

from .agreement import agreement_blocks
from .block_formats import BLOCK_FORMATS
from .blocks import Block, Heading, Lines, Table
from .correction import correction_blocks, effect_blocks, elsewhere_blocks
from .html import html_page
from .json_report import json_report
from .junit import junit_xml
from .markdown import markdown
from .plain_text import plain_text
from .plots import card_plots, severity_plot
from .regression_blocks import regression_blocks
from .report import FamilyRow, Report
from .translation_blocks import translation_blocks, translation_scorecard
from .translation_page import translation_page
from .trust import JudgeTrust, identity_in, trust_in
from .trust_card import agreement_table, blind_spots, card_blocks, card_json, figure_text, judge_title
from .verdicts import STATUSES, Verdict, VerdictMaker, is_enough
from .vocabulary import VocabularyReport
from .vocabulary_blocks import vocabulary_blocks
from .vocabulary_summary import vocabulary_summary

FORMATS: dict[str, Callable[[Report], Iterator[str]]] = {
    "markdown": lambda report: markdown(translation_blocks(report)),
    "text": lambda report: plain_text(translation_blocks(report)),
    "json": json_report,
    "html": translation_page,
}

CARD_FORMATS: dict[str, Callable[[TrustCard, LanguageTable], Iterator[str]]] = {
    "text": lambda card, table: plain_text(card_blocks(card, table)),
    "markdown": lambda card, table: markdown(card_blocks(card, table)),
    "json": lambda card, _: card_json(card),
    "html": lambda card, table: html_page(f"Trust card of {judge_title(card)}", card_blocks(card, table)),
}

__all__ = [
    "BLOCK_FORMATS",
    "CARD_FORMATS",
    "FORMATS",
    "STATUSES",
    "Block",
    "FamilyRow",
    "Heading",
    "JudgeTrust",
    "Lines",
    "Report",
    "Table",
    "Verdict",
    "VerdictMaker",
    "VocabularyReport",
    "agreement_blocks",
    "agreement_table",
    "blind_spots",
    "card_blocks",
    "card_plots",
    "correction_blocks",
    "effect_blocks",
    "elsewhere_blocks",
    "figure_text",
    "html_page",
    "identity_in",
    "is_enough",
    "junit_xml",
    "markdown",
    "plain_text",
    "regression_blocks",
    "severity_plot",
    "translation_scorecard",
    "trust_in",
    "vocabulary_blocks",
    "vocabulary_summary",
]
