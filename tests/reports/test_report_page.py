"""The page of a report: its marks, links, counts and what comes first."""

import json
import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.checks.catalogue import known_findings
from polyjudge.languages.table import language_table
from polyjudge.records.findings import Finding
from polyjudge.reports.page_items import PageItem, items_of_a_group, left_out_note, marked, part_row
from polyjudge.reports.translation_figures import causes
from polyjudge.reports.translation_formats import FORMATS
from polyjudge.reports.wording import Commands
from polyjudge.text.difference import graphemes
from polyjudge.text.display import harmless

GOOD = {"scriptScore": 5, "grammarScore": 5, "coherenceScore": 5, "isCorrectLanguage": True}
GERMAN = "Entschuldigung, wo ist der nächste Bahnhof?"


def language(name, tag, *outputs, **more):
    prompts = [{"sourceText": "Where is the station?", "generatedOutput": each} for each in outputs]
    return {"languageName": name, "languageCode": tag, "prompts": prompts, **more}


def score(name, tag, *prompts, **more):
    return {"languageName": name, "languageCode": tag, **GOOD, "judge": "openai/x", "prompts": list(prompts), **more}


def page(report, commands=None):
    return "".join(FORMATS["html"](report, commands or Commands()))


def details(text):
    found = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    return [json.loads(each) for each in found]


def shown(text):
    return unescape(re.sub(r"<[^>]+>", "", text.partition("<script type=")[0]))


texts = st.text(st.sampled_from("ab कि é́👩🏽‍🚀مع\u202e\n"), max_size=40)


@given(texts, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12), st.sampled_from(["fail", "warn", "info"]))))
def test_marks_change_no_text_and_cover_whole_clusters(text, places):
    findings = [Finding("kind", severity, "m", start, start + length) for start, length, severity in places]

    pieces = marked(text, findings)
    assert "".join(piece[0] for piece in pieces) == harmless(text)
    ends, place = {0}, 0
    for cluster in graphemes(text):
        place += len(cluster)
        ends.add(place)
    escaped = {len(harmless(text[:end])) for end in ends}
    start = 0
    for piece in pieces:
        if len(piece) > 1:
            assert {start, start + len(piece[0])} <= escaped
        start += len(piece[0])


def test_of_overlapping_findings_the_more_severe_one_is_marked():
    findings = [Finding("a", "warn", "m", 0, 4), Finding("b", "fail", "m", 2, 6)]

    assert marked("abcdefgh", findings) == [["ab"], ["cdef", "critical", 2], ["gh"]]


def test_items_leave_out_what_is_empty_and_say_once_what_is_the_same():
    finding = Finding("model_note", "fail", "m")
    empty = PageItem(title="t", status="", output=" ", findings=[finding])
    part = part_row([PageItem(title="t", status="PASS", output="fine"), empty, empty])

    assert part["items"][0] == {"title": "t", "status": "PASS", "output": "fine"}
    assert part["items"][1:] == [{"title": "t", "output": "", "findings": [0]}] * 2
    [[style, kind, message, record]] = part["findings"]
    assert (style, kind, message) == ("critical", "model note", "m")
    assert "right in" in record


@pytest.fixture
def mixed(make_report):
    tags = [each.tag for each in language_table() if each.tag not in ("de", "ar", "th")][:14]
    failing = [language(f"Language {tag}", tag, "", "") for tag in tags]
    rows = [language("German", "de", GERMAN), language("Arabic", "ar", GERMAN), *failing]
    rows.append(language("Thai", "th", "", priority="must-have"))
    quick = [score("German", "de", {"index": 0, **GOOD, "notes": "quick words"})]
    full = [score("German", "de", {"index": 0, **GOOD, "notes": "full words", "raw": ""})]
    return make_report(rows, quick=quick, full=full)


def test_every_link_on_the_page_leads_somewhere_and_ids_are_unique(mixed):
    text = page(mixed)
    ids = re.findall(r'\sid="([^"]+)"', text)

    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(ids)


def test_the_page_needs_no_style_and_no_handler_of_its_elements(mixed):
    assert not re.search(r"<[^>]*\s(style|on\w+)=", page(mixed).partition("</style>")[2].partition("<script>")[0])


def test_with_many_failing_languages_must_have_ones_are_in_full_and_all_are_under_a_cause(mixed):
    text = page(mixed)
    attention = re.findall(r'<li class="row" id="a-([^"]+)"', text)
    causes = text.partition('<ul class="causes">')[2].partition("</ul>")[0]

    assert len(attention) == 12
    assert attention[0] == "th"
    assert len(re.findall("<a ", causes)) == 16
    assert "<b>15</b> nothing usable" in causes
    assert "4 more:" in shown(text)


def test_the_counts_under_the_bar_add_up(mixed):
    found = re.search(r"([\d +]+) = (\d+) languages", shown(page(mixed)))

    assert sum(map(int, found[1].split("+"))) == int(found[2]) == 17


def test_an_output_shows_both_judges_beside_each_other(mixed):
    place = next(index for index, each in enumerate(mixed.verdicts) if each.language == "de")
    part = next(each for each in details(page(mixed)) if each["tag"] == "de")
    judges = [part["verdicts"][number] for number in part["items"][0]["judges"]]

    assert mixed.verdicts[place].status == "PASS"
    assert [(name, words) for name, _, words in judges] == [("quick", "quick words"), ("full", "full words")]


def test_a_pass_without_a_card_and_a_check_without_a_judge_say_so_in_their_row(make_report):
    rows = [language("German", "de", GERMAN), language("French", "fr", "Où est la gare la plus proche ?")]
    text = page(make_report(rows, full=[score("German", "de", {"index": 0, **GOOD})]))

    assert "PASS (judge not calibrated)" in shown(text)
    assert "CHECKED (grammar, meaning not judged)" in shown(text)
    assert "PASS</span>" not in text.partition('id="map"')[2].partition("</table>")[0]


def test_every_kind_of_finding_that_can_fail_a_text_has_a_cause_and_a_next_step():
    named = {kind for cause in causes() for kind in cause.kinds}

    assert {kind for kind, known in known_findings().items() if known.severity == "fail"} <= named


def test_the_finding_behind_an_allowed_output_is_shown_without_opening_the_language(make_report):
    text = page(make_report([language("German", "de", *[GERMAN] * 5, "")]))
    allowed = text.partition("which the rule allows")[2].partition("</ul>")[0]

    assert "The text is empty." in allowed
    assert "1 of 6 failed: allowed" in allowed


def test_the_same_comment_in_most_outputs_is_said_beside_the_trust_in_the_judge(make_report):
    prompts = [{"index": index, **GOOD, "notes": "Natural."} for index in range(12)]
    report = make_report([language("German", "de", *[GERMAN] * 12)], full=[score("German", "de", *prompts)])

    assert "The same comment for 12 of 12 outputs: “Natural”." in shown(page(report))


def test_means_name_their_interval_and_number(make_report):
    prompts = [{"index": index, **GOOD, "grammarScore": value} for index, value in enumerate([5, 4, 3, 5])]
    given = score("German", "de", *prompts, grammarScore=3)
    text = page(make_report([language("German", "de", *[GERMAN] * 4)], full=[given]))

    assert "4.2 [2.7 to 5.0], n = 4" in shown(text)
    assert 'aria-label="grammar: mean 4.25, 95% interval [2.73 to 5.00], n = 4"' in text


def test_next_steps_are_the_commands_that_are_given(make_report):
    commands = Commands(judge_again="again {values}", judge="all", explain="why {values}")
    bad = {"index": 0, **GOOD, "coherenceScore": 1, "notes": "the opposite"}
    given = score("German", "de; rm", bad, coherenceScore=1, notes="the opposite")
    text = page(make_report([language("German", "de; rm", GERMAN)], full=[given]), commands)

    assert "again 'de; rm'" in shown(text)
    assert "why 'de; rm'" in shown(text)
    assert "the opposite" in shown(text)


def test_only_failures_lists_no_language_that_passes(make_report, tmp_path):
    from polyjudge.reports.translation_formats import report

    make_report([language("German", "de", GERMAN), language("Thai", "th", "")])
    made = report(tmp_path / "results.json", only_failures=True)

    assert [each["name"] for each in details(page(made))] == ["Thai"]
    assert re.findall(r'<tr role="row" id="lang-([^"]+)"', page(made)) == ["th"]
    assert "2 languages" in shown(page(made))
    markdown = "".join(FORMATS["markdown"](made))
    assert "### Thai — FAIL" in markdown
    assert "### German" not in markdown


def test_filters_select_languages_by_tag_name_or_priority(make_report, tmp_path):
    from polyjudge.errors import DataError
    from polyjudge.reports.translation_formats import report

    make_report([language("German", "de", GERMAN, priority="must-have"), language("Thai", "th", "")])
    for filters in ({"language": {"de"}}, {"language": {"German"}}, {"priority": {"must-have"}}):
        made = report(tmp_path / "results.json", filters={name: frozenset(each) for name, each in filters.items()})
        assert [verdict.language for verdict in made.verdicts] == ["de"]
    with pytest.raises(DataError, match="after filtering"):
        report(tmp_path / "results.json", filters={"language": frozenset(["xx"])})


def test_a_page_of_a_million_items_shows_some_of_each_group_and_says_so():
    assert items_of_a_group(100_000, 70) == 100_000
    assert items_of_a_group(1_000_000, 70) == 1428
    assert items_of_a_group(1_000_000, 5_000) == 50
    assert left_out_note(1428, 14_286) == "The first 1,428 of 14,286, those that fail first. A filter shows others."
    assert left_out_note(14_286, 14_286) == ""
    assert left_out_note(100_000, 14) == ""
