"""How far translations agree with references, through sacreBLEU where it is installed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

from polyjudge.errors import MissingExtraError
from polyjudge.extras import require
from polyjudge.records.translation import Language

_WITHOUT_SPACES = {"Hira", "Kana", "Thai", "Laoo", "Khmr", "Mymr"}
"""Scripts that part no words; their signs are counted instead. Chinese has a way of its own."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Several translations beside their references, each measure 0 to 100 with how it was computed."""

    chrf: float
    chrf_signature: str
    bleu: float
    bleu_signature: str
    count: int


def chrf(text: str, reference: str) -> float | None:
    """Return chrF++ of a text against one reference, 0 to 100; None where sacreBLEU is not installed."""
    metric = _chrf()
    return None if metric is None else float(metric.sentence_score(text, [reference]).score)


def chrf_signature() -> str:
    """Return how chrF++ is computed, as sacreBLEU writes it; empty where it is not installed."""
    metric = _chrf()
    return "" if metric is None else str(metric.get_signature())


def agreement(texts: Sequence[str], references: Sequence[str], language: Language) -> Agreement | None:
    """Return chrF++ and BLEU of all texts together; None where there are none, or sacreBLEU is not installed."""
    chrf_metric = _chrf()
    if chrf_metric is None or not texts:
        return None
    bleu_metric: Any = _bleu(_tokenizer(language))
    pieces, words = chrf_metric.corpus_score(texts, [references]), bleu_metric.corpus_score(texts, [references])
    return Agreement(
        float(pieces.score),
        str(chrf_metric.get_signature()),
        float(words.score),
        str(bleu_metric.get_signature()),
        len(texts),
    )


def _tokenizer(language: Language) -> str:
    """Return sacreBLEU's name for how a language is cut into words; the usual way gives 0 on good Chinese and Thai."""
    if any(script in ("Hans", "Hant") for script in language.scripts):
        return "zh"
    if any(script in _WITHOUT_SPACES for script in language.scripts):
        return "char"
    return "13a" if language.scripts[0] == "Latn" else "intl"


@lru_cache(maxsize=1)
def _chrf() -> Any:
    try:
        sacrebleu: Any = require("sacrebleu.metrics.chrf", feature="chrF++", extra="metrics")
    except MissingExtraError:
        return None
    return sacrebleu.CHRF(word_order=2)


@lru_cache(maxsize=8)
def _bleu(tokenizer: str) -> Any:
    bleu: Any = import_module("sacrebleu.metrics.bleu")
    return bleu.BLEU(tokenize=tokenizer)
