"""Pieces of reStructuredText."""

import re
import textwrap


def escaped(text: str) -> str:
    """Return text that means itself; `code` and options in it are shown as code."""
    parts = re.split(r"`([^`]+)`|(?<![\w-])(--[a-z][a-z-]*[a-z])", text)
    shown = []
    for plain, code, option in zip(parts[::3], [*parts[1::3], None], [*parts[2::3], None], strict=True):
        shown.append(re.sub(r"([\\*_|`<>])", r"\\\1", plain))
        if code or option:
            shown.append(f"\\ ``{code or option}``\\ ")
    return "".join(shown).strip()


def heading(text: str, underline: str) -> str:
    """Return a heading."""
    return f"{escaped(text)}\n{underline * (2 * len(text))}\n"


def indented(text: str) -> str:
    """Return the text of a block."""
    return textwrap.indent(text.strip("\n"), "   ")


def table(rows: list[tuple[str, ...]], widths: str) -> str:
    """Return a table; the first row is its head, and cells are reStructuredText of one paragraph."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", "   :class: fields", ""]
    for row in rows:
        lines += [f"   {'*' if number == 0 else ' '} - {cell}" for number, cell in enumerate(row)]
    return "\n".join([*lines, ""])
