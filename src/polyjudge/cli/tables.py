"""Tables on the terminal, aligned by how wide each script is shown."""

import io
import shutil
import sys
from collections.abc import Sequence

from polyjudge.text.display import harmless


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> None:
    """Print rows under a header to stdout; columns named in `numbers` stand right."""
    from rich import box  # here, because rich takes longer to load than most commands to run
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE, pad_edge=False)
    for place, name in enumerate(header):
        table.add_column(Text(harmless(name)), justify="right" if place in numbers else "left")
    for row in rows:
        table.add_row(*(Text(harmless(cell)) for cell in row))
    on_terminal = sys.stdout.isatty()
    drawn = io.StringIO()
    width = shutil.get_terminal_size().columns if on_terminal else 200
    Console(file=drawn, width=width, highlight=False, force_terminal=on_terminal).print(table)
    print("\n".join(line.rstrip() for line in drawn.getvalue().splitlines()))
