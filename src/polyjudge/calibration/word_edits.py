"""Perturbations of words and sentences, and harmless edits as controls."""

import unicodedata
from functools import lru_cache
from itertools import pairwise
from math import ceil

from polyjudge.text.pieces import Piece, Sentence, clusters, pieces, sentences, whole_sentences, words

from .edits import NOTHING, Draft, Edit, EditPlan, apart, plan_edits, share

_MOST_DROPPED = 0.8
_LOOPED_WORDS = 4
_LOOP_LENGTH = 3
"""So many times the text's own length is added by the loop, at most."""
_FEWEST_LOOPS = 5
_MOST_ADDED = 4
_CLOSING = "\"'.,;:!?…)]}»”’›。，、；：！？）」』】؟،؛۔।॥።፣፤၊။៕។։"
"""Marks before which no space is left over when a word is dropped."""
_COMMAS = ",;:،؛、，；：፣፤၊"


def drop_words(draft: Draft) -> EditPlan:
    """Leave words out, and with each the space that parted it from the next."""
    every = pieces(draft.text)
    places = [place for place, piece in enumerate(every) if piece.is_word]
    if len(places) < 2:
        return NOTHING
    order = draft.dice.shuffled(places)[: share(len(places) - 1, _MOST_DROPPED)]
    return EditPlan(len(order), lambda count: _without(every, set(order[:count])), is_sure=True)


def _without(every: tuple[Piece, ...], dropped: set[int]) -> str:
    """Return the text without some pieces and without the spaces and commas that would be left over."""
    kept: list[str] = []
    for place, piece in enumerate(every):
        if place in dropped or (not piece.is_word and _is_left_over(every, place, dropped, bool(kept))):
            continue
        kept.append(piece.text)
    return "".join(kept)


def _is_left_over(every: tuple[Piece, ...], place: int, dropped: set[int], has_start: bool) -> bool:
    """Say whether a space or a comma parts nothing any more: before it, or up to the next mark, all is dropped."""
    if every[place].kind != "space" and every[place].text not in _COMMAS:
        return False
    if not has_start:
        return place > 0
    following, has_lost = _next_kept(every, place, dropped)
    if following is None or not has_lost:
        return has_lost
    return following.text[0] in _CLOSING or (every[place].kind == "space" and following.kind == "space")


def _next_kept(every: tuple[Piece, ...], place: int, dropped: set[int]) -> tuple[Piece | None, bool]:
    """Return what follows a space or a comma, and whether words are dropped between; a comma sees past spaces."""
    passes_spaces = every[place].kind != "space"
    has_lost = False
    for following in range(place + 1, len(every)):
        if following in dropped:
            has_lost = True
        elif not (passes_spaces and every[following].kind == "space"):
            return every[following], has_lost
    return None, has_lost


def repeat_words(draft: Draft) -> EditPlan:
    """Write words twice."""
    found = draft.dice.shuffled(words(draft.text))
    return plan_edits(draft.text, [Edit(each.end, each.end, _space(each) + each.text) for each in found], is_sure=True)


def _space(piece: Piece) -> str:
    return " " if piece.spaced else ""


def swap_words(draft: Draft) -> EditPlan:
    """Let neighbouring words change places."""
    found = words(draft.text)
    pairs = [(one, two) for one, two in pairwise(found) if one.text != two.text]
    edits = [
        Edit(one.start, two.end, two.text + draft.text[one.end : two.start] + one.text)
        for one, two in draft.dice.shuffled(pairs)
        if not draft.text[one.end : two.start].strip()
    ]
    return plan_edits(draft.text, apart(edits))


def shuffle_words(draft: Draft) -> EditPlan:
    """Let words change places all over the text."""
    places = [place for place, piece in enumerate(pieces(draft.text)) if piece.is_word]
    return _rotating([piece.text for piece in pieces(draft.text)], places, draft)


def shuffle_sentences(draft: Draft) -> EditPlan:
    """Put sentences, or the clauses of a single one, in another order."""
    found = sentences(draft.text)
    if not found:
        return NOTHING
    parts = [draft.text[: found[0].start], *(part for each in found for part in (each.text, each.gap))]
    return _rotating(parts, list(range(1, len(parts), 2)), draft)


def _rotating(parts: list[str], places: list[int], draft: Draft) -> EditPlan:
    """Let more and more of the places hand their part on, each to the next in a random order."""
    if len(places) < 2:
        return NOTHING
    order = draft.dice.shuffled(places)
    different = next((place for place in order if parts[place] != parts[order[0]]), None)
    if different is None:
        return NOTHING
    order.remove(different)
    order.insert(1, different)

    def version(count: int) -> str:
        moved = list(parts)
        for place, origin in zip(order[: count + 1], [order[count], *order[:count]], strict=True):
            moved[place] = parts[origin]
        return "".join(moved)

    return EditPlan(len(order) - 1, version)


def drop_sentences(draft: Draft) -> EditPlan:
    """Leave sentences out, or clauses of a single one; one remains."""
    found = sentences(draft.text)
    order = draft.dice.shuffled(range(len(found)))[1:]

    def version(count: int) -> str:
        dropped = set(order[:count])
        kept = [each for place, each in enumerate(found) if place not in dropped]
        start = draft.text[: found[0].start]
        return start + "".join(each.text + each.gap for each in kept[:-1]) + kept[-1].text + found[-1].gap

    return EditPlan(len(order), version, is_sure=True) if order else NOTHING


def truncate(draft: Draft) -> EditPlan:
    """Break the text off, the earlier the more."""
    starts = [piece.start for piece in words(draft.text)][:0:-1]
    return EditPlan(len(starts), lambda count: draft.text[: starts[count - 1]].rstrip(), is_sure=True)


def loop(draft: Draft) -> EditPlan:
    """Say the last words again and again, until the text has several times its length."""
    found = words(draft.text)
    if not found:
        return NOTHING
    last = found[-_LOOPED_WORDS:]
    start, end = last[0].start, last[-1].end
    phrase = _space(last[0]) + draft.text[start:end]
    most = max(_FEWEST_LOOPS, ceil(_LOOP_LENGTH * len(draft.text) / len(phrase)))
    return EditPlan(most, lambda count: draft.text[:end] + phrase * count + draft.text[end:], is_sure=True)


def add_sentence(draft: Draft) -> EditPlan:
    """Put in sentences of other texts that have no business there."""
    own = whole_sentences(draft.text)
    strange = [each.text for other in draft.surroundings.others for each in whole_sentences(other)]
    strange = draft.dice.shuffled([each for each in dict.fromkeys(strange) if each not in draft.text])
    if not own or not strange:
        return NOTHING
    most = max(_MOST_ADDED, len(own))
    edits = [_added(draft.dice.pick(own), each) for each in strange[:most]]
    return plan_edits(draft.text, edits, is_sure=True)


def _added(after: Sentence, sentence: str) -> Edit:
    last = words(after.text)[-1:]
    space = "" if last and not last[0].spaced and after.text[-1] in "。！？」』" else " "
    return Edit(after.end, after.end, space + sentence)


_STRAIGHT = {"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'"}
_OPENING = {'"': "“", "'": "‘"}
_CLOSING_QUOTES = {'"': "”", "'": "’"}
_SPACES = ("  ", "\u00a0")


def nfc(draft: Draft) -> EditPlan:
    """Write letters and their marks as one code point where there is one."""
    return _normalised(draft, "NFC")


def nfd(draft: Draft) -> EditPlan:
    """Write letters and their marks as code points of their own."""
    return _normalised(draft, "NFD")


def _normalised(draft: Draft, form: str) -> EditPlan:
    start, edits = 0, list[Edit]()
    for sign in clusters(draft.text):
        edits.append(Edit(start, start + len(sign), _in_form(sign, form)))
        start += len(sign)
    return plan_edits(draft.text, draft.dice.shuffled(edits))


@lru_cache(maxsize=8192)
def _in_form(sign: str, form: str) -> str:
    return unicodedata.normalize(form, sign)  # pyright: ignore[reportArgumentType]


def quotes(draft: Draft) -> EditPlan:
    """Write straight quotation marks and apostrophes as typographic ones, and the other way round."""
    edits: list[Edit] = []
    for piece in pieces(draft.text):
        if piece.kind != "fixed":
            edits += _turned(piece, draft.text)
    return plan_edits(draft.text, draft.dice.shuffled(edits))


def _turned(piece: Piece, text: str) -> list[Edit]:
    found: list[Edit] = []
    for place, sign in enumerate(piece.text, start=piece.start):
        before = text[place - 1 : place]
        typographic = _OPENING if not before or before.isspace() or before in "([{" else _CLOSING_QUOTES
        turned = _STRAIGHT.get(sign) or typographic.get(sign)
        if turned:
            found.append(Edit(place, place + 1, turned))
    return found


def white_space(draft: Draft) -> EditPlan:
    """Double spaces, make some unbreakable, and leave one at the end."""
    places = [place for place, sign in enumerate(draft.text) if sign == " "]
    edits = [Edit(place, place + 1, draft.dice.pick(_SPACES)) for place in places]
    if draft.text.strip():
        edits.append(Edit(len(draft.text), len(draft.text), " "))
    return plan_edits(draft.text, draft.dice.shuffled(edits))
