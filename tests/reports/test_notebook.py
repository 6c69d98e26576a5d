"""Runs, comparisons and trust cards in a notebook: escaped, without scripts, in the notebook's colours."""

import json
import re
from html.parser import HTMLParser

import pytest

from polyjudge import Item, JudgeResult, RubricJudge, Run, ScriptedProvider, TrustCard, compare
from polyjudge.records.calibration import Figure, JudgeIdentity, LanguageTrust
from polyjudge.reports.notebook import rows_of

HOSTILE = "<script>alert(1)</script>\u202e<img src=x onerror=alert(1)>"


class Names(HTMLParser):
    """Collects the elements and attributes of HTML, and checks that every element is closed."""

    def __init__(self):
        super().__init__()
        self.names, self.attributes, self.open, self.text = set(), set(), [], ""

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


class ByLength:
    """A judge that scores a text by its length."""

    async def judge(self, item, *, repeat=0):
        return JudgeResult(float(len(item.candidate)), "length")


@pytest.fixture
def summary():
    items = [Item(f"{n}", "x" * (n + 1), language=tag) for n, tag in enumerate(["th", "hi", HOSTILE])]
    return Run(items, ByLength(), cache=None).execute()


@pytest.fixture
def comparison(tmp_path):
    for name, shift in (("a.jsonl", 0), ("b.jsonl", -1)):
        rows = [{"id": f"{HOSTILE}{n}", "doc": n, "language": "th", "score": 3 + n % 2 + shift} for n in range(20)]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return compare(tmp_path / "a.jsonl", tmp_path / "b.jsonl")


@pytest.fixture
def card():
    judge = JudgeIdentity(provider="openai", model=HOSTILE, rubric="general", rubric_fingerprint="f")
    trust = LanguageTrust(verdict="reliable", discrimination=Figure(0.9, 0.8, 1), texts=20, comparisons=60)
    return TrustCard(judge=judge, updated_at="2026-11-01T00:00:00Z", languages={"th": trust})


@pytest.mark.parametrize("name", ["summary", "comparison", "card"])
def test_it_shows_itself_escaped_and_takes_the_colours_of_the_notebook(name, request):
    html = request.getfixturevalue(name)._repr_html_()

    found = Names()
    found.feed(html)
    assert found.open == []
    assert found.names <= {"div", "bdi", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"}
    assert found.attributes == {"style"}
    assert "\u202e" not in html
    assert r"\u202e" in found.text
    assert not re.search(r"color: (?!inherit)|background: (?!none)|url\(", html)
    assert len(html) < 30_000


def test_a_run_shows_its_result_and_its_languages(summary):
    html = summary._repr_html_()

    assert "The mean score of 3 judged items is 2.00." in html
    assert "Thai (th)" in html
    assert "0 calls" in html


def test_the_share_that_passes_is_drawn_as_a_bar():
    def reply(request):
        points = dict.fromkeys(("script", "grammar", "coherence"), 1 if "poor" in request.prompt else 5)
        return json.dumps({"reason": "why", "subscores": points, "isCorrectLanguage": True})

    judge = RubricJudge("translation", provider=ScriptedProvider(reply))
    items = [Item(str(n), "poor text" if n % 4 == 0 else "text") for n in range(8)]
    html = Run(items, judge, cache=None).execute()._repr_html_()
    found = Names()
    found.feed(html)

    assert 'aria-label="75%"' in html
    assert "width: 75.0%" in html
    assert not {"█", "░"} & set(html)
    assert found.open == []
    assert not re.search(r"color: (?!inherit)|background: (?!none|currentColor)|url\(", html)


def test_frames_have_a_row_for_each_language(comparison, card):
    overall, thai = rows_of(comparison)
    assert (overall["language"], thai["language"]) == (None, "th")
    assert (thai["verdict"], thai["difference"], thai["items"], thai["worse"]) == ("worse", -1.0, 20, 20)
    [row] = rows_of(card)
    assert (row["language"], row["verdict"], row["discrimination_low"]) == ("th", "reliable", 0.8)
