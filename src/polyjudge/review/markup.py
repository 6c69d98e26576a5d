"""Tags, entities and escape sequences in a message: the same as in its source, and well formed."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from html.entities import html5

from polyjudge.checks.preservation import tag_names
from polyjudge.records.findings import Finding, Severity
from polyjudge.text.segments import TAG

_VOID = {"<br>", "<hr>", "<img>", "<input>", "<wbr>", "<x>", "<ph>", "<bx>", "<ex>", "<p>", "<li>", "<tr>", "<td>"}
"""Tags that are not closed, or need not be."""
_NUMBERED_TAG = re.compile(r"<(/?)(\d{1,3})\s*(/?)>")
"""The tags of i18next for React, which stand for its components: `<0>`, `</0>`, `<1/>`."""
_NAMES = "amp|lt|gt|quot|apos|nbsp"
_ENTITY = re.compile(rf"&(?:{_NAMES}|[a-zA-Z]{{2,8}}|#\d{{2,6}}|#x[0-9a-fA-F]{{2,6}});")
_NAMED_ENTITY = re.compile(r"&([a-zA-Z]{2,8});")
_BROKEN_ENTITY = re.compile(
    rf"&\s+(?:{_NAMES}|#\d+)\s*;|&(?:{_NAMES})\s+;|&(?:amp|quot|apos|nbsp)(?![;\w])"
    rf"|&amp;(?:{_NAMES}|#\d{{2,6}});|&(?:lt|gt)(?![;\w])|&#\s*\d+(?![\d;])"
)
_ESCAPE = re.compile(r"(?<!\\)\\(?:[nrt\"'\\]|u[0-9a-fA-F]{4})")
_BROKEN_ESCAPE = re.compile(
    r"\\\s+[nrt](?![a-z]{2})|/n(?!\w)|(?<!\\)\\\s+(?=[\"'])|\\[NTR](?![a-z])|\\u[0-9a-fA-F]{0,3}(?![0-9a-fA-F])"
)
_LITERAL = re.compile(r"(?<![:\\])\\[nrt](?![a-z])")
"""A line break or tab that is written out; in a path, small letters follow."""


def markup_findings(text: str, source: str) -> Iterator[Finding]:
    """Find tags that are missing, added or out of order, broken entities, and broken escape sequences."""
    if "<" in text or "<" in source:
        yield from _changed_tags(text, source)
    if "&" in text:
        yield from _broken_entities(text, source)
    if "\\" in text or "\\" in source:
        yield from _broken_escapes(text, source)


def _changed_tags(text: str, source: str) -> Iterator[Finding]:
    ours, theirs = _tags(text), _tags(source)
    wanted, given = Counter(theirs), Counter(ours)
    if lost := list((wanted - given).elements()):
        yield Finding("markup_lost", "fail", f"{'Tag' if len(lost) == 1 else 'Tags'} missing: {', '.join(lost)}.")
    if added := list((given - wanted).elements()):
        named = f"{'Tag' if len(added) == 1 else 'Tags'} not in the source: {', '.join(added)}."
        yield Finding("markup_added", "fail", named, *_place_of(added[0], text))
    if wanted == given and not _disorder(theirs) and (disorder := _disorder(ours)):
        yield Finding(
            "markup_unbalanced",
            "fail",
            f"Tags in the wrong order: {disorder} has no matching tag.",
            *_place_of(disorder, text),
        )


def _tags(text: str) -> list[str]:
    """Return the tags by name; those that are numbers only if one of them is closed."""
    numbered = list[str]()
    for start, number, end in _NUMBERED_TAG.findall(text):
        numbered += [f"<{number}>", f"</{number}>"] if end else [f"<{start}{number}>"]
    return [*tag_names(text), *(numbered if any(tag[1] == "/" for tag in numbered) else ())]


def _place_of(tag: str, text: str) -> tuple[int, int] | tuple[None, None]:
    """Return where the last tag of a name is."""
    found = [match.span() for match in TAG.finditer(text) if match[0].casefold().startswith(tag[:-1])]
    return found[-1] if found else (None, None)


def _disorder(tags: list[str]) -> str:
    """Return the first tag that closes none or is not closed; empty if all is in order."""
    stack = list[str]()
    for tag in tags:
        if tag in _VOID or tag.replace("/", "") in _VOID:
            continue
        if not tag.startswith("</"):
            stack.append(tag)
        elif stack and stack[-1] == tag.replace("/", ""):
            stack.pop()
        else:
            return tag
    return stack[0] if stack else ""


def _broken_entities(text: str, source: str) -> Iterator[Finding]:
    theirs = set(_BROKEN_ENTITY.findall(source))
    for match in _BROKEN_ENTITY.finditer(text):
        if match[0] not in theirs:
            yield Finding("entity_broken", "fail", f"Broken entity: {match[0]!r}.", match.start(), match.end())
            return
    names = {match[1] for match in _NAMED_ENTITY.finditer(source)}
    for name in names:
        match = re.search(rf"&{name}(?!;)", text)
        if match and not re.search(rf"&{name}(?!;)", source):
            yield Finding("entity_broken", "fail", f"Broken entity: {match[0]!r}.", match.start(), match.end())
            return
    if names and (match := next((each for each in _NAMED_ENTITY.finditer(text) if _is_unknown(each[1], names)), None)):
        yield Finding("entity_broken", "fail", f"Unknown entity: {match[0]!r}.", match.start(), match.end())
        return
    if not _ENTITY.search(source) and not TAG.search(source) and (match := _ENTITY.search(text)):
        message = f"{match[0]} may be displayed literally, because the source has no entities."
        severity: Severity = "fail" if match[0][1:-1] in _NAMES.split("|") or match[0][1] == "#" else "warn"
        yield Finding("entity_broken", severity, message, match.start(), match.end())


def _is_unknown(name: str, of_source: Collection[str]) -> bool:
    return name not in of_source and f"{name};" not in html5


def _broken_escapes(text: str, source: str) -> Iterator[Finding]:
    wanted, given = Counter(_ESCAPE.findall(source)), Counter(_ESCAPE.findall(text))
    lost = [escape for escape in wanted - given if escape[1] in "nrtu"]
    if lost or "\\" in text:
        for match in _BROKEN_ESCAPE.finditer(text):
            is_loose = match[0].startswith("/") or match[0][1:2].isspace()  # which may be text, as in "\ in a path"
            if match[0] not in source and (lost or not is_loose):
                yield Finding("escape_broken", "fail", f"Broken escape: {match[0]!r}.", match.start(), match.end())
                return
    for escape in lost:
        yield Finding("escape_broken", "warn", f"Escape missing: {escape}.")
    if not _ESCAPE.search(source) and "\\" not in source and (match := _LITERAL.search(text)):
        message = f"{match[0]} may be displayed literally, because the source has no escapes."
        yield Finding("escape_broken", "fail", message, match.start(), match.end())
