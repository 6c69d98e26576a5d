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
    page.click("[aria-label='Delete error 1']")
    _until(page, "current().spans.length === 0 && !state.busy")
    page.keyboard.press("u")
    _until(page, "current().spans.length === 1 && !state.busy")


def middle_of(page, grapheme, side="output"):
    """Return the middle of a grapheme on the page."""
    return page.evaluate(
        """([at, side]) => {
            const text = document.querySelector(`.text[data-side="${side}"]`);
            const range = document.createRange();
            range.setStart(...positionAt(text, text.edges[at]));
            range.setEnd(...positionAt(text, text.edges[at + 1]));
            const { left, right, top, bottom } = range.getBoundingClientRect();
            return [(left + right) / 2, (top + bottom) / 2];
        }""",
        [grapheme, side],
    )


def saved_span(page, change, index=0):
    """Return a span after a change that was saved."""
    before = page.evaluate("JSON.stringify(current().spans)")
    change()
    _until(page, "before => JSON.stringify(current().spans) !== before && !state.busy", before)
    return page.evaluate("index => current().spans[index]", index)


def drag(page, end, grapheme, touch):
    """Drag a handle onto the middle of a grapheme, with the mouse or a finger."""
    handle = page.locator(f".handle.{end}").bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + 8
    to, line = middle_of(page, grapheme)
    to_y = (
        y
        + line
        - middle_of(
            page, page.evaluate("end => boxOf('output').edges.indexOf(current().spans[0][end])", end) - (end == "end")
        )[1]
    )
    if not touch:
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(to, to_y, steps=6)
        page.mouse.up()
        return
    session = page.context.new_cdp_session(page)
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for step in range(1, 7):
        point = {"x": x + (to - x) * step / 6, "y": y + (to_y - y) * step / 6}
        session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    time.sleep(0.5)


def assert_whole(tag, span):
    clusters = list(graphemes(TEXTS[tag]))
    edges = {sum(map(len, clusters[:count])) for count in range(len(clusters) + 1)}
    assert {span["start"], span["end"]} <= edges
    assert TEXTS[tag][span["start"] : span["end"]] == span["text"]


@pytest.mark.parametrize("tag", TEXTS)
def test_words_are_marked_by_touch_and_the_ends_dragged_with_a_finger(started, opened, texts, tag):
    server = started(texts, "label", "r.jsonl", "--scale", "mqm", "--filter", f"language={tag}")
    page = opened(server.address, has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    _begin(page, "Ada")
    language_of(page)
    page.touchscreen.tap(*middle_of(page, FIRST))
    _until(page, "!getSelection().isCollapsed")
    first = page.evaluate("String(getSelection())")
    clusters = list(graphemes(TEXTS[tag]))
    last = len(clusters) - 3
    page.touchscreen.tap(*middle_of(page, last))
    _until(page, "first => String(getSelection()) !== first", first)
    span = saved_span(page, lambda: page.tap("#mark"))
    assert_whole(tag, span)
    assert "".join(clusters[FIRST : last + 1]).strip() in span["text"]
    assert first in span["text"]

    shorter = saved_span(page, lambda: drag(page, "end", LAST, touch=True))
    assert_whole(tag, shorter)
    assert shorter["start"] == span["start"] < shorter["end"] < span["end"]
    for _ in range(5):  # Chromium drops a tap that follows a quick drag
        if page.locator(".handle").count():
            page.tap("[data-key='0:change']")
            time.sleep(0.5)
    assert page.locator(".handle").count() == 0
    page.touchscreen.tap(*middle_of(page, FIRST))
    _until(page, "document.querySelectorAll('.handle').length === 2")
    assert _labels(texts)[-1]["spans"] == [shorter]


@pytest.mark.parametrize("tag", TEXTS)
def test_a_mark_is_changed_in_place_with_keys_buttons_mouse_and_selection(started, opened, texts, tag):
    server = started(texts, "label", "r.jsonl", "--scale", "mqm", "--filter", f"language={tag}")
    page = opened(server.address)
    _begin(page, "Ada")
    mark_by_keys(page)
    page.select_option("[data-key='0:category']", "fluency/grammar")
    _until(page, "current().spans[0].category === 'fluency/grammar' && !state.busy")
    given = saved_span(page, lambda: page.select_option("[data-key='0:severity']", "minor"))
    later, earlier = ("ArrowLeft", "ArrowRight") if tag == "ar" else ("ArrowRight", "ArrowLeft")

    page.focus("[data-key='0:change']")
    longer = saved_span(page, lambda: page.keyboard.press(f"Shift+{later}"))
    again = saved_span(page, lambda: page.keyboard.press(f"Shift+{earlier}"))
    wider = saved_span(page, lambda: page.keyboard.press(f"Control+Shift+{earlier}"))
    for span in (longer, again, wider):
        assert_whole(tag, span)
        assert (span["severity"], span["category"]) == ("minor", "fluency/grammar")
    assert (longer["start"], again) == (given["start"], given)
    assert longer["end"] > given["end"]
    assert (wider["start"] < given["start"], wider["end"]) == (True, given["end"])
    assert page.evaluate("document.activeElement.dataset.key") == "0:change"

    button = saved_span(page, lambda: page.click("[aria-label='start of error 1 later']"))
    assert button == given
    dragged = saved_span(page, lambda: drag(page, "end", LAST + 3, touch=False))
    assert_whole(tag, dragged)
    assert dragged["end"] > given["end"]
    page.focus(".part.output .text")
    page.keyboard.press("Home")
    page.keyboard.press(f"Shift+{later}")
    taken = saved_span(page, lambda: page.click("[data-key='0:take']"))
    assert_whole(tag, taken)
    assert (taken["start"], taken["severity"]) == (0, "minor")
    for _ in range(3):
        page.keyboard.press("u")
        _until(page, "!state.busy")
    assert len(page.evaluate("current().spans")) == 1


SAID = {"explanation": "خطأ <img src=x onerror=alert(1)>\u202e", "correction": "</bdi><script>alert(2)</script>"}


def test_what_people_say_of_a_mark_is_kept_shown_and_harmless(started, opened, texts, capsys):
    server = started(texts, "label", "r.jsonl", "--scale", "mqm", "--filter", "language=ar")
    page = opened(server.address)
    _begin(page, "Ada")
    mark_by_keys(page)
    for name, words in SAID.items():
        field = page.locator(f"[data-key='0:{name}']")
        field.fill(words)
        field.press("Tab")
    assert page.evaluate("getComputedStyle(document.querySelector('[data-key=\"0:explanation\"]')).direction") == "rtl"
    _until(page, "current().spans[0].correction && !state.busy")
    page.click("[data-key='0:change']")
    page.wait_for_selector("#span-list .said")
    assert page.text_content("#span-list .said") == " → ".join(SAID.values())
    page.click("[data-key='0:change']")
    page.fill("[data-key='0:correction']", "حساء")
    page.click("[data-do='d']")  # a click leaves the field, and both are saved
    _until(page, "current().label === -5")
    server.end()

    [span] = newest(texts)["Ada", "ar"]["spans"]
    assert (span["explanation"], span["correction"]) == (SAID["explanation"], "حساء")
    for form in ("text", "html", "markdown"):
        assert main(["report", str(texts / "r-labels.jsonl"), "--items", str(texts / "r.jsonl"), "--format", form]) == 0
        shown = capsys.readouterr().out
        assert "حساء" in shown
        assert "\u202e" not in shown
        assert form == "text" or "<img" not in shown.replace(r"\<", "")


def test_a_confirmed_error_whose_place_is_corrected_is_not_proposed_again(started, opened, texts):
    server = started(texts, "label", "r.jsonl", "--scale", "mqm", "--show-proposed", "--filter", "language=ja")
    page = opened(server.address)
    _begin(page, "Ada")
    language_of(page)
    confirmed = saved_span(page, lambda: page.click("#proposed button >> nth=0"))
    page.click("[data-key='0:change']")
    longer = saved_span(page, lambda: page.click("[aria-label='end of error 1 later']"))

    assert (longer["text"], longer["state"], longer["quote"]) == (TEXTS["ja"][:2], "confirmed", confirmed["text"])
    assert page.locator("#proposed li").count() == 0


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
    page.click("[data-key='0:change']")
    page.wait_for_selector(".handle")
    time.sleep(0.1)
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
