"""Find text around a verdict that contradicts it: another number, another label, a retraction, a refusal."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, cast

from polyjudge.records.rubrics import Scale
from polyjudge.text.numbers import fold_digits, plain_number

from .judged_text import ReplyContext
from .number_words import may_have_number_word, number_words
from .plain_reasons import is_low
from .remarks import ECHO, QUOTED, is_harmless, is_variant, without_note_label
from .reply_text import labelled_values
from .stated_numbers import (
    DIGITS,
    MANY,
    Stated,
    doubts_scale,
    labels_other_score,
    names_other_scale,
    states_final_number,
    states_number_in_words,
    states_other_number,
    states_other_scale,
    states_own_score,
)
from .statement_words import characters, checked_language, has_word, normalise, pattern

_SENTENCE_END = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"'”»)*_]))\s+|[\n;。！？।؟۔]+")
_INNER_END = re.compile(r"([.!?])\s+")
_JOINED = "\ue000"
"""Replaces a space after the end of a sentence inside quotation marks."""
_LIST_MARK = re.compile(r"(?m)^[ \t>*-]*\d{1,2}[.)][ \t]+(?=\S)")
_QUOTED_LINE = re.compile(r"(?m)^[ \t]*>")
_COMPARISON = re.compile(
    r"(?:\s+(?:it|this|that|them|the\s+\w+))?\s+(?:any\s+|much\s+)?(?:higher|lower|more|above|better|full)\b",
    re.IGNORECASE,
)
_VERDICT = re.compile(r"\b(?:json|verdict|above|previous answer)\b", re.IGNORECASE)
_REJECTED = re.compile(r"(?:not|than|instead of|over|nicht|no|pas|不是|而非|より)\s*\Z", re.IGNORECASE)
_UNLIKE = {
    True: re.compile(r"\b(?:false|no|not|incorrect|wrong)\b", re.IGNORECASE),
    False: re.compile(r"\b(?:true|yes)\b", re.IGNORECASE),
}
_UNSPACED_REFUSAL = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_REPORTED = re.compile("と(?:述べ|書|言|あ|主張|回答|答)|「|라고|다고|说|說|称|声称|表示|写道|“")
_CLAUSE = re.compile(r"[,;:，；：、،]")
_OPENING_MARKS = " \t*_#>([-–—"
_LONGEST = 20_000
"""Maximum characters after a verdict; with more, the verdict is unclear."""
_MOST_REMARKS = 100
"""Sentences and quotations after a judge's verdict that are compared with the judged text."""
_MOST_KEYS = 64
_WITH_DIGIT = re.compile(r"\S*\d\S*")
_SHORT = 2
"""Maximum words of a reason that is none, such as "Example only"."""
_SHORT_TEXT = 24
_LEADING_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")
_YES_NO = {"true": True, "yes": True, "false": False, "no": False}
_LONGEST_LABEL = 40


def contradicting_statement(
    value: Mapping[str, Any], keys: tuple[str, ...], text: str, context: ReplyContext, *, is_strict: bool = False
) -> str | None:
    """Return the sentence after a verdict that contradicts it, if there is one.

    Args:
        value: The verdict.
        keys: The keys of its answer.
        text: The text after it.
        context: The judged texts, the scale and the labels of the question.
        is_strict: Also return a sentence that cannot be checked.
    """
    prose = without_quoted_lines(normalise(text).strip(), context)
    if len(prose) > _LONGEST:
        return f"{len(prose)} characters after the verdict"
    verdict = _stated(value, keys, context)
    sentences = _sentences(prose)
    if is_strict and len(sentences) + len(QUOTED.findall(prose)) > _MOST_REMARKS:
        return f"{len(sentences)} sentences after the verdict"
    for sentence in sentences:
        if _contradicts(sentence, verdict):
            return sentence
    for sentence in _sentences(prose.replace(";", ",")) if is_strict else ():
        if not is_harmless(sentence, verdict) and not (ECHO in prose and has_word(sentence, "attribution")):
            return sentence
    return None


def earlier_statement(value: Mapping[str, Any], keys: tuple[str, ...], text: str, context: ReplyContext) -> str | None:
    """Return the sentence before a verdict that refuses one, or states another score that is not revised after it."""
    verdict = _stated(value, keys, context)
    found = last = ""
    labelled: list[str] = []
    for sentence in _sentences(normalise(text[-_LONGEST:])):
        if _refuses_itself(sentence):
            return sentence
        own = _without_quotations(sentence, context)
        if verdict.score is not None and (
            names_other_scale(sentence, context.scale.highest) or doubts_scale(own, verdict)
        ):
            return sentence
        if found and has_word(sentence, "revision", "correction", "draft"):
            found = ""
        elif states_final_number(own, verdict):
            found = sentence
        labelled += [sentence] if labels_other_score(own, verdict) else []
        last = sentence
    return found or (last if labelled == [last] else None)


def contradicting_reason(value: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext) -> str | None:
    """Return the sentence in a verdict's own texts that gives another score or another scale, if there is one."""
    texts = {
        key: each[:_LONGEST]
        for key, each in value.items()
        if key not in keys and isinstance(each, str) and (key == "reason" or plain_number(each) is None)
    }
    score = value.get("score")
    if not context.labels and isinstance(score, int | float) and not is_low(score, context.scale):
        texts = {
            key: each for key, each in texts.items() if key != "reason" or _may_contradict(each, score, context.scale)
        }
    if not texts:
        return None
    verdict = _stated(value, keys, context)
    for key, text in texts.items():
        is_revision = has_word(normalise(key), "revision", "correction")
        for sentence in _sentences(normalise(text)):
            if (is_revision and _contradicts(sentence, verdict)) or _contradicts_from_inside(sentence, verdict):
                return sentence
    return None


def _contradicts_from_inside(sentence: str, verdict: Stated) -> bool:
    """Return whether a sentence of a verdict's reason gives another score, scale or label, or refuses one."""
    own = _without_quotations(sentence, verdict.context)
    return not cannot_contradict(own, verdict) and gives_other_verdict(own, verdict)


def gives_other_verdict(own: str, verdict: Stated) -> bool:
    """Return whether a sentence without quotations gives another score, scale or label, or refuses one."""
    if states_other_scale(own, verdict) or states_final_number(own, verdict) or states_own_score(own, verdict):
        return True
    if _refuses_itself(own) or (len(own.split()) <= _SHORT and has_word(own, "example")):
        return True
    return bool(verdict.context.labels) and _decides_otherwise(own, verdict)


def cannot_contradict(own: str, verdict: Stated) -> bool:
    """Return whether a sentence certainly gives no other verdict: this is true of most sentences, and fast.

    It has no number but the score, once, as a word of its own, and no word that could name another.
    """
    if verdict.score is None or verdict.context.labels or has_word(own, "refusal", "example", "highest"):
        return False
    numbers = _WITH_DIGIT.findall(own)
    if len(numbers) > 1 or (numbers and numbers[0].rstrip(".,;:!?") != f"{verdict.score:g}"):
        return False
    return not names_other_scale(own, verdict.context.scale.highest) and not number_words(own, checked_language(own))


def _may_contradict(reason: str, score: float, scale: Scale) -> bool:
    """Return whether a reason for a score that is not low may give another one; this is fast, and rarely true."""
    plain = normalise(reason)
    if DIGITS.search(plain) and (_may_state_score(plain, score) or names_other_scale(plain, scale.highest)):
        return True
    if may_have_number_word(plain) or has_word(plain, "refusal"):
        return True
    if has_word(plain, "score") and number_words(plain, checked_language(plain)):
        return True
    return len(plain) <= _SHORT_TEXT and has_word(plain, "example")


def _may_state_score(text: str, score: float) -> bool:
    """Return whether a text has numbers that could be another score, unlike the score itself or "2 minor errors"."""
    numbers = [float(each[0].replace(",", ".")) for each in DIGITS.finditer(text)]
    is_clear = numbers == [score] or (max(numbers) <= MANY and score not in numbers)
    return not is_clear or has_word(text, "score", "final", "revision", "correction")


def _stated(value: Mapping[str, Any], keys: tuple[str, ...], context: ReplyContext) -> Stated:
    """Return the numbers, flags and label of a verdict, with its subscores, and without other keys."""
    numbers: dict[str, float] = {}
    flags: dict[str, bool] = {}
    for key, each in islice(value.items(), _MOST_KEYS):
        inner = cast(Mapping[str, object], each) if isinstance(each, Mapping) else {key: each} if key in keys else {}
        for name, leaf in islice(inner.items(), _MOST_KEYS):
            number = plain_number(str(leaf))
            if isinstance(leaf, bool):
                flags[name] = leaf
            elif number is not None:
                numbers[name] = number[0]
    score = plain_number(str(value.get("score"))) if "score" in keys else None
    label = str(value.get("verdict") or "") if "verdict" in keys else ""
    return Stated(score[0] if score else None, numbers, flags, label, context)


def _sentences(prose: str) -> list[str]:
    """Return the sentences of a text; it is not split inside quotation marks."""
    prose = QUOTED.sub(lambda match: _INNER_END.sub(r"\1" + _JOINED, match[0]), prose)
    if re.search(r"(?m)^[ \t>*-]*1[.)][ \t]", prose):
        prose = _LIST_MARK.sub("", prose)
    found = [each.replace(_JOINED, " ").strip() for each in _SENTENCE_END.split(prose)]
    return [sentence for sentence in found if sentence.strip(" \t\r#*_`>|-=~.:")]


def without_quoted_lines(prose: str, context: ReplyContext) -> str:
    """Return the text without lines marked as quotations that are in the judged text or attributed to it."""
    if not _QUOTED_LINE.search(prose):
        return prose
    kept: list[str] = []
    is_quoting = False
    for line in prose.splitlines():
        if _QUOTED_LINE.match(line) and (is_quoting or context.has_words(line.strip(" \t>"))):
            continue
        if line.strip():
            is_quoting = has_word(line, "attribution")
        kept.append(line)
    return "\n".join(kept)


def _contradicts(sentence: str, verdict: Stated) -> bool:
    if verdict.context.has_whole_line(sentence):
        return False
    sentence = without_note_label(sentence)
    said = _without_quotations(sentence, verdict.context)
    is_attributed = has_word(said, "attribution")
    opens_as_retraction = pattern("retraction", said).match(said.lstrip(_OPENING_MARKS)) is not None
    if opens_as_retraction or _refuses_itself(said) or _retracts_itself(said):
        return True
    if not is_attributed and (_withdraws(said) or _revises(said, sentence)):
        return True
    if states_other_scale(said, verdict) or _changes_flag(said, verdict):
        return True
    if verdict.context.labels and (not is_attributed or has_word(said, "revision")) and _changes_label(said, verdict):
        return True
    return states_other_number(said, verdict, is_attributed=is_attributed) or states_number_in_words(said, verdict)


def _withdraws(said: str) -> bool:
    """Return whether a sentence retracts the verdict, refuses to give one or calls it wrong."""
    if _refuses(said):
        return True
    is_about_verdict = has_word(said, "score") or _VERDICT.search(said) is not None
    return has_word(said, "retraction") or (is_about_verdict and has_word(said, "doubt"))


def _refuses(said: str) -> bool:
    """Return whether a sentence refuses to give a verdict; "I cannot rate it higher" does not."""
    refusal = pattern("refusal", said).search(said)
    return refusal is not None and not _COMPARISON.match(said, refusal.end())


def _refuses_itself(said: str) -> bool:
    """Return whether a sentence refuses a verdict in the judge's own name: no one else is named before it."""
    refusal = pattern("refusal", said).search(said)
    if refusal is None or not _refuses(said):
        return False
    before = _CLAUSE.split(said[: refusal.start()])[-1]
    if characters(_UNSPACED_REFUSAL).match(refusal[0]):  # the object comes first there: "このテキストは評価できません"
        return not _REPORTED.search(said)
    return not has_word(before, "attribution")


def _retracts_itself(said: str) -> bool:
    """Return whether a sentence retracts the verdict in the judge's own name: no one else is named before it."""
    found = pattern("retraction", said).search(said)
    return found is not None and not has_word(_CLAUSE.split(said[: found.start()])[-1], "attribution")


def _without_quotations(sentence: str, context: ReplyContext) -> str:
    """Return a sentence without its quotations from the judged text, or attributed to it."""
    if not QUOTED.search(sentence):
        return sentence
    is_attributed = has_word(sentence, "attribution")
    is_about_verdict = is_attributed or has_word(QUOTED.sub(" ", sentence), "score", "final", "revision")

    def keep(match: re.Match[str]) -> str:
        words = match[1] or match[2]
        is_judged = context.has_words(words) or (not is_about_verdict and is_variant(words, context))
        return " … " if is_attributed or is_judged else match[0]

    return QUOTED.sub(keep, sentence)


def _revises(said: str, sentence: str) -> bool:
    """Return whether a sentence starts as a correction, and is not about words of the judged text."""
    bare = said.lstrip(_OPENING_MARKS)
    opening = pattern("revision", bare).match(bare)
    if opening is None:
        return False
    rest = bare[opening.end() :].lstrip(" \t*_`\"')")
    is_about_words = QUOTED.search(sentence) is not None and not re.search(r"\d", said) and not has_word(said, "score")
    if " " in opening[0] and not is_about_words:  # "on second thought" needs no comma
        return True
    return rest[:1] in (":", ",", "-", "–", "—", "…", "、", "") and not is_about_words


def _changes_flag(said: str, verdict: Stated) -> bool:
    for name, own in verdict.flags.items():
        words = [word for word in re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).split() if word.casefold() != "is"]
        named = re.search(r"[ _]?".join(map(re.escape, words)), said, re.IGNORECASE)
        if named and _UNLIKE[own].search(said.replace(named[0], " ")):
            return True
    return False


def _changes_label(said: str, verdict: Stated) -> bool:
    """Return whether a sentence chooses another label: the last one that it names and does not reject."""
    said = re.sub(r"\banswer (?=\w\b)", "", said, flags=re.IGNORECASE)
    mentions = [
        (match.start(), label)
        for label in verdict.context.labels
        for match in _name(label).finditer(said)
        if not _REJECTED.search(said[max(0, match.start() - 16) : match.start()])
    ]
    if not mentions:
        return False
    last = max(mentions)[1]
    decides = has_word(said, "final", "correction", "revision")
    is_bare = not re.sub(r"[\W_]", "", said.replace(last, "", 1))
    is_labelled = re.search(rf"(?:[:=→]|\bis|\bbe)\W*(?:an?\s+|the\s+)?{re.escape(last)}\W*\Z", said) is not None
    return _form(last) != _form(verdict.label) and (decides or is_bare or is_labelled)


def _decides_otherwise(said: str, verdict: Stated) -> bool:
    """Return whether a sentence of a verdict's reason ends with another label, as in "Final verdict: B"."""
    is_own = not has_word(said, "attribution", "hypothetical", "draft")
    return is_own and has_word(said, "final", "revision") and _changes_label(said, verdict)


def _name(label: str) -> re.Pattern[str]:
    """Return the pattern of a label, with exact case for a single letter such as "A"."""
    edge = "0-9A-Za-z_" if label.isascii() else r"\w"
    return re.compile(
        rf"(?<![{edge}]){re.escape(normalise(label))}(?![{edge}])", re.IGNORECASE if len(label) > 1 else 0
    )


def _form(label: str) -> str:
    plain = re.sub(r"[\W_]+", " ", normalise(label)).strip().casefold()
    return plain.removeprefix("answer ")


def contradicting_line(
    value: Mapping[str, Any], keys: tuple[str, ...], text: str, context: ReplyContext | None = None
) -> str | None:
    """Return the labelled line in `text` that gives a key of the verdict another value, if there is one.

    Lines that are also in the judged text are quotations.
    """
    for key, own in _values(value, keys):
        for written in labelled_values(text, key):
            if _differs(own, written) and not (context and context.has_line(key, written)):
                return f"{key}: {written}"
    return None


def _values(value: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[tuple[str, object]]:
    """Yield the values of the wanted keys, and the subscores one by one."""
    for key in keys[:_MOST_KEYS]:
        own = value.get(key)
        if isinstance(own, Mapping):
            yield from list(cast(Mapping[str, object], own).items())[:_MOST_KEYS]
        else:
            yield key, own


def _differs(own: object, written: str) -> bool:
    """Return whether a line gives another number, yes or no, or label; other words are only a comment."""
    if isinstance(own, bool):
        first = re.split(r"\W", written.strip(), maxsplit=1)[0].casefold()
        return first in _YES_NO and _YES_NO[first] != own
    number = plain_number(str(own))
    if number is not None:
        leading = _LEADING_NUMBER.match(fold_digits(written))
        return leading is not None and float(leading[0]) != number[0]
    if isinstance(own, str) and 0 < len(own) <= _LONGEST_LABEL and 0 < len(written) <= _LONGEST_LABEL:
        return _plain(own) != _plain(written)
    return False


def _plain(label: str) -> str:
    return re.sub(r"[\W_]+", " ", label).strip().casefold()
