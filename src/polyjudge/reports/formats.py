"""The formats of reports and of trust cards."""

from collections.abc import Callable, Iterator

from polyjudge.languages import LanguageTable
from polyjudge.records import TrustCard

from .html import html_page
from .json_report import json_report
from .markdown import markdown
from .plain_text import plain_text
from .report import Report
from .translation_blocks import translation_blocks
from .translation_page import translation_page
from .trust_card import card_blocks, card_json, judge_title

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
