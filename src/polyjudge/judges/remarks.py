"""Whether a sentence after a verdict is harmless, or cannot be checked.

Word lists of corrections cannot be complete in any language. A sentence is therefore harmless only if it repeats the
score, counts something, quotes words or numbers of the judged text, or is a courtesy. In a few languages it may also
discuss the judged text in other words, but not the verdict or the judge.
"""

import re

from .judged_text import ReplyContext
from .number_words import with_digits
from .stated_numbers import LAST_WORD, Stated, counts_something, is_place
from .statement_words import checked_language, has_word, languages_with, pattern

ECHO = "\ufffc"
"""Replaces an object of the judged text that a reply quotes."""
_TAG = re.compile(r"</?[A-Za-z_][\w-]*>|\x1b\[[\d;]*m|```\w*|~~~\w*")
_WORD = re.compile(r"[^\W\d_]{2,}|(?=[^\W\d_])[\u0900-\u17ff\u2e80-\u9fff\uac00-\ud7af]|\bN/A\b")
QUOTED = re.compile(r"[\"“”„«「『`]([^\"“”„«»「」『』`\n]{1,300})[\"“”»」』`]|(?<!\w)['‘]([^'‘’\n]{1,300})['’](?!\w)")
_MARKS = " \t\r\n*_#>([-–—•|"
_MOST_COURTEOUS = 16
"""Words of the longest courtesy."""
_MOST_LABELLING = 4
_DIGITS = re.compile(r"\d{1,9}(?:[.,]\d{1,9})?")
_SIGN = re.compile(r"[❌✗✘✖👎🤔😕🚫⛔÷×±≠≈→⇒%‰?]|~~|(?<!\d)\s*[-+/]\s*\d")
_RATIO = re.compile(r"\d\s*/\s*\d")
_FEW = 2
"""Maximum words of a clause that needs no explanation, such as the label of a note."""
_CLAUSE = re.compile(r"[,;:،、，；：](?=\D)|\s[–—-]\s")
_TAKE = re.compile(r"\W*(?:please\s+)?(?:take|subtract|deduct|remove|knock|dock|cut|drop)\b", re.IGNORECASE)
"""A request for a deduction that is not yet in the score."""
_STEM = 3
"""Letters of the shortest stem that identifies a word in another form, and of the longest ending."""


def is_harmless(sentence: str, verdict: Stated) -> bool:
    """Return whether a normalised sentence after a verdict certainly does not change it."""
    plain = _TAG.sub(" ", sentence)
    words, context = _WORD.findall(plain), verdict.context
    if ECHO in plain or context.has_whole_line(sentence):
        return True
    if not words:
        return _is_only_marks(plain, verdict)
    if len(words) > 1 and context.has_words(plain.strip(_MARKS + ".。।")):
        return True
    if _restates(plain, verdict) or (len(words) <= _MOST_COURTEOUS and _is_courteous(plain)):
        return True
    bare = QUOTED.sub(" … ", plain)
    language = checked_language(bare) or checked_language(plain)
    said = without_note_label(bare)
    if _explains_deduction(said, verdict) or _affirms(said, verdict):
        return True
    if has_word(said, "fraction"):
        return False
    return _is_topical(plain, said, verdict, language, is_note=said != bare)


def _is_only_marks(plain: str, verdict: Stated) -> bool:
    """Return whether a text without words is only markup or the repeated score, without "❌", "÷ 2" or "~~95~~"."""
    if _SIGN.search(plain):
        return False
    own = {verdict.score, *verdict.numbers.values()}
    numbers = {float(match[0].replace(",", ".")) for match in number_places(plain)}
    return not numbers or (bool(numbers & own) and numbers <= own | {verdict.context.scale.highest})


def without_note_label(sentence: str) -> str:
    """Return a sentence without the word that marks it as a note; "Note : 40", a label and a number, is unchanged."""
    label = pattern("note", sentence).match(sentence.lstrip(_MARKS))
    rest = sentence.lstrip(_MARKS)[label.end() :] if label else sentence
    return rest if len(_WORD.findall(rest)) > _FEW else sentence


def _is_topical(plain: str, said: str, verdict: Stated, language: str | None, *, is_note: bool) -> bool:
    """Return whether a sentence counts something, or discusses the judged text and not the verdict.

    Args:
        plain: The sentence.
        said: The sentence without quotations and without the label of a note.
        verdict: The verdict before it.
        language: Its language, if its words can be checked.
        is_note: It starts with the label of a note.
    """
    numbers = number_places(plain)
    if _takes_off_too_much(said, verdict):
        return False
    speaks_of_score = has_word(said, "score", language=language) or has_word(said, "retraction")
    is_about_verdict = speaks_of_score or (language is not None and has_word(said, "verdict", language=language))
    if numbers and not is_about_verdict and all(is_counted(plain, match) for match in numbers):
        return True
    if language is None:
        if _speaks_of_text(said, verdict):
            return True
        return (is_note or has_word(plain, "attribution")) and not speaks_of_score and _explains_all(plain, verdict)
    if has_word(said, "resistance") and has_word(said, "attribution"):
        return not {match[0] for match in number_places(said)} - {f"{verdict.context.scale.highest:g}"}
    if is_about_verdict or has_word(pattern("advice", said).sub(" ", said), "self", language=language):
        return False
    if has_word(said, "topic", "measure", language=language):
        return not _RATIO.search(said) or _is_explained(said, verdict)
    return _is_explained(plain, verdict)


def _speaks_of_text(said: str, verdict: Stated) -> bool:
    """Return whether a sentence in another language with word lists discusses the text, not the verdict or the judge.

    Fewer words are known in these languages, so a sentence with a negation is not accepted.
    """
    if has_word(said, "retraction", "refusal", "fraction"):
        return False
    if not all(is_explained_number(said, match, verdict) for match in number_places(said)):
        return False
    plain = pattern("neutral", said).sub(" … ", said)
    languages = languages_with("topic", plain if plain == said else said)
    return bool(languages) and not any(
        has_word(plain, "verdict", "self", "score", "negation", "doubt", language=each) for each in languages
    )


def _is_courteous(plain: str) -> bool:
    """Return whether a sentence is a courtesy without an objection, as in "Thanks, but do not count it"."""
    if not has_word(plain, "courtesy"):
        return False
    rest = pattern("courtesy", plain).sub(" ", plain)
    for clause in re.split(r"[,;:،、，；：]", plain):
        if len(_WORD.findall(clause)) > 1 and not has_word(clause, "courtesy", "hypothetical"):
            return False
    objects = _objects(rest) or has_word(rest, "negation", "fraction", "retraction", "doubt", "refusal", "revision")
    is_offer = plain.rstrip().endswith(("?", "؟", "？")) or has_word(plain, "hypothetical")
    if objects or (has_word(rest, "foreign") and not is_offer):
        return False
    return all(is_counted(rest, match) for match in number_places(rest))


def _objects(said: str) -> bool:
    """Return whether a clause starts with "but"; elsewhere, its short forms are often words of other languages."""
    clauses = re.split(r"[,;:،、，；：—–]", said)
    opens = any(pattern("objection", said).match(each.strip()) for each in clauses)
    return opens or has_word(said, "objection", language="en")


def _affirms(said: str, verdict: Stated) -> bool:
    """Return whether a sentence repeats or confirms the score."""
    if _objects(said) or has_word(said, "negation", "correction", "doubt", "fraction", "draft"):
        return False
    if _repeats_score(said, verdict):
        return True
    if has_word(said, "attribution"):
        return False
    if (has_word(said, "affirmation") and not number_places(said)) or _names_label(said, verdict.label):
        return True
    own = {verdict.score, *verdict.numbers.values()}
    written = with_digits(said, checked_language(said))
    places = [match for match in number_places(written) if not is_counted(written, match)]
    numbers = {float(match[0].replace(",", ".")) for match in places}
    scale = verdict.context.scale
    is_known = checked_language(said) is not None
    return is_known and bool(numbers & own) and numbers <= own | {scale.lowest, scale.highest}


def _repeats_score(said: str, verdict: Stated) -> bool:
    """Return whether a short sentence in any language only repeats the verdict's score as the score."""
    if (
        has_word(said, "retraction", "refusal", "foreign", "hypothetical", "deduction")
        or len(said.split()) > _MOST_COURTEOUS
    ):
        return False
    places = number_places(said)
    numbers = {float(match[0].replace(",", ".")) for match in places}
    scale = verdict.context.scale
    if verdict.score not in numbers or not numbers <= {verdict.score, scale.lowest, scale.highest}:
        return False
    after = said[places[-1].end() :]
    for kind in ("score", "copula", "scale"):
        after = pattern(kind, after).sub(" ", after)
    return has_word(said, "score") and len(re.findall(r"\w", after)) <= _STEM


def _names_label(said: str, label: str) -> bool:
    """Return whether a sentence has the chosen label, with exact case for a single letter such as "A"."""
    flags = re.IGNORECASE if len(label) > 1 else 0
    return bool(label) and re.search(rf"(?<!\w){re.escape(label)}(?!\w)", said, flags) is not None


def _explains_deduction(said: str, verdict: Stated) -> bool:
    """Return whether a sentence explains the deduction in the score: "28 points were deducted" for 72 of 100."""
    if verdict.score is None or not has_word(said, "deduction") or has_word(said, "objection", "correction"):
        return False
    missing = verdict.context.scale.highest - verdict.score
    places = [match for match in number_places(said) if not is_counted(said, match)]
    numbers = {float(match[0].replace(",", ".")) for match in places}
    return missing in numbers and numbers <= {missing, verdict.score, verdict.context.scale.highest}


def _takes_off_too_much(said: str, verdict: Stated) -> bool:
    """Return whether a sentence deducts more than is missing from the score, so that the deduction is not in it yet."""
    if verdict.score is None or not has_word(said, "deduction"):
        return False
    if _TAKE.match(said) and not verdict.context.has_words(said):
        return True
    missing = verdict.context.scale.highest - verdict.score
    said = with_digits(said, checked_language(said))
    places = [match for match in number_places(said) if not is_counted(said, match)]
    own = {verdict.score, verdict.context.scale.highest}
    return any(
        float(match[0].replace(",", ".")) > missing for match in places if float(match[0].replace(",", ".")) not in own
    )


def _explains_all(plain: str, verdict: Stated) -> bool:
    """Return whether every clause of a note quotes words or numbers of the judged text, or counts something."""
    clauses = [each for each in _CLAUSE.split(plain) if len(_WORD.findall(each)) > _FEW]
    return bool(clauses) and all(_is_explained(each, verdict) for each in clauses)


def _is_explained(clause: str, verdict: Stated) -> bool:
    if any(is_variant(match[1] or match[2], verdict.context) for match in QUOTED.finditer(clause)):
        return True
    numbers = number_places(clause)
    return bool(numbers) and all(is_explained_number(clause, match, verdict) for match in numbers)


def _restates(plain: str, verdict: Stated) -> bool:
    """Return whether a sentence is a label with the score or the chosen verdict: "Оцінка: 94 бали", "Verdict: good"."""
    label, colon, answer = plain.strip(_MARKS + ".。।").replace("|", ":").partition(":")
    if not colon or not 0 < len(label.split()) <= _MOST_LABELLING or has_word(label, "negation", "attribution"):
        return False
    if verdict.label and answer.strip(_MARKS + ".。।").casefold() == verdict.label.casefold():
        return True
    written = with_digits(answer)
    numbers = [float(match[0].replace(",", ".")) for match in number_places(written)]
    if has_word(answer, "draft", "doubt", "negation", "fraction", "foreign", "hypothetical", "correction"):
        return False
    own = {verdict.score, *verdict.numbers.values()}
    highest = verdict.context.scale.highest
    is_own = bool(numbers) and numbers[0] in own and set(numbers[1:]) <= {numbers[0], highest}
    return is_own and len(_WORD.findall(written)) <= (_FEW if highest in numbers[1:] else 1)


def is_variant(quoted: str, context: ReplyContext) -> bool:
    """Return whether quoted words are in the judged text, or are a variant of words in it."""
    if context.has_words(quoted):
        return True
    words = [word for word in _WORD.findall(quoted) if not has_word(word, "score", "final")]
    if words and any(float(match[0].replace(",", ".")) in context.numbers for match in number_places(quoted)):
        return True
    return any(context.has_words(word[: max(_STEM, len(word) - _STEM)]) for word in words if len(word) >= _STEM)


def number_places(said: str) -> list[re.Match[str]]:
    """Return all numbers in digits in a sentence."""
    return list(_DIGITS.finditer(said))


def is_explained_number(said: str, match: re.Match[str], verdict: Stated) -> bool:
    """Return whether a number of a sentence is in the judged text, counts something or is a position."""
    number = float(match[0].replace(",", "."))
    return number in verdict.context.numbers or is_counted(said, match) or is_place(said, match)


def is_counted(said: str, match: re.Match[str]) -> bool:
    """Return whether a number counts the noun directly after it, or before it as in "makosa 2"."""
    before = LAST_WORD.search(said[max(0, match.start() - 24) : match.start()])
    return counts_something(said, match.end()) or (
        before is not None and pattern("count", said).fullmatch(before[1]) is not None
    )
