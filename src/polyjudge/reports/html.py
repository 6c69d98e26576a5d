"""A report as one HTML file: no network, no script but our own, all foreign text escaped."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from polyjudge.text import harmless
from polyjudge.version import __version__

from .blocks import Block, Heading, Lines, Table, shown


def html_page(title: str, blocks: Iterable[Block]) -> Iterator[str]:
    """Yield any report as a page."""
    yield from fill_page("page.html", title, {"blocks": blocks})


def fill_page(template: str, title: str, content: Mapping[str, Any]) -> Iterator[str]:
    """Yield a page made from a template; its own style and script are the only ones that it allows itself."""
    markup = _markup()
    style, script = _own_file("page.css"), _own_file("page.js")
    return (
        _templates()
        .get_template(template)
        .generate(
            title=shown(title),
            version=__version__,
            style=markup(style),
            style_hash=_hash_of(style),
            script=markup(script),
            script_hash=_hash_of(script),
            show=_block,
            **content,
        )
    )


def _block(block: Block) -> Any:
    """Return a block as markup, what stands in it escaped."""
    markup = _markup()
    if isinstance(block, Heading):
        return markup("<h{0}>{1}</h{0}>").format(min(block.level, 6), shown(block.text))
    if isinstance(block, Lines):
        return markup("\n").join(markup("<p><bdi>{}</bdi></p>").format(shown(line)) for line in block.lines)
    return _table(block)


def _table(table: Table) -> Any:
    markup = _markup()

    def cells(row: tuple[str, ...], form: str) -> Any:
        styles = ["num" if place in table.numbers else "" for place in range(len(row))]
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
    from jinja2 import Environment, PackageLoader, StrictUndefined  # here, because most commands do without

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
    """Return what a template shows so that it cannot act: text from files is, markup of our own stays."""
    return harmless(value) if isinstance(value, str) and not isinstance(value, _markup()) else value


@lru_cache(maxsize=1)
def _markup() -> Any:
    from markupsafe import Markup

    return Markup


@lru_cache(maxsize=2)
def _own_file(name: str) -> str:
    return (files("polyjudge.reports") / "templates" / name).read_text(encoding="utf-8")


def _hash_of(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def for_script(text: str) -> Any:
    """Return JSON as it may stand within a script element: nothing in it can end the element."""
    escaped = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return _markup()(escaped.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))
