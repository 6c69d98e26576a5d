"""Read the resources of .NET."""

from collections.abc import Iterator

from polyjudge.errors import DataError

from .entries import Entry, Problems
from .xml_tree import parse_xml


def read_resx(content: bytes, path: str, problems: Problems) -> Iterator[Entry]:
    """Yield the texts of a file of resources, without images and other objects."""
    root = parse_xml(content, path)
    if root is None:
        problems.add(1, "is empty")
        return
    if root.name != "root":
        raise DataError(f"not a .NET resource file: the root element is <{root.name[:40]}>", path=path, line=root.line)
    for element in root.elements("data"):
        name, value = element.attributes.get("name", ""), element.first("value")
        is_text = "type" not in element.attributes and "mimetype" not in element.attributes
        if not name or value is None:
            problems.add(element.line, "has a <data> without a name or a value")
        elif is_text and not name.startswith((">>", "$")):
            comment = "\n".join(filter(None, (element.comment, element.text_of("comment"))))
            yield Entry(key=name, text=value.text(), line=value.line, comment=comment, syntaxes=("brace",))
