"""Where a command's report goes: into a file, or to a reader who may leave before its end."""

import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path


def write_pieces(path: Path | None, pieces: Iterable[str], *, format_name: str, force: bool) -> None:
    """Write a report to a file, marked as polyjudge's, or to stdout where none is named."""
    from polyjudge.files.atomic import write_atomically  # here: this module is loaded by every command
    from polyjudge.files.ownership import generated_comment

    if path is None:
        with reader_may_leave():
            sys.stdout.writelines(pieces)
        return
    with write_atomically(path, force=force) as file:
        file.writelines(pieces)
        file.write(generated_comment(format_name))


@contextmanager
def reader_may_leave() -> Generator[None]:
    """Let what was found count though nobody reads on: `polyjudge compare … | head -1` must not hide a regression."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def silence_stdout() -> None:
    """Let what is still to be written go nowhere instead of failing once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
