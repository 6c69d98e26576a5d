"""The registry of perturbations, and the edit distance between texts."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import ceil

from rapidfuzz.distance import Levenshtein

from polyjudge.errors import ConfigError, UnknownNameError
from polyjudge.languages.table import language_table
from polyjudge.plugins import PLUGINS
from polyjudge.text.difference import graphemes
from polyjudge.text.pieces import may_join

from . import character_edits, fact_edits, language_edits, word_edits
from . import word_edits as by_words
from .edits import Draft, EditContext, EditPlan, SeededRandom
from .facts import fact, several

_SINGLE = re.compile(
    "[ -~\u00a0-\u02ff\u0370-\u0482\u048a-\u058f\u05d0-\u05ea\u060c\u061b\u061f-\u064a\u0660-\u066f\u0671-\u06d4"
    "\u06f0-\u06ff\u10a0-\u10ff\u1200-\u135a\u1361-\u137c\u1e00-\u1fff\u2010-\u2027\u2030-\u205e"
    "\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff60]*"
)
"""Texts of these code points alone have one to a sign, and need not be taken apart by the rules for all others."""


def distance(first: str, second: str) -> int:
    """Return the Levenshtein distance of two texts in grapheme clusters."""
    return Levenshtein.distance(_signs(first), _signs(second))


def _signs(text: str) -> Sequence[str]:
    return text if _SINGLE.fullmatch(text) else graphemes(text)


__all__ = [
    "CONTROL_TYPES",
    "PERTURBATION_TYPES",
    "EditContext",
    "Perturbation",
    "apply_perturbation",
    "neighbours_of",
    "perturbation",
    "severity_ladder",
]

_LEVELS = 20
_LONGEST_COMPARED = 2_000
"""Beyond so many signs versions are not compared any more; edits are nested all the same."""
_NO_SURROUNDINGS = EditContext()


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A way of spoiling a text."""

    name: str
    about: str
    """One plain line: what it does."""
    plan: Callable[[Draft], EditPlan]
    """What makes the edits of a text, in their order."""


_SPOILING = (
    Perturbation("drop_letters", "letters are left out", character_edits.drop_letters),
    Perturbation("drop_words", "words are left out", by_words.drop_words),
    Perturbation("drop_sentences", "sentences or clauses are left out", by_words.drop_sentences),
    Perturbation("repeat_words", "words are written twice", by_words.repeat_words),
    Perturbation("swap_letters", "neighbouring letters change places", character_edits.swap_letters),
    Perturbation("swap_words", "neighbouring words change places", by_words.swap_words),
    Perturbation("shuffle_words", "words change places all over the text", by_words.shuffle_words),
    Perturbation("shuffle_sentences", "sentences or clauses come in another order", by_words.shuffle_sentences),
    Perturbation("typos", "letters are mistyped as others of the script", character_edits.typos),
    Perturbation("truncate", "the text breaks off", by_words.truncate),
    Perturbation("loop", "the last words come again and again", by_words.loop),
    Perturbation("change_numbers", "numbers are changed", fact_edits.change_numbers),
    Perturbation("change_dates", "dates, months and weekdays are changed", fact_edits.change_dates),
    Perturbation("negate", "sentences say the opposite", fact_edits.negate),
    Perturbation("swap_names", "names are replaced by others", fact_edits.swap_names),
    Perturbation("add_sentence", "sentences of other texts are put in", by_words.add_sentence),
    Perturbation("untranslated_span", "a stretch stays as it is in the source", language_edits.untranslated_span),
    Perturbation("echo_source", "the source is given back", language_edits.echo_source),
    Perturbation("wrong_script", "words are written in another script", language_edits.wrong_script),
    Perturbation("wrong_language", "it is said in a neighbouring language", language_edits.wrong_language),
    Perturbation("other_text", "something else is said", language_edits.other_text),
    Perturbation("strip_diacritics", "letters lose their marks", character_edits.strip_diacritics),
    Perturbation("homoglyphs", "letters are replaced by some that look alike", character_edits.homoglyphs),
    Perturbation("zero_width", "invisible signs stand inside words", character_edits.zero_width),
    Perturbation("bidi_marks", "signs turn the direction of writing", character_edits.bidi_marks),
    Perturbation("register", "formal words turn informal or the reverse", fact_edits.register),
)
_CONTROLS = (
    Perturbation("nfc", "letters and marks as one code point", word_edits.nfc),
    Perturbation("nfd", "letters and marks as several code points", word_edits.nfd),
    Perturbation("quotes", "straight quotation marks for typographic ones or the reverse", word_edits.quotes),
    Perturbation("white_space", "doubled, unbreakable and trailing spaces", word_edits.white_space),
)
PERTURBATION_TYPES: tuple[str, ...] = tuple(each.name for each in _SPOILING)
"""The ways of making a text worse."""
CONTROL_TYPES: tuple[str, ...] = tuple(each.name for each in _CONTROLS)
"""The ways of changing a text that no score may mind."""


def perturbation(name: str) -> Perturbation:
    """Return the perturbation, or the control, of a name: one of ours, or of a plugin."""
    found = {each.name: each for each in (*_SPOILING, *_CONTROLS)}
    if name in found:
        return found[name]
    added = PLUGINS.names("perturbations", found)
    if name not in added:
        raise UnknownNameError("perturbation", name, [*found, *added])
    return Perturbation(name, str(PLUGINS.plugin("perturbations", name)), partial(_plugin_plan, name))


def _plugin_plan(name: str, draft: Draft) -> EditPlan:
    plan = PLUGINS.make("perturbations", name, draft)
    if not isinstance(plan, EditPlan):
        raise ConfigError(f"{PLUGINS.plugin('perturbations', name)} returned {plan!r}, not what plan_edits returns")
    return plan


def apply_perturbation(
    text: str, type: str, severity: float, seed: int = 0, surroundings: EditContext = _NO_SURROUNDINGS
) -> str:
    """Return the text spoiled by a severity from 0 to 1; unchanged where this way of spoiling does not apply."""
    return severity_ladder(text, type, [severity], seed, surroundings)[0]


def severity_ladder(
    text: str, type: str, severities: Sequence[float], seed: int = 0, surroundings: EditContext = _NO_SURROUNDINGS
) -> list[str]:
    """Return the text spoiled by each of several severities."""
    wanted, found = [_level(severity) for severity in severities], perturbation(type)
    if not any(wanted):
        return [text for _ in wanted]
    plan = found.plan(Draft(text, SeededRandom(seed, type, text), surroundings))
    versions = _versions(text, plan, wanted)
    return [versions[level] for level in wanted]


def _level(severity: float) -> int:
    if not 0 <= severity <= 1:
        raise ConfigError(f"the severity is {severity!r}, not a number from 0 to 1")
    return max(1, ceil(severity * _LEVELS - 1e-9)) if severity else 0


def _versions(text: str, plan: EditPlan, wanted: Sequence[int]) -> dict[int, str]:
    """Return the text at the levels wanted."""
    if not plan.count:
        return dict.fromkeys(wanted, text)
    is_long = len(text) > _LONGEST_COMPARED and len(_signs(text)) > _LONGEST_COMPARED
    if is_long or (plan.is_sure and not may_join(text)):
        return {level: plan.version(_edits(plan, level)) if level else text for level in wanted}
    return _rising(text, plan, max(wanted))


def _edits(plan: EditPlan, level: int) -> int:
    return -(-level * plan.count // _LEVELS)


def _rising(text: str, plan: EditPlan, top: int) -> dict[int, str]:
    """Return for each level the version furthest from the text among those up to it; any level above 0 has one."""
    signs, furthest, done = _signs(text), 0, 0
    chosen, first = text, text
    found = {0: text}
    for level in range(1, _LEVELS + 1):
        if level > top and furthest:
            break
        if _edits(plan, level) != done:
            done = _edits(plan, level)
            version = plan.version(done)
            reached = Levenshtein.distance(signs, _signs(version))
            if reached >= furthest:
                chosen, furthest = version, reached
            first = chosen if first == text else first
        found[level] = chosen
    return {level: first if level and version == text else version for level, version in found.items()}


@lru_cache(maxsize=256)
def neighbours_of(tag: str) -> tuple[str, ...]:
    """Return the tags of languages that a language is commonly confused with, the nearest first."""
    language = language_table().find(tag)
    return several(fact("neighbours", language.tag).get("neighbours", "")) if language else ()
