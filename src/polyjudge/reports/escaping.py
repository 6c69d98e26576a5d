"""Escape text for what programs read: commands of GitHub's workflows, and XML."""

import re

from .blocks import shown

_NOT_XML = re.compile("[\ufffe\uffff]")
"""Characters of a shown text that XML does not allow."""


def no_command(text: str) -> str:
    """Break up `##[`, which starts a command of GitHub's runner anywhere in a line."""
    return text.replace("##[", "## [")


def escape_command(text: str) -> str:
    """Escape the message of a workflow command of GitHub."""
    return shown(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape a property, such as the title, of a workflow command of GitHub."""
    return escape_command(text).replace(":", "%3A").replace(",", "%2C")


def xml_text(text: str) -> str:
    """Return a text as one line that XML can contain."""
    return _NOT_XML.sub("\ufffd", shown(text))
