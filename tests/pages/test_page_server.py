"""The local server over real sockets: allowed requests, responses, and stored labels."""

import asyncio
import io
import json
import os
import re

import pytest
from tests.conftest import TEXTS
from tests.pages.serving import over_http

from polyjudge.errors import ConfigError, DataError
from polyjudge.languages.table import language_table
from polyjudge.pages.labelling import Labelling, LabelSite, Task
from polyjudge.pages.sampling import Source, read_sample
from polyjudge.pages.server import HOST, listen
from polyjudge.pages.viewing import ViewSite
from polyjudge.store.labels import LabelLog

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(1)">\u202ejavascript:alert(1)'
LONG = "y" * 1_000_000


@pytest.fixture
def source(tmp_path):
    texts = {**TEXTS, "hostile": HOSTILE, "long": LONG}
    rows = [
        {"id": tag, "candidate": text, "source": text, "reference": text, "language": tag if tag in TEXTS else "ar"}
        for tag, text in texts.items()
    ]
    write(tmp_path / "items.jsonl", rows)
    scores = [{"id": row["id"], "score": 73.25, "language": row["language"]} for row in rows]
    write(tmp_path / "r.jsonl", scores)
    return Source(tmp_path / "r.jsonl", tmp_path / "items.jsonl", table=language_table())


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def labelling(source, scale="1-5", name="labels.jsonl"):
    sample = read_sample(source, 100, 0)
    return Labelling(Task(sample, scale, 0, source.table), LabelLog(source.results.with_name(name)))


@pytest.fixture
def site(source):
    page = LabelSite(labelling(source), "r.jsonl")
    yield page.site()
    page.labelling.log.close()


def test_every_answer_forbids_what_a_page_does_not_need(site):
    async def ask(session, address):
        for path in ("", "own/style.css", "own/label.js", "overview?annotator=Ada", "item?id=th", "nowhere", "own/x"):
            async with session.get(address + path) as response:
                headers = response.headers
                assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
                assert headers["X-Content-Type-Options"] == "nosniff"
                assert headers["Referrer-Policy"] == "no-referrer"
                assert headers["Cache-Control"] == "no-store"
                assert not [name for name in headers if name.startswith("Access-Control")]
                assert "aiohttp" not in headers["Server"]

    over_http(site, ask)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},
        {"Host": "attacker.example:PORT"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1:PORT.attacker.example"},
        {"Host": "0.0.0.0:PORT"},
        {"Host": ""},
        {"Origin": "http://attacker.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:PORT"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://127.0.0.1:PORT, http://attacker.example"},
    ],
    ids=str,
)
def test_foreign_hosts_and_origins_are_refused(site, headers):
    async def ask(session, address):
        port = address.split("/")[2].rpartition(":")[2]
        given = {name: value.replace("PORT", port) for name, value in headers.items()}
        for method, path in (("GET", ""), ("GET", "own/label.js"), ("POST", "label")):
            async with session.request(method, address + path, headers=given, json={}) as response:
                assert response.status == 403
                assert "results" not in await response.text()

    over_http(site, ask)


def test_without_the_secret_no_page_is_served(site):
    async def ask(session, address):
        root = address.split("/t/")[0]
        wrong = site.token[:-1] + ("A" if site.token[-1] != "A" else "B")
        bodies = set()
        for path in (
            "/",
            "/favicon.ico",
            "/t/",
            f"/t/{wrong}/",
            f"/t/{wrong}/own/label.js",
            "/t/%ff/",
            "/own/label.js",
        ):
            async with session.get(root + path) as response:
                assert response.status == 403, path
                bodies.add(await response.text())
        async with session.get(address.replace(HOST, "localhost"), headers={"Origin": f"{root}"}) as response:
            assert response.status == 200
        return bodies

    assert len(over_http(site, ask)) == 1
    assert len(site.token) >= 40


def test_two_host_headers_are_refused(site):
    async def ask(session, address):
        del session
        port = int(address.split("/")[2].rpartition(":")[2])
        reader, writer = await asyncio.open_connection(HOST, port)
        path = "/" + address.split("/", 3)[3]
        hosts = f"Host: {HOST}:{port}\r\nHost: attacker.example\r\n"
        writer.write(f"GET {path} HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer

    assert over_http(site, ask).split(b" ")[1] in (b"400", b"403")


def test_no_response_contains_the_judges_score(site):
    async def ask(session, address):
        bodies = []
        for path in ("", "own/label.js", "overview?annotator=Ada", "item?id=th", "part?id=th&name=output&start=0"):
            async with session.get(address + path) as response:
                assert response.status == 200
                bodies.append(await response.text())
        return bodies

    for body in over_http(site, ask):
        assert "73.25" not in body
        assert "unjudged" not in body
        assert "flagged" not in body


def test_hostile_text_reaches_the_page_as_data_alone(site):
    async def ask(session, address):
        async with session.get(address) as response:
            page = await response.text()
        async with session.get(address + "item?id=hostile") as response:
            assert response.content_type == "application/json"
            return page, await response.json()

    page, item = over_http(site, ask)
    assert not re.search(r"<script(?! src=\"own/)|\son\w+=|style=|javascript:", page)
    assert item["parts"][1]["pieces"] == [
        ["text", HOSTILE.partition("\u202e")[0]],
        ["code", "U+202E"],
        ["text", "javascript:alert(1)"],
    ]
    assert (item["parts"][1]["dir"], item["parts"][1]["lang"]) == ("rtl", "ar")


def test_a_name_of_a_file_cannot_become_markup(source):
    page = LabelSite(labelling(source), "<b>'\"&x")

    async def ask(session, address):
        async with session.get(address) as response:
            return await response.text()

    shown = over_http(page.site(), ask)
    page.labelling.log.close()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


async def post(session, address, **given):
    async with session.post(address + "label", json=given) as response:
        return response.status, await response.text()


def test_a_click_is_on_disk_before_it_is_answered_and_the_newest_counts(site, source):
    path = source.results.with_name("labels.jsonl")

    async def ask(session, address):
        for number, label in enumerate((1, 4), start=1):
            status, body = await post(session, address, id="th", annotator=" Ada  L ", label=label, seconds=2.25)
            assert status == 200
            assert len(path.read_text(encoding="utf-8").splitlines()) == number
            assert json.loads(body)["label"] == label
        await post(session, address, id="fa", annotator="Ada L", label=None, reason="cannot read this language")
        await post(session, address, id="ko", annotator="Ada L", label=2, passed=False, note="schwach")
        await post(session, address, id="ko", annotator="Ada L", label=None, reason="undone")
        async with session.get(address + "overview", params={"annotator": "Ada L"}) as response:
            return {item["id"]: item for item in (await response.json())["items"]}

    items = over_http(site, ask)
    assert items["th"]["label"] == 4
    assert items["fa"]["reason"] == "cannot read this language"
    assert items["ko"] == {"id": "ko", "language": "ko", "label": None, "passed": None, "reason": "", "note": ""}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows[0]["annotator"] == "Ada L"
    assert rows[0]["seconds"] == 2.2
    assert rows[3]["note"] == "schwach"


@pytest.mark.parametrize(
    "given",
    [
        {"label": 6},
        {"label": 0},
        {"label": True},
        {"label": "pass"},
        {"label": "4"},
        {"label": [4]},
        {"id": "nowhere"},
        {"id": 5},
        {"annotator": ""},
        {"annotator": " \n "},
        {"annotator": "a\u202eb"},
        {"annotator": "x" * 61},
        {"annotator": None},
        {"reason": "tired"},
        {"reason": "skipped"},
        {"label": None, "reason": "skipped", "passed": True},
        {"annotator": "\u200d"},
        {"passed": "yes"},
        {"note": 5},
        {"note": "x" * 5001},
    ],
    ids=str,
)
def test_an_invalid_label_is_refused_and_not_stored(site, source, given):
    async def ask(session, address):
        return await post(session, address, **{"id": "th", "annotator": "Ada", "label": 4, **given})

    status, body = over_http(site, ask)
    assert status == 400
    assert body
    assert source.results.with_name("labels.jsonl").read_bytes() == b""


def test_bodies_that_are_no_label_are_refused(site, source):
    async def ask(session, address):
        found = []
        for data, kind in (
            (b"{", "application/json"),
            (b"[1]", "application/json"),
            (b"\xff", "application/json"),
            (b"[" * 60_000, "application/json"),
            (io.BytesIO(b"x" * 5_000_000), "application/json"),
            (b'{"id": "th", "annotator": "Ada", "label": 4}', "text/plain"),
            (b"id=th", "application/x-www-form-urlencoded"),
        ):
            async with session.post(address + "label", data=data, headers={"Content-Type": kind}) as response:
                found.append(response.status)
        async with session.get(address + "label") as response:
            found.append(response.status)
        return found

    assert over_http(site, ask) == [400, 400, 400, 400, 413, 415, 415, 405]
    assert source.results.with_name("labels.jsonl").read_bytes() == b""


def test_a_line_of_a_million_letters_comes_in_parts(site):
    async def ask(session, address):
        async with session.get(address + "item?id=long") as response:
            first = (await response.json())["parts"][1]
        query = {"id": "long", "name": "output", "start": str(first["end"])}
        async with session.get(address + "part", params=query) as response:
            second = await response.json()
        statuses = []
        for start, name in (("-1", "output"), ("9" * 20, "output"), ("x", "output"), ("0", "score")):
            query = {"id": "long", "name": name, "start": start}
            async with session.get(address + "part", params=query) as response:
                statuses.append(response.status)
        return first, second, statuses

    first, second, statuses = over_http(site, ask)
    assert (first["end"], second["end"], first["total"]) == (20_000, 40_000, 1_000_000)
    assert statuses == [400] * 4


def test_a_label_that_cannot_be_written_is_not_reported_as_saved(site, source):
    """A full disk: the label fails with a message, and earlier labels are not affected."""

    async def ask(session, address):
        assert (await post(session, address, id="th", annotator="Ada", label=4))[0] == 200
        before = os.dup(log._rows.descriptor)
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, log._rows.descriptor)
        failed = await post(session, address, id="ko", annotator="Ada", label=4)
        os.dup2(before, log._rows.descriptor)
        os.close(before)
        os.close(full)
        again = await post(session, address, id="ko", annotator="Ada", label=3)
        return failed, again

    log = next(handler for method, path, handler in site.routes if path == "label").__self__.labelling.log
    (status, words), (again, _) = over_http(site, ask)
    assert status == 400
    assert "No space left" in words
    assert again == 200
    assert [label.label for label in log.labels()] == [4, 3]


def test_labels_of_another_scale_are_not_mixed_in(source):
    first = labelling(source)
    first.take({"id": "th", "annotator": "Ada", "label": 4})
    first.log.close()
    with pytest.raises(ConfigError, match="on another scale"):
        labelling(source, "pass-fail")
    again = labelling(source)
    assert again.count == 1
    again.log.close()
    words = labelling(source, "pass-fail", "other.jsonl")
    words.take({"id": "th", "annotator": "Ada", "label": "fail"})
    assert words.figures()["points"][0][1] < 1
    words.log.close()


def test_a_port_in_use_is_reported(site):
    async def ask(session, address):
        del session
        with pytest.raises(ConfigError, match="cannot be used: Address already in use"):
            listen(int(address.split("/")[2].rpartition(":")[2]))

    over_http(site, ask)


def test_items_are_needed_if_the_results_have_no_texts(source):
    with pytest.raises(ConfigError, match="Give the file of the judged items"):
        read_sample(Source(source.results, table=source.table), 5, 0)
    with pytest.raises(ConfigError, match="which contain their scores. Leave them out"):
        read_sample(Source(source.results, source.items, source.results, table=source.table), 5, 0)
    write(source.items, [{"id": "other", "candidate": "x"}])
    with pytest.raises(DataError, match="nothing to label"):
        read_sample(source, 5, 0)


# the list of runs


@pytest.fixture
def folder(tmp_path):
    results = [
        {
            "languageName": "Thai",
            "languageCode": "th",
            "prompts": [{"sourceText": "a", "generatedOutput": TEXTS["th"]}, {"generatedOutput": HOSTILE}],
        }
    ]
    points = {"scriptScore": 5, "grammarScore": 4, "coherenceScore": 4, "isCorrectLanguage": True}
    scores = [{"languageName": "Thai", "languageCode": "th", **points, "prompts": [{"index": 0, **points}]}]
    runs = tmp_path / "runs"
    (runs / "deep").mkdir(parents=True)
    for name, content in (("t", results), ("t-full-judge", scores)):
        (runs / "deep" / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    row = {"schemaVersion": 1, "outcome": "result", "reason": "", "language": "th"}
    for name, more in (("one", 0), ("two", 3)):
        write(runs / f"{name}.jsonl", [{"id": f"i{n}", **row, "score": n + more} for n in range(8)])
    (runs / "<i>&.jsonl").write_bytes((runs / "one.jsonl").read_bytes())
    (runs / "notes.json").write_text('{"secret": 1}', encoding="utf-8")
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes((runs / "one.jsonl").read_bytes())
    (runs / "link.jsonl").symlink_to(outside)
    return runs


def view(folder, ask):
    return over_http(ViewSite(folder, language_table()).site(), ask)


async def get(session, address, path, **query):
    async with session.get(address + path, params=query) as response:
        return response.status, await response.text(), response.headers


def test_the_runs_of_a_folder_are_listed_and_summed_up(folder):
    async def ask(session, address):
        _, page, _ = await get(session, address, "")
        _, translation, _ = await get(session, address, "summary", name="deep/t.json")
        _, scores, _ = await get(session, address, "summary", name="one.jsonl")
        return page, json.loads(translation), json.loads(scores)

    page, translation, scores = view(folder, ask)
    assert set(re.findall(r'data-run="([^"]*)"', page)) == {
        "deep/t.json",
        "one.jsonl",
        "two.jsonl",
        "&lt;i&gt;&amp;.jsonl",
    }
    assert "notes.json" not in page
    assert "link.jsonl" not in page
    assert (translation["languages"], translation["items"]) == (1, 2)
    assert scores == {"languages": 1, "items": 8, "judged": 8, "unjudged": 0, "unreadable": 0}


def test_a_summary_is_computed_again_when_the_file_changes(folder):
    async def ask(session, address):
        found = []
        for rows in (8, 3):
            write(folder / "one.jsonl", [json.loads(line) for line in lines[:rows]])
            found.append(json.loads((await get(session, address, "summary", name="one.jsonl"))[1])["items"])
        return found

    lines = (folder / "one.jsonl").read_text(encoding="utf-8").splitlines()
    assert view(folder, ask) == [8, 3]


def test_a_run_is_opened_and_two_are_compared_apart_from_our_own_pages(folder):
    async def ask(session, address):
        return [
            await get(session, address, "run", name="deep/t.json"),
            await get(session, address, "run", name="one.jsonl"),
            await get(session, address, "compare", a="one.jsonl", b="two.jsonl"),
            await get(session, address, "compare", a="deep/t.json", b="deep/t.json"),
        ]

    found = view(folder, ask)
    for number, (status, body, headers) in enumerate(found):
        assert status == 200
        policy = "default-src 'none'; script-src 'self'" if number == 1 else "sandbox allow-scripts; default-src 'none'"
        assert headers["Content-Security-Policy"].startswith(policy)
        assert "<script>alert" not in body
    assert "Thai" in found[0][1]
    assert "one.jsonl" in found[1][1]
    assert "<script" not in found[1][1]
    assert "one.jsonl" in found[2][1]
    assert "two.jsonl" in found[2][1]
    assert str(folder) not in found[2][1]


@pytest.mark.parametrize(
    "name",
    [
        "../outside.jsonl",
        "link.jsonl",
        "/etc/passwd",
        "notes.json",
        "deep",
        "",
        "x\0y",
        "a" * 5000,
        "deep/t-full-judge.json",
    ],
)
def test_no_path_leads_out_of_the_folder_or_to_other_files(folder, name):
    async def ask(session, address):
        return [
            (await get(session, address, path, **{key: name}))[0]
            for path, key in (("summary", "name"), ("run", "name"))
        ]

    assert view(folder, ask) == [400, 400]


def test_a_run_without_scores_is_not_compared_and_an_empty_folder_says_so(folder, tmp_path):
    (folder / "deep" / "t-full-judge.json").unlink()

    async def ask(session, address):
        return await get(session, address, "compare", a="deep/t.json", b="one.jsonl")

    status, body, _ = view(folder, ask)
    assert status == 400
    assert "no judge scores" in body
    (tmp_path / "empty").mkdir()

    async def look(session, address):
        return await get(session, address, "")

    assert "No runs in this folder" in view(tmp_path / "empty", look)[1]
