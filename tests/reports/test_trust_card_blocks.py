"""A rendered trust card is complete, and harmless with any content."""

import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from polyjudge.calibration.agreement import AgreementResult
from polyjudge.calibration.annotators import RaterPair
from polyjudge.calibration.matching import Matched
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import (
    ControlResult,
    CurvePoint,
    Effect,
    Figure,
    JudgeIdentity,
    LanguageTrust,
    MonotonicityResult,
    TrustCard,
)
from polyjudge.reports.agreement import agreement_blocks
from polyjudge.reports.blocks import markdown, plain_text
from polyjudge.reports.calibration import (
    agreement_table,
    effect_blocks,
    unnoticed_kinds,
)
from polyjudge.reports.severity_plots import card_plots, severity_plot
from polyjudge.reports.translation_formats import CARD_FORMATS
from polyjudge.statistics.resampling import MeanError
from polyjudge.verdicts.trust import figure_text

TABLE = language_table()
JUDGE = JudgeIdentity(provider="claude-code", model="opus", rubric="translation", rubric_fingerprint="0" * 16)
CURVE = tuple(CurvePoint(severity=each, score=Figure(1 - each, 0.9 - each, 1.1 - each)) for each in (0.0, 0.5, 1.0))
HOSTILE = [
    "</text><script>alert(1)</script>",
    'a" onload="alert(1)',
    "| a | b |",
    "[click](javascript:alert(1))",
    "\x1b[31mred\x1b[0m",
    "line\nanother\r\nthird",
    "\u202eevil\u202c",
    "# heading",
    "&lt;b&gt; & <!-- x --> ]]>",
    "`code` *bold* _it_ ~no~",
    "x" * 5000,
    "\x00\x07",
]


def kind(name="typos", verdict="reliable", **more):
    return MonotonicityResult(perturbation=name, texts=9, auc=Figure(0.9, 0.8, 1.0), verdict=verdict, **more)


def card(**more):
    return TrustCard(judge=JUDGE, updated_at="2026-01-02T03:04:05Z", polyjudge_version="1.2.3", **more)


def shown(of, format_="text"):
    return "".join(CARD_FORMATS[format_](of, TABLE))


FULL = card(
    languages={
        "th": LanguageTrust(verdict="reliable", perturbations={"typos": kind(), "loop": kind("loop", "unreliable")}),
        "hi": LanguageTrust(verdict="unreliable", discrimination=Figure(0.5, 0.4, 0.58)),
        "de": LanguageTrust(),
    },
    perturbations={"typos": kind(curve=CURVE), "loop": kind("loop", "unreliable")},
    controls={"nfc": ControlResult(control="nfc", texts=9, false_alarms=Figure(0.1, 0.0, 0.3), shift=Figure(0.0))},
    effects={
        "position": Effect(name="position", about="orders", size=Figure(0.9), count=8, sentence="It picks the first.")
    },
    agreement={"kappa": Figure(0.5, 0.4, 0.6)},
    labels=40,
)


def test_a_card_starts_with_where_the_judge_is_reliable():
    text = shown(FULL)

    assert text.startswith("Trust card of claude-code/opus, rubric translation\n")
    counts = "reliable in 1, unreliable in 1, not enough data in 1 of 3 languages"
    assert f"Calibration: {counts} (needs 9 texts per language)." in text
    assert "Notices: typos." in text
    assert "Does not notice: loop." in text
    assert "Unreliable in: Hindi (hi)." in text
    assert "by polyjudge 1.2.3" in text


@pytest.mark.parametrize("format_", ["text", "markdown"])
def test_a_card_shows_all_its_contents(format_):
    text = shown(FULL, format_)

    for part in (
        "Perturbations",
        "Controls",
        "Biases and stability",
        "Agreement with people",
        "By language",
    ):
        assert part in text
    for tag in ("th", "hi", "de"):
        assert f"({tag})" in text
    assert "It picks the first." in text


def test_an_empty_card_is_shown_without_empty_tables():
    text = shown(card())

    assert "By language" not in text
    assert "Trust card of" in text


def test_the_json_format_is_the_card_file():
    assert json.loads(shown(FULL, "json"))["languages"]["hi"]["verdict"] == "unreliable"


def test_unnoticed_kinds_are_those_that_a_judge_does_not_notice():
    assert unnoticed_kinds(FULL.languages["th"]) == ["loop"]
    assert unnoticed_kinds(LanguageTrust()) == []


@pytest.mark.parametrize(
    ("figure", "digits", "text"),
    [
        (Figure(), 2, "–"),
        (Figure(0.5), 2, "0.50"),
        (Figure(0.5, 0.25, 0.75), 2, "0.50 [0.25, 0.75]"),
        (Figure(0.12345, 0.1, 0.2), 3, "0.123 [0.100, 0.200]"),
        (Figure(0.0, 0.0, 0.0), 1, "0.0 [0.0, 0.0]"),
    ],
)
def test_a_figure_is_shown_with_its_interval(figure, digits, text):
    assert figure_text(figure, digits) == text


def test_zero_is_shown_without_a_minus():
    assert figure_text(Figure(-0.0, -0.001, 0.0)) == "0.00 [0.00, 0.00]"


def test_a_half_open_interval_is_shown_as_such():
    assert figure_text(Figure(0.5, 0.25, None)) != figure_text(Figure(0.5))


def test_an_unmeasured_kind_is_not_reported_as_never_noticed():
    unmeasured = MonotonicityResult(perturbation="typos", texts=0)

    assert "never" not in shown(card(perturbations={"typos": unmeasured}))


def test_long_lists_of_kinds_are_shortened_in_a_table():
    many = {f"kind_{number}": kind(f"kind_{number}", "unreliable") for number in range(10)}

    assert "kind 5 and 4 more" in shown(card(languages={"th": LanguageTrust(perturbations=many)}))


def test_undefined_measures_of_agreement_are_omitted():
    table = agreement_table({"all": (3, {"kappa": Figure(), "pearson": Figure(0.5)})})

    assert [row[0] for row in table.rows] == ["labels", "pearson"]


# Any content of a card is harmless


def hostile_card(text):
    result = kind(text, curve=CURVE)
    return TrustCard(
        judge=replace(JUDGE, provider=text, model=text, rubric=text),
        updated_at=text,
        polyjudge_version=text,
        languages={text: LanguageTrust(verdict="unreliable", perturbations={text: kind(text, "unreliable")})},
        perturbations={text: result},
        controls={text: ControlResult(control=text, texts=1)},
        effects={text: Effect(name=text, about=text, unit=text, sentence=text)},
        agreement={text: Figure(0.5)},
    )


def unsafe_signs(text):
    return re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066\u2067\u2069]", text)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("format_", ["text", "markdown"])
def test_no_text_of_a_card_acts_on_a_terminal(text, format_):
    assert unsafe_signs(shown(hostile_card(text), format_)) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_card_acts_in_markdown(text):
    made = shown(hostile_card(text), "markdown")
    bare = re.sub(r"\\[\\`*_\[\]<>|~&#]", "", made)

    assert not re.search(r"[<>`\[\]~&]", bare)
    for table in re.findall(r"(?:^\|.*\n)+", bare, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_card_makes_a_line_of_its_own(text):
    plain = shown(hostile_card("plain"), "markdown").count("\n")

    assert shown(hostile_card(text), "markdown").count("\n") == plain


@pytest.mark.parametrize("text", HOSTILE)
def test_effects_and_agreement_are_harmless_too(text):
    effects = {text: Effect(name=text, about=text, unit=text, sentence=text)}
    found = {"": (2, {"kappa": Figure(0.5)}), text: (2, {"kappa": Figure(0.5)}), f"{text}2": (1, {})}
    result = AgreementResult(
        matched=Matched((), (), 0, (), ("ann", text), 0.5),
        how="majority",
        found=found,
        parts={text: (2, {"kappa": Figure(0.5)})},
        means={"judge": MeanError(2, 0.5, 0.1)},
        between=(RaterPair("ann", text, 2, {"kappa": Figure(0.5)}),),
    )
    for blocks in (effect_blocks(effects), agreement_blocks(result, TABLE, people=True)):
        parts = list(blocks)
        assert unsafe_signs("".join(plain_text(parts))) == []
        assert not re.search(r"[<>`\[\]~&]", re.sub(r"\\[\\`*_\[\]<>|~&#]", "", "".join(markdown(parts))))


# Plots


def elements(drawing):
    root = ElementTree.fromstring(drawing)
    return root, [element.tag.rpartition("}")[2] for element in root.iter()]


def test_a_plot_is_well_formed_and_has_a_description():
    root, tags = elements(severity_plot(kind(curve=CURVE)))

    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert (tags.count("circle"), tags.count("polyline"), tags.count("polygon")) == (3, 1, 1)
    assert root.get("aria-label").startswith("typos: reliable. Mean score by severity: 0: 1.00, 0.5: 0.50")


def test_every_kind_with_a_curve_is_drawn():
    assert [name for name, _ in card_plots(FULL)] == ["typos"]


def test_a_curve_with_a_gap_is_drawn_without_it():
    gap = (CURVE[0], CurvePoint(severity=0.5, score=Figure()), CURVE[2])
    _, tags = elements(severity_plot(kind(curve=gap)))

    assert (tags.count("circle"), tags.count("polygon")) == (2, 1)


def test_a_curve_without_a_point_is_drawn_empty():
    elements(severity_plot(kind(curve=(CurvePoint(severity=0.0, score=Figure()),) * 2)))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2)), max_size=6))
def test_every_point_is_within_the_plot(points):
    curve = tuple(CurvePoint(severity=severity, score=Figure(*figure)) for severity, *figure in points)
    root, _ = elements(severity_plot(kind(curve=curve)))

    for circle in root.iter("{http://www.w3.org/2000/svg}circle"):
        assert 0 <= float(circle.get("cx")) <= 320
        assert 0 <= float(circle.get("cy")) <= 200


@pytest.mark.parametrize(
    "text", ["</text><script>alert(1)</script>", 'a" onload="alert(1)', "a & b", "<", "]]>&lt;\x00"]
)
def test_text_in_a_plot_is_escaped(text):
    root, tags = elements(severity_plot(kind(text, curve=CURVE)))

    assert "script" not in tags
    assert root.get("onload") is None
    assert text.replace("\x00", "")[:1] in root.get("aria-label")


def test_plots_of_a_foreign_card_stay_in_their_folder(tmp_path, capsys):
    from polyjudge.cli import main
    from polyjudge.store.trust_cards import update_card

    update_card(tmp_path / "card.json", lambda _: card(perturbations={"../outside": kind("typos", curve=CURVE)}))
    main(["calibrate", "card", str(tmp_path / "card.json"), "--plots", str(tmp_path / "plots")])
    capsys.readouterr()

    assert not (tmp_path / "outside.svg").exists()
