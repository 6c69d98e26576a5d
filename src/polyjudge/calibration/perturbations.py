"""The table of perturbations and controls; apply one to a text at a given severity."""

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
from .edits import Draft, EditContext, EditPlan, SeededRandom
from .facts import cell_parts, fact

_SIMPLE = re.compile(
    "[ -~\u00a0-\u02ff\u0370-\u0482\u048a-\u058f\u05d0-\u05ea\u060c\u061b\u061f-\u064a\u0660-\u066f\u0671-\u06d4"
    "\u06f0-\u06ff\u10a0-\u10ff\u1200-\u135a\u1361-\u137c\u1e00-\u1fff\u2010-\u2027\u2030-\u205e"
    "\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff01-\uff60]*"
)
"""Texts of these code points have one code point per grapheme cluster, so that splitting them can be skipped."""


def distance(first: str, second: str) -> int:
    """Return the Levenshtein distance of two texts in grapheme clusters."""
    return Levenshtein.distance(_clusters(first), _clusters(second))


def _clusters(text: str) -> Sequence[str]:
    return text if _SIMPLE.fullmatch(text) else graphemes(text)


__all__ = [
    "CONTROL_TYPES",
    "PERTURBATION_TYPES",
    "EditContext",
    "Perturbation",
    "apply_perturbation",
    "neighbours_of",
    "perturbation",
    "perturbed_versions",
]

_LEVELS = 20
_LONGEST_COMPARED = 2_000
"""Clusters above which versions are not compared by distance; each still contains the edits of the one before."""
_NO_CONTEXT = EditContext()


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A named way of making a text worse, or a control, which leaves it as good as it was."""

    name: str
    about: str
    """What it does, in one line."""
    plan: Callable[[Draft], EditPlan]
    """Returns the ordered edits of a text."""


_PERTURBATIONS = (
    Perturbation("drop_letters", "letters are left out", character_edits.drop_letters),
    Perturbation("drop_words", "words are left out", word_edits.drop_words),
    Perturbation("drop_sentences", "sentences or clauses are left out", word_edits.drop_sentences),
    Perturbation("repeat_words", "words are repeated", word_edits.repeat_words),
    Perturbation("swap_letters", "neighbouring letters are swapped", character_edits.swap_letters),
    Perturbation("swap_words", "neighbouring words are swapped", word_edits.swap_words),
    Perturbation("shuffle_words", "words are shuffled over the whole text", word_edits.shuffle_words),
    Perturbation("shuffle_sentences", "sentences or clauses are shuffled", word_edits.shuffle_sentences),
    Perturbation("typos", "letters are mistyped as others of the script", character_edits.typos),
    Perturbation("truncate", "the text is cut off", word_edits.truncate),
    Perturbation("loop", "the last words are repeated many times", word_edits.loop),
    Perturbation("change_numbers", "numbers are changed", fact_edits.change_numbers),
    Perturbation("change_dates", "dates, months and weekdays are changed", fact_edits.change_dates),
    Perturbation("negate", "sentences are negated, or lose their negation", fact_edits.negate),
    Perturbation("swap_names", "names are replaced by others", fact_edits.swap_names),
    Perturbation("add_sentence", "sentences of other texts are inserted", word_edits.add_sentence),
    Perturbation("untranslated_span", "a span is left untranslated", language_edits.untranslated_span),
    Perturbation("echo_source", "the source is returned instead of a translation", language_edits.echo_source),
    Perturbation("wrong_script", "words are written in another script", language_edits.wrong_script),
    Perturbation("wrong_language", "the text is in a neighbouring language", language_edits.wrong_language),
    Perturbation("other_text", "the text is replaced by another one", language_edits.other_text),
    Perturbation("strip_diacritics", "diacritics are removed", character_edits.strip_diacritics),
    Perturbation("homoglyphs", "letters are replaced by others that look alike", character_edits.homoglyphs),
    Perturbation("zero_width", "invisible characters are inserted into words", character_edits.zero_width),
    Perturbation("bidi_marks", "control characters change the writing direction", character_edits.bidi_marks),
    Perturbation("register", "formal words become informal or the reverse", fact_edits.register),
)
_CONTROLS = (
    Perturbation("nfc", "letters and marks as one code point", word_edits.nfc),
    Perturbation("nfd", "letters and marks as several code points", word_edits.nfd),
    Perturbation("quotes", "straight quotation marks for typographic ones or the reverse", word_edits.quotes),
    Perturbation("white_space", "doubled, unbreakable and trailing spaces", word_edits.white_space),
)
PERTURBATION_TYPES: tuple[str, ...] = tuple(each.name for each in _PERTURBATIONS)
"""Perturbations: they make a text worse."""
CONTROL_TYPES: tuple[str, ...] = tuple(each.name for each in _CONTROLS)
"""Controls: changes that a reader does not see, so that no score should fall."""


def perturbation(name: str) -> Perturbation:
    """Return a perturbation or control by its name, built in or from a plugin."""
    found = {each.name: each for each in (*_PERTURBATIONS, *_CONTROLS)}
    if name in found:
        return found[name]
    added = PLUGINS.names("perturbations", found)
    if name not in added:
        raise UnknownNameError("perturbation", name, [*found, *added])
    return Perturbation(name, str(PLUGINS.plugin("perturbations", name)), partial(_plugin_plan, name))


def _plugin_plan(name: str, draft: Draft) -> EditPlan:
    plan = PLUGINS.make("perturbations", name, draft)
    if not isinstance(plan, EditPlan):
        raise ConfigError(f"{PLUGINS.plugin('perturbations', name)} returned {plan!r}, not the result of plan_edits")
    return plan


def apply_perturbation(text: str, type: str, severity: float, seed: int = 0, context: EditContext = _NO_CONTEXT) -> str:
    """Perturb a text by a severity from 0 to 1; return it unchanged where the perturbation does not apply."""
    return perturbed_versions(text, type, [severity], seed, context)[0]


def perturbed_versions(
    text: str, type: str, severities: Sequence[float], seed: int = 0, context: EditContext = _NO_CONTEXT
) -> list[str]:
    """Return the text perturbed by each severity."""
    wanted, found = [_level(severity) for severity in severities], perturbation(type)
    if not any(wanted):
        return [text for _ in wanted]
    plan = found.plan(Draft(text, SeededRandom(seed, type, text), context))
    if not plan.count:
        return [text for _ in wanted]
    is_long = len(text) > _LONGEST_COMPARED and len(_clusters(text)) > _LONGEST_COMPARED
    if is_long or (plan.is_sure and not may_join(text)):
        return [plan.version(_edit_count(plan, level)) if level else text for level in wanted]
    versions = _versions_by_distance(text, plan, max(wanted))
    return [versions[level] for level in wanted]


def _level(severity: float) -> int:
    if not 0 <= severity <= 1:
        raise ConfigError(f"the severity must be a number from 0 to 1, not {severity!r}")
    return max(1, ceil(severity * _LEVELS - 1e-9)) if severity else 0


def _edit_count(plan: EditPlan, level: int) -> int:
    return -(-level * plan.count // _LEVELS)


def _versions_by_distance(text: str, plan: EditPlan, top: int) -> dict[int, str]:
    """Return for each level the version up to it that is furthest from the text; no level above 0 is unchanged."""
    clusters, furthest, done = _clusters(text), 0, 0
    chosen, first = text, text
    found = {0: text}
    for level in range(1, _LEVELS + 1):
        if level > top and furthest:
            break
        if _edit_count(plan, level) != done:
            done = _edit_count(plan, level)
            version = plan.version(done)
            reached = Levenshtein.distance(clusters, _clusters(version))
            if reached >= furthest:
                chosen, furthest = version, reached
            first = chosen if first == text else first
        found[level] = chosen
    return {level: first if level and version == text else version for level, version in found.items()}


@lru_cache(maxsize=256)
def neighbours_of(tag: str) -> tuple[str, ...]:
    """Return the tags of the languages that a language is commonly confused with, the closest first."""
    language = language_table().find(tag)
    return cell_parts(fact("neighbours", language.tag).get("neighbours", "")) if language else ()
