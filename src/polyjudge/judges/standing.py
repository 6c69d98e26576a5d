"""Whether an object in a reply is the judge's own last word, or is quoted, commented out, negated or hypothetical."""

import re

from .statement_words import has_word, normalise, pattern

_SENTENCE = re.compile(r"[.!?。！？।؟۔](?=[\s\"'”»)]|\Z)|\n[ \t]*\n")
_TRAILING = " \t\r\n`*_>[]|"
_FENCE = re.compile(r"(?:```|~~~)[ \t]*\w*[ \t]*\n?\s*\Z")
_LINE_COMMENT = re.compile(r"(?:^|[\n \t])//[^\n]*\Z|(?:^|\n)[ \t]*#[ \t]*\Z")
_QUOTED_LINE = re.compile(r"(?:^|\n)[ \t]*[>＞][^\n]*\Z")
_QUOTES = {'"': '"', "“": "”", "”": "”", "„": "“", "«": "»", "‘": "’", "「": "」", "『": "』", "'": "'"}
_WORD = re.compile(r"[^\W\d_]{2,}|(?=[^\W\d_])[\u0e00-\u0fff\u2e80-\u9fff\uac00-\ud7af]")
_NEGATED = re.compile(r"\b(?:not|never|n't|instead of|rather than|ignore|ignoring)\b[^.,:;]{0,30}\Z", re.IGNORECASE)
_SHORT = 12
"""A sentence of fewer characters, which may be an abbreviation, is read with the one before it."""
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
"""Words that make an object final only if they are all that introduces it."""
_BREAK = re.compile(r"[.,;:!?\n—–。，；：、]")
_OWN = re.compile(r"(?:my|i|so|therefore|thus|hence|but|now)\b", re.IGNORECASE)
_LISTED = re.compile(r"\d[^\n]*\Z|(?:^|\n)\W*\w\W*[:.)][ \t]*\Z|\A[ \t]*[^\w\s.;…。]+[ \t]*\Z|(?:≠|!=|<>)\s*\Z")
"""A number, a letter or only a sign between two objects: they are entries of a list, or alternatives."""
_LEADS_IN = ":：=→>＞»)）]】}|,،;"
"""Signs before an object, on its line, after which it is an answer and not a word of the sentence."""
_ENDS_SENTENCE = re.compile(
    r"(?:(?<![^\W\d_])(?!(?:npr|např|напр|bijv|resp|örn|pvz)\b)[^\W\d_]{3,}"
    r"|[\u0e00-\u0fff\u2e80-\u9fff\uac00-\ud7af]|[\d)”»])[.!?。！？।؟۔]+\Z"
)
_NAMES_ANSWER = re.compile(r"(?<![^\W_])(?:json|verdict|answer|result|response|evaluation|assessment)\Z", re.IGNORECASE)
_CALL = re.compile(r"[a-z_]\(\Z|\\boxed\{\Z", re.IGNORECASE)
_CLAUSE = re.compile(r"[,.;:!?，。；：、،]")
_STRUCK = "~~"
_FAR = 600
"""Characters before and after an object that can introduce it or comment on it."""


def reason_to_doubt(before: str, after: str, *, has_rivals: bool, is_judging: bool = False) -> str | None:
    """Return why an object may not be the judge's verdict, or None.

    Args:
        before: The text before it, from the verdict before that one on.
        after: The text after it.
        has_rivals: Another verdict, which says something else, comes before it. Then it must be clear that this one
            is meant; a verdict without rivals counts unless its own sentence says that it is not meant.
        is_judging: A judge is being read; then an object inside a sentence is not its answer.
    """
    if _is_commented(before, after):
        return "commented out"
    if before.rstrip(" \t`").endswith(_STRUCK) and after.lstrip(" \t`").startswith(_STRUCK):
        return "struck through"
    if after.lstrip(" \t`\"'”»」").startswith(("?", "？", "؟")):
        return "questioned"
    if is_judging and _is_in_sentence(before):
        return "part of a sentence"
    intro = _introduction(before, whole_sentence=has_rivals)
    remark = _remark(after)
    is_final = _makes_final(intro)
    if not has_rivals:
        is_negated = re.search(r"\b(?:not|never)\W*\Z", intro, re.IGNORECASE) is not None
        return None if is_final and not is_negated else _marked(intro, remark)
    if not is_final and _is_quoted(before, after):
        return "quoted"
    if not is_final and _LISTED.search(before):
        return "one of a list"
    return _unclear(intro, remark, is_final=is_final, is_same_line=bool(after.partition("\n")[0].strip(_TRAILING)))


def _is_in_sentence(before: str) -> bool:
    """Say whether words on the same line lead into an object without a sign that presents it as the answer.

    A judge that discusses a verdict, negates it or gives an example writes it into a sentence, in any language: "I
    would never give {…}", "un esempio sarebbe {…}". One that answers puts the object on its own line or after a colon.
    """
    line = before[-_FAR:].rpartition("\n")[2]
    if _CALL.search(line):
        return False
    line = line.rstrip(" \t`*_\"'“„«「『(（[")
    if not _WORD.search(line) or line[-1:] in _LEADS_IN or _ENDS_SENTENCE.search(line):
        return False
    clause = normalise(_CLAUSE.split(line)[-1])
    if has_word(clause, "negation", "hypothetical", "attribution"):
        return True
    return not (_NAMES_ANSWER.search(clause) or has_word(clause, "final", "revision"))


def is_marked(before: str) -> bool:
    """Say whether what introduces an object makes it a draft, a quotation or an example."""
    return has_word(_introduction(before, whole_sentence=True), "attribution", "negation", "hypothetical", "draft")


def _unclear(intro: str, remark: str, *, is_final: bool, is_same_line: bool) -> str | None:
    """Return why the last of several verdicts may not be the final one."""
    if has_word(remark, "draft"):
        return "not clearly the last word"
    for kind, name in (("attribution", "quoted"), ("negation", "negated"), ("hypothetical", "hypothetical")):
        found = pattern(kind).search(intro)
        if found and not (is_final and _comes_last(intro, found, kind)):
            return name
        if pattern(kind).search(remark):
            return name
    if has_word(remark, "retraction", "refusal"):
        return "taken back"
    if _WORD.search(remark.partition("\n")[0]) and is_same_line and not has_word(remark, "final"):
        return "commented on"
    if _WORD.search(intro) and not (is_final or has_word(intro, "correction")):
        return "not clearly the last word"
    return None


def _makes_final(intro: str) -> bool:
    """Say whether an introduction makes an object the judge's last word; "answer:" does, "in the answer:" does not."""
    is_short = len(intro.split()) <= 2
    return has_word(intro, "revision") or any(
        is_short or match[0].casefold() not in _WEAK for match in pattern("final").finditer(intro)
    )


def _comes_last(intro: str, found: re.Match[str], kind: str) -> bool:
    """Say whether a clause of its own makes an object final, after the last word that casts doubt."""
    last = max((match.end() for match in pattern(kind).finditer(intro)), default=found.end())
    final = pattern("final").search(intro, last)
    return final is not None and bool(_BREAK.search(intro[last : final.start()]) or _OWN.match(final[0]))


def _marked(intro: str, remark: str) -> str | None:
    """Return why the only verdict of a reply may not be meant."""
    near = intro[-80:]
    if has_word(near, "attribution"):
        return "quoted"
    if _NEGATED.search(near) or has_word(near[-12:].split(" ")[-1], "negation"):
        return "negated"
    if pattern("hypothetical").match(intro.lstrip(" \t*_#(-")):
        return "hypothetical"
    opening = " ".join(remark.split()[:6])
    if re.match(r"\W*(?:is|was|would|could|might)\b", opening) and has_word(opening, "attribution", "negation"):
        return "negated"
    return None


def _introduction(before: str, *, whole_sentence: bool) -> str:
    """Return the words that lead up to an object: its sentence, or the one before it if that is complete."""
    tail = _FENCE.sub("", before[-_FAR:].rstrip(_TRAILING) if before else "").rstrip(_TRAILING + "\"'“„«「『(")
    tail = tail[tail.rfind("}") + 1 :]  # what another object or a form says is no introduction
    ends = [match.end() for match in _SENTENCE.finditer(tail)]
    if ends and ends[-1] == len(tail) and not whole_sentence:
        return ""
    if ends and ends[-1] == len(tail):
        ends.pop()
    while ends and len(tail[ends[-1] :].strip()) < (_SHORT if whole_sentence else 1):
        ends.pop()
    return normalise(tail[ends[-1] if ends else 0 :]).strip()


def _remark(after: str) -> str:
    """Return the rest of the sentence that an object is in, or the one that follows."""
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
    """Say whether an object is in quotation marks or on a line that begins as a quotation."""
    near = before[-_FAR:]
    if _QUOTED_LINE.search(near):
        return True
    mark, end = near.rstrip(" \t")[-1:], after.lstrip(" \t.")[:1]
    return mark in _QUOTES and bool(mark) and end == _QUOTES[mark]
