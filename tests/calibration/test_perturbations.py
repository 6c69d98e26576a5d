"""Properties of every perturbation, in every language of the shipped sample."""

import hashlib
import os
import subprocess
import sys
from functools import lru_cache
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.calibration.test_distance import textbook
from tests.folding import for_each

from polyjudge.calibration.edits import EditContext
from polyjudge.calibration.perturbations import (
    CONTROL_TYPES,
    PERTURBATION_TYPES,
    apply_perturbation,
    distance,
    neighbours_of,
    perturbation,
    perturbed_versions,
)
from polyjudge.errors import ConfigError, UnknownNameError
from polyjudge.languages.table import language_table
from polyjudge.text.difference import graphemes

EVERY = (*PERTURBATION_TYPES, *CONTROL_TYPES)
STEPS = [step / 20 for step in range(21)]
ALWAYS = [
    *("drop_letters", "drop_words", "repeat_words", "swap_letters", "swap_words", "shuffle_words", "typos", "truncate"),
    *("loop", "add_sentence", "other_text", "wrong_script", "zero_width", "bidi_marks", "white_space"),
]
"""Perturbations that apply to every text of several words in any language."""
MOVING_WORDS = ["drop_words", "repeat_words", "swap_words", "shuffle_words", "truncate", "loop", "drop_sentences"]


@lru_cache(maxsize=1)
def sample() -> dict[str, list[str]]:
    text = (files("polyjudge.formats") / "sample.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.split("\n")[1:] if line.strip()]
    return {tag: texts for tag, *texts in rows}


TAGS = [tag for tag in sample() if tag != "source"]


def case(tag: str, place: int) -> tuple[str, EditContext]:
    """Return a text of the sample and its context."""
    texts = sample()[tag]
    place %= len([text for text in texts if text])
    neighbour = next((sample()[each][place] for each in neighbours_of(tag) if each in sample()), "")
    others = tuple(text for text in texts if text and text != texts[place])
    return texts[place], EditContext(tag, sample()["source"][place], neighbour, others)


def cases() -> list[tuple[str, EditContext]]:
    return [case(tag, place) for place, tag in enumerate(TAGS)]


@pytest.mark.parametrize("kind", EVERY)
def test_severity_0_is_the_identity_and_the_distance_never_falls(kind):
    for text, context in cases():
        versions = perturbed_versions(text, kind, STEPS, 1, context)
        far = [distance(text, version) for version in versions]

        assert versions[0] == text
        assert far == sorted(far), (kind, text)
        assert (far[1] > 0) == (far[-1] > 0), "any severity above 0 does something where the last does"


@pytest.mark.parametrize("kind", EVERY)
def test_the_distance_never_falls_by_the_textbook_either(kind):
    for tag in ("de", "ar", "hi", "ja", "ko", "th", "ta"):
        text, context = case(tag, 4)
        signs = graphemes(text)
        versions = perturbed_versions(text, kind, STEPS[::4], 2, context)
        far = [textbook(signs, graphemes(version)) for version in versions]

        assert far == sorted(far), (kind, tag)


@for_each("tag", TAGS)
def test_perturbations_that_need_only_words_apply_in_every_language(tag):
    for place in range(3):
        text, context = case(tag, place)
        for kind in (*ALWAYS, "echo_source", "negate"):
            if kind != "echo_source" or text != context.source:
                assert apply_perturbation(text, kind, 0.05, 3, context) != text, kind


@for_each("tag", TAGS)
def test_no_cluster_is_split_when_words_move(tag):
    for place in range(2):
        text, context = case(tag, place)
        signs = {*graphemes(text), " "}
        for kind in MOVING_WORDS:
            for version in perturbed_versions(text, kind, [0.3, 0.7, 1], 4, context):
                assert set(graphemes(version)) <= signs, kind


@for_each("tag", TAGS)
def test_no_space_remains_where_words_were_dropped(tag):
    text, context = case(tag, 0)
    assert "  " not in text

    for version in perturbed_versions(text, "drop_words", STEPS, 5, context):
        assert "  " not in version
        assert version == version.strip()


@pytest.mark.parametrize("kind", EVERY)
def test_the_same_seed_gives_the_same_text_and_another_seed_often_another(kind):
    text, context = case("de", 3)
    others = {apply_perturbation(text, kind, 0.3, seed, context) for seed in range(6)}

    assert apply_perturbation(text, kind, 0.3, 0, context) == apply_perturbation(text, kind, 0.3, 0, context)
    if kind in ("drop_letters", "drop_words", "typos", "shuffle_words", "swap_letters", "zero_width", "homoglyphs"):
        assert len(others) == 6


@pytest.mark.parametrize("kind", EVERY)
def test_several_severities_at_once_give_the_same_as_each_alone(kind):
    text, context = case("hi", 2)
    alone = [apply_perturbation(text, kind, severity, 6, context) for severity in (0, 0.1, 0.55, 1)]

    assert perturbed_versions(text, kind, [0, 0.1, 0.55, 1], 6, context) == alone


GOLDEN = {
    "de": "8cfbb40d112bcd4d",
    "ar": "e666d7d225b72dbe",
    "hi": "a4daca321d2aa329",
    "ja": "ee14fdcddc21536f",
    "ko": "7875d266f0b68056",
    "th": "c211f3fbab8355ae",
}


def fingerprint(tag: str) -> str:
    text, context = case(tag, 3)
    versions = [version for kind in EVERY for version in perturbed_versions(text, kind, [0.25, 1], 7, context)]
    return hashlib.sha256("\n".join(versions).encode()).hexdigest()[:16]


@pytest.mark.parametrize("tag", GOLDEN)
def test_the_bytes_are_the_same_on_every_machine(tag):
    assert fingerprint(tag) == GOLDEN[tag]


def test_the_bytes_do_not_depend_on_the_hash_seed_of_python():
    program = (
        "from tests.calibration.test_perturbations import GOLDEN, fingerprint\n"
        "print(*[fingerprint(tag) for tag in GOLDEN])"
    )
    for seed in ("1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == list(GOLDEN.values())


@for_each("kind", EVERY)
@for_each("tag", ["en", "ar", "zh-Hans", "hi", "th"])
def test_placeholders_addresses_and_markup_are_kept(kind, tag):
    text, context = case(tag, 3)
    if kind in ("echo_source", "wrong_language", "other_text", "untranslated_span"):
        return
    for version in perturbed_versions(text, kind, STEPS[::4], 8, context):
        rest = version.replace("{name}", "").replace("https://example.org/tickets", "")
        assert "{" not in rest
        assert "://" not in rest


@pytest.mark.parametrize("severity", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_severity_off_the_scale_is_refused(severity):
    with pytest.raises(ConfigError, match="severity"):
        apply_perturbation("Text", "typos", severity)


def test_a_severity_just_above_0_does_something():
    assert apply_perturbation("One two three", "drop_words", 1e-12) != "One two three"


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="drop_words"):
        apply_perturbation("Text", "drop_wrods", 0.5)


def test_every_type_says_what_it_does_and_controls_are_found_too():
    assert len(PERTURBATION_TYPES) == len(set(PERTURBATION_TYPES)) >= 16
    assert not set(PERTURBATION_TYPES) & set(CONTROL_TYPES)
    assert all(perturbation(name).name == name and perturbation(name).about for name in EVERY)


@pytest.mark.parametrize(
    "kind", ["change_numbers", "change_dates", "negate", "add_sentence", "echo_source", "register"]
)
def test_a_text_that_a_perturbation_does_not_apply_to_is_unchanged(kind):
    text = "Nothing to be changed here"

    assert perturbed_versions(text, kind, [0, 0.5, 1]) == [text] * 3


ANY = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab .,!?1۲क्षि\u0301\u200d\u200c🇩🇪👩🏽🚀한국\u1100\u1161กำเ'\"\r\n{}<>\ufeff\ud800ßİ"),
        st.characters(),
    ),
    max_size=60,
)


@pytest.mark.parametrize("kind", EVERY)
@settings(max_examples=25)
@given(text=ANY, other=ANY, seed=st.integers(0, 3))
def test_the_properties_hold_for_any_text(kind, text, other, seed):
    context = EditContext("en", other, other, (other, "Another day. It rains."))
    versions = perturbed_versions(text, kind, STEPS[::2], seed, context)
    far = [distance(text, version) for version in versions]

    assert versions[0] == text
    assert far == sorted(far)
    assert (far[1] > 0) == (far[-1] > 0)


@for_each("kind", EVERY)
@for_each("text", ["", " ", "\n", "\u0301\u0301", "👩🏽‍🚀", "\ud800", "a", "..."])
def test_tiny_texts_are_accepted(kind, text):
    assert perturbed_versions(text, kind, [0], 0, EditContext("en", "x", "y", ("z",))) == [text]
    apply_perturbation(text, kind, 1, 0, EditContext("en", "x", "y", ("z",)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY)
def test_a_huge_text_is_accepted(kind):
    unit = "Im März 2024 kaufte John keine 25 Äpfel, sagt er. "
    for text in (unit * 400, "क्षत्रिय" * 2_500, "a" * 20_000, "最近的车站" * 4_000):
        context = EditContext("de", text[:1000], text[:500], (unit,))
        low, high = perturbed_versions(text, kind, [0.5, 1], 0, context)
        assert isinstance(low, str)
        assert isinstance(high, str)


@for_each("tag", [each.tag for each in language_table()])
def test_every_language_has_distinguishable_neighbours(tag):
    language, found = language_table().find(tag), neighbours_of(tag)

    assert language is not None
    assert found
    assert tag not in found
    for each in found:
        other = language_table().find(each)
        assert other is not None
        assert other.tag not in language.inseparable
        assert other.detector != language.detector or other.scripts != language.scripts


def test_an_unknown_tag_has_no_neighbours():
    assert neighbours_of("xx") == ()
    assert neighbours_of("nb")[0] == "da"
    assert neighbours_of("hi")[:2] == ("mr", "ne")


def test_a_number_that_is_not_a_word_is_joined_to_a_text():
    assert perturbed_versions("0\n1", "other_text", [0.5, 1], 0, EditContext("de", "x", "y", ("¼",))) == ["¼1", "¼"]
