"""Perturbations of words and sentences, and harmless edits as controls."""

import unicodedata
from functools import lru_cache
from itertools import pairwise
from math import ceil

from polyjudge.text.pieces import Piece, Sentence, clusters, pieces, sentences, whole_sentences, words

from .edits import NOTHING, Draft, Edit, EditPlan, apart, plan_edits, share

_MAX_DROPPED = 0.8
_LOOPED_WORDS = 4
_LOOP_LENGTH = 3
"""The loop adds at most this many times the length of the text."""
_MIN_LOOPS = 5
_MAX_ADDED = 4
_CLOSING = "\"'.,;:!?…)]}»”’›。，、；：！？）」』】؟،؛۔।॥።፣፤၊။៕។։"
"""Marks that have no space before them after a word is deleted."""
_COMMAS = ",;:،؛、，；：፣፤၊"


def drop_words(draft: Draft) -> EditPlan:
    """Delete words, each with the space after it."""
    every = pieces(draft.text)
    indexes = [index for index, piece in enumerate(every) if piece.is_word]
    if len(indexes) < 2:
        return NOTHING
    order = draft.random.shuffled(indexes)[: share(len(indexes) - 1, _MAX_DROPPED)]
    return EditPlan(len(order), lambda count: _text_without(every, set(order[:count])), is_sure=True)


def _text_without(every: tuple[Piece, ...], dropped: set[int]) -> str:
    """Return the text without the dropped pieces, and without spaces and commas that separate nothing any more."""
    kept: list[str] = []
    for index, piece in enumerate(every):
        if index in dropped or (not piece.is_word and _separates_nothing(every, index, dropped, bool(kept))):
            continue
        kept.append(piece.text)
    return "".join(kept)


def _separates_nothing(every: tuple[Piece, ...], index: int, dropped: set[int], has_start: bool) -> bool:
    """Return whether a space or comma separates nothing: all before it, or up to the next mark, is dropped."""
    if every[index].kind != "space" and every[index].text not in _COMMAS:
        return False
    if not has_start:
        return index > 0
    following, has_lost = _next_kept(every, index, dropped)
    if following is None or not has_lost:
        return has_lost
    return following.text[0] in _CLOSING or (every[index].kind == "space" and following.kind == "space")


def _next_kept(every: tuple[Piece, ...], index: int, dropped: set[int]) -> tuple[Piece | None, bool]:
    """Return the next kept piece, and whether words before it are dropped; after a comma, spaces are skipped."""
    passes_spaces = every[index].kind != "space"
    has_lost = False
    for following in range(index + 1, len(every)):
        if following in dropped:
            has_lost = True
        elif not (passes_spaces and every[following].kind == "space"):
            return every[following], has_lost
    return None, has_lost


def repeat_words(draft: Draft) -> EditPlan:
    """Repeat words."""
    found = draft.random.shuffled(words(draft.text))
    return plan_edits(draft.text, [Edit(each.end, each.end, _space(each) + each.text) for each in found], is_sure=True)


def _space(piece: Piece) -> str:
    return " " if piece.spaced else ""


def swap_words(draft: Draft) -> EditPlan:
    """Swap neighbouring words."""
    found = words(draft.text)
    pairs = [(one, two) for one, two in pairwise(found) if one.text != two.text]
    edits = [
        Edit(one.start, two.end, two.text + draft.text[one.end : two.start] + one.text)
        for one, two in draft.random.shuffled(pairs)
        if not draft.text[one.end : two.start].strip()
    ]
    return plan_edits(draft.text, apart(edits))


def shuffle_words(draft: Draft) -> EditPlan:
    """Shuffle words over the whole text."""
    indexes = [index for index, piece in enumerate(pieces(draft.text)) if piece.is_word]
    return _rotating([piece.text for piece in pieces(draft.text)], indexes, draft)


def shuffle_sentences(draft: Draft) -> EditPlan:
    """Shuffle sentences, or the clauses of a single sentence."""
    found = sentences(draft.text)
    if not found:
        return NOTHING
    parts = [draft.text[: found[0].start], *(part for each in found for part in (each.text, each.gap))]
    return _rotating(parts, list(range(1, len(parts), 2)), draft)


def _rotating(parts: list[str], indexes: list[int], draft: Draft) -> EditPlan:
    """Rotate more and more parts, each into the next position of a random order."""
    if len(indexes) < 2:
        return NOTHING
    order = draft.random.shuffled(indexes)
    different = next((index for index in order if parts[index] != parts[order[0]]), None)
    if different is None:
        return NOTHING
    order.remove(different)
    order.insert(1, different)

    def version(count: int) -> str:
        rotated = list(parts)
        for index, origin in zip(order[: count + 1], [order[count], *order[:count]], strict=True):
            rotated[index] = parts[origin]
        return "".join(rotated)

    return EditPlan(len(order) - 1, version)


def drop_sentences(draft: Draft) -> EditPlan:
    """Delete sentences, or clauses of a single sentence; one remains."""
    found = sentences(draft.text)
    order = draft.random.shuffled(range(len(found)))[1:]

    def version(count: int) -> str:
        dropped = set(order[:count])
        kept = [each for index, each in enumerate(found) if index not in dropped]
        start = draft.text[: found[0].start]
        return start + "".join(each.text + each.gap for each in kept[:-1]) + kept[-1].text + found[-1].gap

    return EditPlan(len(order), version, is_sure=True) if order else NOTHING


def truncate(draft: Draft) -> EditPlan:
    """Cut the text off, earlier with each edit."""
    starts = [piece.start for piece in words(draft.text)][:0:-1]
    return EditPlan(len(starts), lambda count: draft.text[: starts[count - 1]].rstrip(), is_sure=True)


def loop(draft: Draft) -> EditPlan:
    """Repeat the last words until the text is several times as long."""
    found = words(draft.text)
    if not found:
        return NOTHING
    last = found[-_LOOPED_WORDS:]
    start, end = last[0].start, last[-1].end
    phrase = _space(last[0]) + draft.text[start:end]
    most = max(_MIN_LOOPS, ceil(_LOOP_LENGTH * len(draft.text) / len(phrase)))
    return EditPlan(most, lambda count: draft.text[:end] + phrase * count + draft.text[end:], is_sure=True)


def add_sentence(draft: Draft) -> EditPlan:
    """Insert unrelated sentences of other texts."""
    own = whole_sentences(draft.text)
    foreign = [each.text for other in draft.context.others for each in whole_sentences(other)]
    foreign = draft.random.shuffled([each for each in dict.fromkeys(foreign) if each not in draft.text])
    if not own or not foreign:
        return NOTHING
    most = max(_MAX_ADDED, len(own))
    edits = [_added(draft.random.pick(own), each) for each in foreign[:most]]
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
    """Compose letters and marks into single code points."""
    return _normalised(draft, "NFC")


def nfd(draft: Draft) -> EditPlan:
    """Decompose letters and marks into separate code points."""
    return _normalised(draft, "NFD")


def _normalised(draft: Draft, form: str) -> EditPlan:
    start, edits = 0, list[Edit]()
    for cluster in clusters(draft.text):
        edits.append(Edit(start, start + len(cluster), _in_form(cluster, form)))
        start += len(cluster)
    return plan_edits(draft.text, draft.random.shuffled(edits))


@lru_cache(maxsize=8192)
def _in_form(cluster: str, form: str) -> str:
    return unicodedata.normalize(form, cluster)  # pyright: ignore[reportArgumentType]


def quotes(draft: Draft) -> EditPlan:
    """Replace straight quotation marks and apostrophes by typographic ones, and the reverse."""
    edits: list[Edit] = []
    for piece in pieces(draft.text):
        if piece.kind == "fixed":
            continue
        for index, char in enumerate(piece.text, start=piece.start):
            before = draft.text[index - 1 : index]
            typographic = _OPENING if not before or before.isspace() or before in "([{" else _CLOSING_QUOTES
            turned = _STRAIGHT.get(char) or typographic.get(char)
            if turned:
                edits.append(Edit(index, index + 1, turned))
    return plan_edits(draft.text, draft.random.shuffled(edits))


def white_space(draft: Draft) -> EditPlan:
    """Double spaces, make some non-breaking, and add one at the end."""
    indexes = [index for index, cluster in enumerate(draft.text) if cluster == " "]
    edits = [Edit(index, index + 1, draft.random.pick(_SPACES)) for index in indexes]
    if draft.text.strip():
        edits.append(Edit(len(draft.text), len(draft.text), " "))
    return plan_edits(draft.text, draft.random.shuffled(edits))
