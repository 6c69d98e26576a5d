"""The probability of each verdict or score at the tokens of a reply where the judge gave it.

A value is used only if its place in the reply is certain: one place has it, the tokens spell the text around it, and
each likely token there means one verdict or one number. Otherwise there are no probabilities.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, cast

from polyjudge.records.requests import Reply, Token
from polyjudge.records.rubrics import Scale

from .judged_text import folded_key
from .parsing import JudgeJson
from .reply_text import find_objects, labelled_places

_UNCLEAR = 0.001
"""The largest probability of tokens with several meanings that is left out; more, and there are no probabilities."""
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_NUMBER_IN_TOKEN = re.compile(rb"-?([0-9]+)(?:\.[0-9]+)?")
_SPACE = re.compile(r"[ \t\r\n]*")
_CONTROL_TOKENS = re.compile(rb"(?:\s|<[^<>\s]{1,60}>)*")
"""What servers list after the text: `<|im_end|>`."""
_AROUND_LABEL = " \t\r\n*_`#>\"'“”‘’«»«».。!:"
_DIGITS = 6


class Place(NamedTuple):
    """Start and end of a value in the text of a reply."""

    start: int
    end: int


class Probabilities(NamedTuple):
    """The probabilities of the allowed values, of which the sum is 1, and that of everything else."""

    values: dict[str, float]
    other: float

    def expected(self, scores: Mapping[str, float]) -> float:
        """Return the mean of the scores of the values."""
        return sum(scores[name] * share for name, share in self.values.items())


class _Placed(NamedTuple):
    """A token and the bytes of the text that it spells."""

    start: int
    raw: bytes
    token: Token

    def options(self) -> Iterator[tuple[bytes, float]]:
        """Yield the chosen token and then the others, with their probabilities."""
        yield self.raw, math.exp(self.token.logprob)
        for text, logprob in self.token.others.items():
            yield _bytes(text), math.exp(logprob)


def place_of_number(text: str, found: JudgeJson, key: str, value: float) -> Place | None:
    """Return where a reply has the number of a key; None if no place has it, or several do."""

    def place_in(start: int, end: int) -> Place | None:
        match = _NUMBER.search(text, start, end)
        return Place(*match.span()) if match is not None and float(match[0]) == value else None

    return _only_place(text, found, key, place_in)


def place_of_label(text: str, found: JudgeJson, key: str, label: str) -> Place | None:
    """Return where a reply has the label of a key; None if no place has it, or several do."""

    def place_in(start: int, end: int) -> Place | None:
        written = text[start:end]
        bare = written.strip(_AROUND_LABEL)
        offset = start + len(written) - len(written.lstrip(_AROUND_LABEL))
        return Place(offset, offset + len(bare)) if _folded(bare) == _folded(label) else None

    if found.parse_method != "label":
        return _only_place(text, found, key, place_in)
    start = len(text.rstrip(_AROUND_LABEL)) - len(label)  # the reply ends in the label
    return place_in(max(start, 0), len(text))


def number_probabilities(reply: Reply, place: Place, scale: Scale) -> Probabilities | None:
    """Return the probabilities of the numbers at the token of a score; None for a score of several tokens."""
    start, end = (_byte_offset(reply.text, at) for at in place)
    placed = next((each for each in _aligned(reply) if each.start <= start < each.start + len(each.raw)), None)
    if placed is None or placed.start + len(placed.raw) < end:
        return None
    prefix, own = placed.raw[: start - placed.start], reply.text[place.start : place.end]
    options = [(_after(raw, prefix), share) for raw, share in placed.options()]
    numbers = [(None if rest is None else _NUMBER_IN_TOKEN.match(rest), rest or b"", share) for rest, share in options]
    # A tokenizer with tokens of several digits does not spell 85 as 8 and 5.
    is_grouped = any(match is not None and len(match[1]) > 1 for match, _, _ in numbers)
    found, unclear = dict[str, float](), 0.0
    for match, rest, share in numbers:
        value = None if match is None else float(match[0])
        if value is None or match is None:
            unclear += share if rest == b"-" and scale.lowest < 0 else 0.0
        elif match[0].decode() != own and (
            rest[match.end() :].startswith(b".") or (not is_grouped and _may_go_on(value, scale))
        ):
            unclear += share
        elif scale.lowest <= value <= scale.highest:
            found[f"{value:g}"] = found.get(f"{value:g}", 0.0) + share
    return _normalised(found, unclear)


def label_probabilities(reply: Reply, place: Place, labels: tuple[str, ...]) -> Probabilities | None:
    """Return the probabilities of the labels, at the tokens where the chosen one and the others part."""
    start, sums = _byte_offset(reply.text, place.start), _LabelSums({_folded(label): label for label in labels})
    for placed in _aligned(reply):
        if placed.start + len(placed.raw) > start and sums.add(placed, max(start - placed.start, 0)):
            break
    else:  # the reply ends in the label, so no later token shows that it is not a longer one
        sums.end()
    return _normalised(sums.found, sums.unclear)


class _LabelSums:
    """Adds up the probabilities of labels, token by token along the chosen ones."""

    def __init__(self, forms: Mapping[str, str]) -> None:
        self.found = dict[str, float]()
        self.unclear = 0.0
        self._forms = forms
        self._written = b""
        self._share = 1.0

    def add(self, placed: _Placed, skipped: int) -> bool:
        """Add the options at one token, without its first bytes; return whether the chosen label is certain now."""
        prefix = placed.raw[:skipped]
        (_, chosen_share), *others = placed.options()
        chosen = self._written + placed.raw[skipped:]
        meant = _meant(chosen, self._forms)
        for raw, share in others:
            rest = raw if self._written else _after(raw, prefix)
            self._count(set() if rest is None else _meant(self._written + rest, self._forms), share)
        if len(meant) < 2:
            self._count(meant, chosen_share)
            return True
        self._share, self._written = self._share * chosen_share, chosen
        return False

    def end(self) -> None:
        """Add the label that the whole text spells."""
        whole = self._forms.get(_folded(self._written.decode(errors="surrogateescape").strip(_AROUND_LABEL)))
        self._count(set() if whole is None else {whole}, 1.0)

    def _count(self, meant: set[str], share: float) -> None:
        if len(meant) == 1:
            label = meant.pop()
            self.found[label] = self.found.get(label, 0.0) + self._share * share
        elif meant:
            self.unclear += self._share * share


def _normalised(found: Mapping[str, float], unclear: float) -> Probabilities | None:
    total = sum(found.values())
    if unclear > _UNCLEAR or total <= 0:
        return None
    shares = {name: round(share / total, _DIGITS) for name, share in found.items()}
    shown = {name: share for name, share in sorted(shares.items(), key=lambda pair: -pair[1]) if share}
    return Probabilities(shown, round(max(1.0 - total, 0.0), _DIGITS))


def _may_go_on(value: float, scale: Scale) -> bool:
    """Return whether a number with another digit is still on the scale."""
    return value != 0 and scale.lowest <= value * 10 <= scale.highest


def _after(raw: bytes, prefix: bytes) -> bytes | None:
    """Return what a token has after a prefix, which is left out if it is only space; None without the prefix."""
    if not prefix.strip():
        return raw.lstrip()
    return raw[len(prefix) :] if raw.startswith(prefix) else None


def _meant(raw: bytes, forms: Mapping[str, str]) -> set[str]:
    """Return the labels that a text starts with, or that start with it."""
    text = raw.decode(errors="surrogateescape")
    whole = text.rstrip("".join(map(chr, range(0xDC80, 0xDD00))))
    part = text[len(whole) :].encode(errors="surrogateescape")  # the first bytes of a character
    start = _folded(whole.lstrip(_AROUND_LABEL))
    if not start and not part:
        return set()
    starting = {label for form, label in forms.items() if form.encode().startswith(start.encode() + part)}
    if starting or part:
        return starting
    whole_words = [form for form in forms if start.startswith(form) and not start[len(form)].isalnum()]
    return {forms[max(whole_words, key=len)]} if whole_words else set()


def _folded(label: str) -> str:
    return unicodedata.normalize("NFC", label).casefold()


def _aligned(reply: Reply) -> list[_Placed]:
    """Return the tokens with the byte of the text at which each starts; none if they do not spell the text."""
    pieces = [_bytes(token.text) for token in reply.tokens]
    whole, text = b"".join(pieces), reply.text.encode(errors="surrogatepass")
    at = whole.rfind(text)
    is_last = at >= 0 and _CONTROL_TOKENS.fullmatch(whole, at + len(text)) is not None
    if not text or at < 0 or not (is_last or whole.count(text) == 1):
        return []
    placed: list[_Placed] = []
    start = -at
    for piece, token in zip(pieces, reply.tokens, strict=True):
        placed.append(_Placed(start, piece, token))
        start += len(piece)
    return placed


def _bytes(text: str) -> bytes:
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode(errors="surrogatepass")


def _byte_offset(text: str, at: int) -> int:
    return len(text[:at].encode(errors="surrogatepass"))


def _only_place(text: str, found: JudgeJson, key: str, place_in: Callable[[int, int], Place | None]) -> Place | None:
    """Return the only place of a key's value."""
    if found.parse_method == "lines":
        spans = labelled_places(text, key)
    else:
        members = (each for start, _ in find_objects(text) for each in _members(text, start))
        spans = [(start, end) for name, start, end in members if folded_key(name) == folded_key(key)]
    places = [place for start, end in spans if (place := place_in(start, end)) is not None]
    return places[0] if len(places) == 1 else None


_DECODER = json.JSONDecoder()


def _members(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield the members of a JSON object, and of the objects in it, with the places of their values."""
    pending = [start]
    while pending:
        at = _after_space(text, pending.pop() + 1)
        while text[at] == '"':
            name, at = cast(tuple[str, int], _DECODER.raw_decode(text, at))
            value_at = _after_space(text, _after_space(text, at) + 1)
            _, end = cast(tuple[object, int], _DECODER.raw_decode(text, value_at))
            yield name, value_at, end
            if text[value_at] == "{":
                pending.append(value_at)
            at = _after_space(text, end)
            at = _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
