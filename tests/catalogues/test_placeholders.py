"""Placeholders by their syntax, and how those of a translation may differ from those of its source."""

from hypothesis import given
from hypothesis import strategies as st
from tests.folding import for_each

from polyjudge.catalogues.placeholders import compare_placeholders, placeholders


@for_each(
    ("syntax", "text", "names"),
    [
        ("printf", "%1$s %-5.2f %% %'d %hs %zu %i %*d %.*f", "1$s f d hs zd d *d *f"),
        ("printf", "100 % de 5%", ""),
        ("python", "%(name)s %d %% %(count)3d %(a b)s", "name:s d count:d a b:s"),
        ("brace", "{0} {name!r:>10} {{x}} {} {a.b[0]} {n:,d} {no name} ${home}", "0 name  a.b[0] n $home"),
        ("icu", "{n} {a, number, ::x} '{q}' it''s {d, date, {x}}", "n a d"),
        ("icu", "{n, plural, offset:1 =0 {no {what}} one {# {a}} other {{b} '#'}}", "n what a b"),
        ("ruby", "%{name} %<n>02d %% %s", "%{name} %{n}"),
        ("fluent", '{ $name }{ -brand } { DATE($d, month: "long") } {a.b} { "{" }', "$name -brand DATE($d) a.b"),
        ("fluent", '{ -b(case: "x") }', "-b"),
        ("apple", "%@ %1$@ %lld %ld %#@name@ %2$#@b@ %arg %u%%", "@ 1$@ d d #@name@ 2$#@b@ arg d"),
        ("i18next", "{{name}} {{- b, format}} $t(key) $t(k, {\"a\": 1}) {single}", "{{name}} {{b}} $t(key) $t(k)"),
        ("qt", "%1 %L2 %n %Ln %%1 100%", "%1 %2 %n %n %1"),
        ("template", "$NAME$ $user$ $1 $$ 5 $", "$NAME$ $USER$ $1"),
    ],
)  # fmt: skip
def test_the_placeholders_of_a_syntax(syntax, text, names):
    found = placeholders(text, (syntax,))

    assert " ".join(each.name for each in found) == names
    if "#" not in text or syntax != "icu":
        assert all(text[each.start : each.end] == each.text for each in found if "…" not in each.text)


@for_each(
    ("text", "found"),
    [
        ("100% sure of 50%d and 20 % de", []),
        (
            "%s %1$d %(a)s %{b} {c} {{d}} $E$ %count% %2 ${f}",
            ["%s", "%1$d", "%(a)s", "%{b}", "{c}", "{{d}}", "$E$", "%count%", "%2", "${f}"],
        ),
        ("Costs $5 or {not this} {} _", ["{}"]),
        ("{{num}} unnamed {[plural(num) one: author, other: authors ]}", ["{{num}}"]),
        ("%d%% of %lld%%", ["%d", "%lld"]),
        ("نسخهٔ %s از {app}", ["%s", "{app}"]),
    ],
)
def test_without_a_known_syntax_any_is_looked_for(text, found):
    assert [each.text for each in placeholders(text)] == found


@for_each(
    ("syntaxes", "source", "translation"),
    [
        (("printf",), "%s has %d", "%2$d hat %1$s"),
        (("printf",), "%1$s has %2$d", "%s hat %d"),
        (("printf",), "%d of %'d", "%'d von %i"),
        (("printf",), "%5.1f%%", "%.2f %%"),
        (("printf",), "%s %s", "%s %s"),
        (("python",), "%(a)s %(b)d", "%(b)d %(a)s"),
        (("brace",), "{a} of {b:.2f}", "{b} von {a!s}"),
        (("brace",), "{0} {1}", "{1} {0}"),
        (
            ("icu",),
            "{n, plural, one {# of {a}} other {# of {a}}}",
            "{n, plural, one {# {a}} few {# {a}} other {# {a}}}",
        ),
        (("fluent",), "{ $a }", "{$a}"),
        (("apple",), "%ld %@", "%2$@ %1$d"),
        (("i18next",), "{{ a }}", "{{a}}"),
        (("qt",), "%1 %2", "%L2 %1"),
        (("template",), "$USER$", "$user$"),
        (("qt",), "More than 10% of %1", "%1 içinde %10 oranından fazla"),
        ((), "100% of %s", "100 % von %s"),
        ((), "{a} and %s", "%s und {a}"),
        ((), "no placeholder", "100 % {so nicht}"),
    ],
)
def test_what_may_differ_is_no_difference(syntaxes, source, translation):
    assert compare_placeholders(source, translation, syntaxes) == []


@for_each(
    ("syntaxes", "source", "translation", "found"),
    [
        (("printf",), "%s has %d", "%d hat %s", ["reordered %d"]),
        (("printf",), "%s has %d", "hat %s", ["missing %d"]),
        (("printf",), "%s", "%d", ["missing %s", "extra %d"]),
        (("printf",), "%s", "%s %s", ["extra %s"]),
        (("printf",), "%1$s %2$d", "%1$s %2$s", ["missing %2$d", "extra %2$s"]),
        (("printf",), "%s %d", "%1$s %d", ["broken %d"]),
        (("printf",), "%ld", "%d", ["missing %ld", "extra %d"]),
        (("printf",), "%d%%", "%d%", ["broken %"]),
        (("printf",), "%s", "% s", ["broken %", "missing %s"]),
        (("python",), "%(name)s", "%(nom)s", ["missing %(name)s", "extra %(nom)s"]),
        (("python",), "%(name)s", "%(name)", ["broken %", "missing %(name)s"]),
        (("brace",), "{name}", "{nom}", ["missing {name}", "extra {nom}"]),
        (("brace",), "{name}", "{name", ["broken {", "missing {name}"]),
        (("brace",), "{} {}", "{}", ["missing {}"]),
        (("brace",), "{a}", "{a} {a}", ["count {a}"]),
        (("icu",), "{n, plural, other {#}}", "{n, plural, other {#}", ["broken }"]),
        (("icu",), "{n} {a}", "{n} a}", ["broken }"]),
        (("fluent",), "{ $a }", "{ $b }", ["missing { $a }", "extra { $b }"]),
        (("i18next",), "{{a}}", "{a}", ["broken {", "missing {{a}}"]),
        (("qt",), "%1 of %2", "%1 von %3", ["missing %2", "extra %3"]),
        (("template",), "$USER$", "USER", ["missing $USER$"]),
        ((), "{{a}}", "{a}", ["missing {{a}}", "extra {a}"]),
        ((), "%{a}", "{a}", ["missing %{a}", "extra {a}"]),
        ((), "%s", "％s", ["missing %s"]),
    ],
)  # fmt: skip
def test_what_differs_is_found(syntaxes, source, translation, found):
    compared = compare_placeholders(source, translation, syntaxes)

    assert [f"{each.kind} {each.text}" for each in compared] == found
    for each in compared:
        if each.start is not None:
            assert translation[each.start : each.end] == each.text


@for_each(
    ("source", "translation", "is_fine"),
    [
        ("%d files", "Eine Datei", True),
        ("%d files in %s", "Eine Datei in %s", True),
        ("%d files in %s", "%d Datei", False),
        ("%1$d files in %2$s", "Eine Datei in %2$s", True),
        ("One file", "%d Datei", True),
        ("{count} files in {name}", "Eine Datei in {name}", True),
        ("{count} files in {name}", "Eine Datei", False),
    ],
)
def test_a_form_for_one_number_may_leave_it_out(source, translation, is_fine):
    found = compare_placeholders(source, translation, is_exact=True)

    assert (not [each for each in found if each.kind in ("missing", "extra")]) is is_fine


TEXTS = st.text(st.sampled_from(list("%${}()[]'#@ abcdis12.,|:!n-")), max_size=60)
SYNTAXES = st.lists(
    st.sampled_from(["printf", "python", "brace", "icu", "ruby", "fluent", "apple", "i18next", "qt", "template"]),
    max_size=2,
    unique=True,
)


@given(TEXTS, SYNTAXES)
def test_a_text_differs_from_itself_in_nothing(text, syntaxes):
    found = compare_placeholders(text, text, syntaxes)

    assert [each for each in found if each.kind != "broken"] == []
    assert not found or "icu" in syntaxes or "$" in text


@given(TEXTS, TEXTS, SYNTAXES)
def test_any_texts_can_be_compared(source, translation, syntaxes):
    for each in compare_placeholders(source, translation, syntaxes):
        if each.start is not None and "icu" not in syntaxes:
            assert translation[each.start : each.end] == each.text


def test_long_texts_of_signs_are_compared():
    for sign in (
        "{",
        "%",
        "{{",
        "$",
        "%(",
        "{a,",
        "${a[",
        "%{",
        "{-a(",
        "$t(",
        "'{",
        "{n, plural, other {",
        "{ $a",
        "$A",
    ):
        text = sign * 10_000
        compare_placeholders(text, text[:-1])
        for syntax in ("brace", "icu", "fluent", "i18next", "printf", "python", "apple", "ruby", "template"):
            compare_placeholders(text, text[:-1], (syntax,))
