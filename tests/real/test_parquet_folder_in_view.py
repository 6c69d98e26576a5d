"""A folder of Parquet parts, as Ray writes it, among the runs of `view`."""

import json

import pytest
from tests.pages.serving import over_http

from polyjudge.languages.table import language_table
from polyjudge.pages.runs import find_runs
from polyjudge.pages.viewing import ViewSite
from polyjudge.records.outcomes import Failure, Item, JudgeResult, item_row
from polyjudge.store.parquet import write_parquet_rows
from polyjudge.store.run_folder import ResultsPart, manifest_of, sha256_of, write_manifest

pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")


@pytest.fixture
def folder(tmp_path):
    run = tmp_path / "deep" / "run"
    run.mkdir(parents=True)
    parts = []
    for part in range(2):
        path = run / f"part-0000{part}.parquet"
        with write_parquet_rows(path, ["grammar"], []) as rows:
            for number in range(60):
                item = Item(f"{part}-{number}", f"ข้อความ {number} <b>", {"source": "text"}, "th")
                score = JudgeResult(number / 10, f"because {number}", {"grammar": number}, passed=number > 5)
                rows.append(item_row(item, score if number else Failure("no", "refused"), with_texts=True))
        digest = sha256_of(path)
        parts.append(
            ResultsPart(
                file=path.name, rows=60, judged=59, unjudged=1, sha256=digest, items_file="i",
                items_line=60 * part,
                items_fingerprint="f",
            )
        )  # fmt: skip
    about = {"fingerprint": "f", "started_at": "", "polyjudge_version": "", "rubric": "r", "rubric_fingerprint": "f"}
    write_manifest(run, manifest_of(tuple(parts), finished=True, about={**about, "cache_mode": "", "judges": ("m",)}))
    return tmp_path


def test_it_is_listed_counted_and_opens_onto_its_items(folder):
    assert [(run.name, run.kind) for run in find_runs(folder).runs] == [("deep/run", "score")]

    async def ask(session, address):
        found = []
        for path, more in (("summary", {}), ("run", {"page": "2"}), ("run", {"show": "lowest"}), ("report", {})):
            async with session.get(address + path, params={"name": "deep/run", **more}) as response:
                found.append((response.status, await response.text()))
        return found

    (_, summary), (_, last), (_, lowest), (status, _) = over_http(ViewSite(folder, language_table()).site(), ask)
    counts = {"languages": 1, "items": 120, "judged": 118, "unjudged": 2, "unreadable": 0, "meets": 108, "misses": 10}
    assert json.loads(summary) == counts
    assert "120 items, 101 to 120 on this page." in last
    assert "ข้อความ 59 &lt;b&gt;" in last
    assert lowest.index("because 1<") < lowest.index("because 2<")
    assert status == 200
