"""Tell whether a sentence is in one of the few languages whose ways of speaking about a verdict are well covered."""

import re

from .statement_words import vocabularies

_WORD = re.compile(r"[^\W\d_]+")
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_OTHER_SCRIPT = re.compile(
    "[^\x00-\u024f\u0300-\u036f\u1e00-\u1eff\u2000-\u2bff\u3000-\u30ff\u3400-\u9fff\uff00-\uffef\ufffc]"
)
_ALPHABETS = {
    "en": "",
    "de": "äöüß",
    "fr": "àâæçéèêëîïôœùûüÿ",
    "es": "áéíñóúü",
    "it": "àèéìòù",
    "pt": "áâãàçéêíóôõú",
    "ru": "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
}
_LEAST_SHARE = 0.2
"""Common words among all words of a sentence, at least; in most sentences every second word is common."""
_SHORT = 4


def checked_language(sentence: str) -> str | None:
    """Return the language of a normalised sentence if polyjudge can check what it says; None for all others."""
    if not sentence.isascii():
        if _KANA.search(sentence):
            return None if _OTHER_SCRIPT.search(sentence) else "ja"
        if _HAN.search(sentence):
            return None if _OTHER_SCRIPT.search(sentence) else "zh"
    words = _WORD.findall(sentence.casefold())
    if not words:
        return None
    letters = {letter for word in words for letter in word if letter > "\x7f"}
    hits = {language: sum(word in common for word in words) for language, common in vocabularies().items()}
    candidates = [language for language, alphabet in _ALPHABETS.items() if letters <= set(alphabet)]
    best = max(candidates, key=lambda language: hits[language], default=None)
    if best is None or hits[best] < max(hits.values()) or hits[best] < _LEAST_SHARE * len(words):
        return None
    return best if hits[best] > 1 or (len(words) <= _SHORT and hits[best]) else None
