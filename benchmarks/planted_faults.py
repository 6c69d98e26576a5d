"""Faults that translators make, planted in messages of real catalogues: each fault with the message without it."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from anyascii import anyascii

from polyjudge.catalogues.plurals import integer_categories, plural_categories
from polyjudge.records.translation import Language

from .catalogue_files import Entry

PLACEHOLDERS = {
    # format: the placeholder, renamed, and another one
    "gettext": ("%s", "%d", "%s"),
    "android": ("%1$s", "%1$d", "%2$s"),
    "json": ("{{name}}", "{{nom}}", "{{other}}"),
    "xliff": ("{name}", "{nom}", "{other}"),
    "strings": ("%@", "%d", "%@"),
}
NUMBERS = {
    "gettext": "%d",
    "android": "%d",
    "json": "{{count}}",
    "xliff": "{count}",
    "strings": "%d",
    "stringsdict": "%d",
}
CYRILLIC = dict(zip("abcdefghijklmnoprstuvxyz", "абцдефгхийклмнопрстувхыз", strict=True))
LIKE_LATIN = dict(zip("aeocpxyiАЕОС", "аеосрхуіAEOC", strict=True))
LIKE_CYRILLIC = dict(zip("аеосрхуі", "aeocpxyi", strict=True))
LIKE_GREEK = dict(zip("οαυνικρ", "oavvikp", strict=True))
LONGEST_LABEL = 5
"""In words; longer texts have no shortcuts."""
UNSPACED = ("Hani", "Hans", "Hant", "Hira", "Thai", "Laoo", "Khmr", "Mymr")
WITH_SHORTCUTS = ("Latn", "Cyrl", "Grek")
QUESTION = {"el": ";", "ar": "؟", "fa": "؟", "ur": "؟", "zh-Hans": "？", "zh-Hant": "？", "ja": "？"}
COLON = {"zh-Hans": "：", "zh-Hant": "：", "ja": "："}


class Case(NamedTuple):
    """A message in which a fault is planted, and what else the fault may need."""

    random: random.Random
    key: str
    source: str
    text: str
    language: Language
    format: str
    number: int
    """The how-manieth fault of its kind in its file."""
    others: Sequence[tuple[str, str]]
    """Other messages of the language."""
    foreign: Mapping[str, str]
    """The translations of the source into other languages."""
    term: tuple[str, str]
    """A term of the glossary and its translation."""

    @property
    def script(self) -> str:
        return self.language.scripts[0]

    def entry(self, source: str, text: str, **more: object) -> Entry:
        return Entry(self.key, source, text, **more)  # type: ignore[arg-type]


Pair = tuple[Sequence[Entry], Sequence[Entry]]
"""The messages without the fault, and with it; the fault is in the last one."""


class Fault(NamedTuple):
    """A kind of fault."""

    plant: Callable[[Case], Pair | None]
    """Returns None where the language or the format cannot have it."""
    kinds: frozenset[str]
    """The findings that name it."""
    fewest_words: int = 2
    """Of the source."""
    breaks_file: bool = False
    """A file has one, because nothing after it may be read."""


def _one(good: Entry, bad: Entry) -> Pair:
    return [good], [bad]


def _flags(case: Case) -> tuple[str, ...]:
    return ("c-format",) if case.format == "gettext" else ()


def _placeholder(case: Case, ending: str) -> Pair:
    holder, renamed, another = PLACEHOLDERS[case.format]
    good = case.entry(f"{case.source}: {holder}", f"{case.text}: {holder}", flags=_flags(case))
    return _one(good, good._replace(text=f"{case.text}:{ending.format(holder, renamed, another)}"))


def placeholder_lost(case: Case) -> Pair:
    return _placeholder(case, "")


def placeholder_renamed(case: Case) -> Pair:
    return _placeholder(case, " {1}")


def placeholder_added(case: Case) -> Pair:
    return _placeholder(case, " {0} {2}")


def number_changed(case: Case) -> Pair:
    number = 21 + 2 * case.number + case.random.randrange(300)
    changed = str(number)[::-1] if str(number) != str(number)[::-1] else str(number + 1)
    good = case.entry(f"{case.source} ({number})", f"{case.text} ({number})")
    return _one(good, good._replace(text=f"{case.text} ({changed})"))


def wrong_language(case: Case) -> Pair | None:
    family = {"no", "da", "sv", "nl", "de"}, {"es", "es-419", "pt", "pt-BR", "it", "fr"}, {"cs", "sk", "pl"}
    close = next((each for each in family if case.language.tag in each), {case.language.tag})
    for tag in ("de", "fr", "pl", "ru", "it"):
        text = case.foreign.get(tag)
        if tag not in close and text and text != case.source and (tag != "ru" or case.script != "Cyrl"):
            return _one(case.entry(case.source, case.text), case.entry(case.source, text))
    return None


def untranslated(case: Case) -> Pair:
    return _one(case.entry(case.source, case.text), case.entry(case.source, case.source))


def _markup(case: Case, bad: str) -> Pair:
    good = case.entry(f"<b>{case.source}</b>", f"<b>{case.text}</b>")
    return _one(good, good._replace(text=bad))


def markup_lost(case: Case) -> Pair:
    return _markup(case, case.text)


def markup_broken(case: Case) -> Pair:
    return _markup(case, (f"<b>{case.text}<b>", f"<b>{case.text}</b", f"<b>{case.text}")[case.number % 3])


def accelerated(case: Case) -> Entry:
    """Return a message with a shortcut."""
    text = f"_{case.text}" if case.script in WITH_SHORTCUTS else f"{case.text}(_{case.source[0].upper()})"
    return case.entry(f"_{case.source}", text)


def _is_label(case: Case) -> bool:
    return len(case.source.split()) <= LONGEST_LABEL and case.text[0].isalpha()


def accelerator_lost(case: Case) -> Pair | None:
    good = accelerated(case)
    return _one(good, good._replace(text=case.text)) if _is_label(case) else None


def accelerator_doubled(case: Case) -> Pair | None:
    good = accelerated(case)
    text = good.text + "(_X)" if "(" in good.text else re.sub(r"(?<= )(?=\w)", "_", good.text, count=1)
    return _one(good, good._replace(text=text)) if text != good.text and _is_label(case) else None


def space_lost(case: Case) -> Pair:
    # Languages without spaces between words may leave them out.
    frame = "{}\n" if case.script in UNSPACED else (" {}", "{} ", "{}\n")[case.number % 3]
    good = case.entry(frame.format(case.source), frame.format(case.text))
    return _one(good, good._replace(text=case.text))


def end_mark_lost(case: Case) -> Pair | None:
    mark = ("...", ":", "?")[case.number % 3]
    tag = case.language.tag
    own = {"?": QUESTION, ":": COLON}.get(mark, {}).get(tag, mark)
    if mark == "?" and case.script in ("Thai", "Laoo", "Khmr"):
        mark = own = "..."
    good = case.entry(case.source + mark, case.text + own)
    return _one(good, good._replace(text=case.text)) if case.text[-1].isalnum() else None


def url_changed(case: Case) -> Pair:
    good = case.entry(f"{case.source} https://example.org/en/help", f"{case.text} https://example.org/en/help")
    changed = ("https://example.org/de/hilfe", "https://exemple.org/en/help", "https:// example.org/en/help")
    return _one(good, good._replace(text=f"{case.text} {changed[case.number % 3]}"))


def plural_missing(case: Case) -> Pair | None:
    needed = integer_categories(case.language.tag)
    if len(needed) < 2:
        return None
    given = needed if case.format == "gettext" else tuple(dict.fromkeys((*needed, "other")))
    number = NUMBERS[case.format]
    forms = {category: f"{number} {case.text} {place}" for place, category in enumerate(given)}
    if case.format == "gettext":
        lost = given[-1]
    else:
        lost = case.random.choice([category for category in needed if category != "other"])
    sources = {"one": f"{number} {case.source}", "other": f"{number} {case.source}s"}
    good = case.entry(sources["other"], forms["other"] if "other" in forms else forms[given[-1]],
                      source_forms=sources, forms=forms, flags=_flags(case))  # fmt: skip
    return _one(good, good._replace(forms={name: text for name, text in forms.items() if name != lost}))


def wrong_script(case: Case) -> Pair | None:
    if "Latn" in case.language.scripts[1:]:
        return None
    text = case.text.lower()
    other = (
        "".join(CYRILLIC.get(letter, letter) for letter in anyascii(text)) if case.script == "Latn" else anyascii(text)
    )
    return _one(case.entry(case.source, case.text), case.entry(case.source, other))


def mixed_script(case: Case) -> Pair | None:
    table = {"Latn": LIKE_LATIN, "Cyrl": LIKE_CYRILLIC, "Grek": LIKE_GREEK}.get(case.script)
    words = [match for match in re.finditer(r"[^\W\d_]{4,}", case.text) if not match[0].isupper()]
    if table is None:
        if not words:
            return None
        place = words[0].start() + 2
        return _one(
            case.entry(case.source, case.text), case.entry(case.source, f"{case.text[:place]}а{case.text[place:]}")
        )
    for word in words:
        for place in range(word.start() + 1, word.end()):
            if case.text[place] in table:
                text = case.text[:place] + table[case.text[place]] + case.text[place + 1 :]
                return _one(case.entry(case.source, case.text), case.entry(case.source, text))
    return None


def doubled_word(case: Case) -> Pair | None:
    words = case.text.split()
    places = [place for place, word in enumerate(words) if word.isalpha() and len(word) > 2]
    if case.script in UNSPACED or not places or len(words) < 3:
        return None
    place = case.random.choice(places)
    text = " ".join([*words[: place + 1], words[place], *words[place + 1 :]])
    return _one(case.entry(case.source, case.text), case.entry(case.source, text))


def cut_off(case: Case) -> Pair | None:
    if case.script in UNSPACED:
        text = case.text[: max(2, len(case.text) * 2 // 5)]
    else:
        words = case.text.split()
        text = " ".join(words[: max(1, len(words) * 2 // 5)])
    return (
        _one(case.entry(case.source, case.text), case.entry(case.source, text))
        if len(text) < len(case.text) / 2
        else None
    )


def too_long(case: Case) -> Pair | None:
    if case.format not in ("gettext", "xliff"):
        return None
    good = case.entry(case.source, case.text, max_length=len(case.text))
    return _one(good, good._replace(max_length=len(case.text) - 1))


def wrong_term(case: Case) -> Pair | None:
    term, translation = case.term
    other = next((text for _, text in case.others if " " not in text and text.isalpha() and text != translation), "")
    good = case.entry(f"{term}: {case.source}", f"{translation}: {case.text}")
    return _one(good, good._replace(text=f"{other}: {case.text}")) if other and term else None


def inconsistent(case: Case) -> Pair | None:
    if case.format == "gettext":
        return None  # it has a source twice only in contexts that differ
    keys = [f"same_{case.key}_{place}" for place in range(3)]
    good = [Entry(key, case.source, case.text) for key in keys]
    other = next(text for _, text in case.others if text != case.text)
    return good, [*good[:2], good[2]._replace(text=other)]


def fuzzy_left(case: Case) -> Pair | None:
    good = case.entry(case.source, case.text)
    return _one(good, good._replace(flags=("fuzzy",))) if case.format in ("gettext", "xliff") else None


def escape_broken(case: Case) -> Pair:
    sign = {"android": "'", "xliff": "&"}.get(case.format, '"')
    good = case.entry(f"{case.source} {sign}", f"{case.text} {sign} {case.text}")
    return _one(good, good)  # the escape is taken from the written line


def entity_broken(case: Case) -> Pair:
    good = case.entry(f"{case.source} &copy; &amp; 1", f"{case.text} &copy; &amp; 1")
    changed = ("&copy &amp; 1", "&copy; &amp;amp; 1", "&kopie; &amp; 1")
    return _one(good, good._replace(text=f"{case.text} {changed[case.number % 3]}"))


def icu_broken(case: Case) -> Pair | None:
    if case.format not in ("json", "xliff"):
        return None
    cases = " ".join(f"{category} {{# {case.text}}}" for category in plural_categories(case.language.tag))
    good = case.entry(
        f"{{count, plural, one {{# {case.source}}} other {{# {case.source}}}}}", f"{{count, plural, {cases}}}"
    )
    changed = (good.text[:-1], good.text.replace("other", "andere"), good.text.replace("count,", "count", 1))
    return _one(good, good._replace(text=changed[case.number % 3]))


def invisible(case: Case) -> Pair:
    sign = ("\u202e", "\u200b", "\ufeff", "\u2066")[case.number % 4]
    place = len(case.text) // 2
    return _one(
        case.entry(case.source, case.text), case.entry(case.source, case.text[:place] + sign + case.text[place:])
    )


def _fault(plant: Callable[[Case], Pair | None], *kinds: str, words: int = 2, breaks_file: bool = False) -> Fault:
    return Fault(plant, frozenset(kinds), words, breaks_file)


_LANGUAGE = ("wrong_language", "untranslated", "source_copied", "wrong_script", "unclear_language")
_SCRIPT = ("wrong_script", "mixed_script", "foreign_script", "untranslated_word")
FAULTS = {
    "placeholder lost": _fault(placeholder_lost, "placeholder_lost"),
    "placeholder renamed": _fault(placeholder_renamed, "placeholder_lost", "placeholder_added"),
    "placeholder added": _fault(placeholder_added, "placeholder_added"),
    "number changed": _fault(number_changed, "number_changed", "number_lost"),
    "wrong language": _fault(wrong_language, *_LANGUAGE, words=5),
    "not translated": _fault(untranslated, *_LANGUAGE, words=4),
    "markup lost": _fault(markup_lost, "markup_lost", "markup_unbalanced"),
    "markup broken": _fault(markup_broken, "markup_lost", "markup_unbalanced", "markup_added"),
    "shortcut lost": _fault(accelerator_lost, "accelerator_lost"),
    "shortcut doubled": _fault(accelerator_doubled, "accelerator_doubled"),
    "space or line break lost": _fault(space_lost, "space_changed", "line_break_changed"),
    "end mark lost": _fault(end_mark_lost, "end_mark_changed", "ellipsis_lost", "question_lost", "language_mark"),
    "address changed": _fault(url_changed, "url_lost", "url_added"),
    "plural form missing": _fault(plural_missing, "plural_missing", "file_problem"),
    "wrong script": _fault(wrong_script, *_LANGUAGE, *_SCRIPT, words=4),
    "mixed script": _fault(mixed_script, *_SCRIPT),
    "word doubled": _fault(doubled_word, "doubled_word", "repetition", words=3),
    "cut off": _fault(cut_off, "cut_off", "wrong_length", "missing_sentences", words=8),
    "too long": _fault(too_long, "too_long"),
    "wrong term": _fault(wrong_term, "term_missing", "term_forbidden"),
    "inconsistent": _fault(inconsistent, "inconsistent"),
    "left for review": _fault(fuzzy_left, "needs_review"),
    "escape broken": _fault(escape_broken, "escape_broken", "file_broken", "file_problem", breaks_file=True),
    "entity broken": _fault(entity_broken, "entity_broken"),
    "ICU broken": _fault(icu_broken, "placeholder_syntax"),
    "invisible character": _fault(invisible, "invisible_character"),
}
