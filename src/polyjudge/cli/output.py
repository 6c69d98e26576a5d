"""Write to stdout: reports, aligned tables and text differences; a closed pipe is no error."""

import io
import os
import shlex
import shutil
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from polyjudge.errors import DataError
from polyjudge.text.display import harmless, isolated, one_line

if TYPE_CHECKING:
    from polyjudge.text.difference import Part

_LONGEST_WARNING = 400


def print_warning(message: str) -> None:
    """Print a warning on stderr."""
    print(f"polyjudge: warning: {message}", file=sys.stderr)


def warn_of_skipped(problems: Sequence[str], total: int = 0) -> None:
    """Print the problems of the first skipped rows and, if there are more, the total."""
    for problem in problems:
        print_warning(f"skipped {one_line(problem, _LONGEST_WARNING)}")
    if total > len(problems):
        print_warning(f"skipped {total} rows in total")


def import_command(fallback: Path | str, cache: str) -> str:
    """Return the command that imports a local cache into the shared one."""
    return f"polyjudge cache import {shlex.quote(str(fallback))} --cache {shlex.quote(cache)}"


def write_pieces(path: Path | None, pieces: Iterable[str], *, format_name: str, force: bool) -> None:
    """Write a report to a file, marked as written by polyjudge, or to stdout without a path."""
    from polyjudge.files.atomic import write_atomically  # here: this module is loaded by every command
    from polyjudge.files.ownership import generated_comment

    if path is None:
        with ignore_closed_pipe():
            sys.stdout.writelines(pieces)
        return
    with write_atomically(path, force=force) as file:
        file.writelines(pieces)
        file.write(generated_comment(format_name))


def add_to_step_summary(pieces: Iterable[str]) -> bool:
    """Add Markdown to the summary of a GitHub workflow step; return False outside of one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not path:
        return False
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(pieces)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=path) from None
    return True


@contextmanager
def ignore_closed_pipe() -> Generator[None]:
    """Continue when stdout is closed: the exit code of `polyjudge compare … | head -1` must still show a regression."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()


def silence_stdout() -> None:
    """Send all further output to the null device, so that flushing it at exit does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = (), groups: Sequence[str] = ()
) -> None:
    """Print rows under a header to stdout; the columns in `numbers` are aligned to the right.

    With `groups`, the name of each row's group, the rows of a group have its name above them.
    """
    from rich import box  # here, because rich takes longer to load than most commands to run
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, pad_edge=False)
    for place, name in enumerate(header):
        table.add_column(Text(harmless(name)), justify="right" if place in numbers else "left")
    for place, row in enumerate(rows):
        if groups and (not place or groups[place] != groups[place - 1]):
            if place:
                table.add_row()
            table.add_row(Text(f"{harmless(groups[place])}:"))
        table.add_row(*(Text(harmless(cell)) for cell in row))
    on_terminal = sys.stdout.isatty()
    text = io.StringIO()
    width = shutil.get_terminal_size().columns if on_terminal else 200
    Console(file=text, width=width, highlight=False, force_terminal=on_terminal).print(table)
    print("\n".join(line.rstrip() for line in text.getvalue().splitlines()))


_COLOURS: "dict[Part, str]" = {"removed": "\x1b[31;7m", "added": "\x1b[32;7m", "same": ""}
_MARKS: "dict[Part, tuple[str, str]]" = {"removed": ("[-", "-]"), "added": ("{+", "+}"), "same": ("", "")}
_INDENT = "    "


def print_difference(expected: str, actual: str) -> None:
    """Print the expected and the actual text, their differences in colour on a terminal, in brackets elsewhere."""
    from polyjudge.text.difference import difference, shown  # here, as above

    found = difference(expected, actual)
    for name, parts in (("expected", found.expected), ("actual  ", found.actual)):
        text = "".join(_marked(part, shown(text, keep_joiners=part == "same")) for part, text in parts)
        print(f"{_INDENT}{name}  {isolated(text)}".replace("\n", f"\n{_INDENT}          "))
    for note in found.notes:
        print(f"{_INDENT}{note}")


def _marked(part: "Part", text: str) -> str:
    if part == "same":
        return text
    if sys.stdout.isatty():
        return f"{_COLOURS[part]}{text}\x1b[0m"
    before, after = _MARKS[part]
    return f"{before}{text}{after}"
