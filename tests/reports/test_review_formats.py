"""A review as text, JSON, annotations of GitHub, SARIF and JUnit XML."""

import json
import re
from collections import Counter
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len
from tests.conftest import TEXTS
from tests.folding import for_each
from tests.reports.reviews import FINDINGS, HOSTILE, REVIEW, REVIEWS, finding, hostile_review, language

from polyjudge.errors import DataError
from polyjudge.records.codec import schema
from polyjudge.records.messages import Review
from polyjudge.reports.review_formats import REVIEW_FORMATS, read_review, render_review
from polyjudge.reports.review_wording import excerpt, headline
from polyjudge.reports.wording import plain
from polyjudge.text.difference import graphemes

ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067]")
"""What acts on a terminal; a first strong isolate is our own."""


def many(count, severity="fail"):
    return [replace(FINDINGS[0], line=number, key=f"k{number}", severity=severity) for number in range(1, count + 1)]


TWO = (language("de", "German"), language("fr", "French"))


def said(*, findings=(), languages=TWO, **more):
    return plain(headline(Review(findings=tuple(findings), languages=tuple(languages), **more)))


def test_the_headline_answers_in_one_sentence():
    warned = [replace(each, severity="warn") for each in FINDINGS[:1]]
    judged = [language("de", "German", judged=100), language("fr", "French", judged=90, unjudged=10)]

    assert said() == "The checks found no fault in 200 messages in 2 languages; no judge looked at the meaning."
    assert (
        said(languages=judged[:1], judge="m") == "Yes. Checks and judge found no fault in 100 messages in 1 language."
    )
    assert said(languages=judged, judge="m") == (
        "No fault in 200 messages in 2 languages, but 10 messages without a verdict."
    )
    assert said(findings=FINDINGS) == "Not yet. 3 findings fail in 2 of 2 languages; 3 more are milder."
    assert said(findings=warned) == "Nothing fails, but a person should look at 1 finding in 1 of 2 languages."
    assert said(findings=warned, fail_on="warn").startswith("Not yet. 1 finding fails in 1 of 2 languages.")
    assert said(findings=FINDINGS, fail_on="never").startswith("A person should look at 5 findings")
    assert said(languages=(), since="main") == "Nothing was reviewed: no message changed since main."


def test_text_has_one_line_for_each_finding_and_its_texts_once():
    lines = render_review(REVIEW, "text").splitlines()

    assert lines[0] == "locale/ar/app.po:12: FAIL placeholder_lost (ar) greeting: The placeholder {name} is missing."
    assert lines[1].startswith("locale/ar/app.po:12: WARN doubled_punctuation (ar) greeting: ")
    assert lines[2] == "    source:      Hello {name}, welcome back!"
    assert lines[3] == "    translation: \u2068مرحبًا {اسم}، أهلاً بعودتك!!\u2069"
    assert lines[4] == "    placeholder_lost: right in 98% of cases on WMT24; finding 00000000000c"
    assert sum("Hello {name}" in line for line in lines) == 1
    assert "    better:      ออกจากระบบ" in lines
    assert "locale/ar/app.po:40: FAIL plural_missing (ar) files [few]: plural_missing in ar." in lines
    assert "2 messages could not be judged:" in lines
    assert lines[-1] == "Not yet. 3 findings fail in 2 of 5 languages; 3 more are milder."


def test_the_columns_of_the_table_fit_a_terminal_and_stand_below_one_another():
    lines = render_review(REVIEW, "text", width=80).splitlines()
    table = [line for line in lines if re.match(r"(Language|Arabic|Japanese|All languages) ", line)]

    assert len(table) == 4
    assert all(line.endswith(("Unjudged", "2", "0")) for line in table)
    assert {cell_len(line) for line in table} == {cell_len(table[0])}
    assert cell_len(table[0]) <= 80


LONG = {name: f"{text} " * 40 + "MARK" + f" {text}" * 40 for name, text in TEXTS.items()}


@for_each("name", sorted(LONG))
def test_texts_fit_the_width_with_the_place_in_sight_and_no_grapheme_cut(name):
    text = LONG[name]
    found = finding("a.po", 1, "k", name, "x", "fail", text, text, "MARK")
    review = Review(findings=(found,), languages=())
    whole = set(graphemes(text))

    for width in (40, 80, 120):
        lines = render_review(review, "text", width=width).splitlines()
        texts = [line for line in lines if line.startswith("    ") and ": " in line]
        assert len(texts) == 2
        assert all(cell_len(line.strip("\u2068\u2069")) <= width for line in texts), texts
        assert "MARK" in texts[1]
        shown = texts[1].partition(":")[2].strip(" …\u2068\u2069")
        assert set(graphemes(shown.replace("…", ""))) <= whole


@given(st.text(max_size=80), st.integers(0, 80), st.integers(0, 80), st.integers(4, 90))
@example("👩🏽‍🚀🇲🇳 é̂ क्षत्रिय", 1, 2, 5)
@example("abc", 0, 3, 4)
def test_an_excerpt_marks_whole_graphemes_and_has_at_most_so_many(text, start, end, longest):
    pieces = excerpt(text, longest, start, end)
    marks = [piece for piece, is_marked in pieces if is_marked]

    assert len(marks) <= 1
    assert bool(marks) == (0 <= start < min(end, len(text)))
    if marks and len(text) <= longest:
        before = "".join(piece for piece, _ in pieces[: [marked for _, marked in pieces].index(True)])
        assert not before.startswith("…")
    if text.isascii() and text.isprintable():
        assert sum(len(piece) for piece, _ in pieces) <= longest + 2
        if marks and end - start <= longest:
            assert marks[0] == " ".join(f"x{text[start:end]}x".split())[1:-1]


@settings(max_examples=60)
@given(REVIEWS, st.sampled_from(REVIEW_FORMATS), st.none() | st.integers(20, 200))
def test_every_format_renders_every_review_without_characters_that_act(review, form, width):
    text = render_review(review, form, width=width)

    assert not ACTING.search(text)
    text.encode()


@settings(max_examples=40)
@given(REVIEWS)
def test_json_fits_its_schema_and_is_read_back(tmp_path_factory, review):
    path = tmp_path_factory.getbasetemp() / "review.json"
    path.write_text(render_review(review, "json"), encoding="utf-8")

    jsonschema.Draft202012Validator(schema("localisation-review")).validate(
        json.loads(path.read_text(encoding="utf-8"))
    )
    assert read_review(path) == review


def test_json_has_the_fields_that_programs_rely_on():
    [first, *_] = json.loads(render_review(REVIEW, "json"))["findings"]

    assert {key: first[key] for key in ("file", "line", "key", "language", "severity", "kind", "fingerprint")} == {
        "file": "locale/ar/app.po",
        "line": 12,
        "key": "greeting",
        "language": "ar",
        "severity": "fail",
        "kind": "placeholder_lost",
        "fingerprint": "00000000000c",
    }
    assert {"check", "message", "source", "translation", "start", "end", "plural", "matters", "record"} < set(first)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "not a review of localisation files"),
        ('{"schemaVersion": 1, "kind": "polyjudge run report"}', "not a review of localisation files"),
        ('{"schemaVersion": 2, "kind": "polyjudge localisation review"}', "another version"),
        ('{"schemaVersion": 1, "kind": "polyjudge localisation review"}', "'findings' is missing"),
    ],
)
def test_what_is_no_stored_review_is_refused_with_its_path(tmp_path, content, message):
    path = tmp_path / "review.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(DataError, match=message) as error:
        read_review(path)
    assert error.value.path == path


COMMAND = re.compile(r"::(error|warning|notice)(?: ([^:]*))?::(.*)")


def commands(text):
    """Return the workflow commands as GitHub's runner reads them: it decodes what it shows."""
    found = []
    for line in text.split("\n"):
        match = COMMAND.fullmatch(line)
        if match:
            properties = dict(each.split("=", 1) for each in (match[2] or "").split(",") if each)
            properties = {key: decoded(value, also=True) for key, value in properties.items()}
            found.append((match[1], properties, decoded(match[3])))
        else:
            assert not line.startswith("::") or re.match(r"::(group::.*|endgroup::)$", line), line
        assert "##[" not in line
    return found


def decoded(text, *, also=False):
    for code, sign in (("%3A", ":"), ("%2C", ",")) if also else ():
        text = text.replace(code, sign)
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def test_annotations_name_file_line_and_what_is_wrong():
    [first, *_] = commands(render_review(REVIEW, "github"))

    assert first == (
        "error",
        {"file": "locale/ar/app.po", "line": "12", "title": "placeholder lost (ar)"},
        "The placeholder {name} is missing.\nThe program shows a wrong text.\nKey: greeting\n"
        "Source: Hello {name}, welcome back!\nTranslation: مرحبًا {اسم}، أهلاً بعودتك!!",
    )


@for_each("path", ["a,b:c/100%25 d.po", "./x  y.po", "%0A::error::.po"])
def test_the_path_of_an_annotation_is_read_back_exactly(path):
    review = Review(findings=(replace(FINDINGS[0], file=path),), languages=())

    [(_, properties, _)] = commands(render_review(review, "github"))

    assert properties["file"] == path.removeprefix("./")


@settings(max_examples=40)
@given(REVIEWS)
@example(hostile_review())
@example(hostile_review(["x\n::error::y.po"]))
def test_no_text_starts_a_command_of_the_runner(review):
    texts = commands(render_review(review, "github"))
    text = render_review(review, "text")

    assert len(texts) <= len(review.findings) + 3
    assert not any(line.startswith("::") for line in text.split("\n"))
    assert "##[" not in text


def test_only_as_many_annotations_are_written_as_github_shows_the_worst_first():
    review = Review(findings=(*many(12, "info"), *many(30, "warn"), *many(11)), languages=())
    text = render_review(review, "github")
    found = commands(text)

    assert Counter(level for level, _, _ in found) == {"error": 10, "warning": 10, "notice": 10}
    assert [level for level, _, _ in found] == ["error"] * 10 + ["warning"] * 10 + ["notice"] * 10
    assert found[-1][2] == "1 error, 20 warnings and 3 notices more: GitHub shows only 10 of each a step."
    assert len(re.findall(r"(?m)^locale/ar/app\.po:", text)) == 24


def sarif(review):
    [run] = json.loads(render_review(review, "sarif"))["runs"]
    return run


def test_sarif_has_rules_levels_places_and_suppressions():
    run = sarif(REVIEW)
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    first = run["results"][0]

    assert [run["tool"]["driver"]["rules"][each["ruleIndex"]]["id"] for each in run["results"]] == [
        each["ruleId"] for each in run["results"]
    ]
    assert "placeholder" in rules["placeholder_lost"]["fullDescription"]["text"].casefold()
    assert [each["level"] for each in run["results"]] == ["error"] * 3 + ["warning"] * 2 + ["note", "warning"]
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "locale/ar/app.po", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 12},
    }
    assert first["partialFingerprints"]["polyjudge/v1"] == "00000000000c"
    assert [bool(each.get("suppressions")) for each in run["results"]] == [False] * 6 + [True]
    assert run["results"][-1]["suppressions"][0]["justification"] == "The brand is written in Latin letters."
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [note["descriptor"]["id"] for note in notes] == ["unjudged", "unjudged", "not_reviewed"]


@for_each(
    ("path", "uri"),
    [
        ("./locale/de at.po", "locale/de%20at.po"),
        ("a:b/ü%.po", "a%3Ab/%C3%BC%25.po"),
        ("/tmp/x#y?.po", "file:///tmp/x%23y%3F.po"),
        ("../x.po", "../x.po"),
        (b"latin-\xfc.po".decode("utf-8", "surrogateescape"), "latin-%FC.po"),
    ],
)
def test_places_are_percent_encoded_uris(path, uri):
    [result] = sarif(Review(findings=(replace(FINDINGS[0], file=path),), languages=()))["results"]

    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
    assert unquote(uri, errors="surrogateescape").removeprefix("file://") == path.removeprefix("./")


def test_equal_texts_in_one_file_have_alerts_of_their_own_that_do_not_depend_on_lines():
    twice = (FINDINGS[0], replace(FINDINGS[0], line=90))
    moved = tuple(replace(each, line=each.line + 5) for each in twice)

    names = [
        [
            each["partialFingerprints"]["primaryLocationLineHash"]
            for each in sarif(Review(findings=each, languages=()))["results"]
        ]
        for each in (twice, moved)
    ]

    assert names == [["00000000000c:1", "00000000000c:2"]] * 2


def test_no_text_of_sarif_is_a_link():
    text = render_review(hostile_review(), "sarif")

    assert "](" not in "".join(re.findall(r'"text": "(.*)"', text))


def test_junit_has_a_suite_for_each_language_and_file_and_counts_that_add_up():
    root = ElementTree.fromstring(render_review(REVIEW, "junit"))
    suites = {suite.get("name"): suite for suite in root}
    arabic = suites["Arabic (ar): locale/ar/app.po"]

    assert dict(arabic.items()) == {
        "name": "Arabic (ar): locale/ar/app.po",
        "tests": "5",
        "failures": "2",
        "errors": "0",
        "skipped": "2",
    }
    [failure] = arabic.findall("testcase[@name='greeting: placeholder lost']/failure")
    assert failure.get("message") == "The placeholder {name} is missing."
    assert "translation: مرحبًا" in failure.text
    assert sum(int(suite.get("failures")) for suite in root) == 3
    assert suites["Danish (da)"].find("testcase").get("name") == "100 messages reviewed"


def test_junit_fails_what_fails_the_review():
    root = ElementTree.fromstring(render_review(replace(REVIEW, fail_on="warn"), "junit"))
    none = ElementTree.fromstring(render_review(replace(REVIEW, fail_on="never"), "junit"))

    assert sum(int(suite.get("failures")) for suite in root) == 5
    assert sum(int(suite.get("failures")) for suite in none) == 0


@settings(max_examples=40)
@given(REVIEWS)
@example(hostile_review())
def test_junit_is_well_formed_for_any_text_and_its_cases_have_names_of_their_own(review):
    root = ElementTree.fromstring(render_review(review, "junit").encode())

    cases = [(suite.get("name"), case.get("name")) for suite in root for case in suite.iter("testcase")]
    assert len(cases) == len(review.findings) + len(review.unjudged) + len(review.languages)


def test_hostile_texts_are_shown_and_not_lost():
    for form in ("text", "json", "sarif", "github", "junit", "comment", "html"):
        text = render_review(hostile_review(), form)
        assert all(word in text for word in ("octocat", "onerror", "injected", "txt.exe")), form
    assert HOSTILE
