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
_MIN_BYTES = 400
"""The shortest length, in bytes, to which an event is shortened."""
_HEAD_SHARE = 0.6
_OVERHEAD = 14
"""Bytes of an event besides its text and title."""
_NOTE = 60
"""Bytes of the note about omitted text."""
_MAX_NAME = 80
_INDENT = "  "
"""Precedes every line of an event, so that no text can imitate another event."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """A session as text for a judge."""

    text: str
    events: int
    characters: int
    """The total of all events."""
    shortened: int
    """Events whose middle is omitted."""
    dropped: int
    """Events in the middle of the session that are omitted completely."""
    left_out: int
    """Omitted characters."""

    @property
    def omissions(self) -> str:
        """The omissions in words; empty if there are none."""
        if not self.left_out and not self.dropped:
            return ""
        share = f"{self.left_out:,} of {self.characters:,} characters are left out to fit"
        parts = [f"the middle of {self.shortened} events"] if self.shortened else []
        parts += [f"{self.dropped} events in the middle of the session"] if self.dropped else []
        return f"{share}: {' and '.join(parts)}."


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The bytes of each event, and whether it is shortened first."""

    lengths: "array[int]"
    titles: "array[int]"
    is_result: bytearray
    characters: int

    def cost(self, index: int, result_cap: int, other_cap: int) -> int:
        cap = result_cap if self.is_result[index] else other_cap
        length = self.lengths[index]
        return self.titles[index] + (length if length <= cap else cap + _NOTE)

    def total(self, result_cap: int, other_cap: int) -> int:
        return sum(self.cost(index, result_cap, other_cap) for index in range(len(self.lengths)))


def render_transcript(transcript: Transcript, *, window_tokens: int) -> Rendering:
    """Render a session within about `window_tokens` tokens; the file is read twice and never held in memory."""
    sizes, room = _measured(transcript), window_tokens * BYTES_A_TOKEN
    result_cap, other_cap = _caps(sizes, room)
    first, last = _dropped_range(sizes, room, result_cap, other_cap)
    pieces: list[str] = []
    shortened = left_out = 0
    for number, event in enumerate(transcript.events()):
        if number >= len(sizes.lengths):
            break  # the file has grown since it was measured
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
    """Return the limits of a tool's result and of other events, in bytes; results are shortened first."""
    longest = max(sizes.lengths, default=0)
    if sizes.total(longest, longest) <= room:
        return longest, longest
    if sizes.total(_MIN_BYTES, longest) <= room:
        return _largest(lambda cap: sizes.total(cap, longest) <= room, longest), longest
    return _MIN_BYTES, _largest(lambda cap: sizes.total(_MIN_BYTES, cap) <= room, longest)


def _largest(fits: Callable[[int], bool], longest: int) -> int:
    """Return the largest cap that fits, by binary search."""
    low, high = _MIN_BYTES, max(_MIN_BYTES, longest)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _dropped_range(sizes: _Sizes, room: int, result_cap: int, other_cap: int) -> tuple[int, int]:
    """Return the range of events in the middle that are omitted."""
    if sizes.total(result_cap, other_cap) <= room:
        return 0, 0
    costs = [sizes.cost(index, result_cap, other_cap) for index in range(len(sizes.lengths))]
    first, last, remaining = 0, len(costs), room
    while first < last:  # keep events from both ends: start and end are the most informative
        take_first = first <= len(costs) - last
        cost = costs[first] if take_first else costs[last - 1]
        if cost > remaining:
            break
        remaining -= cost
        first, last = (first + 1, last) if take_first else (first, last - 1)
    return first, last


def _shortened(text: str, cap: int) -> tuple[str, int]:
    """Shorten and indent the text of an event; return it with the number of omitted characters."""
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
    name = f": {one_line(event.name, _MAX_NAME)}" if event.name else ""
    return f"{_NAMES[event.kind]}{name}{' (failed)' if event.failed else ''}"
