"""Find numbers in a sentence that state another score or another scale than the verdict's.

A number after a label and a colon, out of the highest score, or at the end of a sentence states a score in any
language, unless it counts something, is a position or a deduction, or is in the judged text.
"""

import re
from dataclasses import dataclass

from polyjudge.records.rubrics import Scale

from .judged_text import ReplyContext
from .number_words import number_words, with_digits
from .plain_reasons import is_low
from .statement_words import checked_language, has_word, pattern

_OUT_OF = (
    r"/|(?:points?\s+|punti\s+)?(?:out\s+of|of|von|sur|de|su|di|из|із|зі|з|ze|zo|z|van|av|ud\s+af|dari|daripada|trên|من(?:\s+أصل)?|از|में\s+से"
    r"|üzerinden|от|од|iš|no|από|מתוך|kati\s+ya|mula\s+sa|sa|จาก|ud\s+af|över|av|op|over)|分の|中"
)
_UNITS = (
    r"分|点|점|星|pts?\.?|points?|Punkten?|балл\w*|бал\w*|punkt\w*|pont|pontot|puan\w*|puncte?|puntos?|pontos?|punti|bodů|bod\w*"
    r"|точк\w*|поен\w*|poen\w*|poäng|poeng|pistettä|balų|poin|mata|điểm|คะแนน|נקודות|نقطة|درجة|امتیاز|نمره|अंक|নম্বর|πόντ\w*|βαθμ\w*|punten"
)
_STARS = (
    r"stars?|Sterne|étoiles?|estrellas?|estrelas?|stelle|sterren|gwiazdki|gwiazdek|звёзд\w*|звезд\w*|yıldız|bintang"
)
_A = r"(?:an?\s+|one\s+)?"
_NOT_IN_A_NAME = r"(?<![0-9a-zA-Z_./#§])(?<!\d,)"
NUMBER = re.compile(
    rf"{_NOT_IN_A_NAME}(?P<fraction>\d{{1,4}}(?:\.\d+)?)\s*/\s*(?P<whole>\d{{1,4}})(?![\d/]|\.\d)"
    rf"|{_NOT_IN_A_NAME}(?<![0-9a-zA-Z][-:'])(?P<number>[+-]?\d{{1,9}}(?:[.,]\d+)?)(?![0-9]|[.,:/-]\d)(?:\s?%)?"
    rf"(?:\s?(?:{_UNITS}|{_STARS})?\s*(?:{_OUT_OF})\s*{_A}(?P<out_of>\d{{1,4}})(?!\d|\.\d))?(?!(?!pts?\b|p\b)[a-zA-Z_]|:\d)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(?<![0-9a-zA-Z])(\d+(?:\.\d+)?)\s?(?:-|–|—|~|to|bis|a|à|до)\s?(\d+(?:\.\d+)?)(?![0-9a-zA-Z])")
_OUT_OF_ALONE = re.compile(r"(?:\(|^|:|\bare |\bis |\bscored |\bscale |\bpoints |分)\s*out of (\d+)", re.IGNORECASE)
_IN_BRACKETS = re.compile(
    r"[(（]\s*([01](?:\.0)?)\s?(?:-|–|—|~|～|to|bis|a|à|до)\s?(\d+(?:\.\d+)?)\s*[)）]", re.IGNORECASE
)
_OUT_OF_ELSEWHERE = re.compile(
    r"(?:noté\w*|note|notation|calificad\w*|puntuad\w*|avaliad\w*|valutat\w*|bewertet)\s+"
    r"(?:sur|sobre|de|su|von)\s+(\d+)|(\d+)\s?(?:段階|段阶|단계)",
    re.IGNORECASE,
)
_INVERTED = re.compile(
    r"\b(?:(?:пяти|десяти)\W?балльн\w*|lower is better|0\s*(?:=|is|means)\s*(?:the )?(?:perfect|best|flawless))\b",
    re.IGNORECASE,
)
_POINTS_BEFORE = re.compile(r"(\d+)[- ](?:point|star|level|step|punkte|stufige|puntos|points)\w?[- ]\Z", re.IGNORECASE)
_PREPOSITIONS = {"out of", "von", "sur", "sobre", "من أصل", "में से", "מתוך", "üzerinden"}
_FULL_MARKS = {"满分", "滿分", "分制", "満点", "点中", "만점", "เต็ม", "thang"}
_LABEL = re.compile(r"([^\W\d_][^\d:=→\n]{0,60}?)[\s*_`\"')\]|]*(?::|=|→|->|=>|\|)[\s*_`\"'(|]*\Z")
_NEXT_WORDS = re.compile(
    r"[ \t]+([^\W\d_][\w'’-]*(?:[ \t]+[^\W\d_][\w'’-]*){0,2})"
    r"|(?=[\u0e00-\u0fff\u2e80-\u9fff\uac00-\ud7af])(\S{1,6})"
)
_OF_ALL = re.compile(
    r"\A\s+(?:of|out of|von|de|sur|di|su|из|van|av)\s+(?:(?:the|its|los|las|les|den|der|i|gli|le)\s+)?\d+",
    re.IGNORECASE,
)
_ONE_WORD = re.compile(r"\s+(?=[^\W\d_])\S+\s*")
LAST_WORD = re.compile(r"([^\s\d]+)[ \t]*\Z")
_MORE = re.compile(r"\b(?:another|more|further|additional|extra|should have)\b", re.IGNORECASE)
_MARKUP = " \t*_#>-|•"
DIGITS = re.compile(r"\d{1,9}(?:[.,]\d{1,9})?")
_SMALL = 20
"""A score up to this number may be on a scale to 5, 10 or 20."""
MANY = 10
"""From this number on, a number before an unknown last word is taken for a score with its unit."""
_FEW_WORDS = 8
_MOST_NUMBERS = 40
"""Maximum numbers of a sentence that can be examined."""


@dataclass(frozen=True, slots=True)
class Stated:
    """The values of a verdict, for comparison with sentences."""

    score: float | None
    numbers: dict[str, float]
    flags: dict[str, bool]
    label: str
    context: ReplyContext

    def expected(self, sentence: str, *, is_final: bool) -> set[float]:
        """Return the numbers that a sentence may state without contradicting the verdict."""
        own: set[float] = set() if self.score is None else {self.score}
        named = {number for name, number in self.numbers.items() if name.casefold() in sentence.casefold()}
        if named or (own and is_final):
            return own | named
        return {*own, *self.numbers.values()}


def states_other_number(said: str, verdict: Stated, *, is_attributed: bool) -> bool:
    """Return whether a sentence after a verdict states another score."""
    is_question = said.endswith("?") and pattern("question", said).match(said) is not None
    if is_question or (verdict.score is None and not verdict.numbers):
        return False
    is_strong = has_word(said, "score", "correction")
    decides = has_word(said, "final", "correction", "revision")
    said = with_digits(said, checked_language(said), least=0 if is_strong or decides else 10)
    matches = [match for match in NUMBER.finditer(said) if not is_place(said, match)]
    if len(matches) > _MOST_NUMBERS:
        return True
    if matches and _is_about_text(said, matches, verdict.context, is_attributed=is_attributed):
        return False
    if matches and _settles(said, matches[-1], verdict):
        return False
    if _replaces_score(said, verdict):
        return True
    opens = pattern("score", said).match(said.lstrip(_MARKUP)) is not None
    expected = verdict.expected(said, is_final=opens or decides)
    return any(_is_statement(said, match, verdict, expected, is_strong=is_strong) for match in matches)


def states_number_in_words(said: str, verdict: Stated) -> bool:
    """Return whether a sentence has a larger number in words that counts nothing and is not in the judged text."""
    if verdict.score is None:
        return False
    context = verdict.context
    values = {verdict.score, *verdict.numbers.values()} | context.numbers
    found = number_words(said, checked_language(said))
    if verdict.score in {each.value for each in found} or _mentions(said, verdict.score):
        values.add(context.scale.highest)
    return any(
        MANY < each.value <= context.scale.highest
        and each.value not in values
        and not context.has_words(said[each.start : each.end])
        and not counts_something(said, each.end)
        for each in found
    )


def states_own_score(said: str, verdict: Stated) -> bool:
    """Return whether a sentence of a reason states another score: "eigentlich 40", "40점이 적절"."""
    if verdict.score is None or has_word(said, "attribution", "draft", "measure", "deduction"):
        return False
    highest, words = verdict.context.scale.highest, len(said.split())
    said = with_digits(said, checked_language(said), least=MANY)
    known = _explained(verdict) | {highest - verdict.score}
    for match in NUMBER.finditer(said):
        is_other = MANY < _number(match) < highest and _number(match) not in known
        if (
            not is_other
            or counts_something(said, match.end())
            or is_place(said, match)
            or match[0][0] == "-"
            or "%" in match[0]
        ):
            continue
        if _out_of(match) == highest or (_is_near_score(said, match) and not has_word(said, "scale", "hypothetical")):
            return True
        if _ends(said, match) and (
            words <= _FEW_WORDS // 2 or (words <= _FEW_WORDS and has_word(said, "correction", "final"))
        ):
            return True
    return False


def _explained(verdict: Stated) -> set[float]:
    """Return the numbers that need no explanation: those of the verdict, of the judged text, and the highest score."""
    own: set[float] = set() if verdict.score is None else {verdict.score}
    return own | {*verdict.numbers.values(), verdict.context.scale.highest} | verdict.context.numbers


def labels_other_score(said: str, verdict: Stated) -> bool:
    """Return whether a sentence before a verdict is a label with another number: "Endnote: 40 Punkte"."""
    if verdict.score is None or has_word(said, "draft", "attribution", "measure", "deduction", "hypothetical"):
        return False
    matches = list(NUMBER.finditer(said))
    if len(matches) != 1 or not MANY < _number(matches[0]) <= verdict.context.scale.highest:
        return False
    if _number(matches[0]) in _explained(verdict):
        return False
    label = _label(said, matches[0])
    is_short = label is not None and len(label.split()) <= _FEW_WORDS // 2
    is_labelled = is_short and not has_word(label or "", "count", "reference")
    return is_labelled and (_ends(said, matches[0]) or _ONE_WORD.fullmatch(said, matches[0].end()) is not None)


def _mentions(said: str, number: float) -> bool:
    return any(float(each[0].replace(",", ".")) == number for each in DIGITS.finditer(said))


def _replaces_score(said: str, verdict: Stated) -> bool:
    """Return whether a sentence has the score and another, unexplained number: "read 79, not 97", "s/84/48/"."""
    scale, score = verdict.context.scale, verdict.score
    if score is None or not _mentions(said, score):
        return False
    known = {score, *verdict.numbers.values(), scale.lowest, scale.highest} | verdict.context.numbers
    for match in DIGITS.finditer(said):
        number = float(match[0].replace(",", "."))
        if number in known or not scale.lowest <= number <= scale.highest:
            continue
        if not (counts_something(said, match.end()) or is_place(said, match) or _is_deducted(said, match)):
            return True
    return False


def doubts_scale(said: str, verdict: Stated) -> bool:
    """Return whether a sentence beside low scores may state a smaller scale: "4 stars out of 5"."""
    top = max([verdict.score or 0, *verdict.numbers.values()])
    if verdict.score is None or not is_low(top, verdict.context.scale):
        return False
    rest = pattern("highest", said).sub(" ", said)
    if rest != said and not has_word(rest, "negation", "attribution", "hypothetical", "objection"):
        return True
    said = with_digits(said, checked_language(said))
    places = [
        match for match in DIGITS.finditer(said) if not (counts_something(said, match.end()) or is_place(said, match))
    ]
    numbers = [float(match[0].replace(",", ".")) for match in places]
    if numbers.count(top) > 1 and top not in verdict.context.numbers:
        return True
    return any(top < number <= _SMALL and number not in verdict.context.numbers for number in numbers)


def states_final_number(said: str, verdict: Stated) -> bool:
    """Return whether a sentence states another score as the judge's own final one."""
    if verdict.score is None or has_word(said, "attribution", "draft", "hypothetical"):
        return False
    said = without_own_scale(with_digits(said, checked_language(said)), verdict.context.scale)
    matches = list(NUMBER.finditer(said))[:_MOST_NUMBERS]
    decides = has_word(said, "final", "revision", "correction")
    opens = pattern("score", said).match(said.lstrip(_MARKUP)) is not None
    has_score = has_word(said, "score") or any(_out_of(match) == verdict.context.scale.highest for match in matches)
    if not (opens or decides) or not has_score:
        return False
    expected = verdict.expected(said, is_final=decides) | {verdict.context.scale.highest}
    for match in matches:
        near = said[max(0, match.start() - 30) : match.start()]
        is_stated = _label(said, match) is not None or _out_of(match) is not None or has_word(near, "score")
        is_stated = is_stated and not re.search(r"\b(?:by|um)\s\Z", near) and not _is_part(said, match, verdict)
        if _number(match) not in expected and is_stated and _ends(said, match) and not _is_deducted(said, match):
            return True
    return False


def states_other_scale(said: str, verdict: Stated) -> bool:
    """Return whether a sentence names another scale, or gives the verdict's score out of another number."""
    highest = verdict.context.scale.highest
    return (
        names_other_scale(said, highest)
        or doubts_scale(said, verdict)
        or any(
            _out_of(match) not in (None, highest)
            and _number(match) == verdict.score
            and not counts_something(said, match.end())
            for match in NUMBER.finditer(said)
        )
    )


def without_own_scale(said: str, scale: Scale) -> str:
    """Return a sentence without the range of the scale in use: "Assessment (0-100 points):"."""
    spans = [
        each for each in _RANGE.finditer(said) if (float(each[1]), float(each[2])) == (scale.lowest, scale.highest)
    ]
    for span in reversed(spans):
        said = said[: span.start()] + said[span.end() :]
    return said


def _is_part(said: str, match: re.Match[str], verdict: Stated) -> bool:
    """Return whether a small number in parentheses counts the noun before them: "spelling (0), tense (1: …)"."""
    is_small = _number(match) <= MANY < (verdict.score or 0)
    return is_small and re.search(r"[^\W\d_][^\S\n]?[(（]\Z", said[: match.start()]) is not None


def names_other_scale(said: str, highest: float) -> bool:
    """Return whether a sentence names a scale with another end: "(out of 5)", "a scale of 1 to 10", "5分制"."""
    if not DIGITS.search(said):
        return _INVERTED.search(said) is not None
    stated = [each.search(said) for each in (_OUT_OF_ALONE, _OUT_OF_ELSEWHERE, _IN_BRACKETS)]
    if _INVERTED.search(said) or any(match and float(match[match.lastindex or 0]) != highest for match in stated):
        return True
    for match in pattern("scale", said).finditer(said) if has_word(said, "scale") else ():
        before, after = said[max(0, match.start() - 20) : match.start()], said[match.end() : match.end() + 24]
        span = _RANGE.search(before[-6:] + match[0] + after)
        if span and float(span[2]) != highest and float(span[1]) <= 1:
            return True
        tops = [None if match[0].casefold() in _PREPOSITIONS else _POINTS_BEFORE.search(before)]
        if match[0] in _FULL_MARKS:
            tops += [re.match(r"\D{0,3}(\d+)", after), re.search(r"(\d+)\s?(?:点|점|分)?\s?\Z", before[-6:])]
        if any(top and float(top[1]) != highest for top in tops):
            return True
    return False


def _is_statement(said: str, match: re.Match[str], verdict: Stated, expected: set[float], *, is_strong: bool) -> bool:
    """Return whether one number of a sentence states a score other than the verdict's."""
    number, out_of = _number(match), _out_of(match)
    scale = verdict.context.scale
    if number in expected or counts_something(said, match.end()) or _is_deducted(said, match):
        return False
    if has_word(said, "deduction") and _MORE.search(said):
        return True
    if out_of is None and number == scale.highest and has_word(said, "scale"):
        return False
    if out_of is not None:
        agrees = verdict.score is not None and number * scale.highest == verdict.score * out_of
        is_alone = not re.search(r"[^\W\d_]", said.replace(match[0], ""))
        return out_of == scale.highest or (not agrees and (is_strong or is_alone))
    if is_strong:
        return _ends(said, match) or _is_near_score(said, match)
    return scale.lowest <= number <= scale.highest and _is_given(said, match, verdict)


def _is_given(said: str, match: re.Match[str], verdict: Stated) -> bool:
    """Return whether a number is stated without any word of scoring, after a label or at the end of a sentence."""
    label = _label(said, match)
    if has_word(said, "measure") or (label and has_word(label, "count", "reference")):
        return False
    if label:
        return _ends(said, match) or _ONE_WORD.fullmatch(said, match.end()) is not None
    is_unit = _ONE_WORD.fullmatch(said, match.end()) and (_number(match) >= MANY or not said[: match.start()].strip())
    return bool(_ends(said, match) or is_unit) and _number(match) not in verdict.context.numbers


def _is_about_text(said: str, matches: list[re.Match[str]], context: ReplyContext, *, is_attributed: bool) -> bool:
    """Return whether the numbers of a sentence are those of the judged text, or a score that it demands."""
    numbers = {_number(match) for match in matches}
    if numbers <= context.numbers and not has_word(said, "score", "final", "revision"):
        return True
    is_demanded = numbers <= context.numbers | {context.scale.highest}
    return is_attributed and len(numbers) == 1 and is_demanded and not has_word(said, "correction", "revision")


def _settles(said: str, last: re.Match[str], verdict: Stated) -> bool:
    """Return whether a sentence with several numbers ends with the verdict's: "first 70, but I settled on 85"."""
    before = said[: last.start()].rstrip()
    if _number(last) != verdict.score or has_word(before[-24:], "negation"):
        return False
    in_brackets = re.search(r"[(（]\W*\w*\W*\Z", before) is not None
    return before.endswith("=") or (has_word(said, "draft", "final") and not in_brackets)


def _number(match: re.Match[str]) -> float:
    return float((match["number"] or match["fraction"]).replace(",", "."))


def _out_of(match: re.Match[str]) -> float | None:
    whole = match["out_of"] or match["whole"]
    return float(whole) if whole else None


def _label(said: str, match: re.Match[str]) -> str | None:
    """Return the label of a number: the words before a colon, or another separator, in front of it."""
    found = _LABEL.search(said[max(0, match.start() - 120) : match.start()])
    return found[1] if found else None


def is_place(said: str, match: re.Match[str]) -> bool:
    """Return whether a number is a position, as in "line 14" or "第3段"."""
    before = LAST_WORD.search(said[max(0, match.start() - 24) : match.start()])
    word = before[1].strip("([{\"'“‘*_") if before else ""
    return word.endswith("第") or pattern("reference", word).fullmatch(word) is not None


def counts_something(said: str, end: int) -> bool:
    """Return whether the number before `end` counts something, as in "2 minor typos" or "3 of the 5 sentences"."""
    after = _NEXT_WORDS.match(_OF_ALL.sub("", said[end : end + 80]))
    if after is None or pattern("copula", said).match(after[1] or after[2]):
        return False
    if after[2]:
        unit, counted = pattern("score", said).match(after[2]), pattern("count", said).match(after[2])
        return counted is not None and (unit is None or counted.end() > unit.end())
    first = after[1].split()[0]
    if first == "points" and re.search(r"\b(?:the|these|those|all)\s\S+\Z", said[:end]):
        return True  # "the 3 points" of an argument
    return pattern("score", first).fullmatch(first) is None and has_word(after[1], "count")


def _is_deducted(said: str, match: re.Match[str]) -> bool:
    """Return whether a number is a deduction that explains the score, as in "-5 for the typo"."""
    label = _label(said, match)
    if _MORE.search(said) or has_word(said, "correction") or (label and has_word(label, "score")):
        return False
    return match[0].startswith("-") or has_word(said, "deduction")


def _ends(said: str, match: re.Match[str]) -> bool:
    """Return whether no noun that a number could count follows it."""
    after = _NEXT_WORDS.match(said[match.end() : match.end() + 60])
    return after is None or any(
        pattern(kind, said).match(after[1] or after[2]) for kind in ("score", "correction", "copula")
    )


def _is_near_score(said: str, match: re.Match[str]) -> bool:
    """Return whether a word of scoring or correcting is close to a number."""
    before, after = said[max(0, match.start() - 40) : match.start()], said[match.end() : match.end() + 16]
    ends = [found.end() for kind in ("score", "correction") for found in pattern(kind, before).finditer(before)]
    return (bool(ends) and len(before[max(ends) :].split()) <= 3) or has_word(after, "score", "correction")
