"""The local pages in a real browser: keys alone, two people, a killed server, hostile outputs, accessibility."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.conftest import TEXTS
from tests.real.browser import serious_findings

SHOTS = os.environ.get("POLYJUDGE_SHOTS", "")
"""A folder for pictures, for people to look at."""
TAGS = ("ar", "hi", "ta", "th", "ko", "ja", "zh", "yue", "ru", "am")
HOSTILE = {
    "script": "<script>window.hit = 1; fetch('http://attacker.invalid/s')</script>",
    "handler": '<img src="http://attacker.invalid/i.png" onerror="window.hit = 1">"><svg onload=window.hit=1>',
    "link": '<a href="javascript:window.hit=1">click</a> javascript:window.hit=1 <iframe src="http://attacker.invalid/">',
    "bidi": "safe \u202etxt.exe\u202c \u2066x\u2069 \x1b[31m \x00 end",
    "template": "{{ 7 * 7 }} {% raw %} ${7*7} </script></style></textarea><base href='http://attacker.invalid/'>",
    "long": "x" * 1_000_000,
    "empty": "",
}


class Running:
    """A server of ours in a process of its own."""

    def __init__(self, folder, *arguments):
        command = [sys.executable, "-m", "polyjudge", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.process.stderr.read()

    @property
    def origin(self):
        return "/".join(self.address.split("/")[:3])

    @property
    def port(self):
        return self.origin.rpartition(":")[2]

    def end(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, printed = self.process.communicate(timeout=20)
        return self.process.returncode, printed


@pytest.fixture
def started():
    running = []

    def start(folder, *arguments):
        running.append(Running(folder, *arguments))
        return running[-1]

    yield start
    for each in running:
        each.end(signal.SIGKILL)


@pytest.fixture
def opened(browser):
    """Open pages; afterwards no request has left their origin, and nothing was written to the console."""
    pages = []

    def open_page(address, **options):
        context = browser.new_context(**options)
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: said.append(str(error)))
        pages.append((page, address, asked, said))
        page.goto(address)
        return page

    yield open_page
    for page, address, asked, said in pages:
        origin = "/".join(address.split("/")[:3])
        assert asked
        assert not [url for url in asked if not url.startswith((f"{origin}/", "data:"))]
        assert not said
        page.context.close()


@pytest.fixture
def scored(tmp_path):
    """Twenty judged items in ten languages."""
    items, results = [], []
    for number in range(20):
        tag = TAGS[number % len(TAGS)]
        text = TEXTS[tag]
        items.append({"id": f"i{number}", "candidate": text, "source": TEXTS["en"], "reference": text, "language": tag})
        outcome = {"schemaVersion": 1, "id": f"i{number}", "outcome": "result", "score": 20 + 4 * number, "reason": ""}
        results.append({**outcome, "language": tag})
    _write(tmp_path / "items.jsonl", items)
    _write(tmp_path / "r.jsonl", results)
    return tmp_path


def _write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _labels(folder, name="r-labels.jsonl"):
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def _begin(page, name):
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_selector(".part.output .text")


def _until(page, condition, arg=None):
    """Wait for something in the page to hold; asked from outside, since the page's policy forbids eval inside it."""
    for _ in range(300):
        if page.evaluate(condition, arg):
            return
        time.sleep(0.05)
    raise AssertionError(f"never came true: {condition}")


def _press(page, key):
    """Press a key and wait until the page has moved on to another item."""
    before = page.text_content("#place")
    page.keyboard.press(key)
    _until(page, "before => document.getElementById('place').textContent !== before", arg=before)
    page.wait_for_selector(".part.output .text")


def _shot(page, name):
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=False)


def test_a_person_labels_with_the_keyboard_alone(started, opened, scored):
    server = started(scored, "label", "r.jsonl", "--items", "items.jsonl")
    page = opened(server.address)
    _shot(page, "welcome")
    _begin(page, "Ada Лавлейс")
    assert "score" not in page.content().casefold()

    _press(page, "4")
    _press(page, "2")
    page.keyboard.press("p")
    _until(page, "document.getElementById('own-label').textContent.includes('good enough')")
    page.keyboard.press("n")
    page.keyboard.type("nur 4 Worte: 1 2 p f c")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#note-box", state="hidden")
    _press(page, "5")
    _press(page, "c")
    _press(page, "ArrowLeft")
    _press(page, "ArrowRight")
    _press(page, "s")
    _press(page, "u")
    _until(page, "document.getElementById('status').textContent.startsWith('Undone')")
    page.keyboard.press("?")
    page.wait_for_selector("#help[open]")
    _shot(page, "help")
    page.keyboard.press("Escape")

    rows = _labels(scored)
    assert [row["label"] for row in rows] == [4, 2, None, None, 5, None, None, None]
    assert [row["passed"] for row in rows][2:5] == [True, True, True]
    assert rows[4]["note"] == "nur 4 Worte: 1 2 p f c"
    assert [row["reason"] for row in rows[-3:]] == ["cannot read this language", "skipped", "undone"]
    assert {row["annotator"] for row in rows} == {"Ada Лавлейс"}
    assert all(row["weight"] == 1 for row in rows)
    code, printed = server.end()
    assert code == 0
    assert "3 labels in r-labels.jsonl" in printed


def test_an_item_whose_text_has_not_come_yet_cannot_be_labelled(started, opened, scored):
    server = started(scored, "label", "r.jsonl", "--items", "items.jsonl")
    page = opened(server.address)
    _begin(page, "Ada")
    page.route("**/item?**", lambda _: None)  # an answer that is long in coming
    page.keyboard.press("5")
    _until(page, "document.getElementById('place').textContent === 'Item 2 of 20'")
    page.keyboard.press("1")
    _until(page, "document.getElementById('status').textContent.startsWith('Not saved')")
    assert [row["label"] for row in _labels(scored)] == [5]

    page.unroute("**/item?**")
    _press(page, "ArrowLeft")
    _press(page, "ArrowRight")
    _press(page, "1")
    assert [row["label"] for row in _labels(scored)] == [5, 1]


def test_two_people_see_their_agreement_and_the_interval_narrows(started, opened, scored):
    server = started(scored, "label", "r.jsonl", "--items", "items.jsonl")
    widths = []
    for name in ("Ada", "Ben"):
        page = opened(server.address)
        _begin(page, name)
        for number in range(20):
            place = page.text_content("#place")
            page.keyboard.press(str(1 + (number + (name == "Ben")) % 5 if number % 3 else 4))
            _until(page, "was => document.getElementById('place').textContent !== was", arg=place)
            page.wait_for_selector(".part.output .text")
            if name == "Ada" and number in (5, 18):
                words = page.text_content("#estimate")
                widths.append(float(words.partition("(width ")[2].partition(")")[0]))
        _shot(page, f"done-{name}")

    assert widths[1] < widths[0]
    assert page.query_selector("#chart svg.chart polygon.band")
    agreement = page.text_content("#agreement")
    assert "Ada and Ben agree exactly on" in agreement
    assert "of 20 shared items" in agreement
    assert "alpha" in agreement
    assert len(_labels(scored)) == 40


def test_a_server_that_is_killed_loses_nothing_and_the_page_says_so(started, opened, scored):
    server = started(scored, "label", "r.jsonl", "--items", "items.jsonl")
    page = opened(server.address)
    _begin(page, "Ada")
    for key in ("1", "5", "3"):
        _press(page, key)
    server.end(signal.SIGKILL)
    with (scored / "r-labels.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "id": "i1", "torn')
    page.keyboard.press("2")
    page.wait_for_selector("#error:not([hidden])")
    assert "Not saved (2 of 5): polyjudge does not answer" in page.text_content("#error")
    _shot(page, "server-gone")

    again = started(scored, "label", "r.jsonl", "--items", "items.jsonl", "--port", server.port)
    _until(page, "document.getElementById('error').textContent.includes('restarted')")
    assert [row["label"] for row in _labels(scored)] == [1, 5, 3]
    other = opened(again.address)
    _begin(other, "Ada")

    assert "3 of 20 labelled by you" in other.text_content("#progress-words")
    assert other.text_content("#place") == "Item 4 of 20"
    _press(other, "2")
    assert [row["label"] for row in _labels(scored)] == [1, 5, 3, 2]


def test_a_server_that_only_slept_gets_the_click_that_waited(started, opened, scored):
    server = started(scored, "label", "r.jsonl", "--items", "items.jsonl", "--scale", "pass-fail")
    page = opened(server.address)
    _begin(page, "Ada")
    place = page.text_content("#place")
    server.process.send_signal(signal.SIGSTOP)
    page.keyboard.press("p")
    page.keyboard.press("f")
    time.sleep(0.3)
    server.process.send_signal(signal.SIGCONT)
    _until(page, "was => document.getElementById('place').textContent !== was", arg=place)

    assert [row["label"] for row in _labels(scored)] == ["pass"]


def test_hostile_outputs_are_shown_and_do_nothing(started, opened, tmp_path):
    items = [
        {"id": kind, "candidate": text, "source": text, "reference": text, "language": "ar"}
        for kind, text in HOSTILE.items()
    ]
    _write(tmp_path / "items.jsonl", items)
    _write(tmp_path / "r.jsonl", [{"id": kind, "score": 50, "language": "ar"} for kind in HOSTILE])
    server = started(tmp_path, "label", "r.jsonl", "--items", "items.jsonl")
    page = opened(server.address)
    _begin(page, "<img src=x onerror=window.hit=1>")
    shown = []
    for number in range(len(HOSTILE)):
        shown.append(page.text_content(".part.output .text"))
        codes = page.eval_on_selector_all(".part.output .code", "all => all.map(each => each.textContent)")
        if "txt.exe" in shown[-1]:
            assert codes == ["U+202E", "U+202C", "U+2066", "U+2069", "U+001B", "U+0000"]
            _shot(page, "hostile-bidi")
        if shown[-1].startswith("xxx"):
            _open_more_of_a_long_line(page)
        if number < len(HOSTILE) - 1:
            _press(page, "ArrowRight")

    assert page.evaluate("window.hit") is None
    assert page.query_selector_all("#parts script, #parts img, #parts a, #parts iframe, #parts svg, base") == []
    for kind in ("script", "handler", "link", "template"):
        assert HOSTILE[kind] in shown
    assert "empty output" in shown


def _open_more_of_a_long_line(page):
    assert page.evaluate("document.querySelector('.part.output .text').textContent.length") == 20_000
    page.click(".part.output button")
    _until(page, "document.querySelector('.part.output .text').textContent.length === 40000")
    assert "40,000 of 1,000,000" in page.text_content(".part.output button")


def test_no_other_page_gets_anything_from_the_server(started, opened, browser, scored):
    server = started(scored, "label", "r.jsonl", "--items", "items.jsonl")
    stranger = browser.new_context().new_page()
    stranger.set_content("<p>elsewhere</p>")
    tried = stranger.evaluate(
        """async address => {
            const tries = [[address, {}], [address + "label", {method: "POST", body: "{}", mode: "no-cors"}]];
            return Promise.all(tries.map(([url, options]) => fetch(url, options).then(r => r.status, () => "refused")));
        }""",
        server.address,
    )
    stranger.context.close()

    assert tried[0] == "refused"
    assert tried[1] in (0, "refused")
    assert not (scored / "r-labels.jsonl").read_text(encoding="utf-8")
    code, _ = server.end(signal.SIGTERM)
    assert code == 0
    assert not (scored / "r-labels.jsonl").exists()


def test_runs_are_listed_opened_and_compared(started, opened, scored):
    subprocess.run([sys.executable, "-m", "polyjudge", "demo"], cwd=scored, capture_output=True, check=True)
    rows = [json.loads(line) for line in (scored / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    _write(scored / "later.jsonl", [{**row, "score": row["score"] - 9} for row in rows])
    server = started(scored, "view")
    page = opened(server.address)
    _until(page, "![...document.querySelectorAll('.card')].some(each => each.textContent === '…')")
    _shot(page, "view")
    assert "73" in page.text_content("tr[data-run='polyjudge-demo/results.json']")
    assert "20 judged, 0 unjudged" in page.text_content("tr[data-run='r.jsonl']")

    for name in ("r.jsonl", "later.jsonl"):
        page.check(f"tr[data-run='{name}'] input")
    page.click("#compare")
    page.wait_for_selector("h1#verdict")
    _shot(page, "compare")
    page.go_back()
    page.click("tr[data-run='polyjudge-demo/results.json'] a")
    page.wait_for_load_state()
    assert "Thai" in page.content()
    _shot(page, "report")


def _rows_with_texts(folder):
    """The rows of the run with the texts that were judged, and a row for each hostile text."""
    items, rows = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("items.jsonl", "r.jsonl")
    )
    more = {"passed": False, "subscores": {"grammar": 2}, "model": "m"}
    found = [{**item, **row, **more, "raw": '{"score": 1}'} for item, row in zip(items, rows, strict=True)]
    return [*found, *({**found[0], "id": name, "candidate": text, "raw": text} for name, text in HOSTILE.items())]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)], ids=["desktop", "phone"])
def test_nothing_stands_in_the_way_of_people_who_see_or_move_otherwise(started, opened, scored, scheme, width, height):
    _write(scored / "full.jsonl", _rows_with_texts(scored))
    label = started(scored, "label", "r.jsonl", "--items", "items.jsonl")
    view = started(scored, "view")
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": height}}
    page = opened(label.address, **options)
    found = serious_findings(page)
    _begin(page, "Ada")
    for key in ("4", "2", "5", "c", "1", "3", "4"):
        _press(page, key)
    page.keyboard.press("n")
    _shot(page, f"label-{scheme}-{width}")
    found += serious_findings(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    found += serious_findings(page)
    runs = opened(view.address, **options)
    _until(runs, "![...document.querySelectorAll('.card')].some(each => each.textContent === '…')")
    found += serious_findings(runs)
    _shot(runs, f"view-{scheme}-{width}")
    runs.click("tr[data-run='full.jsonl'] a")
    runs.wait_for_selector("article >> nth=20")
    found += serious_findings(runs)
    assert runs.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert runs.evaluate("window.hit") is None
    _shot(runs, f"items-{scheme}-{width}")

    assert found == []
