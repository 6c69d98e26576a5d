"""Controls change nothing that a reader sees: the folded text is the same."""

import re
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.calibration.test_perturbations import TAGS, case
from tests.folding import for_each

from polyjudge.calibration.perturbations import CONTROL_TYPES, apply_perturbation, perturbed_versions

_QUOTES = str.maketrans(dict.fromkeys("“”„‟", '"') | dict.fromkeys("‘’‚‛", "'"))


def folded(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text).translate(_QUOTES)).strip()


@for_each("tag", TAGS)
def test_a_control_does_not_change_the_folded_text(tag):
    for place in range(4):
        text, context = case(tag, place)
        for kind in CONTROL_TYPES:
            for version in perturbed_versions(text, kind, [0.3, 1], 1, context):
                assert folded(version) == folded(text)


@settings(max_examples=100)
@given(st.text(alphabet="aé e\u0301\"'“’ {}क़가\u1100\u1161한\u00a0\n", max_size=40), st.sampled_from(CONTROL_TYPES))
def test_a_control_does_not_change_any_folded_text(text, kind):
    assert folded(apply_perturbation(text, kind, 1)) == folded(text)


def test_all_places_are_changed_at_severity_1():
    assert apply_perturbation("é ö", "nfd", 1) == unicodedata.normalize("NFD", "é ö")
    assert apply_perturbation("e\u0301 o\u0308", "nfc", 1) == "é ö"
    assert apply_perturbation('"It\'s"', "quotes", 1) == "“It’s”"
    assert apply_perturbation("“It’s”", "quotes", 1) == '"It\'s"'
    assert apply_perturbation("a b", "white_space", 1).endswith(" ")


def test_white_space_does_not_split_words_written_without_spaces():
    assert apply_perturbation("最近的车站在哪里？", "white_space", 1) == "最近的车站在哪里？ "
