"""The documentation site as `make docs` built it: complete, with short paths, and without anything from the network."""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import polyjudge
from polyjudge.cli import COMMANDS, actions_of, build_parser
from polyjudge.records.codec import schema_names

SITE = Path(__file__).parent.parent / "build" / "docs" / "html"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="the site is not built: make docs"),
]


class Page(HTMLParser):
    """The links, the anchors and the loaded resources of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.resources = [], set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.add(given.get("id"))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.resources.append(given["href"])
        elif given.get("src"):
            self.resources.append(given["src"])


@cache
def page(path):
    return Page(path)


def targets(path):
    """The places inside the site that a page links to, as path and anchor."""
    for link in page(path).links:
        parts = urlsplit(link)
        if not parts.scheme:
            yield (path.parent / unquote(parts.path)).resolve() if parts.path else path, unquote(parts.fragment)


def close_at_hand():
    """The pages within one click of the index; the pages that they link to are within two."""
    index = SITE / "index.html"
    return {index, *(path for path, _ in targets(index) if path.suffix == ".html")}


def within_two_clicks():
    return {place for near in close_at_hand() for place in targets(near)} | {(near, "") for near in close_at_hand()}


def pages():
    return sorted(SITE.rglob("*.html"))


def test_every_link_leads_to_a_page_and_an_anchor_that_are_there():
    broken = [
        (str(path.relative_to(SITE)), str(target), anchor)
        for path in pages()
        for target, anchor in targets(path)
        if not target.exists() or (anchor and target.suffix == ".html" and anchor not in page(target).anchors)
    ]

    assert broken == []


def test_every_page_is_within_two_clicks_of_the_index():
    near = {path for path, _ in within_two_clicks()}

    assert [str(path.relative_to(SITE)) for path in pages() if path not in near] == ["search.html"]  # the search box


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_is_within_two_clicks(command):
    parser = actions_of(build_parser(command))[command]
    near = {anchor for _, anchor in within_two_clicks()} | {path.stem for path, _ in within_two_clicks()}

    assert command in near
    for each in (parser, *actions_of(parser).values()):
        program = each.prog.replace(" ", "-")
        options = {name for action in each._actions for name in action.option_strings} - {"-h", "--help"}
        assert {f"cmdoption-{program}-{name.lstrip('-')}" for name in options} <= {anchor.lower() for anchor in near}


def test_every_public_name_and_file_format_is_within_two_clicks():
    near = within_two_clicks()
    names = {f"polyjudge.{name}" for name in polyjudge.__all__ if not name.startswith("__")}

    assert names <= {anchor.removeprefix("module-") for _, anchor in near}
    assert set(schema_names()) <= {path.stem for path, _ in near}


def test_nothing_is_loaded_from_the_network():
    loaded = {resource for path in pages() for resource in page(path).resources}
    styles = "".join(path.read_text(encoding="utf-8") for path in SITE.rglob("*.css"))

    assert [resource for resource in loaded if urlsplit(resource).netloc] == []
    assert re.findall(r"@import|url\(['\"]?(?:https?:)?//[^)]*", styles) == []
