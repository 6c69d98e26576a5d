"""Perturbations of the language: untranslated text, wrong language, wrong script."""

import unicodedata
from itertools import pairwise

from polyjudge.text.pieces import Piece, words

from .edits import NOTHING, Draft, Edit, EditPlan, plan_edits, share
from .facts import pairs

_LONGEST_SPAN = 0.5
_LATIN = "LATIN"


def echo_source(draft: Draft) -> EditPlan:
    """Replace the text by its source, from the start."""
    return _replaced_from_start(draft.text, draft.context.source)


def wrong_language(draft: Draft) -> EditPlan:
    """Replace the text by the same content in a neighbouring language, from the start."""
    return _replaced_from_start(draft.text, draft.context.neighbour)


def other_text(draft: Draft) -> EditPlan:
    """Replace the text by another one, from the start."""
    others = [other for other in draft.context.others if other.strip() and other != draft.text]
    return _replaced_from_start(draft.text, draft.random.pick(others)) if others else NOTHING


def _replaced_from_start(text: str, other: str) -> EditPlan:
    """Replace one text by another word by word, until only the other remains."""
    if not other.strip() or other == text:
        return NOTHING
    ours, theirs = _word_spans(text), _word_spans(other)
    steps = max(len(ours), len(theirs))

    def version(count: int) -> str:
        rest = "".join(ours[_scaled(count, steps, len(ours)) :])
        return _joined("".join(theirs[: _scaled(count, steps, len(theirs))]), rest)

    return EditPlan(steps, version)


def _scaled(count: int, steps: int, length: int) -> int:
    return -(-count * length // steps)


def _joined(start: str, rest: str) -> str:
    before, after = words(start), words(rest)  # some alphanumeric characters are no words: ¼
    touch = bool(before and after) and start[-1:].isalnum() and rest[:1].isalnum()
    needs_space = touch and before[-1].spaced and after[0].spaced
    return f"{start} {rest}" if needs_space else start + rest


def _word_spans(text: str) -> list[str]:
    """Split a text before each word but the first."""
    starts = [0, *(piece.start for piece in words(text)[1:]), len(text)]
    return [text[start:end] for start, end in pairwise(starts)]


def untranslated_span(draft: Draft) -> EditPlan:
    """Replace a span by the same share of the source; it grows up to half the text."""
    source = draft.context.source
    ours, theirs = _word_spans(draft.text), _word_spans(source)
    if not source.strip() or source == draft.text or len(ours) < 2:
        return NOTHING
    most = share(len(ours), _LONGEST_SPAN)
    start_of_span = draft.random.below(len(ours) - most + 1)
    centre = start_of_span + draft.random.below(most)

    def version(count: int) -> str:
        first = max(start_of_span, min(centre - count // 2, start_of_span + most - count))
        last = first + count
        start = first * len(theirs) // len(ours)
        end = max(start + 1, -(-last * len(theirs) // len(ours)))
        span = "".join(theirs[start:end]).strip()
        replaced = "".join(ours[first:last])
        gap = replaced[len(replaced.rstrip()) :]
        return "".join(ours[:first]) + span + gap + "".join(ours[last:])

    return EditPlan(most, version)


def wrong_script(draft: Draft) -> EditPlan:
    """Transliterate words: into Latin letters, and Latin text into Cyrillic letters."""
    found = [piece for piece in words(draft.text) if piece.kind == "word" and any(map(str.isalpha, piece.text))]
    is_latin = 2 * sum(_is_latin(piece) for piece in found) > len(found)
    wanted = draft.random.shuffled([piece for piece in found if _is_latin(piece) == is_latin])
    write = _in_cyrillic if is_latin else _in_latin
    return plan_edits(draft.text, [Edit(piece.start, piece.end, write(piece)) for piece in wanted])


def _is_latin(piece: Piece) -> bool:
    letter = next(char for char in piece.text if char.isalpha())
    return unicodedata.name(letter, "").startswith(_LATIN)


def _in_latin(piece: Piece) -> str:
    from anyascii import anyascii  # imported late: it loads tables from files

    written = anyascii(piece.text).strip()
    return written.lower() if piece.text == piece.text.lower() else written


def _in_cyrillic(piece: Piece) -> str:
    table = pairs("cyrillic")
    plain = unicodedata.normalize("NFD", piece.text)
    written = [table.get(char.lower(), char) for char in plain if not unicodedata.combining(char)]
    text = "".join(written)
    return text[:1].upper() + text[1:] if piece.text[:1].isupper() else text
