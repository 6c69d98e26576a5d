"""Whether an object in a reply is the judge's final verdict, or is quoted, commented out, negated or hypothetical."""

import re

from .statement_words import checked_language, has_word, normalise, pattern

_SENTENCE = re.compile(r"[.!?。！？।؟۔](?=[\s\"'”»)]|\Z)|\n[ \t]*\n")
_TRAILING = " \t\r\n`*_>[]|"
_FENCE = re.compile(r"(?:```|~~~)[ \t]*\w*[ \t]*\n?\s*\Z")
_LINE_COMMENT = re.compile(r"(?:^|[\n \t])//[^\n]*\Z|(?:^|\n)[ \t]*#[ \t]*\Z")
_QUOTED_LINE = re.compile(r"(?:^|\n)[ \t]*[>＞][^\n]*\Z")
_QUOTES = {'"': '"', "“": "”", "”": "”", "„": "“", "«": "»", "‘": "’", "「": "」", "『": "』", "'": "'"}
_WORD = re.compile(r"[^\W\d_]{2,}|(?=[^\W\d_])[\u0e00-\u0fff\u2e80-\u9fff\uac00-\ud7af]")
_NEGATED = re.compile(r"\b(?:not|never|n't|instead of|rather than|ignore|ignoring)\b[^.,:;]{0,30}\Z", re.IGNORECASE)
_SHORT = 12
"""A sentence with fewer characters may be an abbreviation, and belongs to the one before it."""
_WEAK = {
    "better",
    "answer",
    "verdict",
    "result",
    "but",
    "real",
    "true",
    "actual",
    "winner",
    "wins",
    "prefer",
    "preference",
}
"""Words that make an object final only if there are no others in its introduction."""
_BREAK = re.compile(r"[.,;:!?\n—–。，；：、]")
_OWN = re.compile(r"(?:my|i|so|therefore|thus|hence|but|now)\b", re.IGNORECASE)
_LISTED = re.compile(r"\d[^\n]*\Z|(?:^|\n)\W*\w\W*[:.)][ \t]*\Z|\A[ \t]*[^\w\s.;…。]+[ \t]*\Z|(?:≠|!=|<>)\s*\Z")
"""A number, a letter or only a symbol between two objects: they are entries of a list, or alternatives."""
_LEADS_IN = ":：=→>＞»)）]】}|,،;"
"""Characters before an object, on its line, after which it is an answer and not part of the sentence."""
_ENDS_SENTENCE = re.compile(
    r"(?:(?<![^\W\d_])(?!(?:npr|např|напр|bijv|resp|örn|pvz)\b)[^\W\d_]{3,}"
    r"|[\u0900-\u0fff\u2e80-\u9fff\uac00-\ud7af]|[\d)”»])[.!?]+\Z|[^\s.…][。！？।؟۔]+\Z"
)
_NAMES_ANSWER = re.compile(r"(?<![^\W_])(?:json|verdict|answer|result|response|evaluation|assessment)\Z", re.IGNORECASE)
_CALL = re.compile(r"[a-z_]\(\Z|\\boxed\{\Z", re.IGNORECASE)
_CLAUSE = re.compile(r"[,.;:!?，。；：、،]")
_STRUCK = "~~"
_TAG = re.compile(r"</?\w+>")
_BETWEEN = re.compile(r"(?:```|~~~)[ \t]*\w*|[\s,;，、；\[\]|*_#-]+")
"""Separators of two entries of a list: white space, commas, fences, rules and markup."""
_ACTUAL = re.compile(
    r"\W*(?:(?:my|the)\s+)?(?:actual|real|own)\s+(?:evaluation|verdict|score|assessment|judge?ment|answer|result|rating)\b",
    re.IGNORECASE,
)
_INVERSION = re.compile(
    r"\W*(?:had|were|should)\s+(?:the|it|this|they|he|she|we|i)\b|\W*(?:wäre|hätte|würde)\b", re.IGNORECASE
)
"""A condition that is expressed by word order."""
_FEW_WORDS = 12
_ARTICLE = 3
"""Letters of the longest word that two labels may share, and words of the longest plain label."""
_FAR = 600
"""Characters before and after an object that are searched for its introduction and comments."""


def reason_to_doubt(before: str, after: str, *, has_rivals: bool, is_judging: bool = False) -> str | None:
    """Return why an object may not be the judge's verdict, or None.

    Args:
        before: The text before it, starting after the previous verdict.
        after: The text after it.
        has_rivals: A different verdict precedes it. Then this one must clearly be final; a verdict without rivals
            counts unless its own sentence rejects it.
        is_judging: The reply is from a judge, for which an object inside a sentence is not the answer.
    """
    if _is_commented(before, after):
        return "commented out"
    if before.rstrip(" \t`").endswith(_STRUCK) and after.lstrip(" \t`").startswith(_STRUCK):
        return "struck through"
    if after.lstrip(" \t`\"'”»」").startswith(("?", "？", "؟")):
        return "questioned"
    if is_judging and _is_in_sentence(before):
        return "part of a sentence"
    intro = _without_requested(_introduction(before, whole_sentence=has_rivals))
    remark = _remark(after)
    is_final = _makes_final(intro)
    if not has_rivals:
        return _marked(intro, remark, is_final=is_final) or (_unclear_label(before, is_final) if is_judging else None)
    if not is_final and _is_quoted(before, after):
        return "quoted"
    if not is_final and _LISTED.search(before):
        return "one of a list"
    return _unclear(intro, remark, is_final=is_final, is_same_line=bool(after.partition("\n")[0].strip(_TRAILING)))


def _is_in_sentence(before: str) -> bool:
    """Return whether an object is part of a sentence on its line, and not presented as the answer.

    A judge that discusses a verdict, negates it or gives an example writes it into a sentence, in any language: "I
    would never give {…}", "un esempio sarebbe {…}". An answer is on its own line or after a colon.
    """
    line = before[-_FAR:].rpartition("\n")[2]
    if _CALL.search(line):
        return False
    line = line.rstrip(" \t`*_\"'“„«「『(（[")
    if not _WORD.search(line) or line[-1:] in _LEADS_IN or _ENDS_SENTENCE.search(line):
        return False
    clause, sentence = normalise(_CLAUSE.split(line)[-1]), _introduction(before, whole_sentence=True)
    if has_word(clause, "negation", "hypothetical", "attribution") or has_word(sentence, "hypothetical", "example"):
        return True
    return not (_NAMES_ANSWER.search(clause) or has_word(clause, "final", "revision"))


def _without_requested(said: str) -> str:
    return pattern("requested", said).sub(" ", said)


def is_marked(before: str) -> bool:
    """Return whether the introduction of an object makes it a draft, a quotation or an example."""
    return has_word(_introduction(before, whole_sentence=True), "attribution", "negation", "hypothetical", "draft")


def are_listed(before_first: str, between: str) -> bool:
    """Return whether two different verdicts are entries of a list: adjacent, or with similar labels.

    Args:
        before_first: The text before the first of them.
        between: The text between the two.
    """
    if not _BETWEEN.sub("", between if has_word(between, "final", "revision", "draft") else _TAG.sub("", between)):
        return not is_marked(before_first) or has_word(_label(before_first), "ordinal")
    label, first = _label(between), _label(before_first)
    if not (label and first) or has_word(label, "revision", "correction") or _makes_final(label):
        return False
    if has_word(first, "attribution", "negation", "hypothetical"):
        return False
    shared = set(_WORD.findall(label.casefold())) & set(_WORD.findall(first.casefold()))
    return any(len(word) > _ARTICLE or not word.isascii() for word in shared) or has_word(first, "ordinal")


def _label(before: str) -> str:
    """Return the label of an object: the text before it on its line, or the line above it up to a colon."""
    tail = _FENCE.sub("", before[-_FAR:].rstrip(" \t*_`")).rstrip(" \t*_`")
    line = normalise(tail[tail.rfind("}") + 1 :].rstrip("\r\n").rpartition("\n")[2]).strip()
    is_above = tail.endswith("\n")
    is_label = line.endswith((":", "：", "**")) or line.startswith("#") or not is_above
    return line if is_label and _WORD.search(line) and not _ENDS_SENTENCE.search(line) else ""


def _unclear(intro: str, remark: str, *, is_final: bool, is_same_line: bool) -> str | None:
    """Return why the last of several verdicts may not be the final one, or None."""
    if has_word(remark, "draft"):
        return "not clearly the last word"
    for kind, name in (("attribution", "quoted"), ("negation", "negated"), ("hypothetical", "hypothetical")):
        found = pattern(kind, intro).search(intro)
        if found and not (is_final and _comes_last(intro, found, kind)):
            return name
        if pattern(kind, remark).search(remark):
            return name
    if has_word(remark, "retraction", "refusal"):
        return "taken back"
    if _WORD.search(remark.partition("\n")[0]) and is_same_line and not has_word(remark, "final"):
        return "commented on"
    if _WORD.search(intro) and not (is_final or has_word(intro, "correction")):
        return "not clearly the last word"
    return None


def _makes_final(intro: str) -> bool:
    """Return whether an introduction makes an object final: "answer:" does, "in the answer:" does not."""
    is_short = len(intro.split()) <= 2
    if _ACTUAL.match(intro):
        return True
    return has_word(intro, "revision") or any(
        is_short or match[0].casefold() not in _WEAK for match in pattern("final", intro).finditer(intro)
    )


def _comes_last(intro: str, found: re.Match[str], kind: str) -> bool:
    """Return whether a separate clause after the last doubtful word makes an object final."""
    last = max((match.end() for match in pattern(kind, intro).finditer(intro)), default=found.end())
    final = pattern("final", intro).search(intro, last)
    return final is not None and bool(_BREAK.search(intro[last : final.start()]) or _OWN.match(final[0]))


def _marked(intro: str, remark: str, *, is_final: bool) -> str | None:
    """Return why the only verdict of a reply may not be the judge's own, or None."""
    near = _own_clause(intro)[-80:]
    if re.search(r"\b(?:not|never)\W*\Z", intro, re.IGNORECASE):
        return "negated"
    if has_word(intro, "unreal"):
        return "hypothetical"
    if (has_word(intro, "according") and not has_word(intro, "rubric")) or has_word(
        pattern("topic", near).sub(" ", near) if is_final else near, "attribution"
    ):
        return "quoted"
    return None if is_final else _negated(intro, near, remark)


def _negated(intro: str, near: str, remark: str) -> str | None:
    """Return why a verdict that is not marked as final may be rejected or hypothetical, or None."""
    if _NEGATED.search(near) or has_word(near[-12:].split(" ")[-1], "negation"):
        return "negated"
    if pattern("hypothetical", intro).match(intro.lstrip(" \t*_#(-")):
        return "hypothetical"
    opening = " ".join(remark.split()[:6])
    if re.match(r"\W*(?:is|was|would|could|might)\b", opening) and has_word(opening, "attribution", "negation"):
        return "negated"
    return None


def _own_clause(intro: str) -> str:
    """Return an introduction without its mention of the text: "After reading the text, this is my assessment"."""
    sentence = re.split(r"[.!?。।]\s*(?=\S)", intro)[-1]
    earlier, _, last = sentence.rpartition(",")
    if not (has_word(last, "score") and has_word(last, "self", "final")):
        return intro
    return f"{pattern('topic', earlier).sub(' ', earlier)},{last}"


def _unclear_label(before: str, is_final: bool) -> str | None:
    """Return why the label of a verdict may not present it as the answer, or None.

    A label of a few words does, such as "Ocena:", and so does a longer one in a language with a word list.
    """
    label = _without_requested(_label(before))
    if not label:
        sentence = _without_requested(_introduction(before, whole_sentence=True))
        is_example = has_word(sentence, "example") and len(sentence.split()) <= _FEW_WORDS
        return "an example" if is_example and not is_final else None
    last = label.rpartition(".")[2].strip(_LEADS_IN + _TRAILING)
    if pattern("conclusion", last).fullmatch(last) or _INVERSION.match(label):
        return "hypothetical"
    clause = _CLAUSE.split(label.rstrip(_LEADS_IN + _TRAILING))[-1]
    if has_word(clause, "negation"):
        return "negated"
    if has_word(clause, "example"):
        return "an example"
    if has_word(clause, "foreign"):
        return "an earlier or another one"
    if is_final:
        return None
    language = checked_language(label)
    if has_word(clause, "hypothetical", language=language):
        return "hypothetical"
    is_known = language is not None or has_word(label, "score")
    return None if is_known or len(_WORD.findall(label)) <= _ARTICLE else "introduced in words that cannot be checked"


def _introduction(before: str, *, whole_sentence: bool) -> str:
    """Return the text that introduces an object: its sentence so far, or the sentence before it."""
    tail = _FENCE.sub("", before[-_FAR:].rstrip(_TRAILING) if before else "").rstrip(_TRAILING + "\"'“„«「『(")
    tail = tail[tail.rfind("}") + 1 :]  # another object or a form is not part of the introduction
    ends = [match.end() for match in _SENTENCE.finditer(tail)]
    if ends and ends[-1] == len(tail) and not whole_sentence:
        return ""
    if ends and ends[-1] == len(tail):
        ends.pop()
    while ends and len(tail[ends[-1] :].strip()) < (_SHORT if whole_sentence else 1):
        ends.pop()
    return normalise(tail[ends[-1] if ends else 0 :]).strip()


def _remark(after: str) -> str:
    """Return the rest of the sentence of an object, or the next sentence."""
    head = after[:_FAR].partition("{")[0].lstrip(_TRAILING + "\"'”»」』),.;")
    end = _SENTENCE.search(head)
    return normalise(head[: end.start()] if end else head)


def _is_commented(before: str, after: str) -> bool:
    for opening, closing in (("<!--", "-->"), ("/*", "*/")):
        start = before.rfind(opening)
        if start >= 0 and before.find(closing, start) < 0 and closing in after:
            return True
    return _LINE_COMMENT.search(before[-_FAR:]) is not None


def _is_quoted(before: str, after: str) -> bool:
    """Return whether an object is in quotation marks, or on a line marked as a quotation."""
    near = before[-_FAR:]
    if _QUOTED_LINE.search(near):
        return True
    mark, end = near.rstrip(" \t")[-1:], after.lstrip(" \t.")[:1]
    return mark in _QUOTES and bool(mark) and end == _QUOTES[mark]
