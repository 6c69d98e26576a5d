"""Reports as blocks: headings, lines and tables, rendered as text, Markdown or HTML."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from itertools import chain
from typing import Any

from polyjudge.text.display import harmless, isolated, one_line
from polyjudge.version import __version__

_LONGEST_LINE = 2_000


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; 1 is the title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Separate lines of text."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; its cells may contain text from models."""

    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    numbers: tuple[int, ...] = ()
    """Right-aligned columns."""


Block = Heading | Lines | Table


def shown(text: str) -> str:
    """Return a text of any origin as one harmless line."""
    return one_line(text, _LONGEST_LINE)


_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&#]")
_LIST_MARK = re.compile(r"^(\d*)([-+=.)])")


def markdown(blocks: Iterable[Block]) -> Iterator[str]:
    """Render blocks as Markdown; text from models is escaped."""
    for block in blocks:
        if isinstance(block, Heading):
            yield f"{'#' * block.level} {escape(block.text)}\n\n"
        elif isinstance(block, Lines):
            yield "  \n".join(map(_line, block.lines)) + "\n\n"
        else:
            yield from _markdown_table(block)
            yield "\n"


def _markdown_table(table: Table) -> Iterator[str]:
    yield _row(tuple(map(escape, table.header)))
    yield _row(tuple("---:" if index in table.numbers else "---" for index in range(len(table.header))))
    for row in table.rows:
        yield _row(tuple(map(escape, row)))


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _line(text: str) -> str:
    """Escape a line so that it starts no list and underlines no heading."""
    return _LIST_MARK.sub(r"\1\\\2", escape(text))


def escape(text: str) -> str:
    """Escape text for Markdown."""
    return _SPECIAL.sub(r"\\\g<0>", shown(text))


_UNDERLINES = {1: "=", 2: "-"}


def plain_text(blocks: Iterable[Block]) -> Iterator[str]:
    """Render blocks as plain text."""
    for block in blocks:
        if isinstance(block, Heading):
            line = _UNDERLINES.get(block.level, "")
            text = shown(block.text)
            yield f"{text}\n{line * display_width(text)}{chr(10) if line else ''}"
        elif isinstance(block, Lines):
            yield "\n".join(map(shown, block.lines)) + "\n\n"
        else:
            yield from _text_table(block)
            yield "\n"


def _text_table(table: Table) -> Iterator[str]:
    header, widths = tuple(map(shown, table.header)), [display_width(shown(name)) for name in table.header]
    for row in table.rows:
        widths = [max(width, display_width(shown(cell))) for width, cell in zip(widths, row, strict=True)]
    rows = (tuple(map(shown, row)) for row in table.rows)
    for row in chain((header, tuple("-" * width for width in widths)), rows):
        cells = [_aligned(cell, widths[index], index in table.numbers) for index, cell in enumerate(row)]
        yield "  ".join(cells).rstrip() + "\n"


def _aligned(cell: str, width: int, right: bool) -> str:
    space = " " * (width - display_width(cell))
    return space + isolated(cell) if right else isolated(cell) + space


def display_width(text: str) -> int:
    """Return the columns that a text takes on a terminal."""
    from rich.cells import cell_len  # imported late: rich is slow to load

    return cell_len(text)


def html_page(title: str, blocks: Iterable[Block]) -> Iterator[str]:
    """Render blocks as an HTML page."""
    yield from fill_page("page.html", title, {"blocks": blocks})


def fill_page(
    template: str,
    title: str,
    content: Mapping[str, Any],
    *,
    styles: Sequence[str] = ("page.css",),
    more_style: str = "",
    script: str = "page.js",
) -> Iterator[str]:
    """Render a template; the page allows only its own style and script."""
    markup = _markup()
    style, source = "".join(map(_asset, styles)) + more_style, _asset(script)
    return (
        _templates()
        .get_template(template)
        .generate(
            title=shown(title),
            version=__version__,
            style=markup(style),
            style_hash=_hash_of(style),
            script=markup(source),
            script_hash=_hash_of(source),
            show=_block,
            **content,
        )
    )


def _block(block: Block) -> Any:
    """Render a block as markup with escaped content."""
    markup = _markup()
    if isinstance(block, Heading):
        return markup("<h{0}>{1}</h{0}>").format(min(block.level, 6), shown(block.text))
    if isinstance(block, Lines):
        return markup("\n").join(markup("<p><bdi>{}</bdi></p>").format(shown(line)) for line in block.lines)
    return _html_table(block)


def _html_table(table: Table) -> Any:
    markup = _markup()

    def cells(row: tuple[str, ...], form: str) -> Any:
        styles = ["num" if index in table.numbers else "" for index in range(len(row))]
        return markup("").join(markup(form).format(style, shown(cell)) for style, cell in zip(styles, row, strict=True))

    head = cells(table.header, '<th scope="col" class="{}">{}</th>')
    body = markup("\n").join(
        markup("<tr>{}</tr>").format(cells(row, '<td class="{}"><bdi>{}</bdi></td>')) for row in table.rows
    )
    scroll = '<div class="scroll" tabindex="0" role="region" aria-label="Table: {}">'
    opened = markup(scroll).format(shown(", ".join(name for name in table.header if name)))
    return opened + markup("<table><thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody></table></div>").format(head, body)


@lru_cache(maxsize=1)
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # imported late: most commands do not need it

    return Environment(
        loader=PackageLoader("polyjudge.reports"),
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _harmless(value: object) -> object:
    """Make text that a template shows harmless; our own markup stays."""
    return harmless(value) if isinstance(value, str) and not isinstance(value, _markup()) else value


@lru_cache(maxsize=1)
def _markup() -> Any:
    from markupsafe import Markup

    return Markup


@lru_cache(maxsize=8)
def _asset(name: str) -> str:
    return (files("polyjudge.reports") / "templates" / name).read_text(encoding="utf-8")


def _hash_of(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def for_script(text: str) -> Any:
    """Escape JSON for a script element, so that nothing in it can end the element."""
    escaped = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return _markup()(escaped.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _page(blocks: Iterable[Block]) -> Iterator[str]:
    shown = list(blocks)
    title = next((block.text for block in shown if isinstance(block, Heading)), "polyjudge")
    yield from html_page(title, shown)


BLOCK_FORMATS: dict[str, Callable[[Iterable[Block]], Iterator[str]]] = {
    "text": plain_text,
    "markdown": markdown,
    "html": _page,
}
