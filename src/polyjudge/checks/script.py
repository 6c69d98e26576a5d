"""Is a text written in a script of its language, and where is it not?"""

import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any

from polyjudge.records.findings import Finding, ScriptCheck, ScriptState
from polyjudge.records.translation import Language
from polyjudge.text.segments import Word, prose, words

PASSING_SHARE = 0.8
FAILING_SHARE = 0.5
_HAN = {"Hans": "Hani", "Hant": "Hani"}
_LONE_HAN = 8
"""So many Chinese characters without a letter of the language's own are Chinese; fewer may be a sign or a name."""
_JAPAN_ALONE = frozenset("駅円気売読図関広験続単弾鉄対実経権団帰沢桜発変薬歩込働畑営応価県検")
"""Characters as Japan alone writes them: signs such as 関係者以外立入禁止 have no kana."""
_ALPHABETS = {"Latn", "Cyrl", "Grek"}
"""Scripts whose letters look alike and whose words stand apart; elsewhere Latin letters join words as they are."""
_BLANK = {"Cc", "Cf", "Zs", "Zl", "Zp"}
_MOST_PLACES = 50
"""So many places of one kind are told; a text with more is none to be mended place by place."""


def check_script(text: str, language: Language, source: str = "") -> ScriptCheck:
    """Say whether the letters are in an accepted script; names and terms of the source may stand as they are."""
    accepted = {_HAN.get(script, script) for script in language.scripts}
    ours, foreign = _sorted_letters(text, accepted, source)
    count, alien = len(ours), sum(len(word.text) for word in foreign)
    share = count / (count + alien) if count + alien else None
    problems = (
        *_whole_text_problems(text, language, source, share, count),
        *_variant_problems(ours, language),
        *islice(_foreign_spans(text, foreign, share), _MOST_PLACES),
        *islice(_mixed_words(text, accepted), _MOST_PLACES),
        *islice(_broken_characters(text), _MOST_PLACES),
    )
    return ScriptCheck(state=_state(share, problems), share=share, problems=problems)


def _state(share: float | None, problems: Collection[Finding]) -> ScriptState:
    if any(problem.kind in ("empty", "wrong_script") and problem.severity == "fail" for problem in problems):
        return "fail"
    if share is None:
        return "unknown"
    return "warn" if share < PASSING_SHARE or problems else "pass"


def _sorted_letters(text: str, accepted: set[str], source: str) -> tuple[str, list[Word]]:
    """Return the letters of accepted scripts, and the runs of letters of others that are no names of the source."""
    plain, names, scripts = prose(text), _names(source), tuple(sorted(accepted))
    ours = "".join(_accepted_pattern(scripts).findall(plain))
    runs = [Word(run[0], run.start()) for run in _foreign_pattern(scripts).finditer(plain)]
    named = [word for word in words(plain) if word.text in names] if runs else []
    places = {place for name in named for place in range(name.start, name.end)}
    return ours, [run for run in runs if run.start not in places and run.text not in names]


@lru_cache(maxsize=256)
def _names(source: str) -> frozenset[str]:
    """Return the words of the source that are names or terms: with a capital inside a sentence, or with a digit."""
    names: set[str] = set()
    end, shouted = 0, source.isupper() and len(words(source)) > 2
    for word in words(source):
        opens = end == 0 or any(mark in ".!?:\n" for mark in source[end : word.start])
        letters = word.text[1:] if opens else word.text
        if any(letter.isdigit() for letter in word.text) or (letters != letters.lower() and not shouted):
            names |= {word.text, word.text.removesuffix("'s").removesuffix("’s")}
        end = word.end
    return frozenset(names) - {"I", "I'm", "I’m", "I'd", "I’d", "I've", "I’ve", "I'll", "I’ll"}


def _whole_text_problems(
    text: str, language: Language, source: str, share: float | None, count: int
) -> Iterator[Finding]:
    wanted = f"{language.name} is written in {' or '.join(language.scripts)}"
    if is_blank(text):
        yield Finding("empty", "fail", "there is no text")
    elif share is None:
        if words(prose(source)) and not (words(prose(text)) and _names(source)):
            yield Finding("wrong_script", "fail", f"there is no letter; {wanted}")
    elif share < FAILING_SHARE:
        yield Finding("wrong_script", "fail", f"{share:.0%} of the letters are in the right script; {wanted}")
    elif count < 2 and (len(words(source)) > 2 or not source.strip()):
        yield Finding("wrong_script", "fail" if source.strip() else "warn", f"there is but one letter; {wanted}")


def _variant_problems(ours: str, language: Language) -> Iterator[Finding]:
    """Tell Japanese and Korean from Chinese, and simplified from traditional characters."""
    han = _accepted_pattern(("Hani",)).findall(ours)
    if not han:
        return
    if "Hani" in language.scripts and len(han) == len(ours):
        if len(han) >= _LONE_HAN and ("Hira" not in language.scripts or _JAPAN_ALONE.isdisjoint(han)):
            yield Finding("wrong_script", "fail", f"Chinese characters alone; {language.name} has letters of its own")
        return
    simplified, traditional = _han_variants()
    counts = {"Hans": sum(sign in simplified for sign in han), "Hant": sum(sign in traditional for sign in han)}
    if language.scripts in (("Hans",), ("Hant",)):
        right, other = counts[language.scripts[0]], counts["Hant" if language.scripts == ("Hans",) else "Hans"]
        named = "traditional" if language.scripts == ("Hans",) else "simplified"
        if other > right and other > 1:
            yield Finding("wrong_script", "fail", f"{named} characters; {language.name} has the others")
        elif other:
            yield Finding("mixed_script", "warn", f"{other} {named} characters among the others")


def _foreign_spans(text: str, foreign: list[Word], share: float | None) -> Iterator[Finding]:
    """Name the stretches in another script; words with nothing but signs between them are one."""
    if share is None or not FAILING_SHARE <= share < 1:
        return
    place = 0
    while place < len(foreign):
        last = place
        while last + 1 < len(foreign) and not any(map(str.isalpha, text[foreign[last].end : foreign[last + 1].start])):
            last += 1
        start, end = foreign[place].start, foreign[last].end
        yield Finding("mixed_script", "warn", f"{text[start:end]!r} is in another script", start, end)
        place = last + 1


def _mixed_words(text: str, accepted: set[str]) -> Iterator[Finding]:
    """Find words made of letters of several scripts: one Cyrillic letter among Latin ones looks right and is not."""
    if not accepted & _ALPHABETS or len(_alphabets_in(prose(text))) < 2:
        return
    for word in words(prose(text)):
        if not word.text.isascii():
            found = _alphabets_in(word.text)
            if len(found) > 1:
                message = f"{word.text!r} mixes {' and '.join(sorted(found))}"
                yield Finding("mixed_script", "warn", message, word.start, word.end)


def _alphabets_in(text: str) -> set[str]:
    return {script for script in _ALPHABETS if _accepted_pattern((script,)).search(text)}


def _broken_characters(text: str) -> Iterator[Finding]:
    if text.isascii() and text.isprintable():
        return
    for match in _no_character().finditer(text) if "\ufffd" in text or not text.isprintable() else ():
        is_lost = match[0][0] == "\ufffd"
        message = (
            "a character was lost (U+FFFD)" if is_lost else f"U+{ord(match[0][0]):04X} is no character of any text"
        )
        yield Finding("broken_characters", "fail", message, match.start(), match.end())
    for match in _mojibake().finditer(text):
        message = f"{match[0][:30]!r} is text decoded wrongly"
        yield Finding("broken_characters", "fail", message, match.start(), match.end())


def is_blank(text: str) -> bool:
    """Say whether there is nothing to see in a text: spaces and signs without a shape."""
    return not text.strip() or (
        not text[:9].isprintable() and all(unicodedata.category(sign) in _BLANK for sign in text)
    )


@lru_cache(maxsize=256)
def _accepted_pattern(scripts: tuple[str, ...]) -> Any:
    import regex  # here, because it takes a while to load and most commands do without

    return regex.compile(rf"(?=\p{{L}})[{_classes(scripts)}]", regex.V1)


@lru_cache(maxsize=256)
def _foreign_pattern(scripts: tuple[str, ...]) -> Any:
    import regex

    return regex.compile(rf"[\p{{L}}--[{_classes((*scripts, 'Zyyy', 'Zinh'))}]]+", regex.V1)


def _classes(scripts: tuple[str, ...]) -> str:
    return "".join(rf"\p{{sc={script}}}" for script in scripts)


@lru_cache(maxsize=1)
def _mojibake() -> Any:
    """Return what finds UTF-8 read as Latin-1, Windows-1252 or, Cyrillic alone, Windows-1251."""
    import regex

    more = "[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"  # what bytes 80 to BF become
    return regex.compile(
        rf"(?:Ã(?![\u00a0»])|â€){more}|[ÂÄÅ][\u0080-\u009f¡-§¬\u00ad±´-¶¸¼-¿€†‡ˆ‰˜]|ðŸ{more}{{2}}"
        rf"|(?:[Â-ß]{more}){{2,}}|(?:[à-ï]{more}{{2}}){{2,}}|(?:[РС][^\x00-\x7fа-яА-ЯЁ\s]){{3,}}"
    )


@lru_cache(maxsize=1)
def _no_character() -> Any:
    import regex

    return regex.compile(r"\ufffd+|[[\p{Cn}\p{Co}\p{Cs}\p{Cc}]--[\n\r\t]]+", regex.V1)


@lru_cache(maxsize=1)
def _han_variants() -> tuple[frozenset[str], frozenset[str]]:
    """Return common characters that stand in simplified text alone, and those that stand in traditional text alone."""
    lines = (files("polyjudge.checks") / "han_variants.txt").read_text(encoding="utf-8").splitlines()
    pairs = [pair for line in lines if not line.startswith("#") for pair in line.split()]
    return frozenset(pair[0] for pair in pairs), frozenset(pair[1] for pair in pairs)
