"""The formats of one hostile report: no text of a model acts, breaks a table, or is lost."""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.cells import cell_len

from polyjudge.reports.blocks import escape
from polyjudge.reports.translation_formats import FORMATS

OUTPUTS = {
    "right to left": "أين أقرب محطة؟ <b>هنا</b>",
    "hebrew": "איפה התחנה הקרובה ביותר? (123)",
    "combining": "Z̷̧͚̈́a̶l̵g̸o̷ é̂ क्षत्रिय",
    "wide": "最近的车站在哪里？",
    "emoji": "👩🏽‍🚀🇲🇳",
    "pipes": "a | b || c \\| d \\\\| e |",
    "backticks": "`code` ```fence``` ~~gone~~ `|`",
    "markup": "*a* __b__ [x](http://evil.example) ![y](z) # no\n## heading\n\n- list\n1. one\n---\n> quote",
    "html": "<script>alert(1)</script> <img src=x onerror=y> &lt;i&gt; &#65; <!-- -->",
    "ansi": "\x1b[31mred\x1b[0m \x9b32m \x07 \x1b]0;title\x07",
    "bidi": "\u202eevil\u202c \u2067x\u2069 \u200f",
    "surrogate": "half \ud83d and \udc00",
    "newlines": "one\r\ntwo\u2028three\x85four\tfive\x0bsix\n\n\nseven",
    "long": "lang " * 200,
    "empty": "",
    "blank": " \n\t ",
    "backslash": "ends with \\",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |",
}
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066\u2067\ud800-\udfff]")


@pytest.fixture
def report(make_report):
    prompts = [
        {"category": f"cat #{number % 2} #", "sourceText": name, "generatedOutput": output, "tokensPerSecond": number}
        for number, (name, output) in enumerate(OUTPUTS.items())
    ]
    hostile = OUTPUTS["html"] + OUTPUTS["ansi"] + OUTPUTS["bidi"] + OUTPUTS["pipes"] + "\ud800\nx"
    languages = [
        {
            "languageName": "Arabic",
            "languageCode": "ar",
            "priority": "mustHave",
            "prompts": [{**each, "scriptValidationPassed": True} for each in prompts],
        },
        {
            "languageName": hostile,
            "scriptFamily": hostile,
            "priority": hostile,
            "prompts": [{"sourceText": hostile, "generatedOutput": hostile, "category": hostile}, 7],
        },
        {
            "languageName": "עברית",
            "languageCode": "he",
            "prompts": [{"generatedOutput": "שלום", "sourceText": "hello"}],
        },
        {"languageName": "Skipped", "prompts": []},
    ]
    about = {"bindingUsed": hostile, "device": {"name": "Pixel | 8", "ram": 8}, "model": "m_*x*_", "timestamp": "then"}
    points = {"scriptScore": 5, "grammarScore": 4.5, "coherenceScore": 4, "isCorrectLanguage": True}
    scored = [{"index": index, **points, "notes": hostile} for index in range(3)]
    quick = [
        {"languageName": "Arabic", **points, "notes": hostile, "judge": hostile, "prompts": scored, "unjudged": 1},
        {"languageName": hostile, "error": hostile},
    ]
    full = [{"languageName": "Arabic", **points, "coherenceScore": 1, "notes": "off | topic"}, hostile]
    return make_report(languages, about=about, quick=quick, full=full)


def drawn(report, form):
    return "".join(FORMATS[form](report))


def without_folder(text, tmp_path):
    """Remove paths, which change from run to run."""
    return text.replace(str(tmp_path), "FOLDER").replace(str(tmp_path).replace("_", "\\_"), "FOLDER")


@pytest.mark.parametrize(("form", "name"), [("markdown", "report.md"), ("text", "report.txt"), ("json", "report.json")])
def test_the_report_matches_its_snapshot(report, snapshot, tmp_path, form, name):
    snapshot(f"translation-{name}", without_folder(drawn(report, form), tmp_path))


@pytest.mark.parametrize("form", FORMATS)
def test_no_control_character_reaches_a_terminal(report, form):
    text = drawn(report, form)

    marks = "\u200e\u200f" if form == "json" else ""  # they do not change the direction of other text
    assert set(ACTING.findall(text)) <= set(marks)
    text.encode("utf-8")


def tables_of(text):
    """Return each table of a Markdown text as rows of cells, parsed by a renderer."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    tables = []
    for index, token in enumerate(tokens):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in ("th_open", "td_open"):
            tables[-1][-1].append(tokens[index + 1])
    return tokens, tables


def plain(inline):
    """Return the visible text of a cell; anything but plain text is an error."""
    assert {child.type for child in inline.children} <= {"text", "text_special"}
    return "".join(child.content for child in inline.children)


def test_the_markdown_has_exactly_the_expected_tables(report):
    _, tables = tables_of(drawn(report, "markdown"))

    shapes = [(plain(table[0][0]), len(table) - 1, {len(row) for row in table}) for table in tables]
    assert shapes == [
        ("Language", 1, {6}),  # priority languages
        ("Script Family", 4, {9}),
        ("Language", 2, {4}),  # failures
        ("Language", 1, {2}),  # disagreements
        ("Language", 1, {4}),  # findings
        ("Problem", 6, {3}),
        ("Source", 9, {4}),
        ("Source", 9, {4}),
        ("Source", 1, {4}),
        ("Source", 1, {4}),
    ]


def test_the_markdown_has_only_headings_paragraphs_and_tables(report):
    tokens, _ = tables_of(drawn(report, "markdown"))

    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    assert kinds == {"heading", "paragraph", "inline", "table", "thead", "tbody", "tr", "th", "td"}
    inner = {child.type for token in tokens if token.type == "inline" for child in token.children}
    assert inner <= {"text", "text_special", "hardbreak"}


def test_the_markdown_shows_every_output_unchanged(report):
    _, tables = tables_of(drawn(report, "markdown"))
    cells = {plain(row[0]): plain(row[1]) for table in tables[6:8] for row in table[1:]}

    assert cells["pipes"] == OUTPUTS["pipes"]
    assert cells["html"] == OUTPUTS["html"]
    assert cells["backticks"] == OUTPUTS["backticks"]
    assert cells["backslash"] == OUTPUTS["backslash"]
    assert cells["right to left"] == OUTPUTS["right to left"]
    assert cells["combining"] == OUTPUTS["combining"]
    assert cells["emoji"] == OUTPUTS["emoji"]
    assert cells["markup"] == " ".join(OUTPUTS["markup"].split())
    assert cells["table"] == " ".join(OUTPUTS["table"].split())
    assert cells["empty"] == cells["blank"] == "(empty)"
    assert len(cells["long"]) == 400
    assert cells["long"].endswith("…")
    assert r"\u202eevil" in cells["bidi"]
    assert r"\x1b[31mred" in cells["ansi"]


def test_no_html_survives_a_renderer_that_allows_it(report):
    html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(drawn(report, "markdown"))

    tags = set(re.findall(r"</?([a-zA-Z!][a-zA-Z0-9]*)", html))
    assert tags == {"h1", "h2", "h3", "h4", "p", "br", "table", "thead", "tbody", "tr", "th", "td"}


HEADINGS = ("Translation report", "Summary Scorecard", "Expanded Details")


def test_the_scorecard_comes_first_and_every_language_has_its_heading(report):
    tokens, _ = tables_of(drawn(report, "markdown"))
    headings = [tokens[index + 1] for index, token in enumerate(tokens) if token.type == "heading_open"]
    texts = [plain(heading) for heading in headings]

    assert [text for text in texts if text in HEADINGS] == list(HEADINGS)
    assert [text.rpartition(" — ")[2] for text in texts if " — " in text] == [
        "FAIL",
        "UNJUDGED",
        "SKIPPED",
        "CHECKED (script-only; grammar, meaning not judged)",
    ]
    assert "cat #0 #" in texts


@pytest.mark.parametrize("name", ["# x.json", "- x.json", "1. x.json", "+ x", "=", "1) x", "a|b.json", "<b>.json"])
def test_a_file_name_cannot_add_markup(make_report, tmp_path, name, monkeypatch):
    from pathlib import Path

    from polyjudge.formats.translation_results import TranslationResults
    from polyjudge.languages.table import language_table
    from polyjudge.reports.translation import Report

    monkeypatch.chdir(tmp_path)
    Path(name).write_text('[{"languageName": "Thai", "prompts": []}, 7]', encoding="utf-8")
    made = Report(TranslationResults(Path(name)), {}, language_table(), timestamp="now")

    tokens, _ = tables_of(drawn(made, "markdown"))
    lines = [plain(token) for token in tokens if token.type == "inline" and "must be a JSON object" in token.content]
    assert lines == [f"{name}:1: a language must be a JSON object"]
    assert {token.tag for token in tokens if token.tag.startswith("h")} == {"h1", "h2", "h3"}
    assert not [token for token in tokens if token.type.endswith("list_open")]


def columns_of(line, starts):
    """Return the cells of a line of a text table that start at some display columns."""
    cells, rest, at = [], line.translate(dict.fromkeys((0x2068, 0x2069))), 0
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        assert at == start
        width = len(rest) if end is None else next(n for n in range(len(rest) + 1) if cell_len(rest[:n]) >= end - start)
        cells.append(rest[:width])
        at += cell_len(rest[:width])
        rest = rest[width:]
    return cells


def text_tables(text):
    """Yield the tables of a text report: the starts of columns, and the lines below the rule."""
    for part in text.split("\n\n"):
        lines = part.split("\n")
        rules = [index for index, line in enumerate(lines) if re.fullmatch(r"-+(  -+)+", line)]
        if rules:
            index = rules[0]
            starts = [match.start() for match in re.finditer("-+", lines[index])]
            yield starts, lines[index - 1], lines[index + 1 :]


def test_the_columns_of_the_text_are_aligned_in_every_script(report):
    tables = list(text_tables(drawn(report, "text")))

    assert len(tables) == 10
    for starts, header, lines in tables:
        for line in (header, *lines):
            padded = line + " " * max(0, starts[-1] + 1 - cell_len(line))
            cells = columns_of(padded, starts)
            assert all(cell.endswith("  ") for cell in cells[:-1]), line
            assert all(not cell.strip() or cell_len(cell) >= 1 for cell in cells)


def test_right_to_left_cells_are_isolated(report):
    text = drawn(report, "text")

    assert "\u2068أين أقرب محطة؟ <b>هنا</b>\u2069" in text
    assert text.count("\u2068") == text.count("\u2069")


def test_the_json_has_the_required_names_and_the_values_of_the_files(report):
    made = json.loads(drawn(report, "json"), parse_constant=pytest.fail)

    assert {
        "timestamp",
        "bindingUsed",
        "deviceInfo",
        "totalLanguages",
        "passedLanguages",
        "failedLanguages",
        "languageResults",
        "judgeScores",
    } <= set(made)
    assert made["timestamp"] == "2026-01-02T03:04:05Z"
    assert made["deviceInfo"] == {"name": "Pixel | 8", "ram": 8}
    assert (made["totalLanguages"], made["passedLanguages"], made["failedLanguages"]) == (4, 1, 1)
    assert (made["unjudgedLanguages"], made["skippedLanguages"], made["conflictLanguages"]) == (1, 1, 0)
    arabic = made["languageResults"][0]
    assert [each["generatedOutput"] for each in arabic["prompts"]] == list(OUTPUTS.values())
    assert [(row["tier"], row["languageName"]) for row in made["judgeScores"]][:2] == [
        ("quick", "Arabic"),
        ("full", "Arabic"),
    ]


def test_no_key_is_duplicated_in_the_json_for_any_results_file(make_report):
    about = dict.fromkeys(("timestamp", "schemaVersion", "judgeScores", "verdicts", "totalLanguages", "own"), "theirs")

    def check_unique(pairs):
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    report = make_report([{"languageName": "Thai", "prompts": []}], about={**about, "languageResults": None})
    made = json.loads(drawn(report, "json"), object_pairs_hook=check_unique)

    assert (made["timestamp"], made["schemaVersion"], made["totalLanguages"]) == ("2026-01-02T03:04:05Z", 1, 1)
    assert (made["own"], made["judgeScores"]) == ("theirs", [])


def test_a_json_report_can_be_read_as_results(report, make_report):
    made = json.loads(drawn(report, "json"))

    again = make_report(made["languageResults"], about={"bindingUsed": made["bindingUsed"]})

    assert [verdict.name for verdict in again.verdicts] == [verdict.name for verdict in report.verdicts]


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.characters(exclude_categories=()), max_size=60) | st.text("|\\`<>*_[]()#!&~-+=1. \n\tab", max_size=40)
)
def test_any_text_in_a_cell_is_one_cell_of_plain_text(text):
    shown = escape(text)
    _, tables = tables_of(f"| a | b |\n| --- | --- |\n| {shown} | end |\n")

    [[_, [cell, end]]] = tables
    assert plain(end) == "end"
    assert ACTING.findall(plain(cell)) == []
    if not ACTING.search(text) and text.isascii():
        assert plain(cell) == " ".join(text.split())
