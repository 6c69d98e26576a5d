"""A language is known by its tag, whichever way a table names it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.cli import main
from polyjudge.formats.items import read_items
from polyjudge.formats.ratings import RatingColumns, Ratings, each_rating
from polyjudge.formats.reference_texts import TextSource
from polyjudge.languages.table import LanguageTags, language_table

LANGUAGES = list(language_table())


@given(st.sampled_from(LANGUAGES))
def test_names_and_tags_of_a_language_become_its_tag(language):
    tags = LanguageTags()

    assert {tags[language.name], tags[language.name.upper()], tags[language.tag]} == {language.tag}


@pytest.mark.parametrize(
    "given_tag", ["", "fr", "pt-BR", "pt_BR", "de-AT", "sr-Latn", "xx", "Klingon", "fil", "ckb-IQ"]
)
def test_tags_and_unknown_words_are_kept(given_tag):
    assert LanguageTags()[given_tag] == given_tag


def test_a_short_name_is_no_tag():
    assert [LanguageTags()[name] for name in ("Lao", "lao", "Twi")] == ["lo", "lo", "Twi"]


def test_items_ratings_and_reference_texts_have_the_tag(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,language,text,score\n1,French,Bonjour,4\n2,français,Merci,5\n3,fr,Oui,3\n", encoding="utf-8")

    assert [item.language for item in read_items(path)] == ["fr"] * 3
    assert [item.context["language"] for item in read_items(path)] == ["French", "français", "fr"]
    assert [each.language for each in each_rating(path, RatingColumns(), Ratings())] == ["fr"] * 3
    assert [each.language for each in TextSource(path).read().texts] == ["fr"] * 3


def test_two_runs_that_name_languages_differently_are_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, word in (("a", "French"), ("b", "fr")):
        rows = "".join(f"{number},{word},text {number},{number % 5}\n" for number in range(30))
        (tmp_path / f"{name}.csv").write_text(f"id,language,text,score\n{rows}", encoding="utf-8")

    assert main(["compare", "a.csv", "b.csv", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["overall"]["counts"]["paired"] == 30
