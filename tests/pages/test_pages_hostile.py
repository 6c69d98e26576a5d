"""The pages that people act on, and the files behind them, under hostile names, bodies, folders and times."""

import json
import os
import random
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.pages.serving import over_http

from polyjudge.errors import DataError
from polyjudge.languages.table import LanguageTable, language_table
from polyjudge.pages.labelling import Labelling, LabelSite, Task, annotator_name
from polyjudge.pages.runs import find_runs
from polyjudge.pages.sampling import Source, read_sample
from polyjudge.pages.viewing import ViewSite
from polyjudge.store.labels import Label, LabelLog, read_labels

GOOD = {"scriptScore": 5, "grammarScore": 5, "coherenceScore": 5, "isCorrectLanguage": True}


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def labelling(folder, rows, count=100):
    """Make a labelling task of rows with id, language and score."""
    write(folder / "items.jsonl", [{**row, "candidate": "x"} for row in rows])
    write(folder / "r.jsonl", rows)
    source = Source(folder / "r.jsonl", folder / "items.jsonl", table=language_table())
    task = Task(read_sample(source, count, 0), "1-5", 0, source.table)
    return Labelling(task, LabelLog(folder / "labels.jsonl"))


@pytest.fixture
def three(tmp_path):
    found = labelling(tmp_path, [{"id": str(place), "language": "fr", "score": 4} for place in range(3)])
    yield found
    found.log.close()


def get(site, *paths):
    async def ask(session, address):
        found = []
        for path in paths:
            async with session.get(address + path) as response:
                found.append((response.status, await response.text()))
        return found

    return over_http(site, ask)


def given(item="0", label=5, **more):
    return {"id": item, "annotator": "Ada", "label": label, **more}


# labels on disk


@pytest.mark.parametrize("becomes", ["deleted", "replaced"])
def test_a_label_is_not_reported_as_saved_if_its_file_was_removed(three, becomes):
    three.take(given("0"))
    three.log.path.rename(three.log.path.with_name("moved.jsonl"))
    if becomes == "replaced":  # as editors, rsync and git do
        three.log.path.write_bytes(three.log.path.with_name("moved.jsonl").read_bytes())
    three.log.path.with_name("moved.jsonl").unlink()

    try:
        three.take(given("1"))
    except DataError:
        return
    assert [label.id for label in read_labels(three.log.path)] == ["0", "1"]


def test_an_end_without_labels_leaves_the_file_of_another_alone(tmp_path):
    log = LabelLog(tmp_path / "labels.jsonl")
    log.path.unlink()
    log.path.write_text("another program's\n", encoding="utf-8")
    log.close()

    assert log.path.exists()


def label(item):
    return Label(id=item, label=5, annotator="Ada", labelled_at="2026-01-02T03:04:05Z")


def test_a_last_label_without_its_line_break_is_read(tmp_path):
    log = LabelLog(tmp_path / "labels.jsonl")
    log.append(label("0"))
    log.append(label("1"))
    log.close()
    log.path.write_bytes(log.path.read_bytes().rstrip(b"\n"))  # as an editor leaves it

    again = LabelLog(log.path)
    again.append(label("2"))
    again.close()
    assert [each.id for each in read_labels(log.path)] == ["0", "1", "2"]


def test_results_named_as_labels_are_left_as_they_are(tmp_path):
    path = tmp_path / "results.jsonl"
    row = {"schemaVersion": 1, "id": "0", "outcome": "result", "score": 4.0, "reason": ""}
    path.write_text(f"{json.dumps(row)}\n{json.dumps(row)}", encoding="utf-8")
    before = path.read_bytes()

    with pytest.raises(DataError):
        LabelLog(path).labels()
    assert path.read_bytes() == before


# who labels


@pytest.mark.parametrize("name", ["علی\u200cرضا", "ශ\u0dca\u200dරීමාලි"])
def test_names_of_every_script_are_taken(name):
    assert annotator_name(name) == name


def test_one_name_in_two_normal_forms_is_one_person(three):
    three.take(given(annotator="Jos\u00e9"))
    three.take(given(annotator="Jose\u0301", label=1))

    assert three.figures()["agreement"]["items"] == 0
    assert three.count == 1


# what is sent


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"id": "0", "annotator": "Ada", "label": 5, "seconds": 1' + "0" * 400 + "}", "application/json"),
        ('{"id": "0", "annotator": "Ada", "label": 5, "seconds": 1' + "0" * 5_000 + "}", "application/json"),
        ('{"id": "0", "annotator": "Ada", "label": 5}', "application/json; charset=nonsense"),
    ],
    ids=["400 digits", "5000 digits", "unknown encoding"],
)
def test_no_body_gets_the_server_in_trouble(three, body, kind):
    async def ask(session, address):
        async with session.post(address + "label", data=body.encode(), headers={"Content-Type": kind}) as response:
            return response.status

    assert over_http(LabelSite(three, "r").site(), ask) == 400


# estimates from the labels


def test_the_estimate_of_all_items_is_not_that_of_the_small_languages(tmp_path):
    chance = random.Random(1)
    tags = ["am", "bn", "de", "el", "es", "fr", "hi", "it", "ja", "ka", "ko", "pl", "ru", "ta", "th"]
    sizes = {"en": 2_000, **dict.fromkeys(tags, 5)}
    rows = [
        {"id": f"{tag}{place}", "language": tag, "score": chance.choice([3, 4, 5])}
        for tag, size in sizes.items()
        for place in range(size)
    ]
    people = {row["id"]: row["score"] - 2 * (row["language"] != "en") for row in rows}
    found = labelling(tmp_path, rows, count=40)
    for item in found.task.sample.items:
        printed = found.take(given(item, people[item]))
    found.log.close()

    _, _, low, high = printed["points"][-1]
    assert low <= sum(people.values()) / len(people) <= high


# the runs of a folder


def labels_file(folder, *labels, **more):
    """A log of labels on items 0, 1, …, by one person."""
    row = {"schemaVersion": 1, "language": "fr", "annotator": "A", "labelledAt": "2026-11-16T10:00:00.000Z", **more}
    write(folder / "labels.jsonl", [{**row, "id": str(place), "label": label} for place, label in enumerate(labels)])
    return folder / "labels.jsonl"


def labelled(folder, path, count=5):
    write(
        folder / "r.jsonl",
        [
            {
                "schemaVersion": 1,
                "id": str(place),
                "outcome": "result",
                "score": 4.0,
                "language": "fr",
                "candidate": "x",
            }
            for place in range(count)
        ],
    )
    table = language_table()
    return Labelling(
        Task(read_sample(Source(folder / "r.jsonl", table=table), count, 0), "1-5", 0, table), LabelLog(path)
    )


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (float("nan"), r"labels\.jsonl:2: invalid label: nan"),
        (float("inf"), r"labels\.jsonl:2: invalid label: inf"),
        (10**400, r"labels\.jsonl:2: invalid label: 1000"),
        (True, r"labels\.jsonl:2: invalid label"),
        (99, "the label 99 of item '1' is not on the scale 1-5"),
        (-5, "the label -5 of item '1' is not on the scale 1-5"),
        (2.5, "the label 2.5 of item '1' is not on the scale 1-5"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_a_label_off_the_scale_is_named_and_the_file_is_closed(tmp_path, label, words):
    path = labels_file(tmp_path, 3, label)
    for _ in range(2):  # the second time, the file is closed
        with pytest.raises(DataError, match=words):
            labelled(tmp_path, path)


def test_a_labels_file_that_is_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "labels.jsonl")

    with pytest.raises(DataError, match="not a regular file"):
        LabelLog(tmp_path / "labels.jsonl")


def test_with_very_many_labels_figures_are_computed_less_often_and_every_label_is_stored(tmp_path):
    labelling = labelled(tmp_path, labels_file(tmp_path, *[1 + place % 5 for place in range(1_000)]), count=1_010)
    before = labelling.figures()["points"]

    given = [{"id": str(place), "label": 5, "annotator": "A"} for place in range(1_000, 1_010)]
    seen = [labelling.take(label)["points"][-1][0] for label in given]

    assert before[-1][0] == 1_000
    assert seen == [1_000] * 5 + [1_006] * 5  # 6 of 1,006 labels are the first that are one in 200
    labelling.take({"id": "0", "label": None, "reason": "undone", "annotator": "A"})
    assert labelling.overview("A")["points"][-1][0] == 1_009
    labelling.log.close()
    assert len(read_labels(tmp_path / "labels.jsonl")) == 1_009


def a_run(folder, name="s.jsonl", score=4.0):
    write(folder / name, [{"schemaVersion": 1, "id": "0", "outcome": "result", "score": score, "language": "fr"}])


def test_a_link_to_itself_does_not_hide_the_other_runs(tmp_path):
    a_run(tmp_path)
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")

    assert [run.name for run in find_runs(tmp_path).runs] == ["s.jsonl"]


def test_of_very_many_runs_the_newest_are_listed(tmp_path):
    for place in range(1_001):
        a_run(tmp_path, f"{place:04}.jsonl")
        os.utime(tmp_path / f"{place:04}.jsonl", (place, place))
    names = [run.name for run in find_runs(tmp_path).runs]

    assert (names[0], names[-1], len(names)) == ("1000.jsonl", "0001.jsonl", 1_000)
    _, page = get(ViewSite(tmp_path, language_table()).site(), "")[0]
    assert "Only the newest 1,000 runs are shown." in page


def test_a_list_that_does_not_look_at_all_files_says_so(tmp_path):
    for name in ("a", "b", "c"):
        a_run(tmp_path, f"{name}.jsonl")

    found = find_runs(tmp_path, most_files=2)
    assert sorted(run.name for run in found.runs) == ["a.jsonl", "b.jsonl"]
    assert found.notes == ("The folder has more than 2 files; runs among the others are not shown.",)
    assert find_runs(tmp_path, most_files=3).notes == ()


def test_a_file_of_gigabytes_without_a_line_break_is_refused(tmp_path):
    a_run(tmp_path)
    with (tmp_path / "s.jsonl").open("r+b") as file:
        file.truncate(4 << 30)  # sparse: it takes no room on the disk
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    found = get(ViewSite(tmp_path, language_table()).site(), "summary?name=s.jsonl", "run?name=s.jsonl")
    assert [(status, "a line is longer than 128 MB" in printed) for status, printed in found] == [(400, True)] * 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_000_000  # in kB


def test_lines_that_cannot_be_read_are_counted_except_a_torn_last_one(tmp_path):
    a_run(tmp_path)
    whole = (tmp_path / "s.jsonl").read_text(encoding="utf-8")
    (tmp_path / "s.jsonl").write_text(f"{whole}no JSON\n[]\n{whole}{whole[:20]}", encoding="utf-8")

    (_, printed), (_, page) = get(
        ViewSite(tmp_path, language_table()).site(), "summary?name=s.jsonl", "run?name=s.jsonl"
    )
    assert json.loads(printed) == {"languages": 1, "items": 2, "judged": 2, "unjudged": 0, "unreadable": 2}
    assert "Lines that cannot be read and are not counted: 2." in page


def test_a_pipe_does_not_stop_the_list(tmp_path):
    a_run(tmp_path)
    os.mkfifo(tmp_path / "pipe.jsonl")
    found = []
    looking = threading.Thread(target=lambda: found.extend(find_runs(tmp_path).runs), daemon=True)
    looking.start()
    looking.join(1)
    in_time = [run.name for run in found]
    if looking.is_alive():
        os.close(os.open(tmp_path / "pipe.jsonl", os.O_RDWR | os.O_NONBLOCK))

    assert in_time == ["s.jsonl"]


def test_a_file_name_that_is_not_utf_8_does_not_stop_the_list(tmp_path):
    a_run(tmp_path)
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")).write_bytes((tmp_path / "s.jsonl").read_bytes())

    status, page = get(ViewSite(tmp_path, language_table()).site(), "")[0]
    assert (status, "s.jsonl" in page) == (200, True)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), 10**400], ids=["nan", "inf", "long"])
def test_an_invalid_score_is_not_a_verdict(tmp_path, score):
    a_run(tmp_path, score=score)
    (status, printed), (shown, page) = get(
        ViewSite(tmp_path, language_table()).site(), "summary?name=s.jsonl", "run?name=s.jsonl"
    )

    assert (status, shown) == (200, 200)
    assert json.loads(printed)["judged"] == 0
    assert "nan" not in page


def translated(folder, name, **judges):
    prompts = [{"sourceText": "Hello", "generatedOutput": "Bonjour"}] * 20
    row = {"languageCode": "fr", "languageName": "French"}
    (folder / f"{name}.json").write_text(json.dumps([{**row, "prompts": prompts}]), encoding="utf-8")
    for judge, (points, model) in judges.items():
        origin = {"provider": "p", "model": model, "rubric": "r", "rubricFingerprint": "f", "promptSha256": "0"}
        each = [{"index": place, **GOOD, "grammarScore": points, "provenance": origin} for place in range(20)]
        path = folder / f"{name}-{judge}-judge.json"
        path.write_text(json.dumps([{**row, **GOOD, "prompts": each}]), encoding="utf-8")


def test_two_runs_are_compared_by_a_judge_that_both_have(tmp_path):
    translated(tmp_path, "one", quick=(4, "m"), full=(2, "m"))
    translated(tmp_path, "two", quick=(4, "m"))

    _, page = get(ViewSite(tmp_path, language_table()).site(), "compare?a=one.json&b=two.json")[0]
    assert "This run cannot tell" in page


def test_two_runs_without_a_kind_of_judge_in_common_are_not_compared(tmp_path):
    translated(tmp_path, "one", full=(4, "m"))
    translated(tmp_path, "two", quick=(4, "m"))

    status, printed = get(ViewSite(tmp_path, language_table()).site(), "compare?a=one.json&b=two.json")[0]
    assert status == 400
    assert "one.json has a full judge, two.json a quick judge" in printed


def test_a_difference_of_judges_is_noted_once(tmp_path):
    translated(tmp_path, "one", full=(4, "old"))
    translated(tmp_path, "two", full=(4, "new"))

    _, page = get(ViewSite(tmp_path, language_table()).site(), "compare?a=one.json&b=two.json")[0]
    assert page.count("the judges differ") == 1


class Growing(LanguageTable):
    """A language table that rewrites the run at its first lookup, as a running command would."""

    rewrite = staticmethod(lambda: None)

    def find(self, tag, name=""):
        rewrite, self.rewrite = self.rewrite, lambda: None
        rewrite()
        return super().find(tag, name)


def test_a_summary_of_a_running_run_is_not_reused_for_the_finished_one(tmp_path):
    translated(tmp_path, "one")

    def finish():
        more = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
        more.append({**more[0], "languageCode": "de", "languageName": "German"})
        (tmp_path / "one.json").write_text(json.dumps(more), encoding="utf-8")

    table = Growing({each.tag: each for each in language_table()})
    table.rewrite = finish
    first, second = get(ViewSite(tmp_path, table).site(), "summary?name=one.json", "summary?name=one.json")
    assert first[0] == second[0] == 200
    assert json.loads(second[1])["languages"] == 2


# the secret


def test_the_secret_is_on_no_command_line(tmp_path):
    browser = tmp_path / "browser"
    kept = 'echo "$@" > printed; stat -c %a "${1#file://}" > mode; cat "${1#file://}" > page'
    browser.write_text(f"#!/bin/sh\ncd {tmp_path}\n{kept}\n", encoding="utf-8")
    browser.chmod(0o755)
    code = """if True:
        from polyjudge.cli.label import announcing
        with announcing(True) as announce:
            announce("http://127.0.0.1:1/t/SECRET/")
        """
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, timeout=20)

    printed, mode, page = ((tmp_path / name).read_text(encoding="utf-8") for name in ("printed", "mode", "page"))
    assert "SECRET" not in printed
    assert mode == "600\n"
    assert "url=http://127.0.0.1:1/t/SECRET/" in page
    assert not Path(printed.strip().removeprefix("file://")).exists()
