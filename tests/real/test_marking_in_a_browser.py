"""People mark errors in a real Chromium: every script, keyboard, mouse and touch, two people, and a killed server."""

import json
import signal
import time

import pytest
from tests.real.browser import findings
from tests.real.test_pages_in_a_browser import _begin, _labels, _until, _write, opened, started

from polyjudge.cli import main
from polyjudge.text.difference import graphemes

__all__ = ["opened", "started"]
"""Fixtures of the other pages."""
TEXTS = {
    "ar": "نود الحُصُول على وعاءين من الحساء",
    "th": "กรุณาโทรเรียกหมูที่เบอร์ 112",
    "ja": "温かいスープを二つください。",
    "hi": "नमस्ते दुनिया, क्या हाल है?",
    "en": "Hi 👩‍👩‍👧 and 🇩🇪 e\u0301!",
}
FIRST, LAST = 3, 6
"""The graphemes that are marked."""


@pytest.fixture
def texts(tmp_path):
    rows = [
        {"id": tag, "language": tag, "candidate": text, "source": "Two bowls of soup", "score": 0}
        for tag, text in TEXTS.items()
    ]
    span = {"start": 0, "end": 1, "severity": "minor", "category": "style/awkward", "state": "located"}
    _write(tmp_path / "r.jsonl", [{**row, "spans": [{**span, "text": row["candidate"][0]}]} for row in rows])
    return tmp_path


def language_of(page):
    _until(page, "state.shown === current().id")
    return page.evaluate("current().id")


def mark_by_keys(page, first=FIRST, last=LAST):
    tag = language_of(page)
    forward = "ArrowLeft" if tag == "ar" else "ArrowRight"
    before = page.evaluate("current().spans.length")
    page.focus(".part.output .text")
    for _ in range(first + 1):
        page.keyboard.press(forward)
    for _ in range(last - first - 1):
        page.keyboard.press(f"Shift+{forward}")
    page.keyboard.press("m")
    _until(page, "before => current().spans.length === before + 1 && !state.busy", before)
    return tag


def done(page):
    before = page.text_content("#place")
    page.focus("#mark")
    page.keyboard.press("d")
    _until(page, "before => document.getElementById('place').textContent !== before", before)


def newest(folder):
    return {(row["annotator"], row["id"]): row for row in _labels(folder)}


def expected(tag, first=FIRST, last=LAST):
    return "".join(list(graphemes(TEXTS[tag]))[first:last])


def test_errors_are_marked_with_the_keyboard_in_every_script_by_two_people(started, opened, texts, capsys):
    server = started(texts, "label", "r.jsonl", "--scale", "mqm")
    for name in ("Ada", "Bằng"):
        page = opened(server.address)
        _begin(page, name)
        for _ in TEXTS:
            mark_by_keys(page)
            page.select_option("#span-list select >> nth=0", "critical")
            _until(page, "current().spans[0].severity === 'critical' && !state.busy")
            done(page)
        assert page.text_content("#place") == "All your items are done. Thank you."
    server.end()

    rows = newest(texts)
    assert len(rows) == 2 * len(TEXTS)
    for (_, tag), row in rows.items():
        (span,) = row["spans"]
        start, end = span["start"], span["end"]
        clusters = list(graphemes(TEXTS[tag]))
        edges = {sum(map(len, clusters[:count])) for count in range(len(clusters) + 1)}
        assert TEXTS[tag][start:end] == span["text"]
        assert {start, end} <= edges
        assert tag == "hi" or span["text"] == expected(tag)  # browsers keep Hindi conjuncts together
        assert (span["severity"], row["label"]) == ("critical", -25)
    assert main(["calibrate", "agreement", str(texts / "r-labels.jsonl"), "--people", "Ada", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("tag", TEXTS)
def test_words_are_marked_with_the_mouse(started, opened, texts, tag):
    server = started(texts, "label", "r.jsonl", "--scale", "esa", "--filter", f"language={tag}")
    page = opened(server.address)
    _begin(page, "Ada")
    language_of(page)
    box = page.evaluate(
        """([first, last]) => {
            const text = document.querySelector(".part.output .text");
            const range = document.createRange();
            range.setStart(...positionAt(text, text.edges[first]));
            range.setEnd(...positionAt(text, text.edges[last]));
            const { left, right, top, bottom } = range.getBoundingClientRect();
            return { left, right, middle: (top + bottom) / 2, rtl: getComputedStyle(text).direction === "rtl" };
        }""",
        [FIRST, LAST],
    )
    start, end = (box["right"], box["left"]) if box["rtl"] else (box["left"], box["right"])
    page.mouse.move(start, box["middle"])
    page.mouse.down()
    page.mouse.move(end, box["middle"], steps=8)
    page.mouse.up()
    page.click("#mark")
    _until(page, "current().spans.length === 1 && !state.busy")

    (span,) = _labels(texts)[-1]["spans"]
    assert TEXTS[tag][span["start"] : span["end"]] == span["text"]
    assert tag == "hi" or span["text"] == expected(tag)


def test_a_killed_server_loses_no_error_and_the_person_resumes(started, opened, texts):
    server = started(texts, "label", "r.jsonl", "--scale", "esa")
    page = opened(server.address)
    _begin(page, "Ada")
    tag = mark_by_keys(page)
    server.end(signal.SIGKILL)
    with (texts / "r-labels.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "id": "th", "language": "th", "spans": [{"te')
    again = started(texts, "label", "r.jsonl", "--scale", "esa")
    page = opened(again.address)
    _begin(page, "Ada")
    assert language_of(page) == tag
    assert page.evaluate("current().spans.length") == 1
    assert page.text_content(".part.output mark") == newest(texts)["Ada", tag]["spans"][0]["text"]
    page.focus("#score")
    page.keyboard.press("ArrowRight")
    done(page)
    assert newest(texts)["Ada", tag]["label"] == 51
    assert len(newest(texts)["Ada", tag]["spans"]) == 1


def test_proposed_errors_are_seen_after_ones_own_and_confirmed_or_rejected(started, opened, texts):
    server = started(texts, "label", "r.jsonl", "--scale", "mqm")
    page = opened(server.address)
    _begin(page, "Ada")
    language_of(page)
    assert page.locator("#proposed li").count() == 0
    tag = mark_by_keys(page)
    page.click("#proposed button >> nth=1")
    _until(page, "current().spans.length === 2 && !state.busy")
    page.click("#omission")
    _until(page, "current().spans.length === 3 && !state.busy")
    done(page)
    row = newest(texts)["Ada", tag]
    assert [(span["side"], span["state"]) for span in row["spans"]] == [
        ("output", "located"),
        ("output", "rejected"),
        ("source", "located"),
    ]
    assert row["label"] == -10
    language_of(page)
    page.click("#no-errors")
    assert page.locator("#proposed li").count() == 1
    mark_by_keys(page)
    page.click("#span-list button >> nth=0")
    _until(page, "current().spans.length === 0 && !state.busy")
    page.keyboard.press("u")
    _until(page, "current().spans.length === 1 && !state.busy")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_marking_is_for_everyone(started, opened, texts, scheme, width):
    server = started(texts, "label", "r.jsonl", "--scale", "esa", "--show-proposed")
    page = opened(server.address, color_scheme=scheme, viewport={"width": width, "height": 844}, has_touch=True)
    _begin(page, "Ada")
    mark_by_keys(page)
    mark_by_keys(page, 4, 8)
    page.tap("#omission")
    _until(page, "current().spans.length === 3 && !state.busy")
    time.sleep(0.1)
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
