"""What must not stand in a file that is committed: local paths, hosts, addresses, secrets, commands."""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Unsafe(NamedTuple):
    """Something that should not be there."""

    kind: str
    text: str


_EXAMPLE_HOSTS = ("example.com", "example.org", "example.net", "example.edu", "localhost.example")
_PATTERNS = {
    "secret": re.compile(
        r"\b(?:sk|pk|rk)[-_](?:live|test|ant|proj)?[-_]?[A-Za-z0-9]{12,}\b"
        r"|\bgh[pousr]_[A-Za-z0-9]{20,}\b|\bxox[abprs]-[A-Za-z0-9-]{10,}\b|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}\b"
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}"
        r"|\b(?:password|passwd|secret|api[_-]?key|token)\s*[:=]\s*\S{6,}",
        re.IGNORECASE,
    ),
    "e-mail address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "local path": re.compile(
        r"(?<![\w.])(?:/(?:home|Users|root|etc|var|tmp|opt|usr|mnt|srv|private)(?:/[\w.@+-]+)+|~/[\w./-]+"
        r"|[A-Za-z]:\\[\w\\ .-]+|\\\\[\w.-]+\\[\w$.-]+|file://\S+)"
    ),
    "network address": re.compile(
        r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.])"
        r"|\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b|\b(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}\b",
        re.IGNORECASE,
    ),
    "host name": re.compile(
        r"\b(?:https?|ftp|ssh|wss?)://[\w.:-]+|\b[\w-]+(?:\.[\w-]+)*\.(?:local|internal|lan|corp|intranet|home\.arpa)\b"
        r"|\blocalhost\b",
        re.IGNORECASE,
    ),
    "command": re.compile(
        r"\$\([^)]*\)|`[^`\n]+`|(?:^|[;&|]\s*|\bsudo\s+)(?:rm\s+-|curl\s|wget\s|chmod\s|chown\s|bash\s+-|sh\s+-c|python3?\s+-|nc\s+-|eval\s|mkfs|dd\s+if=)"
        r"|\|\s*(?:sh|bash)\b|(?:&&|\|\|)\s*\w+|<script\b|\bDROP\s+TABLE\b",
        re.IGNORECASE,
    ),
}


def unsafe_parts(text: str) -> Iterator[Unsafe]:
    """Yield what should not stand in a committed text; names reserved for examples may."""
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            if not any(host in match[0].casefold() for host in _EXAMPLE_HOSTS):
                yield Unsafe(kind, match[0].strip())


def is_opaque(text: str) -> bool:
    """Say whether a text is identifiers rather than language: most of its words have digits or odd capitals."""
    words = text.split()
    odd = [word for word in words if _ODD.search(word)]
    return bool(words) and 2 * len(odd) > len(words)


_ODD = re.compile(r"\d.*[A-Za-z]|[A-Za-z].*\d|[a-z][A-Z]|[_#@/\\{}<>=]|^[A-Z0-9-]{5,}$|^\d+$")
