"""The page of a report compared with other formats, and with hostile files."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.reports.translation_formats import FORMATS

GOOD = {"scriptScore": 5, "grammarScore": 5, "coherenceScore": 5, "isCorrectLanguage": True}


def language(tag, name, *outputs, **more):
    prompts = [{"sourceText": "Hello", "generatedOutput": output} for output in outputs]
    return {"languageCode": tag, "languageName": name, "prompts": prompts, **more}


def score(tag, name, *prompts, **more):
    return {"languageCode": tag, "languageName": name, **GOOD, "prompts": list(prompts), **more}


def shown(report, form):
    return "".join(FORMATS[form](report))


def details(page):
    found = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    return [json.loads(each) for each in found]


def row_of(page, name):
    return next(row for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL) if name in row)


def test_all_formats_use_the_same_of_two_verdicts_on_a_prompt(make_report):
    twice = [{"index": 0, **GOOD, "grammarScore": 1}, {"index": 0, **GOOD, "grammarScore": 4}]
    report = make_report([language("fr", "French", "Bonjour le monde")], full=[score("fr", "French", *twice)])

    assert "5·4·5" in shown(report, "markdown")
    assert "grammar 4" in details(shown(report, "html"))[0]["verdicts"][0][1]


def test_the_page_counts_prompts_without_a_verdict_like_the_other_formats(make_report):
    report = make_report(
        [language("fr", "French", "Bonjour le monde")], full=[score("fr", "French", judged=3, unjudged=7, notes="fine")]
    )

    assert "3 of 10 judged" in shown(report, "markdown")
    assert "3 of 10 judged" in " ".join(details(shown(report, "html"))[0]["notes"])


def test_the_page_gives_the_reason_of_a_missing_verdict_like_the_other_formats(make_report):
    failed = {"languageCode": "fr", "languageName": "French", "notes": "tried twice", "error": "timed out"}
    report = make_report([language("fr", "French", "Bonjour le monde")], full=[failed])

    assert "no verdict: timed out" in shown(report, "markdown")
    notes = [note for note in details(shown(report, "html"))[0]["notes"] if note.startswith("Full")]
    assert "timed out" in notes[0]


def test_the_page_counts_unusable_rows_like_the_other_formats(make_report):
    broken = [{"languageCode": "fr", "languageName": "French", "prompts": [{"generatedOutput": "Bonjour"}, *[1] * 500]}]
    report = make_report(broken)

    assert "and 480 more" in shown(report, "markdown")
    assert "480 more" in shown(report, "html")


def test_a_language_unknown_to_the_checks_is_not_compared_with_them(make_report):
    report = make_report(
        [language("xx", "Nowhere", "blah"), language("yy", "Skipped")],
        full=[score("xx", "Nowhere"), score("yy", "Skipped")],
    )

    row = row_of(shown(report, "html"), "full and the checks")
    assert re.findall(r"<bdi>(.*?)</bdi>", row)[1:] == ["0", "0", "0", "0", "0", "–"]


@pytest.mark.parametrize("family", ["x" * 150, "Old\u00a0Script", "Old\u3000Script"])
def test_a_family_with_any_name_can_be_filtered(make_report, family):
    page = shown(make_report([language("xx", "Nowhere", "blah", scriptFamily=family)]), "html")

    options = {unescape(each) for each in re.findall(r"<option>(.*?)</option>", page)}
    assert {unescape(each) for each in re.findall(r'data-family="(.*?)"', page)} <= options


def test_a_long_family_name_is_not_cut_within_an_entity(make_report):
    page = shown(make_report([language("xx", "Nowhere", "blah", scriptFamily="x" * 97 + " & sons")]), "html")

    shown_names = re.findall(r"<bdi>(x{90}[^<]*)</bdi>", page)
    assert shown_names
    assert all(re.fullmatch(r"(?:[^&]|&\w+;)*", each) for each in shown_names)


def test_the_anchor_of_a_language_does_not_depend_on_other_languages(make_report):
    def anchor(*before):
        page = shown(make_report([*before, language("zho_Hans", "Z Chinese", "最近的车站在哪里？")]), "html")
        return re.findall(r'id="(lang-[^"]*)"', page)[-1]

    assert anchor() == anchor(language("fr", "French", "Bonjour"))


@pytest.mark.parametrize("option", ["--results", "--full-judge"])
def test_a_report_does_not_overwrite_its_inputs(in_folder, option):
    Path("r.json").write_text(json.dumps([language("fr", "French", "Bonjour")]), encoding="utf-8")
    Path("s.json").write_text(json.dumps([score("fr", "French")]), encoding="utf-8")
    target = {"--results": "r.json", "--full-judge": "s.json"}[option]
    before = Path(target).read_text(encoding="utf-8")

    code = main(["report", "--results", "r.json", "--full-judge", "s.json", "--format", "html", "--output", target])
    assert (code, Path(target).read_text(encoding="utf-8")) == (2, before)
