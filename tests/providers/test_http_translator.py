"""Translators over HTTP with a server on loopback that speaks the protocol of each."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import TEXTS
from tests.loopback.translation_server import KEY, TranslationServer
from tests.loopback.vendor_server import ServerThread

from polyjudge.errors import (
    ConfigError,
    MalformedResponseError,
    ProviderError,
    RateLimitedError,
    RefusedError,
    TransientError,
    UnusableError,
)
from polyjudge.providers.http_translator import HttpTranslator, translation_request
from polyjudge.providers.translator_descriptions import read_description, shipped_translator, translator_names
from polyjudge.records.requests import ModelName
from polyjudge.runs.stack import ProviderStack

KEYS = {
    "deepl": {"DEEPL_API_KEY": KEY},
    "google-translate": {"GOOGLE_TRANSLATE_API_KEY": KEY},
    "azure-translator": {"AZURE_TRANSLATOR_KEY": KEY},
    "libretranslate": {"LIBRETRANSLATE_API_KEY": KEY},
    "apertium-apy": {},
}
WITH_KEYS = [name for name, keys in KEYS.items() if keys]


@pytest.fixture
def translators():
    with ServerThread(TranslationServer()) as server:
        yield server


def opened(name, server, *, description=None, gathers=True, **variables):
    shipped = description or shipped_translator(name)[0]
    given = {**KEYS.get(name, {}), **variables}
    if shipped.address_variable:
        given[shipped.address_variable] = server.url
    return HttpTranslator(name, shipped, given, timeout_s=20.0, gathers=gathers)


async def translated(translator, texts, target="es", source="en"):
    async def one(text):
        return await translator.complete(translation_request(text, source, target, description_sha256="0" * 64))

    try:
        return await asyncio.gather(*map(one, texts), return_exceptions=True)
    finally:
        await translator.aclose()


def ask(translator, text="Hello", target="es", source="en"):
    [found] = asyncio.run(translated(translator, [text], target, source))
    if isinstance(found, BaseException):
        raise found
    return found.text


def test_every_shipped_description_is_tested():
    assert translator_names() == sorted(KEYS)


@pytest.mark.parametrize("name", KEYS)
def test_a_text_in_any_script_is_sent_and_its_translation_returned(name, translators):
    texts = [*TEXTS.values(), "a & b <c> 'd' \"e\" {text} {source_lang} %41 \\ \n two\tlines"]

    assert [ask(opened(name, translators), text, "fr") for text in texts] == [f"[fr] {text}" for text in texts]
    assert {asked.pair for asked in translators.asked} == {("EN" if name == "deepl" else "en", "fr")}


@pytest.mark.parametrize(
    ("name", "tag", "code"),
    [
        ("deepl", "en", "EN-US"), ("deepl", "pt-BR", "PT-BR"), ("deepl", "zh-Hant", "zh-Hant"),
        ("google-translate", "zh-Hans", "zh-CN"), ("google-translate", "es-419", "es"),
        ("azure-translator", "tl", "fil"), ("azure-translator", "sr", "sr-Cyrl"),
        ("libretranslate", "no", "nb"), ("apertium-apy", "pt-BR", "pt_BR"), ("apertium-apy", "cy", "cy"),
    ],
)  # fmt: skip
def test_a_language_is_sent_by_the_services_own_code(name, tag, code, translators):
    ask(opened(name, translators), target=tag)

    assert translators.asked[0].pair[1] == code


def test_a_source_of_deepl_has_no_variant(translators):
    for tag in ("zh-Hans", "pt-BR", "es-419", "en-GB", "fr"):
        ask(opened("deepl", translators), source=tag)

    assert [asked.pair[0] for asked in translators.asked] == ["ZH", "PT", "ES", "EN", "fr"]


def test_each_service_gets_its_key_where_it_expects_it(translators):
    for name in KEYS:
        ask(opened(name, translators, **({"AZURE_TRANSLATOR_REGION": "westeurope"} if "azure" in name else {})))

    deepl, google, azure, libre, apy = translators.asked
    assert deepl.headers["Authorization"] == f"DeepL-Auth-Key {KEY}"
    assert google.headers["X-Goog-Api-Key"] == KEY
    assert azure.headers["Ocp-Apim-Subscription-Key"] == KEY
    assert azure.headers["Ocp-Apim-Subscription-Region"] == "westeurope"
    assert libre.body["api_key"] == KEY
    assert all(KEY not in asked.path for asked in translators.asked)
    assert azure.path == "/translate?api-version=3.0&from=en&to=es"
    assert apy.body == {"langpair": "en|es", "q": "Hello", "markUnknown": "no", "format": "txt"}


def test_an_optional_variable_that_is_not_given_is_left_out(translators):
    azure, libre = shipped_translator("azure-translator")[0], shipped_translator("libretranslate")[0]
    ask(
        HttpTranslator(
            "azure-translator", azure, {"AZURE_TRANSLATOR_KEY": KEY, "AZURE_TRANSLATOR_URL": translators.url}
        )
    )
    ask(HttpTranslator("libretranslate", libre, {"LIBRETRANSLATE_URL": f"{translators.url}/prefix/"}))

    assert "Ocp-Apim-Subscription-Region" not in translators.asked[0].headers
    assert "api_key" not in translators.asked[1].body
    assert translators.asked[1].path == "/prefix/translate"


def test_a_key_of_deepls_free_plan_has_an_address_of_its_own():
    description = shipped_translator("deepl")[0]

    def address(**variables):
        return HttpTranslator("deepl", description, variables).origin.base_url

    assert address(DEEPL_API_KEY="k") == "https://api.deepl.com"
    assert address(DEEPL_API_KEY="k:fx") == "https://api-free.deepl.com"
    assert address(DEEPL_API_KEY="k:fx", DEEPL_URL="http://127.0.0.1:9") == "http://127.0.0.1:9"


@pytest.mark.parametrize("name", ["deepl", "google-translate", "azure-translator"])
def test_texts_that_are_asked_together_share_calls_and_keep_their_order(name, translators):
    texts = [f"text {number}" for number in range(60)]

    found = asyncio.run(translated(opened(name, translators), texts))

    assert [reply.text for reply in found] == [f"[es] {text}" for text in texts]
    assert len(translators.asked) < 10
    assert max(len(asked.texts) for asked in translators.asked) <= shipped_translator(name)[0].texts_per_call


def test_long_texts_are_spread_over_calls(translators):
    texts = [f"{number} " + "x" * 2000 for number in range(7)]

    found = asyncio.run(translated(opened("google-translate", translators), texts))

    assert [reply.text for reply in found] == [f"[es] {text}" for text in texts]
    assert [len(asked.texts) for asked in translators.asked] == [2, 2, 2, 1]


def test_a_text_that_is_refused_does_not_take_others_with_it(translators):
    translators.refuses = "bad"

    good, bad, other = asyncio.run(translated(opened("deepl", translators), ["good", "bad", "other"]))

    assert (good.text, other.text) == ("[es] good", "[es] other")
    assert isinstance(bad, RefusedError)
    assert [asked.texts for asked in translators.asked] == [["good", "bad", "other"], ["good"], ["bad"], ["other"]]


def test_without_gathering_each_text_has_a_call_of_its_own(translators):
    asyncio.run(translated(opened("deepl", translators, gathers=False), ["a", "b", "c"]))

    assert sorted(asked.texts for asked in translators.asked) == [["a"], ["b"], ["c"]]


@given(text=st.text(max_size=200), language=st.text(max_size=30))
def test_no_text_or_language_changes_more_than_a_value(text, language):
    """Neither the path, nor the names of parameters, nor the structure of a body depends on what is filled in."""
    from urllib.parse import parse_qsl, urlsplit

    from polyjudge.providers.translator_descriptions import filled_json, filled_path

    values = {"text": text, "source_lang": language, "target_lang": language, "K": "key"}
    template = {"a": ["{text}"], "b": {"c": "{target_lang}|{text}", "d": 1}, "e": "{K}"}
    path = filled_path("/x/{target_lang}/y", {"q": "{text}", "key": "{K}"}, values)

    parts = urlsplit(f"http://h{path}")
    assert parts.netloc == "h"
    assert parts.path.startswith("/x/")
    assert parts.path.endswith("/y")
    assert parts.path.count("/") == 3
    assert parts.fragment == ""
    assert [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)] == ["q", "key"]
    assert path.isascii()
    assert not any(char.isspace() for char in path)
    assert filled_json(template, [values]) == {"a": [text], "b": {"c": f"{language}|{text}", "d": 1}, "e": "key"}


@pytest.mark.parametrize("code", ["", "en&key=x", "../admin", "en\r\nX: y", "en es", "e" * 50, "{text}", "en|es"])
def test_a_language_that_is_no_code_is_refused_before_anything_is_sent(code, translators):
    with pytest.raises(RefusedError, match="is not the code of a language"):
        ask(opened("apertium-apy", translators), target=code)

    assert translators.asked == []


@pytest.mark.parametrize("name", WITH_KEYS)
def test_a_rejected_key_ends_the_run_and_is_not_shown(name, translators):
    [variable] = KEYS[name]
    wrong = "wrong-k3y-9876543210"

    with pytest.raises(UnusableError, match=f"Check the key in .*{variable}") as caught:
        ask(opened(name, translators, **{variable: wrong}))

    assert wrong not in str(caught.value)
    assert wrong[:8] not in str(caught.value)


@pytest.mark.parametrize("name", ["deepl", "google-translate", "azure-translator"])
def test_a_quota_that_is_used_up_ends_the_run(name, translators):
    translators.quota_is_used_up = True

    with pytest.raises(UnusableError, match="The quota of the account is used up"):
        ask(opened(name, translators))


@pytest.mark.parametrize("name", KEYS)
def test_an_unknown_language_names_the_pair(name, translators):
    with pytest.raises(RefusedError, match="answered 400 for (en|EN) to xx: "):
        ask(opened(name, translators), target="xx")


@pytest.mark.parametrize("name", KEYS)
def test_a_rate_limit_carries_the_wait_that_is_asked_for(name, translators):
    translators.failures = [(429, {"retry-after": "7"})]

    with pytest.raises(RateLimitedError) as caught:
        ask(opened(name, translators))

    assert caught.value.retry_after_s == 7.0


@pytest.mark.parametrize("name", KEYS)
def test_temporary_errors_are_retried_by_the_stack(name, translators):
    translators.failures = [(429, {"retry-after": "0"}), (503, {"retry-after": "0"}), (500, {"retry-after": "0"})]
    provider = ProviderStack().around(opened(name, translators), ModelName(name, ""))

    assert ask(provider) == "[es] Hello"
    assert len(translators.asked) == 4


@pytest.mark.parametrize(
    ("status", "headers", "kind", "message"),
    [
        (500, {}, TransientError, "answered 500"),
        (404, {}, UnusableError, "Check the address http://127.0.0.1"),
        (413, {}, RefusedError, "answered 413 for en to es"),
        (307, {"location": "http://127.0.0.1:9/elsewhere"}, UnusableError, "has moved to http://127.0.0.1:9/elsewhere"),
    ],
)
def test_other_statuses_are_errors_of_their_class(status, headers, kind, message, translators):
    translators.failures = [(status, headers)]

    with pytest.raises(kind, match=message):
        ask(opened("libretranslate", translators))

    assert len(translators.asked) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Welcome</html>", b"{}", b"[]", b"null", b'{"translations": []}', b'{"translations": [{"text": 5}]}',
        b'{"translations": [{"text": "a"}, {"text": "b"}]}', b'{"translations": {"text": "a"}}', b"\xff\xfe",
        b"[" * 100_000,
    ],
)  # fmt: skip
def test_an_answer_of_another_form_is_malformed(body, translators):
    translators.body = body

    with pytest.raises(MalformedResponseError, match="deepl answered"):
        ask(opened("deepl", translators))


def test_an_empty_translation_of_a_text_is_an_error(translators):
    translators.translate = " {0:.0}{1:.0}".format

    with pytest.raises(ProviderError, match="empty translation"):
        ask(opened("deepl", translators))
    assert ask(opened("deepl", translators), "\n") == " "


def test_a_server_that_is_not_there_is_a_temporary_error_that_was_not_charged():
    description = shipped_translator("libretranslate")[0]

    with pytest.raises(TransientError) as caught:
        ask(HttpTranslator("libretranslate", description, {"LIBRETRANSLATE_URL": "http://127.0.0.1:9"}))

    assert caught.value.unreachable
    assert not caught.value.may_be_charged


@pytest.mark.parametrize(
    ("variables", "message", "option"),
    [
        ({}, "deepl: the variable DEEPL_API_KEY is needed", "env"),
        ({"DEEPL_API_KEY": " "}, "deepl: the variable DEEPL_API_KEY is empty", "env"),
        ({"DEEPL_API_KEY": "k", "HOME": "/x"}, "deepl does not use the variable HOME. It uses: DEEPL_API_KEY", ""),
        ({"DEEPL_API_KEY": "a\nX-Evil: b"}, "DEEPL_API_KEY contains characters", ""),
        ({"DEEPL_API_KEY": "k", "DEEPL_URL": "file:///etc/passwd"}, "DEEPL_URL is not an address", ""),
        ({"DEEPL_API_KEY": "k", "DEEPL_URL": "http://u:p@h"}, "DEEPL_URL is not an address", ""),
    ],
)  # fmt: skip
def test_a_variable_that_is_missing_or_invalid_is_named_and_not_shown(variables, message, option):
    with pytest.raises(ConfigError, match=message) as caught:
        HttpTranslator("deepl", shipped_translator("deepl")[0], variables)

    assert caught.value.option == option
    assert "Evil" not in str(caught.value)


def test_a_description_of_ones_own_with_get_and_languages_in_the_path(translators):
    own = read_description(
        b"""
        url = "https://mt.example/translate"
        method = "GET"
        address_variable = "OWN_URL"
        answer = "responseData.translatedText"
        query = {q = "{text}", langpair = "{source_lang}|{target_lang}"}
        """,
        Path("own.toml"),
    )

    assert ask(opened("own", translators, description=own), "a&b=c#d?/ü") == "[es] a&b=c#d?/ü"
    assert translators.asked[0].path == "/translate?q=a%26b%3Dc%23d%3F%2F%C3%BC&langpair=en%7Ces"


def test_another_description_is_another_question():
    one, other = (translation_request("t", "en", "es", description_sha256=each * 64) for each in "01")

    assert one != other
    assert json.dumps(one.model) == '"en>es"'
