"""The instructions of rubrics in other words."""

from string import Formatter

import pytest

from polyjudge.rubrics.loading import check_rubric, load_rubric, rubric_names
from polyjudge.rubrics.prompts import render_prompt, rubric_fingerprint
from polyjudge.rubrics.rewording import reworded, rewordings


@pytest.mark.parametrize("name", rubric_names())
def test_each_wording_of_each_rubric_asks_the_same_in_other_words(name: str) -> None:
    rubric = load_rubric(name)
    others = [reworded(rubric, words) for words in rewordings()]
    for other in others:
        check_rubric(other)
        assert (other.criteria, other.scale, other.flags, other.passing, other.spans) == (
            *(rubric.criteria, rubric.scale, rubric.flags, rubric.passing, rubric.spans),
        )
        places = [[place for _, place, _, _ in Formatter().parse(each.instruction)] for each in (rubric, other)]
        assert [each for each in places[0] if each] == [each for each in places[1] if each]
    prints = {rubric_fingerprint(each) for each in (rubric, *others)}
    assert len(prints) == len(others) + 1


def test_every_phrase_that_is_replaced_stands_in_a_shipped_rubric() -> None:
    instructions = "\n".join(load_rubric(name).instruction for name in rubric_names())
    for words in rewordings():
        assert words.phrases
        for phrase, other in words.phrases.items():
            assert phrase in instructions
            assert phrase != other


def test_judged_text_is_never_reworded() -> None:
    rubric = reworded(load_rubric("general"), rewordings()[0])
    phrase = next(iter(rewordings()[0].phrases))
    assert render_prompt(rubric, phrase).count(phrase) == 1
