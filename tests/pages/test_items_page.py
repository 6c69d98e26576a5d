"""A run opens onto its items: filters, pages, and hostile texts."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pages.serving import over_http

from polyjudge.languages.table import language_table
from polyjudge.pages.items import SHOWS, RunIndex
from polyjudge.pages.runs import find_runs
from polyjudge.pages.viewing import ViewSite


def result(item, score=4.0, *, passed=None, **more):
    found = {"schemaVersion": 1, "id": item, "outcome": "result", "score": score, "reason": f"because {item}", **more}
    return found if passed is None else {**found, "passed": passed}


def failure(item, **more):
    return {"schemaVersion": 1, "id": item, "outcome": "failure", "kind": "unreadable", "reason": "no score", **more}


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def get(folder, *queries):
    async def ask(session, address):
        found = []
        for query in queries:
            async with session.get(f"{address}run", params=query) as response:
                found.append((response.status, await response.text()))
        return found

    return over_http(ViewSite(folder, language_table()).site(), ask)


def ids(page):
    return re.findall(r'<article class="item judged" aria-label="Item ([^"]*)"', page)


@pytest.fixture
def folder(tmp_path):
    rows = [result("th-1", 5.0, passed=True, language="th", candidate="สถานีอยู่ที่ไหน", source="Where is the station?")]
    rows += [result("th-2", 2.0, passed=False, language="th", candidate="Where?", raw='{"score": 2}')]
    rows += [failure("de-1", language="de", candidate="Wo?", raw="I <b>cannot</b> say")]
    rows += [result("de-2", 3.0, passed=True, language="de", candidate="Wo ist er?", subscores={"grammar": 3})]
    write(tmp_path / "r.jsonl", rows)
    return tmp_path


def test_a_run_without_texts_says_once_with_which_command_they_are_shown(folder):
    write(folder / "old run.jsonl", [result(str(number)) for number in range(3)])
    [(_, page), (_, new)] = get(folder, {"name": "old run.jsonl"}, {"name": "r.jsonl"})
    command = "polyjudge report &#39;old run.jsonl&#39; --items ITEMS --format html --output report.html"

    assert page.count(command) == 1
    assert len(ids(page)) == 3
    assert "--items" not in new


def test_an_item_has_its_texts_reason_reply_scores_and_findings(folder):
    [(status, page)] = get(folder, {"name": "r.jsonl"})

    assert status == 200
    assert "4 items, 3 judged, 1 without a verdict, 2 pass, 1 do not." in page
    assert ids(page) == ["th-1", "th-2", "de-1", "de-2"]
    for words in ("สถานีอยู่ที่ไหน", "Where is the station?", "because th-2", "I &lt;b&gt;cannot&lt;/b&gt; say"):
        assert words in page
    assert "does not pass · score 2" in page
    assert "no verdict" in page
    assert "grammar 3" in page
    assert 'lang="th" data-script="Thai"' in page
    assert '<li class="fail"><strong>fail</strong>' in page  # "Where?" is not written in the Thai script


def test_items_are_chosen_by_language_and_by_what_is_wrong(folder):
    queries = [
        {"group": "0"},
        {"show": "failed"},
        {"show": "unjudged"},
        {"show": "lowest"},
        {"show": "lowest", "group": "1"},
    ]
    found = get(folder, *({"name": "r.jsonl", **query} for query in queries))

    assert [ids(page) for _, page in found] == [
        ["th-1", "th-2"], ["th-2"], ["de-1"], ["th-2", "de-2", "th-1"], ["de-2"],
    ]  # fmt: skip


def test_a_row_is_shown_alone_with_the_whole_text(tmp_path):
    write(tmp_path / "r.jsonl", [result("a"), result("b", candidate="x" * 150_000 + "END")])

    (_, listed), (_, alone) = get(tmp_path, {"name": "r.jsonl"}, {"name": "r.jsonl", "row": "1"})
    assert "END" not in listed
    assert "148,003 more characters" in listed
    assert "xEND" in alone
    assert ids(alone) == ["b"]


@pytest.mark.parametrize(
    "query",
    [
        {"row": "4"},
        {"row": "-1"},
        {"row": "x"},
        {"row": "9" * 5_000},
        {"show": "worst"},
        {"group": "2"},
        {"page": "-1"},
    ],
    ids=str,
)
def test_what_is_not_there_is_refused(folder, query):
    [(status, _)] = get(folder, {"name": "r.jsonl", **query})

    assert status == 400


def test_fifty_items_are_on_a_page_and_links_lead_to_the_others(tmp_path):
    write(tmp_path / "r.jsonl", [result(f"i{n}", n % 7, language="th") for n in range(1_234)])

    pages = [{"name": "r.jsonl", "page": str(page)} for page in (0, 7, 24, 999)]
    found = [page for _, page in get(tmp_path, *pages)]
    assert [len(ids(page)) for page in found] == [50, 50, 34, 34]
    assert ids(found[1])[0] == "i350"
    assert "1,234 items, 351 to 400 on this page." in found[1]
    assert "page=8" in found[1]
    assert "page=25" not in "".join(found)


HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> {{ 7 * 7 }} \u202e \x1b[31m \x00"


def test_hostile_texts_in_every_place_are_shown_as_text(tmp_path):
    row = dict.fromkeys(("candidate", "source", "reference", "context", "raw", "reason", "model", "language"), HOSTILE)
    more = {"subscores": {HOSTILE: 1}, "flags": {HOSTILE: True}}
    write(tmp_path / "r.jsonl", [{**result(HOSTILE), **row, **more}, {**failure(HOSTILE), **row, "kind": HOSTILE}])

    for status, page in get(tmp_path, {"name": "r.jsonl"}, {"name": "r.jsonl", "row": "0"}):
        assert status == 200
        assert "<script" not in page
        assert "<img" not in page
        assert "\u202e" not in page
        assert "\x1b" not in page
        assert "49 " not in page
        assert "U+202E" in page


@pytest.mark.parametrize(
    "given",
    [
        {"candidate": 5},
        {"subscores": [1]},
        {"flags": None},
        {"raw": {}},
        {"language": ["x"]},
        {"score": True},
        {"reason": []},
    ],
    ids=str,
)
def test_rows_with_values_of_other_types_are_shown(tmp_path, given):
    write(tmp_path / "r.jsonl", [{**result("a"), **given}])

    [(status, page)] = get(tmp_path, {"name": "r.jsonl"})
    assert (status, ids(page)) == (200, ["a"])


def test_a_run_that_grows_is_read_again(folder):
    path = folder / "r.jsonl"

    async def ask(session, address):
        found = []
        for _ in range(2):
            async with session.get(f"{address}run", params={"name": "r.jsonl"}) as response:
                found.append(ids(await response.text()))
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result("new")) + "\n")
        return found

    before, after = over_http(ViewSite(folder, language_table()).site(), ask)
    assert [*before, "new"] == after


def test_the_page_of_items_leads_to_the_report_of_the_run(folder):
    async def ask(session, address):
        async with session.get(f"{address}report", params={"name": "r.jsonl"}) as response:
            return response.status, response.headers["Content-Security-Policy"], await response.text()

    status, policy, page = over_http(ViewSite(folder, language_table()).site(), ask)
    assert status == 200
    assert policy.startswith("sandbox allow-scripts; default-src 'none'")
    assert "because th-2" in page
    assert str(folder) not in page
    assert 'href="report?name=r.jsonl"' in get(folder, {"name": "r.jsonl"})[0][1]


SCORES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(allow_nan=True))
ROWS = st.fixed_dictionaries(
    {"outcome": st.sampled_from(["result", "failure", "text"]), "score": SCORES},
    optional={"passed": st.booleans(), "language": st.sampled_from(["th", "de", ""])},
)


@given(st.lists(ROWS, max_size=30))
def test_every_row_is_in_one_state_and_one_group_and_is_read_back(rows):
    with TemporaryDirectory() as folder:
        path = Path(folder, "r.jsonl")
        write(path, [{"id": str(number), **row} for number, row in enumerate(rows)])
        index = RunIndex(path)

        assert sum(group.states.total() for group in index.groups.values()) == len(index) == len(rows)
        by_group = [number for name in index.groups for number in index.select("all", name)]
        assert sorted(by_group) == list(range(len(rows)))
        assert [index.row(number)["id"] for number in index.select("all")] == [str(n) for n in range(len(rows))]
        lowest = [index.row(number)["score"] for number in index.select("lowest")]
        assert lowest == sorted(lowest)
        assert all(set(index.select(show)) <= set(range(len(rows))) for show in SHOWS)


# other kinds of runs


def test_judged_words_are_listed_and_open_by_model(tmp_path):
    word = {"prompt": "a", "judge": "openai/gpt-5", "category": "x", "raw": "correct"}
    rows = [{"id": "1", "model": "m1", "word": "ardilla", "verdict": "correct", **word}]
    rows += [{"id": "2", "model": "m2", "word": "bellota", "verdict": "incorrect", **word}]
    rows += [{"id": "3", "model": "m2", "word": "casa", "verdict": "error", **word}]
    write(tmp_path / "judgements.jsonl", rows)

    assert [(run.name, run.kind) for run in find_runs(tmp_path).runs] == [("judgements.jsonl", "vocabulary")]
    (_, page), (_, wrong) = get(
        tmp_path, {"name": "judgements.jsonl"}, {"name": "judgements.jsonl", "show": "failed", "group": "1"}
    )
    assert "3 items, 2 judged, 1 without a verdict, 1 pass, 1 do not." in page
    assert "ardilla" in page
    assert ids(wrong) == ["bellota"]


def test_a_review_of_a_session_is_listed_and_opens(tmp_path):
    row = {"schemaVersion": 1, "scenarioId": HOSTILE, "agentScore": 40, "systemScore": 90, "verdict": "FAIL_AGENT"}
    (tmp_path / "s.json").write_text(json.dumps({**row, "provider": "p", "model": "m"}), encoding="utf-8")
    (tmp_path / "s.md").write_text("It broke.\n\n<script>alert(1)</script>", encoding="utf-8")

    assert [(run.name, run.kind) for run in find_runs(tmp_path).runs] == [("s.json", "transcript")]
    [(status, page)] = get(tmp_path, {"name": "s.json"})
    assert status == 200
    assert "FAIL_AGENT" in page
    assert "It broke." in page
    assert "<script>alert" not in page
