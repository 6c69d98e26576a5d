"""Named ways of making a good text worse by a severity from 0 to 1, and of changing it without harm."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from polyjudge.errors import ConfigError, UnknownNameError
from polyjudge.languages import language_table

from . import controls, spoiling_facts, spoiling_language, spoiling_letters, spoiling_names, spoiling_signs
from . import spoiling_words as by_words
from .distance import DistanceFrom
from .fact_files import fact, several
from .pieces import may_join
from .spoiling import Dice, Draft, Plan, Surroundings

__all__ = [
    "CONTROL_TYPES",
    "PERTURBATION_TYPES",
    "Perturbation",
    "Surroundings",
    "apply_perturbation",
    "neighbours_of",
    "perturbation",
    "severity_ladder",
]

_LEVELS = 20
_LONGEST_COMPARED = 2_000
"""Beyond so many signs versions are not compared any more; edits are nested all the same."""
_NO_SURROUNDINGS = Surroundings()


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A way of spoiling a text."""

    name: str
    about: str
    """One plain line: what it does."""
    plan: Callable[[Draft], Plan]
    """What makes the edits of a text, in their order."""


_SPOILING = (
    Perturbation("drop_letters", "letters are left out", spoiling_letters.drop_letters),
    Perturbation("drop_words", "words are left out", by_words.drop_words),
    Perturbation("drop_sentences", "sentences or clauses are left out", by_words.drop_sentences),
    Perturbation("repeat_words", "words are written twice", by_words.repeat_words),
    Perturbation("swap_letters", "neighbouring letters change places", spoiling_letters.swap_letters),
    Perturbation("swap_words", "neighbouring words change places", by_words.swap_words),
    Perturbation("shuffle_words", "words change places all over the text", by_words.shuffle_words),
    Perturbation("shuffle_sentences", "sentences or clauses come in another order", by_words.shuffle_sentences),
    Perturbation("typos", "letters are mistyped as others of the script", spoiling_letters.typos),
    Perturbation("truncate", "the text breaks off", by_words.truncate),
    Perturbation("loop", "the last words come again and again", by_words.loop),
    Perturbation("change_numbers", "numbers are changed", spoiling_facts.change_numbers),
    Perturbation("change_dates", "dates, months and weekdays are changed", spoiling_facts.change_dates),
    Perturbation("negate", "sentences say the opposite", spoiling_facts.negate),
    Perturbation("swap_names", "names are replaced by others", spoiling_names.swap_names),
    Perturbation("add_sentence", "sentences of other texts are put in", by_words.add_sentence),
    Perturbation("untranslated_span", "a stretch stays as it is in the source", spoiling_language.untranslated_span),
    Perturbation("echo_source", "the source is given back", spoiling_language.echo_source),
    Perturbation("wrong_script", "words are written in another script", spoiling_language.wrong_script),
    Perturbation("wrong_language", "it is said in a neighbouring language", spoiling_language.wrong_language),
    Perturbation("other_text", "something else is said", spoiling_language.other_text),
    Perturbation("strip_diacritics", "letters lose their marks", spoiling_signs.strip_diacritics),
    Perturbation("homoglyphs", "letters are replaced by some that look alike", spoiling_signs.homoglyphs),
    Perturbation("zero_width", "invisible signs stand inside words", spoiling_signs.zero_width),
    Perturbation("bidi_marks", "signs turn the direction of writing", spoiling_signs.bidi_marks),
    Perturbation("register", "formal words turn informal or the reverse", spoiling_facts.register),
)
_CONTROLS = (
    Perturbation("nfc", "letters and marks as one code point", controls.nfc),
    Perturbation("nfd", "letters and marks as several code points", controls.nfd),
    Perturbation("quotes", "straight quotation marks for typographic ones or the reverse", controls.quotes),
    Perturbation("white_space", "doubled, unbreakable and trailing spaces", controls.white_space),
)
PERTURBATION_TYPES: tuple[str, ...] = tuple(each.name for each in _SPOILING)
"""The ways of making a text worse."""
CONTROL_TYPES: tuple[str, ...] = tuple(each.name for each in _CONTROLS)
"""The ways of changing a text that no score may mind."""


def perturbation(name: str) -> Perturbation:
    """Return the way of spoiling, or the control, of a name."""
    found = {each.name: each for each in (*_SPOILING, *_CONTROLS)}
    if name not in found:
        raise UnknownNameError("perturbation", name, found)
    return found[name]


def apply_perturbation(
    text: str, type: str, severity: float, seed: int = 0, surroundings: Surroundings = _NO_SURROUNDINGS
) -> str:
    """Return the text spoiled by a severity from 0 to 1; unchanged where this way of spoiling does not apply."""
    return severity_ladder(text, type, [severity], seed, surroundings)[0]


def severity_ladder(
    text: str, type: str, severities: Sequence[float], seed: int = 0, surroundings: Surroundings = _NO_SURROUNDINGS
) -> list[str]:
    """Return the text spoiled by each of several severities."""
    wanted, found = [_level(severity) for severity in severities], perturbation(type)
    if not any(wanted):
        return [text for _ in wanted]
    plan = found.plan(Draft(text, Dice(seed, type, text), surroundings))
    versions = _versions(text, plan, wanted)
    return [versions[level] for level in wanted]


def _level(severity: float) -> int:
    if not 0 <= severity <= 1:
        raise ConfigError(f"the severity is {severity!r}, not a number from 0 to 1")
    return max(1, ceil(severity * _LEVELS - 1e-9)) if severity else 0


def _versions(text: str, plan: Plan, wanted: Sequence[int]) -> dict[int, str]:
    """Return the text at the levels wanted."""
    if not plan.count:
        return dict.fromkeys(wanted, text)
    is_long = len(text) > _LONGEST_COMPARED and len(DistanceFrom(text)) > _LONGEST_COMPARED
    if is_long or (plan.is_sure and not may_join(text)):
        return {level: plan.version(_edits(plan, level)) if level else text for level in wanted}
    return _rising(text, plan, max(wanted))


def _edits(plan: Plan, level: int) -> int:
    return -(-level * plan.count // _LEVELS)


def _rising(text: str, plan: Plan, top: int) -> dict[int, str]:
    """Return for each level the version furthest from the text among those up to it; any level above 0 has one."""
    start, furthest, done = DistanceFrom(text), 0, 0
    chosen, first = text, text
    found = {0: text}
    for level in range(1, _LEVELS + 1):
        if level > top and furthest:
            break
        if _edits(plan, level) != done:
            done = _edits(plan, level)
            version = plan.version(done)
            reached = start.to(version)
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
