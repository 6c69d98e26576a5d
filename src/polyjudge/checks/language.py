"""Is a text in the language asked for, or in a neighbour of it? With *unsure* as a proper answer.

Two identifiers: pycld2, quick, and py3langid, limited to the languages of the table, whose probabilities are calibrated
over lengths of text. py3langid is used where pycld2 alone does not settle it. `docs/design/checks.md` has the figures.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple

from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import LanguageCheck, LanguageState
from polyjudge.records.translation import Language
from polyjudge.text.segments import running_text, vocabulary, word_texts

from .language_signs import neighbours_of, signs_of

_LIKELY = 0.5
"""A guess at least this likely counts by itself; a weaker one needs the agreement of pycld2."""
_UNLIKELY = 0.1
"""The language asked for is ruled out only when it is less likely than this."""
_UNLIKELY_WHERE_BOTH_AGREE = 0.3
"""A bound for text of some length of which both identifiers say the same other language."""
_LIKELY_IN_SHORT_TEXT = 0.3
_UNLIKELY_IN_SHORT_TEXT = 0.03
_SHORT = 25
"""With fewer letters, only what both identifiers find on their own is called wrong."""
_ENOUGH = 40
"""Letters from which pycld2 alone settles that a text is in the language asked for."""
_LONG = 60
"""Letters from which a text must look like one language in its parts as well."""
_PART = 40
"""Letters of a part."""
_CLEAR_SHARE = 0.6
"""With a smaller share of the text in the language asked for by pycld2, its parts are looked at."""
_STRANGE = 0.4
"""Share of the parts that are in no language, or in another one, from which the text is in none."""
_SURELY_ENGLISH = 0.9
_ENGLISH_AND_PIDGIN = {"en", "pcm"}
"""They share most of their words."""
_CONFUSED = {"en", "no", "xh", "zu", "hr", "sr", "bs", "id", "ms"}
"""Languages that pycld2 also finds in text of another: names and quotations in English, Danish, and near relatives."""
_MOST = 0.8
"""Share of the text that pycld2's answer must be about."""
_FEWEST_LETTERS = 6
_FEW_WORDS = 6
"""In a text of no more words, those that its source has too are not counted at all."""
_GUESSES_KEPT = 10_000
LONGEST = 4_000
"""Letters looked at; more do not make the answer more certain."""
_SHORTEST_WORD = 4
"""Shorter words stand between names as well: mod, of, de."""
_ACCELERATOR = re.compile(r"[_&](?=[^\W\d_])")
"""What marks the letter of a shortcut in the labels of programs, also within a word."""
_SHORTEST_OWN = 3
_ALPHABETS_END = "\u0600"
_LABELS_OF_CLD2: dict[str, str] = {"iw": "he", "jw": "jv", "zh-Hant": "zh", "nn": "no", "fil": "tl", "sr-ME": "sr"}
"""Labels of pycld2 that differ from those of py3langid."""
_UNSURE = LanguageCheck(state="unsure")


class _Guess(NamedTuple):
    """What pycld2 says of a text."""

    label: str = ""
    share: float = 0.0
    """Of the text, what the label is about."""
    is_reliable: bool = False
    shares: tuple[tuple[str, float], ...] = ()
    """Of the text, by label."""

    def share_of(self, label: str) -> float:
        """Return the share of the text that looks like a language."""
        return sum(share for name, share in self.shares if name == label)


class Identified(NamedTuple):
    """What can be said of the language of one of several texts by itself."""

    identity: LanguageCheck
    plain: str
    """The words by which it is identified."""


class LanguageIdentifier:
    """Distinguishes the languages of one table."""

    def __init__(self, table: LanguageTable) -> None:
        self._by_label: dict[str, Language] = {}
        for language in table:
            if language.tag == _label(language):  # Spanish, not the Spanish of some region
                self._by_label[language.tag] = language
            self._by_label.setdefault(_label(language), language)
        self._rank, self._ranked = _limited_guesser({each.detector for each in table if each.detector})
        """py3langid, and the languages that it knows; the others are left to pycld2."""
        self._guessed: dict[str, str] = {}
        labels = _labels_of_cld2()
        self._known, self._known_to_both = self._ranked | labels, self._ranked & labels

    def check(self, text: str, language: Language, source: str = "") -> LanguageCheck:
        """Say whether a text is in a language; words that its source has too count only where there are no others."""
        return self.check_words(_letters(text, source), language)

    def identified(self, text: str, language: Language, source: str = "") -> Identified:
        """Say whether a text is in a language, with its words, so that it can be identified together with others."""
        plain = _letters(text, source)
        return Identified(self.check_words(plain, language), plain)

    def guess(self, text: str) -> str:
        """Return the label of the language that a text most looks like; the same sources come for many languages."""
        if text not in self._guessed:
            if len(self._guessed) >= _GUESSES_KEPT:
                self._guessed.clear()
            plain = _letters(text)
            found = _cld2(plain)
            if not (found.is_reliable and found.label in self._ranked and _size(plain) >= _ENOUGH):
                ranked = self._rank(plain)
                found = _Guess(max(ranked, key=ranked.__getitem__, default=""))
            self._guessed[text] = found.label
        return self._guessed[text]

    def check_words(self, plain: str, language: Language) -> LanguageCheck:
        """Say whether the words of a text are in a language."""
        size, wanted = _size(plain), _label(language)
        if (size < _FEWEST_LETTERS and not _is_han(plain)) or wanted not in self._known or _are_initials(plain):
            return _UNSURE
        if wanted in ("yue", "zh") and _is_han(plain):
            return _check_chinese(plain, language)
        sure = _cld2(plain)
        is_long, is_found = size >= _LONG, sure.is_reliable and sure.label == wanted
        if is_found and size >= _ENOUGH and wanted not in _CONFUSED and not (is_long and sure.share < _CLEAR_SHARE):
            return LanguageCheck(state="right", found=language.tag, confidence=round(sure.share, 3))
        ranked = self._rank(plain)
        if not ranked:
            return _UNSURE
        found = self._weigh(language, ranked, sure, size, plain)
        if is_long and found.state != "wrong" and wanted in self._known_to_both:
            strange = self._strange_share(plain, language, sure)
            if strange >= _STRANGE:
                return LanguageCheck(state="unsure", found=found.found, strange_share=round(strange, 3))
        return found

    def _strange_share(self, plain: str, language: Language, sure: _Guess) -> float:
        """Return the share of a text's parts that look like another language, where pycld2 has doubts as well.

        A text of many languages at once, or of invented words, is in none of them.
        """
        wanted = {_label(language), *language.inseparable}
        near = {*wanted, *neighbours_of(_label(language))}
        second = sure if sure.is_reliable else _cld2(plain, is_best_effort=True)
        if sum(map(second.share_of, wanted)) >= _CLEAR_SHARE:
            return 0.0
        found = [self._guessed_label(part) for part in _parts(plain)]
        strange = [label for label in found if label not in wanted]
        if len(found) < 2 or len({*strange, second.label} - near) < 2:  # too little, or relatives, and not a mixture
            return 0.0
        return len(strange) / len(found)

    def _guessed_label(self, plain: str) -> str:
        ranked = self._rank(plain)
        best = max(ranked, key=ranked.__getitem__, default="")
        return best if ranked.get(best, 0.0) >= _LIKELY else ""

    def is_surely_english(self, text: str) -> bool:
        """Say whether a sentence is in English; Nigerian Pidgin shares most of its words."""
        ranked = self._rank(text) if text.isascii() else {}
        return ranked.get("en", 0.0) + ranked.get("pcm", 0.0) >= _SURELY_ENGLISH

    def can_weigh(self, language: Language, other: str) -> bool:
        """Say whether a word can be weighed between a language and the label of another one."""
        label = _label(language)
        pair = {label, other}
        return len(pair) == 2 and pair <= self._ranked and pair != _ENGLISH_AND_PIDGIN

    def likelihood_of(self, word: str, language: Language, others: str) -> float:
        """Return how much likelier a word is in a language than in another one, by its letters: 0 to 1."""
        ranked = self._rank(word)
        wanted, other = ranked.get(_label(language), 0.0), ranked.get(others, 0.0)
        return wanted / (wanted + other) if wanted + other else 0.5

    def _weigh(
        self, language: Language, ranked: dict[str, float], sure: _Guess, size: int, plain: str
    ) -> LanguageCheck:
        """Decide from both identifiers: right, wrong, or unsure where they differ or the text is short."""
        wanted = _label(language)
        second = sure if sure.is_reliable else _cld2(plain, is_best_effort=True)
        best = max(ranked, key=ranked.__getitem__)
        likely, likelihood = ranked.get(wanted, 0.0), ranked[best]
        if wanted not in self._ranked:
            best, likelihood = second.label, second.share * second.is_reliable
            likely = second.share if best == wanted else 0.0
        elif second.label in self._by_label and second.label not in self._ranked and second.share >= _MOST:
            best, likelihood = second.label, second.share
        state: LanguageState = "unsure"
        if best == wanted:
            state = "right" if likely >= _LIKELY or second.label == wanted else "unsure"
        elif second.label != wanted and not {best, second.label} & set(language.inseparable):
            agreed = second.label == best and second.is_reliable and second.share >= _MOST and size >= _ENOUGH
            unlikely = _UNLIKELY_WHERE_BOTH_AGREE if agreed and wanted not in _CONFUSED else _UNLIKELY
            is_sure = likely < unlikely and (likelihood >= _LIKELY or (second.label == best and not _are_names(plain)))
            if size < _SHORT:
                is_clear = likelihood >= _LIKELY_IN_SHORT_TEXT and likely < _UNLIKELY_IN_SHORT_TEXT
                is_sure = is_sure and is_clear and sure.is_reliable and sure.label == best
            state = "wrong" if is_sure else "unsure"
        if state != "right" or size < _LONG:
            state, decided = self._by_signs(state, best, language, ranked, plain)
            best, likelihood = decided, likelihood if decided == best else ranked[decided]
        found = self._by_label[best].tag if best in self._by_label else best
        return LanguageCheck(
            state=state, found=language.tag if best == wanted else found, confidence=round(likelihood, 3)
        )

    def _by_signs(
        self, state: LanguageState, best: str, language: Language, ranked: dict[str, float], plain: str
    ) -> tuple[LanguageState, str]:
        """Decide between neighbours by the letters and words that one of them has and the other has not."""
        wanted = _label(language)
        others = {best, *neighbours_of(wanted)} - {wanted, *language.inseparable}
        found = {other: (signs_of(wanted, other, plain), signs_of(other, wanted, plain)) for other in others}
        if state == "wrong":
            ours, theirs = found[best]
            return "unsure" if ours and not theirs else "wrong", best
        against = [other for other, (ours, theirs) in found.items() if theirs and not ours]
        if state == "right":
            return "unsure" if against else "right", best
        likely = ranked.get(wanted, 0.0)
        likelier = [other for other in against if wanted in ranked and ranked.get(other, 0.0) > likely]
        if likelier:
            return "wrong", max(likelier, key=lambda other: ranked[other])
        is_clear = bool(found) and all(ours and not theirs for ours, theirs in found.values())
        return ("right", wanted) if is_clear and (best == wanted or likely >= _UNLIKELY) else ("unsure", best)


def _check_chinese(text: str, language: Language) -> LanguageCheck:
    """Recognise Cantonese by its own words: one of them proves it, none proves nothing."""
    wants_cantonese = _label(language) == "yue"
    if _is_cantonese(text):
        found = language.tag if wants_cantonese else "yue"
        return LanguageCheck(state="right" if wants_cantonese else "wrong", found=found, confidence=1.0)
    if wants_cantonese:
        return LanguageCheck(state="unsure", found="zh-Hant", confidence=0.5)
    return LanguageCheck(state="right", found=language.tag, confidence=0.9)


@lru_cache(maxsize=8)
def language_identifier(table: LanguageTable) -> LanguageIdentifier:
    """Return the identifier of a table; loading its models takes a third of a second, so it is kept."""
    return LanguageIdentifier(table)


def _label(language: Language) -> str:
    return language.detector or language.tag


def _letters(text: str, source: str = "") -> str:
    """Return the words alone, without those of the source: addresses, mentions and numbers are of no language."""
    if "_" in text or "&" in text:
        text = _ACCELERATOR.sub("", text)
    found = word_texts(running_text(text[:LONGEST]))
    if source and found:
        known = vocabulary(running_text(source[:LONGEST]))
        own = tuple(word for word in found if word.casefold() not in known)
        if own and (sum(map(len, own)) >= _FEWEST_LETTERS or len(found) <= _FEW_WORDS):
            found = own
    return " ".join(found)


def _parts(plain: str) -> Iterator[str]:
    """Yield a text in parts of some words each; what is left at the end is too short to tell anything."""
    start = size = 0
    found = plain.split()
    for place, word in enumerate(found):
        size += len(word)
        if size >= _PART:
            yield " ".join(found[start : place + 1])
            start, size = place + 1, 0


def _are_initials(plain: str) -> bool:
    """Say whether a text in an alphabet has nothing but abbreviations of a letter or two."""
    return plain < _ALPHABETS_END and all(len(word) < _SHORTEST_OWN for word in plain.split())


def _are_names(plain: str) -> bool:
    """Say whether the words of a text may all be names, which are the same in many languages."""
    return all(word[0].isupper() for word in plain.split() if len(word) >= _SHORTEST_WORD)


def _size(plain: str) -> int:
    return len(plain) - plain.count(" ")


_Ranking = Callable[[str], dict[str, float]]


def _limited_guesser(labels: Collection[str]) -> tuple[_Ranking, set[str]]:
    """Return what ranks some languages by likelihood, and those of them that it knows."""
    langid: Any = import_module("py3langid.langid")  # here, because it loads numpy and its model
    numpy: Any = import_module("numpy")
    model = langid.LanguageIdentifier.from_model_file("data/model.npz.xz", norm_probs=True)
    known: set[str] = set(labels) & set(model.labels)
    model.set_languages(known)
    # It adds up the rows of the features of a text, and by default they are in columns, which takes a third longer.
    model.nb_ptc = numpy.ascontiguousarray(model.nb_ptc)

    def rank(text: str) -> dict[str, float]:
        return dict(model.rank(text)) if text else {}

    return rank, known


def _labels_of_cld2() -> set[str]:
    cld2: Any = import_module("pycld2")
    detected: set[str] = set(cld2.DETECTED_LANGUAGES)  # it has names for more than it can find
    named: Sequence[tuple[str, str]] = cld2.LANGUAGES
    return {_LABELS_OF_CLD2.get(label, label) for name, label in named if name in detected}


def _cld2(text: str, *, is_best_effort: bool = False) -> _Guess:
    """Ask pycld2; without best effort it has no answer for most short texts, and is rarely wrong."""
    cld2: Any = import_module("pycld2")
    try:
        is_reliable, _, details = cld2.detect(text, bestEffort=is_best_effort)
    except cld2.error:  # not UTF-8 as it knows it
        return _Guess()
    found: Sequence[tuple[str, str, int, float]] = details
    shares = tuple((_LABELS_OF_CLD2.get(label, label), share / 100) for _, label, share, _ in found)
    label, share = shares[0]
    return _Guess(label, share, is_reliable and label != "un", shares)


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
