"""From finished runs to pages: numbers first, then one file a format."""

from typing import TYPE_CHECKING

from polyjudge.lazy import lazily

if TYPE_CHECKING:
    from .agreement import agreement_blocks
    from .block_formats import BLOCK_FORMATS
    from .blocks import Block, Heading, Lines, Table
    from .correction import correction_blocks, effect_blocks, elsewhere_blocks
    from .formats import CARD_FORMATS, FORMATS
    from .html import html_page
    from .junit import junit_xml
    from .markdown import markdown
    from .plain_text import plain_text
    from .plots import card_plots, severity_plot
    from .regression_blocks import regression_blocks
    from .report import FamilyRow, Report
    from .translation_blocks import translation_scorecard
    from .trust import JudgeTrust, identity_in, trust_in
    from .trust_card import agreement_table, blind_spots, card_blocks, figure_text
    from .verdicts import STATUSES, Verdict, VerdictMaker, is_enough
    from .vocabulary import VocabularyReport
    from .vocabulary_blocks import vocabulary_blocks
    from .vocabulary_summary import vocabulary_summary

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

lazily(__name__)
