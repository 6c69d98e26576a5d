"""The figures of a report: order, families, totals and intervals."""

import json

import pytest

from polyjudge.reports.translation_formats import FORMATS
from polyjudge.statistics.intervals import wilson_interval

# scipy 1.17.1: scipy.stats.binomtest(hits, count).proportion_ci(confidence_level=0.95, method="wilson")
WILSON = {
    (0, 1): (0.0, 0.7934506856227626),
    (1, 1): (0.20654931437723745, 1.0),
    (2, 4): (0.15003898915214953, 0.8499610108478505),
    (1, 4): (0.04558726080970055, 0.6993581574175981),
    (3, 7): (0.1582198552514697, 0.7495416354723428),
    (5, 6): (0.43649717781352976, 0.9699466302516933),
    (1, 6): (0.03005336974830669, 0.5635028221864702),
    (4, 5): (0.3755346297625253, 0.9637758913675698),
    (0, 12): (0.0, 0.24249400665524085),
    (28, 35): (0.6410838693433438, 0.8995755352620136),
    (40, 41): (0.8740493794422577, 0.9956814684310875),
    (57, 73): (0.673227338877521, 0.8603387936404931),
}


def language(name, *, passed=True, output="x", **more):
    prompts = [{"generatedOutput": output, "sourceText": "y", "scriptValidationPassed": passed}]
    return {"languageName": name, "prompts": prompts, **more}


def drawn(report, form="markdown"):
    return "".join(FORMATS[form](report))


@pytest.mark.parametrize(("hits", "count"), WILSON)
def test_intervals_agree_with_scipy(hits, count):
    interval = wilson_interval(hits, count)

    assert (interval.low, interval.high) == pytest.approx(WILSON[hits, count], abs=1e-12)


def test_priority_languages_come_first_and_the_rest_is_alphabetical(make_report):
    names = ["Zulu", "arabic", "Bengali", "Thai", "amharic"]
    must = [language("Yue", priority="mustHave"), language("English", priority="must-have")]

    report = make_report([*(language(name, priority="standard") for name in names), *must])

    order = ["English", "Yue", "amharic", "arabic", "Bengali", "Thai", "Zulu"]
    assert [verdict.name for verdict in report.verdicts] == order
    assert [each.language.language_name for each in report.details()] == order
    assert [each.language_name for each in report.languages()] == order


def test_both_spellings_of_a_family_are_one_family(make_report):
    rows = [
        language("Chinese", languageCode="zh", scriptFamily="cjk", output="水"),
        language("Japanese", languageCode="ja", scriptFamily="CJK", output="みず", passed=False),
        language("Korean", languageCode="ko", scriptFamily="Cjk", output="물이"),
        language("Hindi", languageCode="hi", scriptFamily="devanagari"),
        language("Marathi", languageCode="mr"),
        language("Klingon"),
    ]

    families = make_report(rows).families

    assert list(families) == ["CJK", "Devanagari", "unknown"]
    assert {status: count for status, count in families["CJK"].counts.items() if count} == {"CHECKED": 2, "FAIL": 1}
    assert families["CJK"].rate == pytest.approx(2 / 3)
    assert families["Devanagari"].languages == 2


def test_a_founding_file_has_a_full_priority_table_and_the_right_families(make_report):
    rows = [
        language("Chinese (Mandarin)", languageCode="zh", scriptFamily="cjk", priority="mustHave"),
        language("Cantonese", languageCode="yue", scriptFamily="cjk", priority="mustHave"),
        language("Spanish (Latin American)", languageCode="es-419", scriptFamily="latin", priority="mustHave"),
        language("English", languageCode="en", scriptFamily="latin", priority="mustHave"),
        language("Thai", languageCode="th", scriptFamily="thai", priority="standard"),
    ]
    report = make_report(rows)
    text = drawn(report)

    priority = text.split("### Priority Languages")[1].split("###")[0]
    assert [line.split(" | ")[0].removeprefix("| ") for line in priority.strip().splitlines()[2:]] == [
        "Cantonese",
        "Chinese (Mandarin)",
        "English",
        "Spanish (Latin American)",
    ]
    assert {name: each.languages for name, each in report.families.items()} == {"CJK": 2, "Latin": 2, "Thai": 1}
    assert "Binding" not in text
    assert "Device" not in text


def test_totals_and_intervals_are_those_of_scipy(make_report):
    rows = [language(f"L{number}", passed=number < 3) for number in range(7)]
    rows += [{"languageName": "empty", "prompts": []}, language("asked")]

    report = make_report(rows, quick=[{"languageName": "asked", "error": "timeout"}])

    found = report.totals.interval("CHECKED")
    assert (found.low, found.high) == pytest.approx(WILSON[3, 7], abs=1e-12)
    text = drawn(report)
    assert "Total languages tested: 8  \n" in text
    assert "Passed: 0 (0.0% of 7, 95% interval 0.0% to 35.4%)" in text
    assert "Checked: 3 (42.9% of 7, 95% interval 15.8% to 75.0%); language, grammar, meaning not judged" in text
    assert "Failed: 4 (57.1% of 7, 95% interval 25.0% to 84.2%), by the checks alone" in text
    assert "Unjudged: 1  \nSkipped: 1\n" in text
    made = json.loads(drawn(report, "json"))
    assert (made["passRate"], made["passRateInterval"]["low"]) == pytest.approx((3 / 7, WILSON[3, 7][0]))


def test_without_verdicts_there_is_no_rate(make_report):
    report = make_report([{"languageName": "empty", "prompts": []}])

    assert report.totals.interval("PASS") is None
    assert "Passed: 0  \n" in drawn(report)
    made = json.loads(drawn(report, "json"))
    assert (made["passRate"], made["passRateInterval"]) == (None, None)
    assert made["scriptFamilies"][0]["rate"] is None


def test_a_conflict_is_shown_and_counts_in_the_rates(make_report):
    from tests.verdicts.test_language_verdicts import HINDI

    rows = [{"languageName": "Marathi", "languageCode": "mr", "prompts": [{"generatedOutput": each} for each in HINDI]}]
    good = {"scriptScore": 5, "grammarScore": 5, "coherenceScore": 5, "isCorrectLanguage": True}

    report = make_report([*rows, language("Spanish", output="agua")], full=[{"languageName": "Marathi", **good}])

    text = drawn(report)
    assert "Checked: 1 (50.0%" in text
    assert "Conflict: 1 (50.0%" in text
    assert "| Devanagari | 1 | 0 | 0 | 0 | 1 | 0.0% | 0% to 79% |" in text, "a conflict is no failure in one table only"
    assert "| Marathi | CONFLICT | a judge passes it, but the language check identifies Hindi |" in text


def test_unused_rows_of_all_files_are_counted_and_the_first_named(make_report):
    bad = {"languageName": "Spanish", "prompts": [{"generatedOutput": "hola"}, *[7] * 30]}

    report = make_report([bad], quick=[7] * 25, full=["x"])

    assert report.skipped_rows == 30 + 25 + 1
    text = drawn(report)
    section = text.split("### Rows that could not be used")[1].split("##")[0].strip().splitlines()
    assert len(section) == 21
    assert section[-1] == "and 36 more"
    assert json.loads(drawn(report, "json"))["skippedRows"] == 56


def test_a_field_called_extra_does_not_stop_the_report(make_report):
    row = language("Spanish", extra=7)
    row["prompts"][0]["extra"] = "seven"

    report = make_report([row], full=[{"languageName": "Spanish", "extra": [7], "scriptScore": 5}])

    assert "### Spanish — UNJUDGED" in drawn(report)
    assert "Why: full: no grammar, coherence, answer about the language" in drawn(report)
    made = json.loads(drawn(report, "json"))
    assert (made["languageResults"][0]["extra"], made["languageResults"][0]["prompts"][0]["extra"]) == (7, "seven")
    assert made["judgeScores"][0]["extra"] == [7]


def test_an_unchecked_output_is_not_reported_as_right(make_report):
    row = {"languageName": "Klingon", "languageCode": "tlh", "priority": "mustHave"}

    report = make_report([{**row, "prompts": [{"sourceText": "hi", "generatedOutput": "blip"}]}])

    assert "| hi | blip | – | – |" in drawn(report)
    assert "| Klingon | – | – | – | – | UNJUDGED |" in drawn(report)
    assert "scriptValidationPassed" not in json.loads(drawn(report, "json"))["languageResults"][0]["prompts"][0]


def test_a_missing_script_check_is_filled_in(make_report):
    prompts = [{"generatedOutput": "¿Dónde está la estación?"}, {"generatedOutput": "где вокзал"}]

    report = make_report([{"languageName": "Spanish", "languageCode": "es", "prompts": prompts}])

    [row] = json.loads(drawn(report, "json"))["languageResults"]
    assert [each["scriptValidationPassed"] for each in row["prompts"]] == [True, False]


def test_a_report_can_be_rendered_repeatedly(make_report):
    report = make_report([language("Spanish"), language("Thai")])

    for form in FORMATS:
        assert drawn(report, form) == drawn(report, form)


def test_a_failure_comes_with_the_note_of_the_judge_that_fails_it(make_report):
    good = {"languageName": "Spanish", "scriptScore": 5, "grammarScore": 5, "coherenceScore": 5}

    report = make_report(
        [language("Spanish")],
        quick=[{**good, "notes": "all is well"}],
        full=[{**good, "coherenceScore": 1, "notes": "about something else"}],
    )

    assert "| Spanish | FAIL | full: coherence 1/5 | about something else |" in drawn(report)
