"""Descriptions of translators: what is accepted, and what is refused before anything is sent."""

from pathlib import Path

import pytest

from polyjudge.errors import DataError, MalformedResponseError, UnknownNameError
from polyjudge.languages.table import language_table
from polyjudge.providers.translator_descriptions import (
    filled,
    language_code,
    read_description,
    shipped_translator,
    translations_in,
    translator_names,
)

GOOD = {
    "url": '"https://mt.example/{target_lang}/translate"',
    "answer": '"text"',
    "variables": '["KEY"]',
    "headers": '{X-Key = "{KEY}"}',
    "json": '{q = "{text}", to = "{target_lang}"}',
}


def read(**changed):
    lines = [f"{name} = {value}" for name, value in {**GOOD, **changed}.items() if value]
    return read_description("\n".join(lines).encode(), Path("own.toml"))


def test_a_good_description_is_read():
    assert read().used_variables == ("KEY",)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"url": '"https://{target_lang}.example/"'}, "url must be https://host/path"),
        ({"url": '"https://{KEY}/x"'}, "url must be https://host/path"),
        ({"url": '"https://user:word@mt.example/"'}, "url must be"),
        ({"url": '"https://mt.example/?q={text}"'}, "url must be"),
        ({"url": '"file:///etc/passwd"'}, "url must be"),
        ({"url": '"https://mt.example/{text}"'}, "{text} is not allowed in url"),
        ({"url": '"https://mt.example/{KEY}"'}, "{KEY} is not allowed in url"),
        ({"headers": '{X-Text = "{text}"}'}, "{text} is not allowed in a header"),
        ({"headers": '{X-To = "{target_lang}"}'}, "{target_lang} is not allowed in a header"),
        ({"headers": '{Host = "evil.example"}'}, "the header 'Host' is not allowed in a description"),
        ({"headers": '{"X: a\\r\\nY" = "b"}'}, "is not allowed in a description"),
        ({"json": '{q = "{text}", k = "{OTHER}"}'}, "{OTHER} is not allowed in a value; variables must be listed"),
        ({"json": '{q = "x"}'}, "{text} is missing"),
        ({"form": '{q = "{text}"}'}, "give one of"),
        ({"method": '"GET"'}, "a GET request has neither"),
        ({"method": '"DELETE"'}, "method"),
        ({"answer": '"a..b"'}, "answer must be a path"),
        ({"answer": '"a[x]"'}, "answer must be a path"),
        ({"answer": '""'}, "answer must be a path"),
        ({"answer": ""}, "answer"),
        ({"texts_per_call": "5"}, "texts_per_call needs a list"),
        ({"texts_per_call": "5", "json": '{q = ["{text}"]}'}, "texts_per_call needs a list"),
        ({"colour": '"red"'}, "colour"),
        ({"json": "{q = "}, "not TOML"),
    ],
)
def test_a_description_that_cannot_work_or_is_not_safe_is_refused_with_its_file(changed, message):
    with pytest.raises(DataError) as caught:
        read(**changed)

    assert message in str(caught.value)
    assert str(caught.value).startswith("own.toml: ")


def test_placeholders_inside_a_value_are_not_filled_again():
    values = {"text": "{K} {text} {source_lang}", "K": "secret", "source_lang": "en"}

    assert filled("<{text}|{source_lang}>", values) == "<{K} {text} {source_lang}|en>"
    assert filled("{text} {MISSING}", values) is None


@pytest.mark.parametrize(
    ("data", "answer", "found"),
    [
        ({"a": "x"}, "a", ["x"]),
        ({"a": [{"b": "x"}, {"b": "y"}]}, "a[].b", ["x", "y"]),
        ({"a": [{"b": "x"}, {"b": "y"}]}, "a[1].b", ["y"]),
        ([{"t": [{"text": "x"}]}, {"t": [{"text": "y"}]}], "[].t[0].text", ["x", "y"]),
        (["x", "y"], "[]", ["x", "y"]),
    ],
)
def test_a_translation_is_found_by_its_path(data, answer, found):
    assert translations_in(data, answer) == found


@pytest.mark.parametrize(
    ("data", "answer"),
    [("text", "a"), ("text", "[0]"), ({"a": "text"}, "a[0]"), ([], "[]"), ({"a": []}, "a[5]"), ({"a": None}, "a"),
     ({"a": 1}, "a"), ({"0": "x"}, "[0]"), (["x"], "0"), ({"a": ["x", 5]}, "a[]")],
)  # fmt: skip
def test_what_is_no_text_is_malformed(data, answer):
    with pytest.raises(MalformedResponseError, match="there is no text at"):
        translations_in(data, answer)


def test_every_known_language_has_a_code_for_every_service():
    for name in translator_names():
        description, _ = shipped_translator(name)
        for language in language_table():
            for is_target in (True, False):
                assert language_code(description, language.tag, is_target=is_target)


def test_no_shipped_description_puts_a_variable_where_logs_show_it():
    for name in translator_names():
        description, _ = shipped_translator(name)
        assert not any("{" in value and value.strip("{}").isupper() for value in description.query.values())
        assert description.url.startswith("https://") or "127.0.0.1" in description.url


def test_an_unknown_name_suggests_the_right_one():
    with pytest.raises(UnknownNameError, match="Did you mean 'deepl'"):
        shipped_translator("depl")


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "http-translators.md"


def test_the_guide_names_every_service_with_its_variables():
    guide = GUIDE.read_text(encoding="utf-8")
    for name in translator_names():
        description, _ = shipped_translator(name)
        assert all(f"`{each}`" in guide for each in (name, *description.used_variables))


def test_the_description_in_the_guide_is_a_good_one():
    block = GUIDE.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    description = read_description(block.encode(), Path("my-service.toml"))

    assert description.used_variables == ("MT_KEY", "MT_DOMAIN", "MT_URL")
    assert translations_in({"result": {"translations": [{"text": "x"}]}}, description.answer) == ["x"]
