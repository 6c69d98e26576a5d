"""Any text becomes a distinct file name that stays in its folder, on every file system."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import TEXTS

from polyjudge.files.names import safe_name, safe_names

FORMS = ["NFC", "NFD", "NFKC", "NFKD"]
LONGEST_ENDING = ".prompt_b.json.partial"
DEVICES = ["con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³")]
SCRIPTS = "aZéñÅßİıſǅΣςσЖжאبپहक़ग़क्ষযதกိཀ가각각かがガ｡木邏ⴀႠᎠꭰ𐐀𐐨😀"
SIGNS = "./\\:%~ \0\n\t*?\"<>|-_'()\u0300\u0301\u0327\u0338\u093c\u0307\u3099\u0345"

any_text = st.text(st.characters()) | st.text(SCRIPTS + SIGNS) | st.text("ab%2FfEe5~./", max_size=8)
long_text = st.builds(lambda text, times: text * times, st.text(min_size=1, max_size=6), st.integers(1, 400))
names = any_text | long_text | st.sampled_from([*TEXTS.values(), *DEVICES, "", ".", "..", "...", " ", "%", "%%", "~"])
case_letters = st.text("aAbBéÉñÑßẞſsSσςΣжЖıIİiǅǆǄﬁfFkK\u212a\u0307ͅι/.%", max_size=4)


@st.composite
def kin(draw):
    """Texts that some file systems do not distinguish."""
    text = draw(any_text | long_text | st.sampled_from([*TEXTS.values(), *DEVICES]))
    written = safe_name(text)
    variants = {
        text,
        written,
        safe_name(written),
        text + " ",
        " " + text,
        text + ".",
        "." + text,
        f"{text}/",
        f"./{text}",
    }
    variants |= {unicodedata.normalize(form, text) for form in FORMS}
    variants |= {
        text[:-1],
        text + text[-1:],
        text.replace("%", "%25"),
        text.replace("/", "%2F"),
        text.replace("%2F", "/"),
    }
    variants |= {text.lower(), text.upper(), text.title(), text.swapcase(), text.casefold()}
    return sorted(variants)


def assert_safe(name, room=LONGEST_ENDING):
    assert name not in ("", ".", "..")
    assert not set(name) & set('/\\\0*?"<>|')
    assert not any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in name)
    assert name[0] not in ". ~"
    assert name[-1] not in ". "
    assert name.split(".")[0].strip().casefold() not in DEVICES
    assert len(f"{name}{room}".encode()) <= 255
    assert Path("folder", name).parent == Path("folder")


@pytest.mark.parametrize(
    "text",
    [
        *("mixtral:latest", "gemma3:12b", "niño", "क्षत्रिय", "gpt-4.1-mini", "Qwen2.5-7B-Instruct", "a b", "l'eau"),
        *("x=1,y+2", "user@host", "(x)", "نزدیک\u200cترین", "गर्व", "木", "역이", "สถานี", "ß", "Éa", "a.b.c", "-x"),
        *("console", "nulo", "com10"),
    ],
)
def test_a_plain_name_is_unchanged(text):
    assert safe_name(text) == text
    assert safe_names([text], taken=["summary.json"], endings=[".prompt_b"]) == {text: text}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "%"),
        ("%", "%25"),
        (".", "%2E"),
        ("..", "%2E%2E"),
        ("../x", "%2E.%2Fx"),
        ("/etc/passwd", "%2Fetc%2Fpasswd"),
        ("a\\b", "a%5Cb"),
        ("org/model", "org%2Fmodel"),
        ("a%2Fb", "a%252Fb"),
        (".hidden", "%2Ehidden"),
        ("end.", "end%2E"),
        ("end ", "end%20"),
        (" ", "%20"),
        ("a\0b", "a%00b"),
        ("a\nb", "a%0Ab"),
        ("con", "%63on"),
        ("NUL.txt", "%4EUL.txt"),
        ("com1 .x", "%63om1 .x"),
        ("COM¹", "%43OM¹"),
        ("~root", "%7Eroot"),
        ("a\u202eb", "a%E2%80%AEb"),
        ("nin\u0303o", "ni%6E%CC%83o"),
        ("\u212b", "%E2%84%AB"),
        ("\u1100\u1161", "%E1%84%80%E1%85%A1"),
        ("\ud800", "%ED%A0%80"),
        ("👍", "%F0%9F%91%8D"),
    ],
)
def test_unsafe_characters_are_percent_encoded(text, name):
    assert safe_name(text) == name


def test_names_of_long_texts_are_the_same_in_every_version():
    assert safe_name("a" * 180) == "a" * 180
    assert safe_name("a" * 181) == f"{'a' * 163}~9ce4e58a8e1314bf"
    assert safe_names(["Niño", "niño"]) == {"Niño": "Niño~f39fd7ec", "niño": "niño"}


def test_every_character_has_a_distinct_name():
    codes = [*range(0x3400), *range(0xA000, 0xAD00), *range(0xD780, 0x20000), *range(0xE0000, 0xE0200), 0x10FFFF]
    characters = [chr(code) for code in codes]
    written = [safe_name(each) for each in characters]

    assert len(set(written)) == len(characters)
    assert len({unicodedata.normalize("NFD", each) for each in written}) == len(characters)
    assert not {letter for each in written for letter in each} & set('/\\\0\n*?"<>|~')


@given(names)
def test_a_name_never_leaves_its_folder_and_leaves_room_for_a_suffix(text):
    assert_safe(safe_name(text))


@given(st.lists(names), st.lists(names, max_size=3), st.lists(st.sampled_from([".prompt_b", ".json", "_b", "x"])))
def test_names_of_many_texts_are_safe(texts, taken, endings):
    found = safe_names(texts, taken=[each.casefold() for each in taken], endings=endings)

    assert list(found) == list(dict.fromkeys(texts))
    for name in found.values():
        assert_safe(name)


@given(names)
def test_a_text_always_has_the_same_name(text):
    assert safe_name(text) == safe_name(text)
    assert safe_names([text, text]) == {text: safe_name(text)}


@given(st.lists(names))
def test_the_order_of_texts_does_not_change_their_names(texts):
    assert safe_names(texts) == safe_names(reversed(texts))


@given(names)
def test_a_name_that_is_not_too_long_can_be_read_back(text):
    name = safe_name(text)

    if "~" not in name:
        letters = re.sub("((?:%[0-9A-F]{2})+)", lambda match: _unescaped(match[0]), name.removesuffix("%"))
        assert letters == text


def _unescaped(escapes):
    return bytes.fromhex(escapes.replace("%", "")).decode(errors="surrogatepass")


@given(st.lists(names) | kin())
def test_names_of_different_texts_are_distinct(texts):
    assert len({safe_name(each) for each in texts}) == len(set(texts))


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@given(texts=st.lists(names) | kin())
def test_names_are_distinct_on_file_systems_that_normalize(form, texts):
    assert len({unicodedata.normalize(form, safe_name(each)) for each in texts}) == len(set(texts))


@given(kin() | st.lists(case_letters))
def test_names_are_distinct_on_file_systems_that_ignore_case(texts):
    found = safe_names(texts).values()

    for fold in (str.casefold, str.lower):
        assert len({fold(name) for name in found}) == len(set(texts))


@given(kin())
def test_names_are_distinct_on_file_systems_that_normalize_and_ignore_case(texts):
    texts = [each for each in texts if unicodedata.is_normalized("NFC", safe_name(each).casefold())]
    found = safe_names(texts).values()

    for form in ("NFC", "NFD"):
        folded = {unicodedata.normalize(form, unicodedata.normalize(form, name).casefold()) for name in found}
        assert len(folded) == len(set(texts))


@given(kin(), st.sampled_from([".prompt_b", ".json", "_b"]))
def test_no_name_is_that_of_another_text_with_a_suffix(texts, ending):
    texts = [*texts, *(each + ending for each in texts)]
    found = safe_names(texts, endings=[ending])
    folded = [f"{name}{end}".casefold() for name in found.values() for end in ("", ending)]

    assert not any(name.casefold().endswith(ending) for name in found.values())
    assert len(set(folded)) == len(folded)


@given(kin(), st.data())
def test_no_name_is_a_reserved_one(texts, data):
    taken = {safe_name(each).casefold() for each in data.draw(st.lists(st.sampled_from(texts or ["x"])))}
    taken = {each for each in taken if "%" not in each}
    found = safe_names(texts, taken=taken)

    assert not {name.casefold() for name in found.values()} & taken
    assert len({name.casefold() for name in found.values()}) == len(texts)


@pytest.mark.parametrize(
    ("text", "name"),
    [("summary.json", "%73ummary.json"), ("Summary.JSON", "%53ummary.JSON"), ("ſummary.json", "%C5%BFummary.json")],
)
def test_a_reserved_name_is_reserved_in_upper_and_lower_case(text, name):
    assert safe_names([text], taken=["summary.json"]) == {text: name}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x.prompt_b", "x%2Eprompt_b"),
        ("x.PROMPT_B", "x%2EPROMPT_B"),
        (".prompt_b", "%2Eprompt_b"),
        ("x.prompt_b.prompt_b", "x.prompt_b%2Eprompt_b"),
        ("x.prompt_b.c", "x.prompt_b.c"),
        ("ß.prompt_b", "ß%2Eprompt_b"),
    ],
)
def test_a_reserved_suffix_is_percent_encoded(text, name):
    assert safe_names([text], endings=[".prompt_b"]) == {text: name}


def test_of_texts_that_differ_in_case_the_lower_case_one_keeps_its_name():
    found = safe_names(["apple", "Apple", "APPLE", "pear"])

    assert found["apple"] == "apple"
    assert found["pear"] == "pear"
    assert re.fullmatch("Apple~[0-9a-f]{8}", found["Apple"])
    assert re.fullmatch("APPLE~[0-9a-f]{8}", found["APPLE"])
    assert safe_names(["Apple"]) == {"Apple": "Apple"}


def test_long_texts_that_differ_at_the_end_have_different_names():
    texts = [f"{'क्षत्रिय' * 100}{number}" for number in range(1000)]

    assert len({name.casefold() for name in safe_names(texts).values()}) == len(texts)


@given(st.sampled_from("aéक😀/%.~ \0"), st.integers(1, 300), st.text(max_size=2))
def test_a_long_name_is_cut_at_a_character_and_never_inside_an_escape(letter, times, end):
    name = safe_name(letter * times + end)

    assert len(name.encode()) <= 180
    assert re.fullmatch("(?s)(?:[^%~]|%[0-9A-F]{2})*(?:~[0-9a-f]{16})?", name)


@given(st.lists(names, max_size=8) | kin())
def test_files_with_all_names_can_be_created_in_a_real_folder(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("names")
    found = safe_names(texts)
    for text, name in found.items():
        (folder / f"{name}.json").write_bytes(text.encode(errors="surrogatepass"))

    assert len(list(folder.iterdir())) == len(found)
    for text, name in found.items():
        assert (folder / f"{name}.json").read_bytes() == text.encode(errors="surrogatepass")
