"""`polyjudge label` and `polyjudge view`: start, options and end."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.formats.items import read_items
from polyjudge.store.labels import read_labels


@pytest.fixture
def files(in_folder):
    rows = [{"id": f"i{n}", "score": n, "language": "th"} for n in range(6)]
    Path("r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    items = [{"id": f"i{n}", "candidate": f"c{n}", "source": "s", "language": "th"} for n in range(6)]
    Path("items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items), encoding="utf-8")
    result = {"languageName": "Thai", "languageCode": "th", "prompts": [{"generatedOutput": "a", "sourceText": "b"}]}
    Path("t.json").write_text(json.dumps([result]), encoding="utf-8")
    pair = {"schemaVersion": 1, "id": "i0", "outcome": "result", "score": 1, "candidate": "a", "otherCandidate": "b"}
    Path("pairs.jsonl").write_text(json.dumps(pair) + "\n", encoding="utf-8")
    return in_folder


def started(*arguments, before=()):
    command = [*before, sys.executable, "-m", "polyjudge", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:"), process.stderr.read()
    return process, address


def ended(process, number):
    process.send_signal(number)
    printed, output = process.communicate(timeout=20)
    assert printed == ""
    return process.returncode, output


def label(address, item, points, annotator="Ada"):
    body = json.dumps({"id": item, "annotator": annotator, "label": points}).encode()
    request = urllib.request.Request(f"{address}label", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


@pytest.mark.slow
def test_labels_outlive_a_killed_server_and_the_end_says_how_many_there_are(files):
    process, address = started("label", "r.jsonl", "--items", "items.jsonl")
    for number in range(3):
        label(address, f"i{number}", number + 1)
    assert ended(process, signal.SIGKILL)[0] == -signal.SIGKILL
    with Path("r-labels.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "id"')
    process, again = started("label", "r.jsonl", "--items", "items.jsonl")
    assert again != address
    label(again, "i0", 5)
    label(again, "i5", 2, "Ben")
    code, printed = ended(process, signal.SIGINT)

    assert code == 0
    assert "4 labels in r-labels.jsonl" in printed
    assert {(each.annotator, each.id): each.label for each in read_labels(Path("r-labels.jsonl"))} == {
        ("Ada", "i0"): 5,
        ("Ada", "i1"): 2,
        ("Ada", "i2"): 3,
        ("Ben", "i5"): 2,
    }


@pytest.mark.slow
def test_both_servers_end_cleanly_on_sigterm(files):
    labelling, address = started("label", "t.json", "--labels", "deep/l.jsonl")
    viewing, _ = started("view", ".")
    label(address, "th:0", 1)

    assert ended(labelling, signal.SIGTERM)[0] == 0
    assert ended(viewing, signal.SIGTERM)[0] == 0
    assert Path("deep/l.jsonl").is_file()


def test_a_server_in_the_background_of_a_script_outlives_ctrl_c(files):
    process, address = started("view", ".", before=["sh", "-c", 'trap "" INT; exec "$@"', "sh"])
    process.send_signal(signal.SIGINT)
    with urllib.request.urlopen(address) as response:
        assert response.status == 200

    assert ended(process, signal.SIGTERM)[0] == 0


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"\x16\x03\x01\r\n\r\n", b"GET / HTTP/9\r\n\r\n"])
def test_malformed_requests_are_not_logged_on_the_terminal(files, sent):
    process, address = started("view", ".")
    port = int(address.split("/")[2].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as talk:
        talk.sendall(sent)
        answer = talk.recv(4096)
    code, printed = ended(process, signal.SIGINT)

    assert b" 400 " in answer
    assert b"Traceback" not in answer
    assert (code, "Traceback" in printed, "Error" in printed) == (0, False, False)


def test_the_labels_meet_the_judges_scores_by_their_ids(files, capsys):
    process, address = started("label", "r.jsonl", "--items", "items.jsonl")
    for number in range(6):
        label(address, f"i{number}", max(1, number))
    ended(process, signal.SIGINT)

    assert main(["calibrate", "correct", "r.jsonl", "--labels", "r-labels.jsonl", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_an_own_table_is_labelled_and_the_labels_meet_its_rows(files, capsys):
    lines = [f"Where is station {place}?;La gare {place};French" for place in range(6)]
    Path("sheet.csv").write_text("\n".join(["Question;Reply;Locale", *lines, ""]), encoding="utf-8")
    ids = [item.id for item in read_items("sheet.csv")]
    process, address = started("label", "sheet.csv")
    for place, item in enumerate(ids):
        label(address, item, 1 + place % 5)
    code, printed = ended(process, signal.SIGINT)

    assert code == 0
    assert "6 labels in sheet-labels.jsonl" in printed
    assert [each.id for each in read_labels(Path("sheet-labels.jsonl"))] == ids


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["label", "r.jsonl"], "--items"),
        (["label", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
        (["label", "r.jsonl", "--items", "items.jsonl", "--host", "0.0.0.0"], "only on 127.0.0.1"),
        (["label", "r.jsonl", "--items", "items.jsonl", "--labels", "items.jsonl"], "is an input file"),
        (["label", "pairs.jsonl"], "contains pairs of texts, but labels are for single texts"),
        (["label", "t.json", "--items", "items.jsonl"], "contain their texts"),
        (["label", "r.jsonl", "--items", "items.jsonl", "--labels", "t.json"], "not a label file"),
        (["label", "r.jsonl", "--items", "items.jsonl", "--port", "70000"], "ports are numbers up to 65535"),
        (["view", "nowhere"], "is not a folder"),
        (["view", "--host", "::"], "only on 127.0.0.1"),
        (["view", "--port", "99999"], "Port 99999"),
    ],
    ids=" ".join,
)
def test_impossible_options_are_reported_in_one_line(files, capsys, arguments, words):
    before = Path("t.json").read_bytes()
    assert main(arguments) == 2
    shown = capsys.readouterr()

    assert words in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert Path("t.json").read_bytes() == before


def test_a_second_server_on_the_same_labels_is_refused(files, capsys):
    process, _ = started("label", "r.jsonl", "--items", "items.jsonl")
    assert main(["label", "r.jsonl", "--items", "items.jsonl"]) == 2
    assert "another polyjudge" in capsys.readouterr().err
    ended(process, signal.SIGINT)


@pytest.mark.slow
def test_an_informative_sample_is_labelled_resumed_and_corrected_by_its_probabilities(in_folder, capsys):
    rows = [
        {"id": f"i{n}", "candidate": f"ข้อความ {n} نص", "score": 20 + (n * 37) % 80, "language": "th" if n % 3 else "ar"}
        for n in range(60)
    ]
    Path("r.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    process, address = started("label", "r.jsonl", "--sample", "informative", "--size", "20")
    plan = json.loads(Path("r-labels.sample.json").read_text(encoding="utf-8"))
    chances = {each["id"]: each["inclusionProbability"] for each in plan["items"]}
    assert len(chances) == 20
    assert len(set(chances.values())) > 2
    for item in list(chances)[:10]:
        hour = label(address, item, 1 + int(item[1:]) % 5)["hour"]
    assert hour["left"] >= 10
    _, printed = ended(process, signal.SIGINT)
    assert "remaining labels take about " in printed
    assert "a random sample" not in printed
    assert "expected width of 95% intervals" in printed
    process, address = started("label", "r.jsonl", "--sample", "informative")
    label(address, list(chances)[10], 3)
    ended(process, signal.SIGINT)
    assert {each.id: each.inclusion_probability for each in read_labels(Path("r-labels.jsonl"))} == {
        item: chances[item] for item in list(chances)[:11]
    }
    for command in ("correct", "agreement"):
        assert main(["calibrate", command, "r.jsonl", "--labels", "r-labels.jsonl", "--format", "json"]) == 0
    assert "probability" not in capsys.readouterr().err
    wrong = {
        "--sample 20": "contains labels of a sample that was drawn with --sample informative",
        "--sample informative --size 5": "the existing labels belong to a sample with size 20",
        "--sample informative --seed 3": "the existing labels belong to a sample with seed 0",
        "--size 3": "--size needs --sample informative",
        "--sample informativ": "must be informative, or a whole number",
        "--sample 0": "must be informative, or a whole number",
    }
    for arguments, message in wrong.items():
        try:
            code = main(["label", "r.jsonl", *arguments.split()])
        except SystemExit as error:
            code = error.code
        assert (code, message in (printed := capsys.readouterr().err)) == (2, True), (arguments, printed)


@pytest.mark.slow
def test_a_sample_without_labels_is_drawn_again_with_another_size_and_says_if_it_is_a_random_one(in_folder):
    rows = [{"id": f"i{n}", "candidate": f"ข้อความ {n}", "score": 70, "language": "th"} for n in range(200)]
    Path("r.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    for size, words in (
        ("20", "the 20 remaining labels take about 10 minutes at 30 s a label (assumed)"),
        ("1", "the remaining label takes about 1 minute"),
        ("150", "in one more hour you can give 120 labels at 30 s a label (assumed)"),
    ):
        process, _ = started("label", "r.jsonl", "--sample", "informative", "--size", size)
        _, printed = ended(process, signal.SIGINT)
        assert f"{size} of 200 items to label" in printed
        assert words in printed
        assert "this is a random sample" in printed
        assert "no interval" in printed
        assert json.loads(Path("r-labels.sample.json").read_text(encoding="utf-8"))["size"] == int(size)
