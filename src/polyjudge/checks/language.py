"""Is a text in the language asked for, or in a neighbour of it? With *unsure* as a proper answer.

Two identifiers are asked: py3langid, limited to the languages of the table, whose probabilities are calibrated over
lengths of text; and pycld2, quick and independent. How the thresholds were found is in `docs/design/checks.md`.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import LanguageCheck, LanguageState
from polyjudge.records.translation import Language
from polyjudge.text.segments import prose, words

_LIKELY = 0.5
"""A guess at least this likely is believed by itself; the second opinion makes a weaker one believed."""
_UNLIKELY = 0.1
"""The language asked for is given up only when it is less likely than this."""
_MOST = 0.8
"""Share of the text that the second opinion must be about."""
_FEWEST_LETTERS = 6
_GUESSES_KEPT = 10_000
_LONGEST = 4_000
"""Letters looked at; more do not make the answer surer."""
_THEIR_NAMES = {"iw": "he", "jw": "jv", "zh-Hant": "zh", "nn": "no", "fil": "tl", "sr-ME": "sr"}
"""Labels of pycld2 that are others than those of py3langid."""
_UNSURE = LanguageCheck(state="unsure")


class LanguageIdentifier:
    """Tells the languages of one table apart."""

    def __init__(self, table: LanguageTable) -> None:
        self._by_label: dict[str, Language] = {}
        for language in table:
            if language.tag == _label(language):  # Spanish, not the Spanish of some region
                self._by_label[language.tag] = language
            self._by_label.setdefault(_label(language), language)
        self._guess, self._first = _limited_guesser({each.detector for each in table if each.detector})
        """Languages that the first identifier knows; the others are left to the second opinion."""
        self._guessed: dict[str, str] = {}
        self._known = self._first | _second_opinions()

    def check(self, text: str, language: Language) -> LanguageCheck:
        """Say whether a text is in a language."""
        plain = _letters(text)
        is_short = len(plain.replace(" ", "")) < _FEWEST_LETTERS and not _is_han(plain)
        if is_short or _label(language) not in self._known:
            return _UNSURE
        if _label(language) in ("yue", "zh") and _is_han(plain):
            return _check_chinese(plain, language)
        ranked, second = self._guess(plain), _second_opinion(plain)
        if not ranked:
            return _UNSURE
        return self._weigh(language, ranked, *second)

    def guess(self, text: str) -> str:
        """Return the label of the language that a text most looks like; the same sources come for many languages."""
        if text not in self._guessed:
            if len(self._guessed) >= _GUESSES_KEPT:
                self._guessed.clear()
            ranked = self._guess(_letters(text))
            self._guessed[text] = max(ranked, key=lambda name: ranked[name], default="")
        return self._guessed[text]

    def _weigh(self, language: Language, ranked: Mapping[str, float], second: str, share: float) -> LanguageCheck:
        wanted = _label(language)
        best = max(ranked, key=lambda name: ranked[name])
        likely = ranked.get(wanted, 0.0)
        likelihood = ranked[best]
        if wanted not in self._first:
            best, likely, likelihood = second, share if second == wanted else 0.0, share
        elif second in self._by_label and second not in self._first and share >= _MOST:
            best, likelihood = second, share
        state: LanguageState = "unsure"
        if best == wanted and (likely >= _LIKELY or second == wanted):
            state = "right"
        elif best != wanted and not self._is_close(language, best, second) and second != wanted:
            is_sure = likelihood >= _LIKELY or second == best
            state = "wrong" if likely < _UNLIKELY and is_sure else "unsure"
        found = self._by_label[best].tag if best in self._by_label else best
        return LanguageCheck(
            state=state, found=language.tag if best == wanted else found, confidence=round(likelihood, 3)
        )

    def _is_close(self, language: Language, best: str, second: str) -> bool:
        """Say whether one of the guesses is a language that cannot be told from the one asked for."""
        return any(tag in language.inseparable for tag in (best, second))


def _check_chinese(text: str, language: Language) -> LanguageCheck:
    """Tell Cantonese by its own words: one of them proves it, none proves nothing."""
    wants_cantonese = _label(language) == "yue"
    if _is_cantonese(text):
        found = language.tag if wants_cantonese else "yue"
        return LanguageCheck(state="right" if wants_cantonese else "wrong", found=found, confidence=1.0)
    if wants_cantonese:
        return LanguageCheck(state="unsure", found="zh-Hant", confidence=0.5)
    return LanguageCheck(state="right", found=language.tag, confidence=0.9)


@lru_cache(maxsize=8)
def language_identifier(table: LanguageTable) -> LanguageIdentifier:
    """Return the identifier of a table; to load its models takes a third of a second, so it is kept."""
    return LanguageIdentifier(table)


def _label(language: Language) -> str:
    return language.detector or language.tag


def _letters(text: str) -> str:
    """Return the words alone: addresses, markup and numbers are of no language."""
    return " ".join(word.text for word in words(prose(text[:_LONGEST])))


Guesser = Callable[[str], dict[str, float]]


def _limited_guesser(labels: set[str]) -> tuple[Guesser, set[str]]:
    """Return what guesses among some languages, and those of them that it knows."""
    langid: Any = import_module("py3langid.langid")  # here, because it loads numpy and its model
    model = langid.LanguageIdentifier.from_model_file("data/model.npz.xz", norm_probs=True)
    known: set[str] = labels & set(model.labels)
    model.set_languages(known)

    def guess(text: str) -> dict[str, float]:
        return dict(model.rank(text)[:6]) if text else {}

    return guess, known


def _second_opinions() -> set[str]:
    cld2: Any = import_module("pycld2")
    detected = set(cld2.DETECTED_LANGUAGES)  # it has names for more than it can tell
    return {_their_name(label) for name, label in cld2.LANGUAGES if name in detected}


def _their_name(label: str) -> str:
    return _THEIR_NAMES.get(label, label)


def _second_opinion(text: str) -> tuple[str, float]:
    """Return a label and the share of the text that it is about."""
    cld2: Any = import_module("pycld2")
    try:
        _, _, details = cld2.detect(text, bestEffort=True)
    except cld2.error:  # not UTF-8 as it knows it
        return "", 0.0
    return _their_name(details[0][1]), details[0][2] / 100


def _is_han(text: str) -> bool:
    signs = [sign for sign in text if not sign.isspace()]
    return (
        bool(signs)
        and 2 * sum("\u4e00" <= sign <= "\u9fff" or "\u3400" <= sign <= "\u4dbf" for sign in signs) > (len(signs))
        and not any("\u3040" <= sign <= "\u30ff" or "\uac00" <= sign <= "\ud7af" for sign in signs)
    )


def _is_cantonese(text: str) -> bool:
    proofs, hints, others = _cantonese_markers()
    if any(marker in text for marker in proofs):
        return True
    for word in others:
        text = text.replace(word, " ")
    return sum(marker in text for marker in hints) > 1


@lru_cache(maxsize=1)
def _cantonese_markers() -> tuple[list[str], list[str], list[str]]:
    lines = (files("polyjudge.checks") / "cantonese_markers.txt").read_text(encoding="utf-8").splitlines()
    proofs, hints, others = (line.split() for line in lines if not line.startswith("#"))
    return proofs, hints, others
