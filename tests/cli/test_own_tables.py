"""Tables as people have them go from the file to a report, or to scores, in one command."""

import csv
import gzip
import io
import json
from pathlib import Path

import pytest

from polyjudge.cli import main

FRENCH = ["Où est la gare la plus proche ?", "Je voudrais un café, s'il vous plaît.", "Merci beaucoup pour votre aide."]
GERMAN = ["Wo ist der nächste Bahnhof?", "Ich hätte gern einen Kaffee, bitte.", "Vielen Dank für Ihre Hilfe."]
ENGLISH = ["Where is the nearest station?", "I would like a coffee, please.", "Thank you very much for your help."]
TWELVE = {
    "fr": FRENCH[0],
    "de": GERMAN[0],
    "es": "¿Dónde está la estación más cercana?",
    "it": "Dov'è la stazione più vicina?",
    "pt-BR": "Onde fica a estação mais próxima?",
    "nl": "Waar is het dichtstbijzijnde station?",
    "ru": "Где находится ближайшая станция?",
    "el": "Πού είναι ο πλησιέστερος σταθμός;",
    "ja": "一番近い駅はどこですか？",
    "ko": "가장 가까운 역이 어디예요?",
    "ar": "أين أقرب محطة قطار؟",
    "hi": "सबसे नज़दीकी स्टेशन कहाँ है?",
}


def separated(rows, delimiter=","):
    """Return rows as separated values with line ends as spreadsheet programs write them."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def sheets_export():
    """A Google Sheets export: names with capitals and spaces, no id, empty columns and rows at the end."""
    rows = [["Source Text", "Translation", "Language", ""]]
    rows += [[ENGLISH[place], FRENCH[place], "French", ""] for place in range(3)]
    return separated([*rows, ["", "", "", ""], ["", "", "", ""]]).encode()


def european_excel():
    """A CSV of a European Excel: a mark, semicolons, decimal commas."""
    rows = [["ID", "Quelle", "Output", "Sprache", "tokensPerSecond"]]
    rows += [[place, ENGLISH[place], GERMAN[place], "de", "12,5"] for place in range(3)]
    return ("\ufeff" + separated(rows, ";")).encode()


def utf16():
    rows = [["src", "mt", "locale"], *([ENGLISH[place], FRENCH[place], "fr_FR"] for place in range(3))]
    return separated(rows, "\t").encode("utf-16")


def wide():
    rows = [["key", "English", "French", "German"]]
    return separated(
        [*rows, *([f"k{place}", ENGLISH[place], FRENCH[place], GERMAN[place]] for place in range(3))]
    ).encode()


def nested_json():
    found = [
        {"meta": {"lang": "fr"}, "input": {"text": ENGLISH[place]}, "output": {"text": FRENCH[place]}}
        for place in range(3)
    ]
    return json.dumps({"exportedAt": "2026-01-01", "data": found}).encode()


def column_of_json():
    rows = [["request", "response", "lang"]]
    for place in range(3):
        request, response = json.dumps({"q": ENGLISH[place]}), json.dumps({"choices": [{"text": FRENCH[place]}]})
        rows.append([request, response, "fr"])
    return separated(rows).encode()


def merged_duplicates():
    """Two exports put together: some rows occur twice, and there is no id."""
    rows = [[ENGLISH[place], FRENCH[place], "fr"] for place in (0, 1, 2, 1, 0)]
    return separated([["source", "target", "lang"], *rows], "|").encode()


def twelve_languages():
    return separated([["Target Language", "Text"], *TWELVE.items()]).encode()


def no_header():
    return separated([["fr", ENGLISH[place], FRENCH[place]] for place in range(3)]).encode()


CASES = {
    "sheets.csv": (sheets_export, [], {"fr": 3}),
    "excel.csv": (european_excel, ["--columns", "source=quelle,language=Sprache"], {"de": 3}),
    "sixteen.csv": (utf16, [], {"fr-FR": 3}),
    "wide.csv": (wide, [], {"fr": 3, "de": 3}),
    "nested.json": (nested_json, [], {"fr": 3}),
    "logged.csv": (column_of_json, ["--columns", "candidate=response.choices.0.text,source=request.q"], {"fr": 3}),
    "merged.csv": (merged_duplicates, [], {"fr": 5}),
    "twelve.csv": (twelve_languages, [], dict.fromkeys(TWELVE, 1)),
    "bare.csv": (no_header, ["--no-header", "--columns", "language=1,source=2,candidate=3"], {"fr": 3}),
    "sheets.csv.gz": (lambda: gzip.compress(sheets_export()), [], {"fr": 3}),
}


def prompts_of(report):
    return {each["languageCode"].replace("_", "-"): each["prompts"] for each in report["languageResults"]}


@pytest.mark.parametrize("name", CASES)
def test_a_table_as_people_have_it_is_reported_in_one_command(name, in_folder, capsys):
    content, options, expected = CASES[name]
    Path(name).write_bytes(content())

    code = main(["report", "--results", name, "--format", "json", *options])

    shown = capsys.readouterr()
    assert code == 0, shown.err
    found = json.loads(shown.out)
    assert {tag: len(prompts) for tag, prompts in prompts_of(found).items()} == expected
    assert {each["status"] for each in found["verdicts"]} == {"CHECKED"}
    assert all(prompt["sourceText"] for prompts in prompts_of(found).values() for prompt in prompts) or "twelve" in name


@pytest.mark.parametrize("name", CASES)
def test_the_same_table_is_checked_scored_and_used_to_calibrate(name, in_folder, capsys):
    content, options, expected = CASES[name]
    Path(name).write_bytes(content())

    assert main(["translation", "check", name, *options]) == 0
    judged = ["--judge", "offline", "--cache", "none"]
    assert main(["translation", "quick", name, *judged, "--output", "quick.json", *options, "--max-unjudged", "1"]) in (
        0,
        3,
    )
    assert main(
        ["score", name, "--rubric", "translation", *judged, "--output", "scores.jsonl", "--max-unjudged", "1", *options]
    ) in (0, 3)
    rows = [json.loads(line) for line in Path("scores.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == sum(expected.values())
    assert len({row["id"] for row in rows}) == len(rows)
    # What score writes is read like the table itself.
    assert main(["translation", "check", "scores.jsonl"]) == 0
    assert main(["report", "--results", "scores.jsonl"]) == 0
    assert main(
        ["score", "scores.jsonl", "--rubric", "translation", *judged, "--output", "again.jsonl", "--max-unjudged", "1"]
    ) in (0, 3)
    again = [json.loads(line) for line in Path("again.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in again] == [row["id"] for row in rows]
    assert main(["compare", "scores.jsonl", "again.jsonl"]) == 0


def score(path):
    """Score a table by the checks alone, into s.jsonl."""
    judge = ["--rubric", "translation", "--judge", "offline", "--max-unjudged", "1"]
    return main(["score", path, *judge, "--output", "s.jsonl"])


def test_the_first_line_says_what_was_taken_for_what(in_folder, capsys):
    Path("mine.csv").write_text("question,reply,lang\nHello?,Bonjour !,fr\n", encoding="utf-8")

    score("mine.csv")

    first = capsys.readouterr().err.splitlines()[0]
    assert first == "polyjudge: mine.csv: candidate=reply, source=question, language=lang; ids made from the content"


def test_nothing_is_said_of_columns_that_have_the_names_of_their_roles(in_folder, capsys):
    Path("mine.csv").write_text("id,candidate,language\n1,Bonjour !,fr\n", encoding="utf-8")

    score("mine.csv")

    assert "mine.csv" not in capsys.readouterr().err


def test_sorting_a_sheet_does_not_detach_its_scores(in_folder, capsys):
    rows = merged_duplicates().decode().splitlines()
    score = ["--rubric", "translation", "--judge", "offline", "--cache", "none", "--max-unjudged", "1"]
    for name, ordered in (("a", rows[1:]), ("b", sorted(rows[1:]))):
        Path(f"{name}.csv").write_text("\n".join([rows[0], *ordered]), encoding="utf-8")
        main(["score", f"{name}.csv", *score, "--output", f"{name}.jsonl"])
    found = [
        {row["id"]: row["candidate"] for row in map(json.loads, Path(name).read_text(encoding="utf-8").splitlines())}
        for name in ("a.jsonl", "b.jsonl")
    ]

    assert found[0] == found[1]
    assert len(found[0]) == 5


def test_the_project_file_names_the_columns(in_folder, capsys):
    Path("polyjudge.toml").write_text('columns = "candidate=c,language=b"\n', encoding="utf-8")
    Path("mine.csv").write_text("a,b,c\nHello?,fr,Bonjour à tous mes amis !\n", encoding="utf-8")

    assert main(["report", "--results", "mine.csv", "--format", "json"]) == 0

    assert list(prompts_of(json.loads(capsys.readouterr().out))) == ["fr"]


def test_stdin_is_stored_so_that_a_run_from_it_is_resumed(in_folder, capsys, monkeypatch):
    Path("recorded.jsonl").write_text('{"text": "{\\"score\\": 80, \\"reason\\": \\"good\\"}"}\n' * 3, encoding="utf-8")
    score = ["score", "-", "--rubric", "general", "--judge", "scripted/recorded.jsonl", "--output", "s.jsonl"]
    table = "output,lang\nBonjour,fr\nHallo,de\nCiao,it\n"
    for calls in (["--max-calls", "2"], []):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table.encode())))
        code = main([*score, *calls])

    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert len(list(Path(".polyjudge/stdin").iterdir())) == 1
    assert len(Path("s.jsonl").read_text(encoding="utf-8").splitlines()) == 3


BAD = {
    "a wrong mapping": (
        "m.csv",
        b"a,b\nx,y\n",
        ["--columns", "candidate=reply"],
        "m.csv: no column 'reply' for candidate. Found: a, b. Map one with --columns candidate=COLUMN.",
    ),
    "a missing column": (
        "m.csv",
        b"id,lang,english\n1,th,Hello\n",
        [],
        "m.csv: no candidate column. Found: id, lang, english. Map one with --columns candidate=COLUMN.",
    ),
    "no header": (
        "m.csv",
        b"Hello there,Bonjour\nBye,Au revoir\n",
        [],
        "add --no-header and map by position: --columns candidate=1.",
    ),
    "an unknown role": ("m.csv", b"a\nx\n", ["--columns", "text=a"], "Unknown role of a column: text."),
    "a column without a role": ("m.csv", b"a\nx\n", ["--columns", "a"], "Invalid --columns 'a'. Write ROLE=COLUMN."),
    "an unknown encoding": ("m.csv", b"a\nx\n", ["--encoding", "klingon"], "Unknown encoding 'klingon'."),
    "Latin-1": (
        "m.csv",
        "output\nOù ?\n".encode("latin-1"),
        [],
        "m.csv: not UTF-8 text (invalid start byte at byte 8). Name its encoding (--encoding windows-1252)",
    ),
    "mixed encodings": (
        "m.jsonl",
        '{"output": "Où"}\n'.encode() + '{"output": "Où"}\n'.encode("latin-1"),
        [],
        "m.jsonl: not UTF-8 text",
    ),
    "a compressed file that is none": ("m.csv.gz", b"output\nx\n", [], "m.csv.gz: cannot be decompressed"),
    "a truncated compressed file": (
        "m.csv.gz",
        gzip.compress(b"output\nx\n" * 99)[:-12],
        [],
        "m.csv.gz: cannot be decompressed",
    ),
    "an empty file": ("m.csv", b"", [], "m.csv: no items to judge"),
    "a header alone": ("m.csv", b"output,lang\n", [], "m.csv: no items to judge"),
    "two lists": (
        "m.json",
        b'{"a": [{"output": "x"}], "b": [{"output": "y"}]}',
        [],
        "has two lists of objects, 'a' and 'b'",
    ),
    "duplicate columns": ("m.csv", b"output,output\nx,y\n", [], "m.csv:1: duplicate column 'output'"),
    "duplicate ids": ("m.csv", b"id,output\n1,x\n1,y\n", [], "m.csv:3: duplicate id '1', first at line 2"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_message_that_says_what_to_do(name, in_folder, capsys):
    path, content, options, message = BAD[name]
    Path(path).write_bytes(content)

    code = main(["score", path, "--rubric", "translation", "--judge", "offline", "--output", "s.jsonl", *options])

    shown = capsys.readouterr()
    last = shown.err.splitlines()[-1]
    assert (code, shown.out) == (2, "")
    assert message in last
    assert not [line for line in shown.err.splitlines()[:-1] if not line.startswith(f"polyjudge: {path}: ")]
    assert Path(path).read_bytes() == content
    assert not Path("s.jsonl").exists()


def test_the_encoding_that_the_message_asks_for_then_works(in_folder, capsys):
    Path("m.csv").write_bytes("output;lang\nOù est la gare ?;fr\n".encode("windows-1252"))

    assert main(["report", "--results", "m.csv"]) == 2
    assert main(["report", "--results", "m.csv", "--encoding", "windows-1252", "--format", "json"]) == 0

    [prompt] = prompts_of(json.loads(capsys.readouterr().out))["fr"]
    assert prompt["generatedOutput"] == "Où est la gare ?"


def test_a_folder_of_mixed_formats_is_refused(in_folder, capsys):
    folder = Path("folder")
    folder.mkdir()
    (folder / "a.csv").write_text("output\nx\n", encoding="utf-8")
    (folder / "b.jsonl").write_text('{"output": "x"}\n', encoding="utf-8")

    assert main(["score", "folder", "--rubric", "translation", "--judge", "offline"]) == 2

    wanted = "contains files of several formats; convert them to one format, or give one of the files"
    assert capsys.readouterr().err == f"polyjudge: folder: {wanted}\n"


def test_cells_of_a_wide_table_without_a_text_are_named_and_left_out(in_folder, capsys):
    Path("wide.csv").write_text("key,en,fr,de\na,Hello,Bonjour,\nb,Bye,Au revoir,Tschüss\n", encoding="utf-8")

    score("wide.csv")

    rows = [json.loads(line) for line in Path("s.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["language"], row["candidate"], row["source"]) for row in rows] == [
        ("fr", "Bonjour", "Hello"),
        ("fr", "Au revoir", "Bye"),
        ("de", "Tschüss", "Bye"),
    ]
    assert "skipped wide.csv:2: no text in column 'de'" in capsys.readouterr().err


# --- labels and agreement ----------------------------------------------------------------------------------------


def test_labels_without_ids_meet_the_scores_of_the_same_texts(in_folder, capsys):
    """The judge's rows are those of `score`; the people's sheet is the same table, sorted, with a column more."""
    table = [[ENGLISH[place], FRENCH[place], "fr"] for place in range(3)]
    table += [[ENGLISH[place], GERMAN[place], "de"] for place in range(3)]
    Path("sheet.csv").write_text(separated([["Source", "Translation", "Language"], *table]), encoding="utf-8")
    labelled = [["Rating", "Language", "Translation", "Source"], *([5, *reversed(row)] for row in sorted(table))]
    Path("labels.csv").write_text(separated(labelled), encoding="utf-8")
    judging = ["--rubric", "translation", "--judge", "offline", "--cache", "none", "--max-unjudged", "1"]
    main(["score", "sheet.csv", *judging, "--output", "r.jsonl"])
    capsys.readouterr()

    command = ["calibrate", "agreement", "r.jsonl", "--score", "subscores.script", "--labels", "labels.csv"]
    code = main([*command, "--resamples", "100", "--format", "json"])

    shown = capsys.readouterr()
    assert code == 0, shown.err
    found = json.loads(shown.out)
    assert found["items"] + found["unjudged"] == 6
    assert found["unknownLabels"] == 0
    assert {"fr", "de"} <= set(found["languages"])


def test_perturbed_texts_may_come_from_an_own_table(in_folder, capsys):
    rows = [[f"Question {place}?", f"{FRENCH[place % 3]} Numéro {place}.", "fr"] for place in range(12)]
    Path("sheet.csv").write_text(separated([["Question", "Reply", "Locale"], *rows]), encoding="utf-8")

    command = ["calibrate", "perturb", "sheet.csv", "--judge", "offline", "--types", "drop_words,wrong_script"]
    code = main([*command, "--cache", "none", "--card", "card.json", "--answers", "answers.jsonl"])

    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert "candidate=Reply, source=Question, language=Locale" in shown.err
    assert list(json.loads(Path("card.json").read_text(encoding="utf-8"))["languages"]) == ["fr"]
