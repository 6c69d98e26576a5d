"""The formats of reports on runs."""

from collections.abc import Callable, Iterator

from .blocks import markdown, plain_text
from .run_blocks import run_blocks, run_json
from .run_page import run_page
from .runs import RunReport
from .wording import Commands

RUN_FORMATS: dict[str, Callable[[RunReport, Commands], Iterator[str]]] = {
    "markdown": lambda report, commands: markdown(run_blocks(report, commands)),
    "text": lambda report, commands: plain_text(run_blocks(report, commands)),
    "json": run_json,
    "html": run_page,
}
