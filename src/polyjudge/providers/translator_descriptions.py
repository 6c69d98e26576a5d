"""Descriptions of translators over HTTP: the request for a text, and where its translation is in the answer.

A description is a TOML file; those of well-known services are in `translators/`. Texts, languages and variables are
filled in as values: a text cannot change the address, the headers or the structure of the body.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import quote, urlencode, urlsplit

from msgspec import Struct

from polyjudge.errors import ConfigError, DataError, MalformedResponseError, RefusedError, UnknownNameError
from polyjudge.files.text_files import parse_toml
from polyjudge.records.codec import from_json

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PAIR = {"source_lang", "target_lang"}
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OWN_HEADERS = {"host", "connection", "content-length", "transfer-encoding", "expect", "accept-encoding"}
_ANSWER = re.compile(r"(?:[^.\[\]]+|\[\d*\])(?:\.[^.\[\]]+|\[\d*\])*")
_STEP = re.compile(r"([^.\[\]]+)|\[(\d*)\]")
_CODE = re.compile(r"[A-Za-z0-9]+(?:[-_@][A-Za-z0-9]+)*")
_LONGEST_CODE = 40


class AddressOfKeys(Struct, frozen=True, forbid_unknown_fields=True):
    """Another address for keys with a certain ending."""

    variable: str
    ends_with: str
    address: str


class KnownErrors(Struct, frozen=True, forbid_unknown_fields=True):
    """Statuses, and values in the body of an error, that say what is wrong; beside 401, 403 and 429."""

    key: tuple[int | str, ...] = ()
    """The key is rejected."""
    quota: tuple[int | str, ...] = ()
    """What may be translated is used up."""
    rate: tuple[int | str, ...] = ()
    """There were too many requests."""


class TranslatorDescription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The request of one service, as in its TOML file.

    Placeholders are {text}, {source_lang}, {target_lang}, and the names of variables.
    """

    url: str
    answer: str
    """The place of the translation in the JSON of the answer: `data.translations[].text`, with `[]` for each text."""
    answers: str = ""
    """The name of the service."""
    method: Literal["POST", "GET", "PUT"] = "POST"
    address_variable: str = ""
    """A variable that may contain another address than the scheme and host of the URL."""
    addresses: tuple[AddressOfKeys, ...] = ()
    variables: tuple[str, ...] = ()
    """The variables that are needed."""
    optional_variables: tuple[str, ...] = ()
    """Without one of these, the headers, parameters and fields that contain it are left out."""
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    json: Any = None
    form: Mapping[str, str] = {}
    texts_per_call: int = 1
    """With more than one, the list with {text} in the JSON is as long as there are texts."""
    characters_per_call: int = 0
    errors: KnownErrors = KnownErrors()
    languages: Mapping[str, str] = {}
    """The service's codes for BCP 47 tags; other tags are sent as they are."""
    source_languages: Mapping[str, str] = {}
    target_languages: Mapping[str, str] = {}

    @property
    def used_variables(self) -> tuple[str, ...]:
        """All variables that the description may use."""
        return (*self.variables, *self.optional_variables, *filter(None, [self.address_variable]))


def translator_names() -> list[str]:
    """Return the names of the shipped descriptions."""
    entries = [entry.name for entry in (files("polyjudge.providers") / "translators").iterdir()]
    return sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml"))


def shipped_translator(name: str) -> tuple[TranslatorDescription, str]:
    """Return a shipped description, and the SHA-256 of its file."""
    if name not in translator_names():
        raise UnknownNameError("translator", name, translator_names())
    content = (files("polyjudge.providers") / "translators" / f"{name}.toml").read_bytes()
    return read_description(content, Path(f"{name}.toml")), sha256(content).hexdigest()


def read_description(content: bytes, path: Path) -> TranslatorDescription:
    """Return the description in the content of a TOML file; `path` is its name in messages."""
    try:
        given = from_json(TranslatorDescription, parse_toml(content, path))
        _check(given)
    except (DataError, ConfigError) as error:
        message = str(error).removeprefix(f"{path}: ")
        raise DataError(f"invalid description of a translator: {message}", path=path) from None
    return given


def _check(given: TranslatorDescription) -> None:
    """Raise an error for a description that cannot work, or in which a text could change more than a value."""
    own = urlsplit(given.url)
    head = given.url.partition("://")[2].partition("/")[0]
    is_plain = own.scheme in ("http", "https") and own.hostname and "@" not in head and not _PLACEHOLDER.search(head)
    if not is_plain or "?" in given.url or "#" in given.url:
        raise ConfigError("url must be https://host/path, with parameters in [query]")
    if (given.json is not None) + bool(given.form) > (given.method != "GET"):
        raise ConfigError("give one of [json] and [form]; a GET request has neither, but [query]")
    if not _ANSWER.fullmatch(given.answer):
        raise ConfigError(f"answer must be a path such as translations[0].text, not {given.answer!r}")
    bad = [name for name in given.headers if not _HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS]
    if bad:
        raise ConfigError(f"the header {bad[0]!r} is not allowed in a description")
    if given.texts_per_call > 1 and not ("[]" in given.answer and _has_list_of_texts(given.json)):
        raise ConfigError('texts_per_call needs a list with {text} in [json], and [] in answer: text = ["{text}"]')
    _check_placeholders(given)


def _check_placeholders(given: TranslatorDescription) -> None:
    in_body, variables = _names_in([given.json, dict(given.form), dict(given.query)]), set(given.used_variables)
    if "text" not in in_body:
        raise ConfigError("{text} is missing: put it in [json], [form] or [query]")
    for what, found, allowed in (
        ("url", _names_in(given.url), _PAIR),
        ("a header", _names_in(list(given.headers.values())), variables),
        ("a value", in_body, {"text", *_PAIR, *variables}),
    ):
        if unknown := sorted(found - allowed):
            message = f"{{{unknown[0]}}} is not allowed in {what}"
            raise ConfigError(f"{message}; variables must be listed in variables or optional_variables")


def _names_in(part: object) -> set[str]:
    if isinstance(part, str):
        return set(_PLACEHOLDER.findall(part))
    inner: object = list(cast(dict[str, object], part).values()) if isinstance(part, dict) else part
    return (
        {name for each in cast(list[object], inner) for name in _names_in(each)} if isinstance(inner, list) else set()
    )


def _has_list_of_texts(part: Any) -> bool:
    if isinstance(part, list):
        listed = cast(list[Any], part)
        return (len(listed) == 1 and "text" in _names_in(listed[0])) or any(map(_has_list_of_texts, listed))
    return isinstance(part, dict) and any(map(_has_list_of_texts, cast(dict[str, Any], part).values()))


def address_and_path(description: TranslatorDescription, variables: Mapping[str, str]) -> tuple[str, str]:
    """Return the address of the server, and the path of the URL as a template."""
    parts = urlsplit(description.url)
    address = f"{parts.scheme}://{parts.netloc}"
    for each in description.addresses:
        if variables.get(each.variable, "").endswith(each.ends_with):
            address = each.address
    given = variables.get(description.address_variable, "").strip()
    if given:
        own = urlsplit(given)
        if own.scheme not in ("http", "https") or not own.hostname or own.username or own.query or own.fragment:
            raise ConfigError(f"{description.address_variable} is not an address of the form http://host")
        address = given
    return address.rstrip("/"), parts.path


def filled_path(template: str, query: Mapping[str, str], values: Mapping[str, str]) -> str:
    """Return the path of a request with its parameters; every value is percent-encoded."""
    path = _PLACEHOLDER.sub(lambda match: quote(values[match[1]], safe=""), template)
    pairs = [(name, text) for name, value in query.items() if (text := filled(value, values)) is not None]
    return f"{path}?{urlencode(pairs, quote_via=quote, errors='replace')}" if pairs else path


def filled(template: str, values: Mapping[str, str]) -> str | None:
    """Return a template with its placeholders replaced, once; None if it has a variable that is not given."""
    if any(name not in values for name in _PLACEHOLDER.findall(template)):
        return None
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def filled_json(part: Any, values: Sequence[Mapping[str, str]]) -> Any:
    """Return a JSON value with its strings filled, and a list of one element with {text} repeated for each text.

    A field or an element that contains a variable that is not given is None, and left out of what contains it.
    """
    if isinstance(part, str):
        return filled(part, values[0])
    if isinstance(part, dict):
        fields = {name: filled_json(value, values) for name, value in cast(dict[str, Any], part).items()}
        return {name: value for name, value in fields.items() if value is not None}
    if isinstance(part, list):
        listed = cast(list[Any], part)
        if len(listed) == 1 and "text" in _names_in(listed[0]):
            return [filled_json(listed[0], [each]) for each in values]
        return [value for each in listed if (value := filled_json(each, values)) is not None]
    return part


def translations_in(data: object, answer: str) -> list[str]:
    """Return the translations in an answer, by its path."""
    found = _found(data, _STEP.findall(answer))
    if not all(isinstance(each, str) for each in found):
        raise MalformedResponseError(f"there is no text at {answer} in the answer")
    return cast(list[str], found)


def _found(data: object, steps: Sequence[tuple[str, str]]) -> list[object]:
    if not steps:
        return [data]
    (name, index), rest = steps[0], steps[1:]
    if name and isinstance(data, dict) and name in data:
        return _found(cast(dict[str, object], data)[name], rest)
    listed = cast(list[object], data) if isinstance(data, list) and not name else []
    if index:
        return _found(listed[int(index)], rest) if int(index) < len(listed) else [None]
    return [each for part in listed for each in _found(part, rest)] if listed else [None]


def language_code(description: TranslatorDescription, tag: str, *, is_target: bool) -> str:
    """Return the service's code for a language: that of its tag, or of the tag without its last parts, or the tag."""
    own = description.target_languages if is_target else description.source_languages
    codes = {name.casefold(): code for name, code in {**description.languages, **own}.items()}
    parts = tag.split("-")
    shorter = ["-".join(parts[:size]).casefold() for size in range(len(parts), 0, -1)]
    code = next((codes[each] for each in (shorter if not is_target else shorter[:1]) if each in codes), tag)
    if not _CODE.fullmatch(code) or len(code) > _LONGEST_CODE:
        raise RefusedError(f"{code!r} is not the code of a language")
    return code
