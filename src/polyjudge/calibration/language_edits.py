"""Perturbations of the language: untranslated, wrong language, wrong script."""

import unicodedata
from itertools import pairwise

from polyjudge.text.pieces import Piece, words

from .edits import NOTHING, Draft, Edit, EditPlan, plan_edits, share
from .facts import pairs

_LONGEST_SPAN = 0.5
_LATIN = "LATIN"


def echo_source(draft: Draft) -> EditPlan:
    """Give the source back, from the start on."""
    return _replaced_from_start(draft.text, draft.surroundings.source)


def wrong_language(draft: Draft) -> EditPlan:
    """Say the same in a neighbouring language, from the start on."""
    return _replaced_from_start(draft.text, draft.surroundings.neighbour)


def other_text(draft: Draft) -> EditPlan:
    """Say what another text says, from the start on."""
    others = [other for other in draft.surroundings.others if other.strip() and other != draft.text]
    return _replaced_from_start(draft.text, draft.dice.pick(others)) if others else NOTHING


def _replaced_from_start(text: str, other: str) -> EditPlan:
    """Let one text give way to another word by word; in the end only the other is there."""
    if not other.strip() or other == text:
        return NOTHING
    ours, theirs = _stretches(text), _stretches(other)
    steps = max(len(ours), len(theirs))

    def version(count: int) -> str:
        rest = "".join(ours[_scaled(count, steps, len(ours)) :])
        return _joined("".join(theirs[: _scaled(count, steps, len(theirs))]), rest)

    return EditPlan(steps, version)


def _scaled(count: int, steps: int, length: int) -> int:
    return -(-count * length // steps)


def _joined(start: str, rest: str) -> str:
    before, after = words(start), words(rest)  # some numbers are alphanumeric and yet no words: ¼
    touch = bool(before and after) and start[-1:].isalnum() and rest[:1].isalnum()
    needs_space = touch and before[-1].spaced and after[0].spaced
    return f"{start} {rest}" if needs_space else start + rest


def _stretches(text: str) -> list[str]:
    """Return the words of a text, each with what stands before the next."""
    starts = [0, *(piece.start for piece in words(text)[1:]), len(text)]
    return [text[start:end] for start, end in pairwise(starts)]


def untranslated_span(draft: Draft) -> EditPlan:
    """Leave a stretch as it is in the source; it grows up to half the text."""
    source = draft.surroundings.source
    ours, theirs = _stretches(draft.text), _stretches(source)
    if not source.strip() or source == draft.text or len(ours) < 2:
        return NOTHING
    most = share(len(ours), _LONGEST_SPAN)
    begin = draft.dice.below(len(ours) - most + 1)
    centre = begin + draft.dice.below(most)

    def version(count: int) -> str:
        first = max(begin, min(centre - count // 2, begin + most - count))
        last = first + count
        start = first * len(theirs) // len(ours)
        end = max(start + 1, -(-last * len(theirs) // len(ours)))
        span = "".join(theirs[start:end]).strip()
        replaced = "".join(ours[first:last])
        gap = replaced[len(replaced.rstrip()) :]
        return "".join(ours[:first]) + span + gap + "".join(ours[last:])

    return EditPlan(most, version)


def wrong_script(draft: Draft) -> EditPlan:
    """Write words in another script: in Latin letters, and what is in Latin letters in Cyrillic ones."""
    found = [piece for piece in words(draft.text) if piece.kind == "word" and any(map(str.isalpha, piece.text))]
    is_latin = 2 * sum(_is_latin(piece) for piece in found) > len(found)
    wanted = draft.dice.shuffled([piece for piece in found if _is_latin(piece) == is_latin])
    write = _in_cyrillic if is_latin else _in_latin
    return plan_edits(draft.text, [Edit(piece.start, piece.end, write(piece)) for piece in wanted])


def _is_latin(piece: Piece) -> bool:
    letter = next(sign for sign in piece.text if sign.isalpha())
    return unicodedata.name(letter, "").startswith(_LATIN)


def _in_latin(piece: Piece) -> str:
    from anyascii import anyascii  # here, because its tables are loaded from files

    written = anyascii(piece.text).strip()
    return written.lower() if piece.text == piece.text.lower() else written


def _in_cyrillic(piece: Piece) -> str:
    table = pairs("cyrillic")
    plain = unicodedata.normalize("NFD", piece.text)
    written = [table.get(sign.lower(), sign) for sign in plain if not unicodedata.combining(sign)]
    text = "".join(written)
    return text[:1].upper() + text[1:] if piece.text[:1].isupper() else text
