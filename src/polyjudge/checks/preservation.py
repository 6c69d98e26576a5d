"""What must be the same in a translation: numbers, placeholders, markup, addresses."""

import re
from collections import Counter
from collections.abc import Iterator

from polyjudge.records.findings import Finding
from polyjudge.text.segments import PLACEHOLDER, TAG, addresses

from .numbers import lost_numbers

_ANYTHING = re.compile(r"[\d{%<@＠$]|www\.|://")
_MENTION = re.compile(r"(?<![\w@.＠])[@＠]([A-Za-z0-9_]{2,64})")
_TAG_NAME = re.compile(r"</?[\w:-]+")
_KNOWN_TAG = re.compile(
    r"a|abbr|b|big|blockquote|body|br|button|center|code|d[dlt]|div|em|font|form|h[1-6]|head|hr|html|i|img|input|kbd|li|link|ol"
    r"|option|p|pre|q|s|script|section|select|small|span|strike|strong|style|su[bp]|table|tbody|td|th|thead|title|tr|tt|u|ul"
)
_PRINTF = re.compile(r"%(?:(\d{1,2})\$)?[-+#0' ]{0,3}\d{0,3}(?:\.\d{1,3})?((?:hh?|ll?|z|j)?[@sdifuxXgeEcp])\Z")
_SAME_CONVERSION = str.maketrans("iu", "dd")


def lost_parts(text: str, source: str) -> Iterator[Finding]:
    """Find parts of the source that the text should have and does not have."""
    if not _ANYTHING.search(source) and not _ANYTHING.search(text):
        return
    yield from lost_addresses(text, source)
    yield from _lost_mentions(text, source)
    yield from _changed_placeholders(text, source)
    wanted, given = Counter(tag_names(source)), Counter(tag_names(text))
    for tag in wanted - given:
        yield Finding("markup_lost", "fail", f"Tag missing: {tag}.")
    for tag in given - wanted:
        yield Finding("markup_added", "fail", f"Tag added: {tag}.")
    yield from lost_numbers(text, source)


def preserved_parts(text: str) -> dict[str, int]:
    """Return how many parts of each kind a text has that a translation keeps."""
    found = {
        "placeholders": PLACEHOLDER.findall(text),
        "tags": tag_names(text),
        "addresses": addresses(text),
        "mentions": _MENTION.findall(text),
    }
    return {name: len(parts) for name, parts in found.items()}


def lost_addresses(text: str, source: str) -> Iterator[Finding]:
    """Find addresses that are missing; one that is only broken up by spaces is a warning."""
    theirs, ours = Counter(addresses(source)), Counter(addresses(text))
    lost, added = theirs - ours, ours - theirs
    if lost:
        joined = "".join(text.split())
        for address in lost:
            if address in joined and address not in text:
                yield Finding("url_lost", "warn", f"Address broken by a space: {address}.")
            elif address not in text:
                yield Finding("url_lost", "fail", f"Address missing or changed: {address}.")
    for address in () if lost or len(source.split()) < 2 else added:
        if address not in source:
            yield Finding("url_added", "warn", f"Address that is not in the source: {address}.")


def _lost_mentions(text: str, source: str) -> Iterator[Finding]:
    """Find mentions that are missing or changed; a warning, because some translators adapt made-up names."""
    wanted = set(_MENTION.findall(source))
    if wanted:
        plain = text.replace("＠", "@")
        for name in sorted(wanted):
            if f"@{name}" not in plain:
                yield Finding("mention_lost", "warn", f"Mention missing or changed: @{name}.")


def _changed_placeholders(text: str, source: str) -> Iterator[Finding]:
    wanted, given = PLACEHOLDER.findall(source), PLACEHOLDER.findall(text)
    if wanted == given:
        return
    wanted, given = _comparable(wanted, given), _comparable(given, wanted)
    for part in Counter(wanted) - Counter(given):
        yield Finding("placeholder_lost", "fail", f"Placeholder missing: {part}.")
    for part in Counter(given) - Counter(wanted):
        yield Finding("placeholder_lost", "fail", f"Placeholder that is not in the source: {part}.")


def _comparable(parts: list[str], others: list[str]) -> list[str]:
    """Return placeholders so that `%s … %s` equals `%1$s … %2$s`, and `%'d` equals `%d`."""
    is_numbered = any("$" in part and part[0] == "%" for part in (*parts, *others))
    found, place = list[str](), 0
    for part in parts:
        match = _PRINTF.match(part)
        if match is None:
            found.append(part)
            continue
        place += 1
        conversion = match[2].translate(_SAME_CONVERSION)
        found.append(f"%{match[1] or place}${conversion}" if is_numbered else f"%{conversion}")
    return found


def tag_names(text: str) -> list[str]:
    """Return the tags by name: the text of an attribute may be translated, and so may a word in brackets: <unknown>."""
    if "<" not in text:
        return []
    found = list[str]()
    closed = {tag[2:-1].strip().casefold() for tag in TAG.findall(text) if tag.startswith("</")}
    for tag in TAG.findall(text):
        match = _TAG_NAME.match(tag)
        name = match[0].strip("</").casefold() if match else ""
        if match and (_KNOWN_TAG.fullmatch(name) or name in closed or "=" in tag or tag.endswith("/>") or ":" in name):
            found.append(f"{match[0].casefold()}>")
    return found
