"""Plural forms: those of CLDR, and those that PO files declare."""

import pytest
from babel import Locale
from babel.plural import to_gettext
from hypothesis import given
from hypothesis import strategies as st
from tests.folding import for_each

from polyjudge.catalogues.plural_rules import parse_rule
from polyjudge.catalogues.plurals import (
    CATEGORIES,
    integer_categories,
    is_exact_category,
    plural_categories,
    plural_category,
    plural_forms,
)
from polyjudge.languages.table import language_table

NUMBERS = [*range(250), *range(990, 1120), 10_000, 99_999, 100_000, 1_000_000, 1_000_001, 2_000_000, 12_345_678]
OWN_NAMES = {"no": "nb", "tl": "fil", "pt": "pt_PT", "pt-BR": "pt_BR", "es-419": "es_419", "yue": "yue_Hant"}


@for_each("language", [each.tag for each in language_table()])
def test_every_language_of_the_table_has_the_plural_forms_of_cldr(language):
    rule = Locale.parse(OWN_NAMES.get(language, language).replace("-", "_")).plural_form

    assert set(plural_categories(language)) == set(rule.tags) | {"other"}
    for number in NUMBERS:
        assert plural_category(language, number) == rule(number), number


def test_the_table_is_that_of_every_language_that_babel_knows():
    for language in ("br", "gd", "kw", "dsb", "eo", "fur", "gv", "sr-Latn", "de-AT"):
        rule = Locale.parse(language.replace("-", "_")).plural_form
        assert [plural_category(language, number) for number in NUMBERS] == [rule(number) for number in NUMBERS]
    assert plural_categories("xx") == ()
    assert plural_category("xx", 1) == ""


@for_each("language", ["ru", "pl", "ar", "lv", "ga", "br", "cy", "gv", "kw"])
def test_a_rule_of_gettext_is_evaluated_as_written(language):
    form = Locale.parse(language).plural_form
    header = to_gettext(form)
    count, _, rule = header.partition(";")
    order = [category for category in CATEGORIES if category in {*form.tags, "other"}]
    parsed = parse_rule(rule.strip().removeprefix("plural=").rstrip(";").replace("v", "0").replace("e", "0"))

    assert int(count.removeprefix("nplurals=")) == len(order)
    assert [order[parsed(number)] for number in NUMBERS] == [form(number) for number in NUMBERS]


EXPRESSIONS = st.recursive(
    st.one_of(st.just("n"), st.integers(0, 100).map(str)),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "==", "!=", "<", ">", "<=", ">="]), inner).map(
            lambda each: f"({' '.join(each)})"
        ),
        inner.map(lambda each: f"({each})"),
    ),
    max_leaves=8,
)


@given(EXPRESSIONS, st.integers(0, 1000))
def test_arithmetic_is_that_of_python(expression, n):
    assert parse_rule(expression)(n) == int(eval(expression, {"n": n}))  # the expression is made above


@for_each(
    ("expression", "value"),
    [
        ("1 + 2 * 3 - 4 / 2", 5),
        ("n % 10 == 3 && n != 13 || 0", 0),
        ("n > 12 ? n < 20 ? 7 : 8 : 9", 7),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("!n", 0),
        ("!!n + 1", 2),
        ("2 == 2 == 1", 1),
    ],
)
def test_operators_bind_as_in_c(expression, value):
    assert parse_rule(expression)(13) == value


@for_each(
    ("expression", "message"),
    [
        ("", "expected"),
        ("n +", "expected"),
        ("n n", "unexpected 'n'"),
        ("(n", "expected '\\)'"),
        ("n ? 1", "expected ':'"),
        ("__import__('os')", "unexpected"),
        ("n = 1", "unexpected '= 1'"),
        ("(" * 10_000, "too long"),
        ("(" * 100 + "n" + ")" * 100, "too deeply"),
        ("!" * 400 + "n", "too deeply"),
        ("n?1:" * 200 + "0", "too long"),
        ("x", "unexpected"),
    ],
)
def test_what_is_no_rule_is_refused(expression, message):
    with pytest.raises(ValueError, match=message):
        parse_rule(expression)


RUSSIAN = "n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"
POLISH = "n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2"
CZECH = "(n == 1 && n % 1 == 0) ? 0 : (n >= 2 && n <= 4) ? 1: (n % 1 != 0 ) ? 2 : 3"
ARABIC = "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5"


@for_each(
    ("language", "header", "categories"),
    [
        ("ru", f"nplurals=3; plural=({RUSSIAN});", "one few many"),
        ("sr", f"nplurals=3; plural={RUSSIAN}", "one few other"),
        ("ar", f"nplurals=6; plural={ARABIC};", "zero one two few many other"),
        ("pl", f"nplurals=3; plural=({POLISH});", "one few many"),
        ("pl", f"nplurals=4; plural=({POLISH});", "one few many other"),
        ("lv", "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);", "one other zero"),
        ("fr", "nplurals=2; plural=(n > 1);", "one other"),
        ("tr", "nplurals=2; plural=(n > 1);", "one other"),
        ("ja", "nplurals=1; plural=0;", "other"),
        ("ja", "nplurals=2; plural=n != 1;", "one other"),
        ("cs", f"nplurals=4; plural={CZECH};", "one few many other"),
        ("xx", "nplurals=2; plural=n != 1;", "one other"),
        ("xx", f"nplurals=3; plural={RUSSIAN};", "0 1 2"),
        ("de", f"nplurals=3; plural={RUSSIAN};", "0 1 2"),
    ],
)
def test_the_forms_of_a_header_get_the_categories_of_their_numbers(language, header, categories):
    assert [form.category for form in plural_forms(header, language)] == categories.split()


@for_each(
    "header",
    [f"nplurals={rule}" for rule in ("2", "2; plural=n;", "0; plural=0;", "99; plural=0;", "2; plural=n/0;")]
    + ["", "nplurals=2; plural=n %", "nplurals=1; plural=n-1;"],
)
def test_a_header_that_cannot_be_used_is_refused(header):
    with pytest.raises(ValueError, match="."):
        plural_forms(header, "de")


def test_forms_for_one_or_two_numbers_are_exact():
    exact = {
        language: [category for category in plural_categories(language) if is_exact_category(language, category)]
        for language in ("en", "ru", "fr", "ar", "pl", "he", "ga", "sl", "ja")
    }

    assert exact == {
        "en": ["one"],
        "ru": [],
        "fr": ["one"],
        "ar": ["zero", "one", "two"],
        "pl": ["one"],
        "he": ["one", "two"],
        "ga": ["one", "two"],
        "sl": [],
        "ja": [],
    }
    assert [form.is_exact for form in plural_forms(f"nplurals=3; plural={RUSSIAN};", "ru")] == [False, False, False]


def test_whole_numbers_do_not_have_every_category():
    assert integer_categories("ru") == ("one", "few", "many")
    assert integer_categories("fr") == ("one", "other")
    assert integer_categories("cs") == ("one", "few", "other")
