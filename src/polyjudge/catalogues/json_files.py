"""Read catalogues in JSON: keys with texts, also nested or of i18next, WebExtensions, and ARB files."""

from collections.abc import Iterator, Sequence

from polyjudge.errors import DataError

from .content import text_of
from .entries import Entry, Problems
from .json_texts import Leaf, leaves
from .nested_keys import Value, keyed_entries


def read_json(content: bytes, path: str, problems: Problems) -> Iterator[Entry]:
    """Yield the texts of a file of keys and texts."""
    found = [
        Value(each.path, each.text, each.line, each.word == "null") for each in json_leaves(content, path, problems)
    ]
    return keyed_entries(found)


def read_webextension(content: bytes, path: str, problems: Problems) -> Iterator[Entry]:
    """Yield the messages of a WebExtension, with their descriptions."""
    found = json_leaves(content, path, problems)
    comments = {each.path[0]: each.text for each in found if each.path[1:] == ("description",) and each.text}
    for each in found:
        if each.path[1:] == ("message",) and each.text is not None:
            comment = comments.get(each.path[0], "")
            yield Entry(key=each.path[0], text=each.text, line=each.line, comment=comment, syntaxes=("template",))
        elif len(each.path) == 1:
            problems.add(each.line, f"has the key {each.path[0][:100]!r} without an object with a message")


def read_arb(content: bytes, path: str, problems: Problems) -> Iterator[Entry]:
    """Yield the texts of an ARB file, with the descriptions of their attributes."""
    found = json_leaves(content, path, problems)
    comments = {
        key[0].removeprefix("@"): text
        for key, text, _, _ in found
        if len(key) == 2 and key[1] == "description" and key[0].startswith("@") and text
    }
    for each in found:
        key = each.path[0]
        if key.startswith("@"):
            continue
        if len(each.path) == 1 and each.text is not None:
            yield Entry(key=key, text=each.text, line=each.line, comment=comments.get(key, ""), syntaxes=("brace",))
        elif len(each.path) == 1:
            problems.add(each.line, f"has the key {key[:100]!r} without a text")


def json_leaves(content: bytes, path: str, problems: Problems) -> Sequence[Leaf]:
    """Return the values of a file whose content is an object; none for an empty file."""
    text = text_of(content, path)
    if not text.strip():
        problems.add(1, "is empty")
        return []
    found = list(leaves(text, path, problems))
    if found and not found[0].path and found[0].word != "{}":
        raise DataError("expected a JSON object with keys and texts", path=path, line=found[0].line)
    return found
