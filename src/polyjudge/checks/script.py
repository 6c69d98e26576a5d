"""Is a text written in a script of its language, and where is it not?"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any

from polyjudge.records.findings import Finding, ScriptCheck, ScriptState, Severity
from polyjudge.records.translation import Language
from polyjudge.text.segments import Word, running_text, words

PASSING_SHARE = 0.8
FAILING_SHARE = 0.5
_HAN = {"Hans": "Hani", "Hant": "Hani"}
_DENSE = {"Hani", "Hira", "Kana", "Hang"}
_HAN_WEIGHT = 2
"""A character of Chinese, Japanese or Korean says as much as so many letters of a word left in Latin letters."""
_MOST_TERMS = 4
"""Words of the source that a text may keep in another script beside words of its own."""
_FEW_LETTERS = 4
"""An abbreviation beside a sign or two of the language: lfg 笑."""
_LEAST_SHOWN = 0.005
"""A smaller share would be shown as 0%."""
_KEYWORDS = 3
"""A source with so many semicolons is a list of keywords, which keeps those of the source."""
_KEY = re.compile(r"\s?\([_&]\w\)|[_&](?=\w)")
_LONE_HAN = 8
"""So many Chinese characters without a letter of the language's own may be Chinese; fewer are a sign or a name."""
_LONGEST_TITLE = 20
"""Chinese characters in a Japanese title without kana; more are Chinese."""
_CHINESE_ALONE = frozenset("你您们這这那哪谁誰什么麼吗嗎呢吧很也都就还還把让讓给給没沒说說會会個个嘅係咗佢")
"""Characters that Chinese sentences have and that Japanese writes with kana, or not at all."""
_CHINESE_STOPS = frozenset("，。！？；")
_JAPAN_ALONE = frozenset("駅円気売読図関広験続単弾鉄対実経権団帰沢桜発変薬歩込働畑営応価県検")
"""Characters as Japan alone writes them: signs such as 関係者以外立入禁止 have no kana."""
_ALPHABETS = {"Latn", "Cyrl", "Grek"}
"""Scripts whose letters look alike and whose words are separate; elsewhere Latin letters join words as they are."""
_LOOK_ALIKE = re.compile(r"(?<=\s)[acoy](?=\s\w)")
"""Latin letters that are words in Cyrillic: с, а, о, у."""
_SCRIPT_NAMES = {"Latn": "Latin", "Cyrl": "Cyrillic", "Grek": "Greek"}
_MOJIBAKE_MARK = re.compile("[\u00c2-\u00f0\u0420\u0421]")
"""What every text decoded with the wrong encoding has."""
_DANDAS = "".join(chr(block + 0x64) + chr(block + 0x65) for block in range(0x980, 0xE00, 0x80))
"""Places without a character where fonts and texts of India have the full stop."""
_BLANK = {"Cc", "Cf", "Zs", "Zl", "Zp"}
_MOST_PLACES = 50
"""So many places of one kind are reported; a text with more is not corrected place by place."""


def check_script(text: str, language: Language, source: str = "") -> ScriptCheck:
    """Say whether the letters are in an accepted script; names and terms of the source may stay as they are."""
    accepted = {_HAN.get(script, script) for script in language.scripts}
    plain, scripts = running_text(text), tuple(sorted(accepted))
    runs = [Word(run[0], run.start()) for run in _foreign_pattern(scripts).finditer(plain)]
    ours = _own_letters(plain, scripts, needs_all=bool(runs) or "Hani" in accepted)
    foreign = _without_names(runs, plain, source) if runs else []
    count, alien = len(ours), sum(len(word.text) for word in foreign)
    share = count / (count + alien) if count + alien else None
    if accepted & _DENSE and all(word.text.isascii() for word in foreign):
        count *= _HAN_WEIGHT
    weighed = count / (count + alien) if count + alien else None
    terms = bool(source) and _are_terms(ours, foreign, source)
    problems = (
        *_whole_text_problems(text, language, source, weighed, len(ours), are_terms=terms),
        *(_variant_problems(text, ours, language, source) if "Hani" in accepted else ()),
        *islice(_foreign_spans(text, foreign, share, source), _MOST_PLACES),
        *islice(_mixed_words(plain) if _may_be_mixed(accepted, runs) else (), _MOST_PLACES),
        *islice(_broken_characters(text, source), _MOST_PLACES),
    )
    return ScriptCheck(state=_state(share, problems), share=share, problems=problems)


def is_accepted(word: str, language: Language) -> bool:
    """Say whether a word begins with a letter of the language's scripts."""
    scripts = tuple(sorted({_HAN.get(script, script) for script in language.scripts}))
    return _accepted_pattern(scripts).match(word) is not None


def _state(share: float | None, problems: Collection[Finding]) -> ScriptState:
    if any(problem.kind in ("empty", "wrong_script") and problem.severity == "fail" for problem in problems):
        return "fail"
    if share is None:
        return "unknown"
    return "warn" if share < PASSING_SHARE or problems else "pass"


def _own_letters(plain: str, scripts: tuple[str, ...], *, needs_all: bool) -> str:
    """Return the letters of accepted scripts; in a text without others, two of them say enough."""
    two = None if needs_all else _accepted_pattern(scripts, "{2}").search(plain)
    return two[0] if two else "".join(_accepted_pattern(scripts).findall(plain))


def _without_names(runs: list[Word], plain: str, source: str) -> list[Word]:
    """Return the runs of letters of another script that are not names or words of the source."""
    names = _names(source)
    named = [word for word in words(plain) if word.text in names]
    places = {place for name in named for place in range(name.start, name.end)}
    runs = [run for run in runs if run.start not in places and run.text not in names]
    if runs and source:
        known = {word.text.casefold() for word in words(source)}
        runs = [run for run in runs if run.text.islower() or run.text.casefold() not in known]
    return runs


@lru_cache(maxsize=256)
def _names(source: str) -> frozenset[str]:
    """Return the words of the source that are names or terms: with a capital inside a sentence, or with a digit."""
    names: set[str] = set()
    end, shouted = 0, source.isupper() and len(words(source)) > 2
    for word in words(source):
        opens = end == 0 or any(mark in ".!?:\n" for mark in source[end : word.start])
        letters = word.text[1:] if opens else word.text
        is_unit = "/" in (source[word.start - 1 : word.start], source[word.end : word.end + 1])
        is_symbol = any(letter.isdigit() for letter in word.text) or (is_unit and len(word.text) < 4)
        is_symbol = is_symbol or (len(word.text) < 3 and word.text.istitle() and source[word.end : word.end + 1] == ",")
        if is_symbol or (letters != letters.lower() and not shouted):
            names |= {word.text, word.text.removesuffix("'s").removesuffix("’s")}
        end = word.end
    return frozenset(names) - {"I", "I'm", "I’m", "I'd", "I’d", "I've", "I’ve", "I'll", "I’ll"}


def _whole_text_problems(
    text: str, language: Language, source: str, share: float | None, count: int, *, are_terms: bool
) -> Iterator[Finding]:
    wanted = f"{language.name} is written in {' or '.join(language.scripts)}."
    if is_blank(text):
        yield Finding("empty", "fail", "The text is empty.")
    elif share is None:
        letters = sum(len(word.text) for word in words(running_text(source)))
        is_lost = letters > _FEW_LETTERS or source == text  # and not 25th as 25, "%s at %s" as "%s, %s"
        if is_lost and letters and not (words(running_text(text)) and _names(source)):
            yield Finding("wrong_script", "fail", f"No letters. {wanted}")
    elif share < FAILING_SHARE:
        if count or not _is_slang(text, source):
            is_list = source.count(";") >= _KEYWORDS
            severity: Severity = "warn" if are_terms or is_list or _is_kept(text, source) else "fail"
            part = f"Only {share:.0%}" if share >= _LEAST_SHOWN else "Almost none" if share else "None"
            yield Finding("wrong_script", severity, f"{part} of the letters are in the right script. {wanted}")
    elif count < 2 and (len(words(running_text(source))) > 2 or not source.strip()):
        is_sure = source.strip() and len(words(running_text(text))) < 2
        yield Finding("wrong_script", "fail" if is_sure else "warn", f"Only one letter. {wanted}")


def _are_terms(ours: str, foreign: Sequence[Word], source: str) -> bool:
    """Say whether a short text has letters of its own beside a few words of the source, as strings of programs have."""
    known = {word.text.casefold() for word in words(source)}
    is_known = 0 < len(foreign) <= _MOST_TERMS and all(word.text.casefold() in known for word in foreign)
    return is_known and (len(ours) > 1 or (bool(ours) and sum(len(word.text) for word in foreign) <= _FEW_LETTERS))


def _is_kept(text: str, source: str) -> bool:
    """Say whether a text is an address, however spaced, or a line of code as it is in the source."""
    if _without_key(text) == _without_key(source) != source:
        return len(words(source)) == 1  # a name, with another key
    ours, theirs = "".join(text.split()), "".join(source.split())
    if ours != theirs or running_text(source) == source:
        return False
    letters = sum(len(word.text) for word in words(running_text(source)))
    return 2 * letters < len(theirs)


def _without_key(text: str) -> str:
    """Return a label without what marks the key of its shortcut: _NTSC, NTSC (_N)."""
    return _KEY.sub("", text).strip()


def _is_slang(text: str, source: str) -> bool:
    """Say whether a copied text has nothing but a ticker or a mention and abbreviations: `lfg $tslq lol`."""
    found = words(running_text(text))
    return running_text(text) != text and text == source and all(len(word.text) < 4 for word in found)


def _variant_problems(text: str, ours: str, language: Language, source: str) -> Iterator[Finding]:
    """Find Chinese in the place of Japanese and Korean, and traditional characters among simplified ones."""
    han = "".join(_accepted_pattern(("Hani",)).findall(ours))
    if not han:
        return
    if "Hani" in language.scripts and len(han) == len(ours):
        if len(han) >= _LONE_HAN and ("Hira" not in language.scripts or _is_chinese(text, han)):
            yield Finding("wrong_script", "fail", f"Only Chinese characters. {language.name} has its own letters.")
        return
    if "Hira" in language.scripts:
        yield from islice(_chinese_in_japanese(text, source), _MOST_PLACES)
    if language.scripts in (("Hans",), ("Hant",)):
        simplified, traditional = _han_variants()
        counts = {"Hans": sum(sign in simplified for sign in han), "Hant": sum(sign in traditional for sign in han)}
        right, other = counts[language.scripts[0]], counts["Hant" if language.scripts == ("Hans",) else "Hans"]
        found, wanted = (
            ("Traditional", "Simplified") if language.scripts == ("Hans",) else ("Simplified", "Traditional")
        )
        if other > right and other > 1:
            yield Finding("wrong_script", "fail", f"{found} characters in {wanted} Chinese text.")
        elif other:
            yield Finding("mixed_script", "warn", f"{found} characters in {wanted} Chinese text: {other}.")


def _is_chinese(text: str, han: str) -> bool:
    """Say whether a text without kana is Chinese and not a Japanese title or sign."""
    if not _JAPAN_ALONE.isdisjoint(han):
        return False
    if not _CHINESE_ALONE.isdisjoint(han) or any(_is_not_japanese(sign) for sign in han):
        return True
    return len(han) > _LONGEST_TITLE or not _CHINESE_STOPS.isdisjoint(text)


def _chinese_in_japanese(text: str, source: str) -> Iterator[Finding]:
    """Find characters that Japanese does not have: 你, 这, 们."""
    place = 0
    while place < len(text):
        start = place
        while place < len(text) and _is_not_japanese(text[place]):
            place += 1
        if place > start and text[start:place] not in source:
            message = f"Chinese characters in Japanese text: {text[start:place]!r}."
            yield Finding("foreign_script", "fail" if source else "warn", message, start, place)
        place += 1


@lru_cache(maxsize=4096)
def _is_not_japanese(sign: str) -> bool:
    """Say whether a character is Chinese and not among those of the Japanese standard."""
    if not "\u4e00" <= sign <= "\u9fff":
        return False
    try:
        sign.encode("cp932")
    except UnicodeEncodeError:
        return True
    return False


def _foreign_spans(text: str, foreign: list[Word], share: float | None, source: str) -> Iterator[Finding]:
    """Name the stretches in another script; words with nothing but signs between them are one."""
    if share is None or not FAILING_SHARE <= share < 1:
        return
    place = 0
    while place < len(foreign):
        last = place
        while last + 1 < len(foreign) and not any(map(str.isalpha, text[foreign[last].end : foreign[last + 1].start])):
            last += 1
        start, end = foreign[place].start, foreign[last].end
        if text[start] <= "\u024f" or "\uff21" <= text[start] <= "\uff5a":
            if _is_left_over(text, start, foreign[place : last + 1]):
                yield Finding("mixed_script", "warn", f"Words in another script: {text[start:end]!r}.", start, end)
        elif text[start:end] not in source:
            is_sure = bool(source) and foreign[place].end - foreign[place].start > 1
            message = f"Letters of another script: {text[start:end]!r}."
            yield Finding("foreign_script", "fail" if is_sure else "warn", message, start, end)
        place = last + 1


def _is_left_over(text: str, start: int, run: Sequence[Word]) -> bool:
    """Say whether Latin words are ordinary ones: not names, abbreviations, units or parts of a code."""
    if len(run) == 1 and len(run[0].text) == 1:
        return _LOOK_ALIKE.match(text, start) is not None
    if text[:start].rstrip()[-1:].isdigit() or text[run[-1].end : run[-1].end + 1].isdigit():
        return False
    ordinary = sum(word.text.islower() and len(word.text) > 1 for word in run)
    return 2 * ordinary > len(run)


def _may_be_mixed(accepted: Collection[str], foreign: Collection[Word]) -> bool:
    """Say whether a text may have letters of several alphabets."""
    alphabets = len(_ALPHABETS.intersection(accepted))
    return alphabets > 1 or (alphabets == 1 and len(foreign) > 0)


def _mixed_words(plain: str) -> Iterator[Finding]:
    """Find words made of letters of several scripts: one Cyrillic letter among Latin ones looks right and is not."""
    if plain.isascii() or len(_alphabets_in(plain)) < 2:
        return
    for word in words(plain):
        if not word.text.isascii():
            found = _alphabets_in(word.text)
            if len(found) > 1:
                names = " and ".join(sorted(_SCRIPT_NAMES[script] for script in found))
                message = f"Word that mixes {names} letters: {word.text!r}."
                yield Finding("mixed_script", "warn", message, word.start, word.end)


def _alphabets_in(text: str) -> set[str]:
    return {script for script in _ALPHABETS if _accepted_pattern((script,)).search(text)}


def _broken_characters(text: str, source: str) -> Iterator[Finding]:
    if text.isascii() and text.isprintable():
        return
    for match in _no_character().finditer(text) if "\ufffd" in text or not text.isprintable() else ():
        if match[0][0] == "\ufffd":
            message = "A character was lost (U+FFFD)."
        else:
            message = f"Character that does not belong in text: U+{ord(match[0][0]):04X}."
        if match[0][0] not in source:
            yield Finding("broken_characters", "fail", message, match.start(), match.end())
    if not _MOJIBAKE_MARK.search(text):
        return
    for match in _mojibake().finditer(text):
        if match[0] not in source:
            message = f"Text decoded with the wrong encoding: {match[0][:30]!r}."
            yield Finding("broken_characters", "fail", message, match.start(), match.end())


def is_blank(text: str) -> bool:
    """Say whether there is nothing to see in a text: spaces and signs without a shape."""
    return not text.strip() or (
        not text[:9].isprintable() and all(unicodedata.category(sign) in _BLANK for sign in text)
    )


@lru_cache(maxsize=256)
def _accepted_pattern(scripts: tuple[str, ...], count: str = "+") -> Any:
    import regex  # here, because it takes a while to load and most commands do without

    return regex.compile(rf"[\p{{L}}&&[{_classes(scripts)}]]{count}", regex.V1)


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

    return regex.compile(rf"\ufffd+|[[\p{{Cn}}\p{{Co}}\p{{Cs}}\p{{Cc}}]--[\n\r\t{_DANDAS}]]+", regex.V1)


@lru_cache(maxsize=1)
def _han_variants() -> tuple[frozenset[str], frozenset[str]]:
    """Return common characters that stand in simplified text alone, and those that stand in traditional text alone."""
    lines = (files("polyjudge.checks") / "han_variants.txt").read_text(encoding="utf-8").splitlines()
    pairs = [pair for line in lines if not line.startswith("#") for pair in line.split()]
    return frozenset(pair[0] for pair in pairs), frozenset(pair[1] for pair in pairs)
