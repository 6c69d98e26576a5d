"""Render a transcript for the judge."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass

from polyjudge.formats.transcripts import Transcript
from polyjudge.records.sessions import TranscriptEvent
from polyjudge.text.display import one_line

BYTES_A_TOKEN = 4
_NAMES = {
    "user": "user",
    "agent": "agent",
    "reasoning": "agent, thinking",
    "call": "tool call",
    "result": "tool result",
    "system": "system",
    "unknown": "event of unknown kind",
}
_LEAST = 400
"""Bytes that are left of any event that is shown at all."""
_HEAD_SHARE = 0.6
_OVERHEAD = 14
"""Bytes that an event takes beside its text and its title."""
_NOTE = 60
"""Bytes that it takes to say what is left out."""
_LONGEST_NAME = 80
_INDENT = "  "
"""Before every line of an event, so that no text can pass for another event."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """A session as a judge is shown it."""

    text: str
    events: int
    characters: int
    """Of all events together."""
    shortened: int
    """Events whose middle is left out."""
    dropped: int
    """Events in the middle of the session that are left out altogether."""
    left_out: int
    """Characters that are left out."""

    @property
    def omissions(self) -> str:
        """What was left out, in words; nothing where all is there."""
        if not self.left_out and not self.dropped:
            return ""
        share = f"{self.left_out:,} of {self.characters:,} characters are left out to fit"
        parts = [f"the middle of {self.shortened} events"] if self.shortened else []
        parts += [f"{self.dropped} events in the middle of the session"] if self.dropped else []
        return f"{share}: {' and '.join(parts)}."


@dataclass(frozen=True, slots=True)
class _Sizes:
    """How many bytes each event takes, and whether it is one of those that are shortened first."""

    lengths: "array[int]"
    titles: "array[int]"
    is_result: bytearray
    characters: int

    def cost(self, place: int, result_cap: int, other_cap: int) -> int:
        cap = result_cap if self.is_result[place] else other_cap
        length = self.lengths[place]
        return self.titles[place] + (length if length <= cap else cap + _NOTE)

    def total(self, result_cap: int, other_cap: int) -> int:
        return sum(self.cost(place, result_cap, other_cap) for place in range(len(self.lengths)))


def render_transcript(transcript: Transcript, *, window_tokens: int) -> Rendering:
    """Return the session as text of at most about so many tokens; it is read twice and never held whole."""
    sizes, room = _measured(transcript), window_tokens * BYTES_A_TOKEN
    result_cap, other_cap = _caps(sizes, room)
    first, last = _shown(sizes, room, result_cap, other_cap)
    pieces: list[str] = []
    shortened = left_out = 0
    for number, event in enumerate(transcript.events()):
        if number >= len(sizes.lengths):
            break  # it has grown since it was measured; what came then is for another time
        if first <= number < last:
            left_out += len(event.text)
            if number == first:
                pieces.append(f"[… {last - first} events are left out here …]")
            continue
        text, missing = _shortened(event.text, result_cap if sizes.is_result[number] else other_cap)
        shortened += bool(missing)
        left_out += missing
        pieces.append(f"[{number + 1}] {_title(event)}\n{text}")
    return Rendering(
        "\n\n".join(pieces), len(sizes.lengths), sizes.characters, shortened, max(0, last - first), left_out
    )


def _measured(transcript: Transcript) -> _Sizes:
    lengths, titles, is_result, characters = array("Q"), array("Q"), bytearray(), 0
    for event in transcript.events():
        lengths.append(len(_indented(event.text).encode(errors="surrogatepass")))
        titles.append(len(_title(event).encode(errors="surrogatepass")) + _OVERHEAD)
        is_result.append(event.kind in ("result", "unknown"))
        characters += len(event.text)
    return _Sizes(lengths, titles, is_result, characters)


def _caps(sizes: _Sizes, room: int) -> tuple[int, int]:
    """Return the most characters of a tool's result and of any other event: results give way first."""
    longest = max(sizes.lengths, default=0)
    if sizes.total(longest, longest) <= room:
        return longest, longest
    if sizes.total(_LEAST, longest) <= room:
        return _largest(lambda cap: sizes.total(cap, longest) <= room, longest), longest
    return _LEAST, _largest(lambda cap: sizes.total(_LEAST, cap) <= room, longest)


def _largest(fits: Callable[[int], bool], longest: int) -> int:
    """Return the largest cap that fits, by halving; at least the least."""
    low, high = _LEAST, max(_LEAST, longest)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _shown(sizes: _Sizes, room: int, result_cap: int, other_cap: int) -> tuple[int, int]:
    """Return which events in the middle are left out: the first of them, and the first after them."""
    if sizes.total(result_cap, other_cap) <= room:
        return 0, 0
    costs = [sizes.cost(place, result_cap, other_cap) for place in range(len(sizes.lengths))]
    first, last, left = 0, len(costs), room
    while first < last:  # from both ends inwards: how it began and how it ended say most
        take_first = first <= len(costs) - last
        cost = costs[first] if take_first else costs[last - 1]
        if cost > left:
            break
        left -= cost
        first, last = (first + 1, last) if take_first else (first, last - 1)
    return first, last


def _shortened(text: str, cap: int) -> tuple[str, int]:
    """Return an event's text within so many bytes, indented, and how many of its characters are missing."""
    whole = _indented(text)
    given = whole.encode(errors="surrogatepass")
    if len(given) <= cap:
        return whole, 0
    cut = int(cap * _HEAD_SHARE)
    head = given[:cut].decode(errors="ignore")
    tail = given[len(given) - (cap - cut) :].decode(errors="ignore")
    missing = max(1, len(whole) - len(head) - len(tail))
    return f"{head}\n[… {missing:,} characters are left out here …]\n{tail}", missing


def _indented(text: str) -> str:
    return _INDENT + text.replace("\n", f"\n{_INDENT}")


def _title(event: TranscriptEvent) -> str:
    name = f": {one_line(event.name, _LONGEST_NAME)}" if event.name else ""
    return f"{_NAMES[event.kind]}{name}{' (failed)' if event.failed else ''}"
