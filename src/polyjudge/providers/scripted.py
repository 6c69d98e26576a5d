"""Replies from a function or a recording, for tests, documentation and dry runs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import isawaitable
from pathlib import Path
from typing import Literal, Self

from msgspec import Struct

from polyjudge.errors import DataError, NotRecordedError, ProviderError, RefusedError, TransientError
from polyjudge.files.json_lines import read_json_lines
from polyjudge.records.codec import from_json
from polyjudge.records.fingerprint import fingerprint, prompt_sha256
from polyjudge.records.requests import Finish, Origin, Reply, Request, Token

from .base import Stopwatch

Answer = str | Reply
Script = Callable[[Request], Answer | Awaitable[Answer]]


class ScriptedProvider:
    """Calls a function with each request, which returns the reply's text or a `Reply`, or raises."""

    def __init__(self, script: Script, *, name: str = "") -> None:
        self.origin = Origin("scripted", name)
        self._script = script

    @classmethod
    def from_recording(cls, path: Path | str, *, timeout_s: float = 0.0) -> Self:
        """Answer from a JSON Lines file; its rows are described in docs/guides/scripted.md."""
        del timeout_s  # a recording answers at once
        recording = Recording.read(Path(path))
        rows = [identity_of(row) for row in recording.rows]
        return cls(recording.answer, name=f"recording-{fingerprint(rows, 16)}")

    async def complete(self, request: Request) -> Reply:
        """Return the script's reply to a request."""
        watch = Stopwatch()
        answer = self._script(request)
        if isawaitable(answer):
            answer = await answer
        reply = answer if isinstance(answer, Reply) else Reply(text=answer, model=request.model)
        return watch.stamped(reply)


class RecordedAnswer(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One row of a recording: which prompts it answers, and how."""

    text: str = ""
    prompt: str = ""
    """Answers only this prompt."""
    prompt_sha256: str = ""
    """Answers the prompt with this hash, as in results."""
    contains: tuple[str, ...] = ()
    """Answers prompts that contain all of these."""
    model: str = ""
    finish: Finish = "stop"
    input_tokens: int | None = None
    output_tokens: int | None = None
    tokens: tuple[Token, ...] = ()
    """The tokens of the text with their log probabilities, given if they are asked for."""
    error: Literal["", "refused", "transient", "provider_error"] = ""
    """Fails with this error instead of answering; `text` is then the message."""

    @property
    def matcher(self) -> tuple[object, ...]:
        """The prompts that this row answers; rows with the same matcher are used in turn, one for each repeat."""
        return self.prompt, self.prompt_sha256, self.contains

    @property
    def precision(self) -> int:
        """2 for a row with a prompt, 1 for one with `contains`, 0 for one that answers any prompt."""
        return 2 if self.prompt or self.prompt_sha256 else int(bool(self.contains))

    def answers(self, request: Request) -> bool:
        """Return whether this row answers a request."""
        if self.prompt or self.prompt_sha256:
            return self.prompt == request.prompt or self.prompt_sha256 == prompt_sha256(request.prompt)
        return all(piece in request.prompt for piece in self.contains)


def identity_of(row: RecordedAnswer) -> dict[str, object]:
    """Return what makes a row of a recording another one; tokens came later, and count only if there are any."""
    return {name: getattr(row, name) for name in row.__struct_fields__ if name != "tokens" or row.tokens}


@dataclass(frozen=True, slots=True)
class Recording:
    """The rows of a recording in the order of the file."""

    path: Path
    rows: tuple[RecordedAnswer, ...]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a recording; an invalid row is an error with its line number."""
        rows: list[RecordedAnswer] = []
        for number, data in read_json_lines(path):
            data.pop("schemaVersion", None)
            try:
                rows.append(from_json(RecordedAnswer, data))
            except DataError as error:
                raise DataError(str(error), path=path, line=number) from None
        return cls(path, tuple(rows))

    def answer(self, request: Request) -> Reply:
        """Return the answer of the first row for this request: rows with a prompt first, then those with `contains`."""
        for precision in (2, 1, 0):
            first = next((row for row in self.rows if row.precision == precision and row.answers(request)), None)
            if first is not None:
                turns = [row for row in self.rows if row.matcher == first.matcher]
                return _reply(turns[min(request.repeat, len(turns) - 1)], request)
        raise NotRecordedError(f"{self.path} has no answer to this prompt; add a row for it")


def _reply(row: RecordedAnswer, request: Request) -> Reply:
    if row.error == "refused":
        raise RefusedError(row.text or "recorded refusal")
    if row.error == "transient":
        raise TransientError(row.text or "recorded temporary error")
    if row.error:
        raise ProviderError(row.text or "recorded error")
    return Reply(
        text=row.text,
        model=row.model or request.model,
        finish=row.finish,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        tokens=row.tokens if request.top_logprobs is not None else (),
    )
