"""What must survive a translation: numbers, placeholders, markup, addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.checks.preservation import lost_parts
from polyjudge.records.findings import Finding
from polyjudge.text.segments import URL, prose

ANY_TEXT = st.text(alphabet=st.characters())
NEARLY = st.text(alphabet=st.sampled_from(" 0123456789.,'٬٫٣१๕五{}%$sd<>/b@aw:p"), max_size=60)
"""Texts made of what numbers, placeholders and addresses are made of."""


def lost(text: str, source: str) -> list[Finding]:
    return list(lost_parts(text, source))


def kinds(text: str, source: str) -> set[str]:
    return {problem.kind for problem in lost(text, source)}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("It costs 25 euros", "Es kostet 25 Euro"),
        ("It costs 25 euros", "إنه يكلف ٢٥ يورو"),
        ("It costs 25 euros", "قیمت آن ۲۵ یورو است"),
        ("It costs 25 euros", "इसकी कीमत २५ यूरो है"),
        ("It costs 25 euros", "ราคา ๒๕ ยูโร"),
        ("It costs 25 euros", "価格は２５ユーロです"),
        ("It costs 25 euros", "২৫ ইউরো"),
        ("Population 1,234.5", "Bevölkerung 1.234,5"),
        ("Population 1,234.5", "Population 1 234,5"),
        ("Population 1,234.5", "Population 1\u202f234,5"),
        ("Population 1,234.5", "Bevölkerung 1'234.5"),
        ("Population 1,234.5", "السكان ١٬٢٣٤٫٥"),
        ("Population 1,234,567", "जनसंख्या 12,34,567"),
        ("Population 1,234,567", "人口１，２３４，５６７"),
        ("Population 12345", "12 345 habitants"),
        ("It is $5.00", "5 Dollar"),
        ("It is $5.00", "5,00 $"),
        ("Only 0.500 kg", "nur 0,5 kg"),
        ("Room 007", "Zimmer 7"),
        ("At 7:55", "um 7.55 Uhr"),
        ("At 7.55am", "à 7 h 55"),
        ("On 12/05/2024", "am 12.5.2024"),
        ("On 2024-05-12", "12.05.2024"),
        ("The train leaves at 3:30 pm", "Der Zug fährt um 15.30 Uhr"),
        ("Der Zug fährt um 15:30 Uhr", "The train leaves at 3:30 p.m."),
        ("Call +1 555-123-4567", "Rufen Sie +1 (555) 123 4567 an"),
        ("In 2020 300 people came", "300 Menschen kamen 2020"),
        ("More than 30,000 people", "Больше 30 тысяч человек"),
        ("More than 30,000 people", "30 mindən çox insan"),
        ("The house costs 50,000 yen", "その家は5万円です"),
        ("20.4 million people", "2040万人"),
        ("649 million people", "6.49億人"),
        ("3 million people", "300만 명"),
        ("1.5 million people", "1 500 000 Menschen"),
        ("I have 3 children", "Tengo tres hijos"),
        ("I have 12 apples", "我有十二个苹果"),
        ("Chapter 1 and 2", "Kapitel eins und zwei"),
        ("No number", "Nowhere"),
        ("100% sure", "100 % sicher"),
        ("100% sure", "%100 emin"),
    ],
)
def test_a_number_is_the_same_however_a_language_writes_it(source, text):
    assert not {"number_lost", "number_changed"} & kinds(text, source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("It costs 25 euros", "Es kostet 52 Euro"),
        ("It costs 25 euros", "إنه يكلف ٢٤ يورو"),
        ("Population 1,234.5", "Bevölkerung 12.345"),
        ("It costs 30,000 dollars", "Cuesta 30 dólares"),
        ("It is 1.5 km", "Es sind 15 km"),
        ("At 3:30 pm", "um 16.30 Uhr"),
        ("I have 3 children", "Tengo 4 hijos"),
        ("Call 112", "Rufen Sie 911 an"),
        ("In 2018", "在2019年"),
    ],
)
def test_another_number_in_its_place_fails(source, text):
    [problem] = [problem for problem in lost(text, source) if problem.kind.startswith("number")]

    assert (problem.kind, problem.severity) == ("number_changed", "fail")


def test_a_number_that_is_missing_may_be_written_in_words_and_is_a_warning():
    [problem] = lost("Es kostet fünfundzwanzig Euro", "It costs 25 euros")

    assert (problem.kind, problem.severity) == ("number_lost", "warn")


def test_a_number_in_an_address_a_placeholder_or_a_tag_is_no_number_of_the_text():
    source = "See https://example.org/2024 and %1$s <h2>here</h2>"

    assert lost("Siehe https://example.org/2024 und %1$s <h2>hier</h2>", source) == []


@pytest.mark.parametrize(
    "part", ["{name}", "{{x}}", "{{ user.name }}", "{0}", "{}", "%s", "%d", "%1$s", "%.2f", "%(n)s", "%@", "${x}"]
)
def test_a_placeholder_must_stay_as_it_is(part):
    source = f"Hello {part}, welcome"

    assert lost(f"你好{part}，欢迎", source) == []
    assert lost(f"{part}さん、ようこそ", source) == []
    assert kinds("Hallo, willkommen", source) == {"placeholder_lost"}
    assert kinds(f"Hallo {part} {part}", source) == {"placeholder_lost"}


@pytest.mark.parametrize(
    ("source", "text"),
    [("Hello {name}", "Hallo {Name}"), ("Hello {name}", "Привет, {имя}"), ("Hello %s", "Hallo % s"), ("{{x}}", "{x}")],
)
def test_a_placeholder_that_was_translated_or_broken_is_lost(source, text):
    assert "placeholder_lost" in kinds(text, source)


def test_a_placeholder_that_the_source_does_not_have_is_reported():
    assert kinds("Hallo {name}", "Hello") == {"placeholder_lost"}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("100% sure", "hundert Prozent sicher, 100%"),
        ("Get 50% discount", "50% de descuento"),
        ("Get 50% discount", "%50 indirim"),
        ("50% of it", "50%"),
        ("a < b and c > d", "a ist kleiner als b, c größer als d"),
        ("if x<3", "wenn x kleiner als 3"),
        ("1 <2> 3", "1 2 3"),
        ("a set { of, things }", "eine Menge"),
        ("I <3 you", "Ich liebe dich, 3"),
    ],
)
def test_signs_of_prose_are_neither_placeholders_nor_markup(source, text):
    assert kinds(text, source) <= {"number_lost", "number_changed"}
    assert not any(problem.severity == "fail" for problem in lost(text, source))


@pytest.mark.parametrize(
    ("source", "text", "found"),
    [
        ("Press <b>Start</b>", "Drücken Sie <b>Start</b>", set()),
        ("Press <b>Start</b>", "<B>スタート</B>を押す", set()),
        ("One<br>two", "Eins<br />zwei", set()),
        ('<a href="/x" title="Home">x</a>', '<a href="/x" title="Zuhause">x</a>', set()),
        ("Press <b>Start</b>", "Drücken Sie Start", {"markup_lost"}),
        ("Press <b>Start</b>", "Drücken Sie <b>Start", {"markup_lost"}),
        ("Press <b>Start</b>", "Drücken Sie < b >Start< / b >", {"markup_lost"}),
        ("<p>a</p><p>b</p>", "<p>a b</p>", {"markup_lost"}),
    ],
)
def test_markup_is_kept_by_name(source, text, found):
    assert kinds(text, source) == found


@pytest.mark.parametrize(
    "template",
    [
        "Siehe {}.",
        "Siehe {}!",
        "({})",
        "「{}」をご覧ください",
        "请访问{}购买",
        "请访问{}。",
        "ดูที่ {}นะ",
        "{}을 보세요",
        "देखें {}।",
        "انظر {}؟",
        "مراجعه کنید به {}، لطفاً",
        "Δείτε «{}»;",
        "ይመልከቱ {}።",
        "សូមមើល {}។",
        "{}, {{0}}",
    ],
)
@pytest.mark.parametrize(
    "part", ["https://example.org/tickets", "http://a.b/?q=1&r=x_y#z", "www.example.org", "a.b+c@example.co.uk"]
)
def test_an_address_is_found_whatever_stands_beside_it(template, part):
    text = template.format(part)

    assert URL.findall(text) == [part]
    assert "url_lost" not in kinds(text, f"See {part}.")


@pytest.mark.parametrize("text", ["Siehe hier", "Siehe https://example.org/", "https://example.org/fahrkarten"])
def test_an_address_that_changed_is_lost(text):
    assert "url_lost" in kinds(text, "See https://example.org/tickets.")


@given(ANY_TEXT, ANY_TEXT)
def test_any_texts_can_be_compared(text, source):
    assert all(problem.start is None for problem in lost_parts(text, source))


@given(NEARLY, NEARLY)
def test_texts_that_nearly_hold_numbers_and_placeholders_can_be_compared(text, source):
    list(lost_parts(text, source))


@given(st.one_of(ANY_TEXT, NEARLY))
def test_a_text_has_lost_nothing_of_itself(text):
    assert lost(text, text) == []


@given(st.one_of(ANY_TEXT, NEARLY))
def test_prose_keeps_the_place_of_every_letter(text):
    plain = prose(text)

    assert len(plain) == len(text)
    assert all(now in (letter, " ") for now, letter in zip(plain, text, strict=True))


def test_a_number_of_thousands_of_digits_is_but_a_number():
    assert kinds("Null", "9" * 10_000) == {"number_lost"}
    assert lost("9" * 10_000, "9" * 10_000) == []


@pytest.mark.parametrize(
    "part", ["a", "a@", "a.-", "www.", "http://", "{{", "<a ", "%(", "1,22,", "1 234,", "1,", "[.", "<<", "\n", " "]
)
def test_a_great_length_of_beginnings_that_never_end_is_gone_through_once(part):
    """With a pattern that looks back at what it has seen this would not end within a day."""
    text = part * (300_000 // len(part))

    assert len(prose(text)) == len(text)
    list(lost_parts(text, "Nothing of the kind: 1"))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("The crash happened at 10:15.", "L’accident s’est produit à 10h15."),
        ("Come at 9.30 pm.", "晩の9時半に来てください。"),
        ("Do 12.6.2023 platí.", "Діє до 12 червня 2023 року."),
        ("It fell by 4.25-.35.", "Es fiel um 4,25-0,35."),
        ("Come at 14:00.", "Kommen Sie um 14 Uhr."),
        ("A 20-degree difference.", "Ein Unterschied von 11 Grad."),
        ("A poll of 2013.", "การสำรวจปี 2556"),
        ("It took 90 nautical miles.", "Es waren 167 Kilometer."),
    ],
)
def test_clocks_calendars_and_units_of_other_countries_change_no_number(source, text):
    assert "number_changed" not in {problem.kind for problem in lost_parts(text, source)}


def test_a_mention_that_was_changed_is_a_warning():
    found = [(problem.kind, problem.severity) for problem in lost_parts("Danke @anna_nutzer!", "Thanks @anna_user!")]

    assert found == [("mention_lost", "warn")]
    assert list(lost_parts("＠anna_userに感謝！", "Thanks @anna_user!")) == []


def test_an_address_and_a_tag_that_the_source_lacks_are_found():
    added = lost_parts("Siehe https://example.org/x.", "See there.")
    tagged = lost_parts("<translation>Siehe dort.</translation>", "See there.")

    assert [problem.kind for problem in added] == ["url_added"]
    assert {problem.kind for problem in tagged} == {"markup_added"}
    assert list(lost_parts("Anna <anna@example.org>", "translator-credits")) == []
