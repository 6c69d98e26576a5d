"""Columns are recognised by their names; what the options name comes first."""

import string
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.errors import MissingColumnError
from polyjudge.formats.column_search import columns_of, known_names
from polyjudge.formats.columns import ROLES, table_options
from polyjudge.languages.table import language_table

PATH = Path("table.csv")
NAMES = [(role, name) for role, names in known_names().items() for name in names]
OTHER = st.text(string.ascii_lowercase, min_size=1, max_size=6).map("zz".__add__)
"""Names that are no known ones."""


def found(*names, rows=(), **options):
    """Return the columns of a table with these names."""
    return columns_of(PATH, rows or [dict.fromkeys(names, "text")], table_options(**options))


def written(name, style):
    """Return a name as people write it at the head of a column."""
    words = name.split()
    return {
        "snake": "_".join(words),
        "kebab": "-".join(words),
        "camel": words[0] + "".join(word.capitalize() for word in words[1:]),
        "title": " ".join(word.capitalize() for word in words),
        "upper": "_".join(words).upper(),
        "marked": f"\ufeff {name} ",
    }[style]


@pytest.mark.parametrize("style", ["snake", "kebab", "camel", "title", "upper", "marked"])
def test_a_known_name_is_recognised_however_it_is_written(style):
    # Words that are joined by capitals are split in Latin script only.
    for role, name in NAMES if style != "camel" else [(role, name) for role, name in NAMES if name.isascii()]:
        column = written(name, style)
        assert column in found(column, "zz").columns.values(), (role, column)


@given(st.permutations(["Reply", "Question", "Locale", "Rating", "UUID"]), st.lists(OTHER, unique=True, max_size=5))
def test_the_order_of_columns_and_other_columns_change_nothing(names, others):
    expected = {"candidate": "Reply", "source": "Question", "language": "Locale", "label": "Rating", "id": "UUID"}

    assert dict(found(*others, *names).columns) == expected
    assert dict(found(*names, *others).columns) == expected


@given(st.lists(st.sampled_from([name for _, name in NAMES]), unique=True, min_size=1, max_size=8))
def test_a_column_has_one_role_and_a_role_one_column(names):
    columns = found(*names).columns

    assert len(set(columns.values())) == len(columns)
    assert set(columns.values()) <= set(names)


@given(st.sampled_from(ROLES), st.lists(st.sampled_from([name for _, name in NAMES]), unique=True, max_size=6))
def test_a_column_with_the_name_of_a_role_has_this_role(role, others):
    assert found(*others, role).columns.get(role, role) == role


@given(st.lists(OTHER, unique=True, min_size=1, max_size=6), st.data())
def test_what_the_options_name_comes_before_recognised_names(names, data):
    chosen = data.draw(st.sampled_from(names))

    assert found("output", *names, columns={"candidate": chosen}).columns["candidate"] == chosen


HEADERS = {
    "Kennung;Sprache;Quelle;Antwort;Referenz;Punktzahl": "id language source candidate reference score",
    "identifiant;langue;texte source;traduction;traduction de référence": "id language source candidate reference",
    "identificador;idioma;pregunta;RESPUESTA;respuesta esperada": "id language source candidate reference",
    "idioma;pergunta;Tradução;referência;pontuação": "language source candidate reference score",
    "lingua;domanda;risposta;punteggio": "language source candidate score",
    "taal;brontekst;vertaling;referentie": "language source candidate reference",
    "Język;Tekst źródłowy;Tłumaczenie": "language source candidate",
    "Язык;Вопрос;Ответ;Эталон;Балл": "language source candidate reference score",
    "Dil;Soru;Yanıt;Puan": "language source candidate score",
    "言語;原文;訳文;参照訳;スコア": "language source candidate reference score",
    "编号;语言;原文;译文;参考译文;得分": "id language source candidate reference score",
    "언어;원문;번역;정답;점수": "language source candidate reference score",
    "اللغة;النص الأصلي;الترجمة;الدرجة": "language source candidate score",
    "traduccion;codigo de idioma;ＩＤ": "candidate language id",
    "Nummer;Antwort;Bemerkung": " candidate ",
}


@pytest.mark.parametrize("header", HEADERS)
def test_columns_are_recognised_in_the_languages_of_spreadsheets(header):
    names = header.split(";")
    roles = HEADERS[header].split(" ")

    assert dict(found(*names).columns) == {role: name for role, name in zip(roles, names, strict=True) if role}


def test_a_name_in_another_language_has_one_role_and_is_no_language():
    roles = Counter(name for names in known_names().values() for name in set(names))
    shared = {"text", "target text", "target", "answer"}  # which of two roles they have depends on the other columns

    assert {name for name, count in roles.items() if count > 1} == shared
    assert not [name for name in roles if len(name) > 3 and language_table().find("", name)]


def test_a_text_beside_a_target_is_a_source():
    assert dict(found("source", "target").columns) == {"candidate": "target", "source": "source"}
    assert dict(found("output", "target").columns) == {"candidate": "output", "reference": "target"}
    assert dict(found("text", "translation").columns) == {"candidate": "translation", "source": "text"}


@pytest.mark.parametrize(
    ("names", "targets", "source"),
    [
        (["key", "English", "French", "German"], {"fr": "French", "de": "German"}, "English"),
        (["en", "pt-BR", "zh_Hans"], {"pt-BR": "pt-BR", "zh-Hans": "zh_Hans"}, "en"),
        (["source", "fr"], {"fr": "fr"}, "source"),
    ],
)
def test_columns_that_are_languages_make_a_wide_table(names, targets, source):
    columns = found(*names)

    assert (dict(columns.targets), columns.columns["source"]) == (targets, source)


def test_a_table_with_candidates_is_not_wide():
    assert not found("candidate", "fr", "de", "en").targets


def test_languages_that_the_options_name_are_the_only_ones():
    assert dict(found("en", "fr", "de", targets={"fr": "fr"}).targets) == {"fr": "fr"}


def test_values_inside_objects_are_found_by_their_names():
    rows = [{"meta": {"lang": "fr"}, "output": {"text": "Bonjour"}}]

    assert dict(found(rows=rows).columns) == {"candidate": "output.text", "language": "meta.lang"}


def test_values_inside_json_text_are_found_only_if_they_are_named():
    rows = [{"logged": '{"output": "Bonjour"}'}]

    assert not found(rows=rows).columns
    assert found(rows=rows, columns={"candidate": "logged.output"}).columns == {"candidate": "logged.output"}


def test_columns_may_be_named_by_position_or_without_regard_to_case():
    assert found("A", "B", columns={"candidate": "2"}).columns["candidate"] == "B"
    assert found("My Reply", columns={"candidate": "my_reply"}).columns["candidate"] == "My Reply"


def test_a_column_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(MissingColumnError, match="no column 'Antwort' for candidate. Found: A, B"):
        found("A", "B", columns={"candidate": "Antwort"})


def test_an_item_is_an_id_only_where_there_is_no_other_and_no_text():
    assert found("item", "annotator", "label").columns["id"] == "item"
    assert found("item", "id", "label").columns["id"] == "id"
    for text in ("candidate", "source", "reference"):
        assert "id" not in found("item", text, "label").columns
    assert "id" not in found("item", "label", columns={"id": ""}).columns


def test_an_empty_column_leaves_a_role_out():
    assert found("id", "output", columns={"id": ""}).columns == {"candidate": "output"}
    assert found("id", "output", columns={"id": ""}).makes_ids


def test_without_a_header_nothing_is_recognised():
    assert not found("1", "2", rows=[{"1": "output", "2": "source"}], header=False).columns
    assert found("1", "2", columns={"candidate": "2"}, header=False).columns == {"candidate": "2"}
