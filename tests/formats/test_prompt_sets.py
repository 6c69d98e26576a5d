"""Sets of prompts: shipped ones and the user's files."""

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


def test_a_users_file_is_read(in_folder):
    (in_folder / "own.toml").write_text(
        'name = "own"\ntemplate = "{text} in {language}!"\n'
        '[[prompts]]\ntext = "Hi {name}"\ncategory = "greetings"\nreference = "Salut {name}"\n',
        encoding="utf-8",
    )

    own = load_prompt_set("own.toml")

    assert own.prompts[0].reference == "Salut {name}"
    assert own.instruction("French", own.prompts[0].text) == "Hi {name} in French!"


@pytest.mark.parametrize("hostile", ["{language}", "{text}", "{}", "{0}", "{{", "%s", "\n\n", "$(rm -rf /)"])
def test_braces_in_a_text_are_not_placeholders(hostile):
    given = PromptSet("x", (), "Into {language}: {text} ({language})")

    assert given.instruction("Thai", hostile) == f"Into Thai: {hostile} (Thai)"


def test_a_placeholder_may_occur_more_than_once():
    assert PromptSet("x", (), "{text} = {text}?").instruction("Thai", "a{text}") == "a{text} = a{text}?"


@pytest.mark.parametrize(
    ("content", "error_message"),
    [
        (b'name = "x"\nprompts = []', "no prompts found; write a table [[prompts]] for each"),
        (b'name = "x"', "invalid prompt set"),
        (b'[[prompts]]\ntext = "a"', "invalid prompt set"),
        (b'name = "x"\n[[prompts]]\ntext = 7', "invalid prompt set"),
        (b'name = "x"\n[[prompts]]\nsource = "a"', "invalid prompt set"),
        (b'name = "x"\ntemplate = "translate"\n[[prompts]]\ntext = "a"', "the template must contain {text}"),
        (b"name = ", "not TOML"),
        (b"\xff\xfe", "not UTF-8 text"),
    ],
)
def test_an_invalid_file_is_an_error_with_the_reason(content, error_message, in_folder):
    (in_folder / "own.toml").write_bytes(content)

    with pytest.raises(DataError) as caught:
        load_prompt_set("own.toml")

    assert str(caught.value).startswith("own.toml: ")
    assert error_message in str(caught.value)


def test_a_missing_file_is_an_error(in_folder):
    with pytest.raises(DataError, match="none.toml: cannot be read"):
        load_prompt_set("none.toml")
    (in_folder / "folder").mkdir()
    with pytest.raises(DataError, match="folder: cannot be read"):
        load_prompt_set("folder")
