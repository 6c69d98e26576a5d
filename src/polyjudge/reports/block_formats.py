"""Every format that blocks can be shown in."""

from collections.abc import Callable, Iterable, Iterator

from .blocks import Block, Heading
from .html import html_page
from .markdown import markdown
from .plain_text import plain_text


def _page(blocks: Iterable[Block]) -> Iterator[str]:
    shown = list(blocks)
    title = next((block.text for block in shown if isinstance(block, Heading)), "polyjudge")
    yield from html_page(title, shown)


BLOCK_FORMATS: dict[str, Callable[[Iterable[Block]], Iterator[str]]] = {
    "text": plain_text,
    "markdown": markdown,
    "html": _page,
}
