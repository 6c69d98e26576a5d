"""Change a text as no reader would mind, for a score that falls here falls without a reason."""

import unicodedata
from functools import lru_cache

from .pieces import Piece, clusters, pieces
from .spoiling import Draft, Edit, Plan, plan_edits

_STRAIGHT = {"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'"}
_OPENING = {'"': "“", "'": "‘"}
_CLOSING = {'"': "”", "'": "’"}
_SPACES = ("  ", "\u00a0")


def nfc(draft: Draft) -> Plan:
    """Write letters and their marks as one code point where there is one."""
    return _normalised(draft, "NFC")


def nfd(draft: Draft) -> Plan:
    """Write letters and their marks as code points of their own."""
    return _normalised(draft, "NFD")


def _normalised(draft: Draft, form: str) -> Plan:
    start, edits = 0, list[Edit]()
    for sign in clusters(draft.text):
        edits.append(Edit(start, start + len(sign), _in_form(sign, form)))
        start += len(sign)
    return plan_edits(draft.text, draft.dice.shuffled(edits))


@lru_cache(maxsize=8192)
def _in_form(sign: str, form: str) -> str:
    return unicodedata.normalize(form, sign)  # pyright: ignore[reportArgumentType]


def quotes(draft: Draft) -> Plan:
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
        typographic = _OPENING if not before or before.isspace() or before in "([{" else _CLOSING
        turned = _STRAIGHT.get(sign) or typographic.get(sign)
        if turned:
            found.append(Edit(place, place + 1, turned))
    return found


def white_space(draft: Draft) -> Plan:
    """Double spaces, make some unbreakable, and leave one at the end."""
    places = [place for place, sign in enumerate(draft.text) if sign == " "]
    edits = [Edit(place, place + 1, draft.dice.pick(_SPACES)) for place in places]
    if draft.text.strip():
        edits.append(Edit(len(draft.text), len(draft.text), " "))
    return plan_edits(draft.text, draft.dice.shuffled(edits))
