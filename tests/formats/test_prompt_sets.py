"""Sets of prompts: shipped, or a file of one's own."""

import pytest

from polyjudge.errors import DataError, UnknownNameError
from polyjudge.formats.prompt_sets import PromptSet, load_prompt_set, prompt_set_names

CATEGORIES = {"directions", "food", "emergencies", "greetings", "prices", "basics"}


def test_the_shipped_set_has_the_founding_categories():
    assert prompt_set_names() == ["travel"]
    travel = load_prompt_set("travel")
    assert {prompt.category for prompt in travel.prompts} == CATEGORIES
    assert all(prompt.text.strip() for prompt in travel.prompts)
    assert len({prompt.text for prompt in travel.prompts}) == len(travel.prompts)


def test_an_unknown_name_lists_the_known_ones(in_folder):
    with pytest.raises(UnknownNameError, match="Unknown prompt set: travl. Available: travel. Did you mean 'travel'"):
        load_prompt_set("travl")


def test_a_file_of_ones_own_is_read(in_folder):
    (in_folder / "own.toml").write_text(
        'name = "own"\ntemplate = "{text} in {language}!"\n'
        '[[prompts]]\ntext = "Hi {name}"\ncategory = "greetings"\nreference = "Salut {name}"\n',
        encoding="utf-8",
    )

    own = load_prompt_set("own.toml")

    assert own.prompts[0].reference == "Salut {name}"
    assert own.instruction("French", own.prompts[0].text) == "Hi {name} in French!"


@pytest.mark.parametrize("hostile", ["{language}", "{text}", "{}", "{0}", "{{", "%s", "\n\n", "$(rm -rf /)"])
def test_braces_in_a_text_are_text(hostile):
    given = PromptSet("x", (), "Into {language}: {text} ({language})")

    assert given.instruction("Thai", hostile) == f"Into Thai: {hostile} (Thai)"


def test_a_place_may_stand_more_than_once():
    assert PromptSet("x", (), "{text} = {text}?").instruction("Thai", "a{text}") == "a{text} = a{text}?"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'name = "x"\nprompts = []', "holds no prompts"),
        (b'name = "x"', "is no set of prompts"),
        (b'[[prompts]]\ntext = "a"', "is no set of prompts"),
        (b'name = "x"\n[[prompts]]\ntext = 7', "is no set of prompts"),
        (b'name = "x"\n[[prompts]]\nsource = "a"', "is no set of prompts"),
        (b'name = "x"\ntemplate = "translate"\n[[prompts]]\ntext = "a"', "the template has no {text}"),
        (b"name = ", "is not TOML"),
        (b"\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_set_is_named_with_what_is_wrong(content, told, in_folder):
    (in_folder / "own.toml").write_bytes(content)

    with pytest.raises(DataError) as caught:
        load_prompt_set("own.toml")

    assert str(caught.value).startswith("own.toml: ")
    assert told in str(caught.value)


def test_a_file_that_is_not_there_is_an_error_of_the_file(in_folder):
    with pytest.raises(DataError, match="none.toml: cannot be read"):
        load_prompt_set("none.toml")
    (in_folder / "folder").mkdir()
    with pytest.raises(DataError, match="folder: cannot be read"):
        load_prompt_set("folder")
