"""Read the translation files of Qt."""

from collections.abc import Iterator

from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.records.messages import Catalogue, CatalogueFile, Message, MessageState, PlaceholderSyntax

from .content import character
from .entries import Problems, is_exact, repeated
from .language_names import language_tag
from .plurals import integer_categories
from .xml_tree import Element, parse_xml

_SYNTAXES: tuple[PlaceholderSyntax, ...] = ("qt",)
_OTHER_ORDER = {"lv": ("one", "other", "zero")}
"""Languages whose forms Qt has in another order than CLDR."""
_OBSOLETE = ("obsolete", "vanished")


def read_qt(file: CatalogueFile, content: bytes) -> Catalogue:
    """Return the messages of a file, without the obsolete ones; each plural form is a message."""
    problems = Problems()
    root = parse_xml(content, file.path)
    if root is None:
        problems.add(1, "is empty")
        return Catalogue(file=file, messages=(), problems=problems.all())
    if root.name != "TS":
        raise DataError(
            f"not a Qt translation file: the root element is <{root.name[:40]}>", path=file.path, line=root.line
        )
    language = language_tag(root.attributes.get("language", "")) or file.language
    source = language_tag(root.attributes.get("sourcelanguage", "")) or file.source_language
    file = replace(file, language=language, source_language=source)
    messages = list[Message]()
    seen: dict[tuple[str, str], int] = {}
    for context in root.elements("context"):
        for element in context.elements("message"):
            found = list(_messages(element, context.text_of("name"), language))
            for each in found[:1]:
                if (each.key, each.context) in seen:
                    problems.add(each.line, repeated(each.key, seen[each.key, each.context]))
                seen[each.key, each.context] = each.line
            messages += found
    return Catalogue(file=file, messages=tuple(messages), problems=problems.all())


def _messages(element: Element, context: str, language: str) -> Iterator[Message]:
    """Yield the message of an element, or those of its plural forms; no messages for obsolete ones."""
    source, target = element.first("source"), element.first("translation")
    kind = target.attributes.get("type", "") if target else ""
    if kind in _OBSOLETE or (source is None and "id" not in element.attributes):
        return
    text = _text(source) if source else ""
    comment = "\n".join(filter(None, (element.text_of("extracomment"), element.text_of("comment"))))
    base = Message(
        line=target.line if target else element.line,
        key=element.attributes.get("id", "") or text,
        source=text,
        translation="",
        context="|".join(filter(None, (context, element.text_of("comment")))),
        comment=comment,
        syntaxes=_SYNTAXES,
    )
    if element.attributes.get("numerus") != "yes":
        yield _translated(base, target, kind)
        return
    forms = list(target.elements("numerusform")) if target else []
    categories = _OTHER_ORDER.get(language.partition("-")[0], integer_categories(language))
    for place, form in enumerate(forms):
        plural = categories[place] if len(categories) == len(forms) else str(place)
        named = replace(base, line=form.line, plural=plural, is_exact=is_exact(plural, language))
        yield _translated(named, form, kind)


def _translated(message: Message, target: Element | None, kind: str) -> Message:
    text = _text(target) if target else ""
    state: MessageState = "untranslated" if not text else "needs_review" if kind == "unfinished" else "translated"
    return replace(message, translation=text, state=state)


def _text(element: Element) -> str:
    """Return a text, the first one if there are several for different widths."""
    variants = list(element.elements("lengthvariant"))
    element = variants[0] if variants else element
    parts = (
        child if isinstance(child, str) else _byte(child) if child.name == "byte" else child.text()
        for child in element.children
    )
    return "".join(parts)


def _byte(element: Element) -> str:
    """Return a character that XML cannot contain."""
    value = element.attributes.get("value", "")
    return character(value[1:], 16) if value.startswith("x") else character(value, 10)
