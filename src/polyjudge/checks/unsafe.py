"""What must not stand in a file that is committed: local paths, hosts, addresses, secrets, commands."""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Unsafe(NamedTuple):
    """Something that should not be there."""

    kind: str
    text: str


_EXAMPLE_HOST = re.compile(r"(?:(?:^|[/@.])example\.(?:com|org|net|edu)|\.(?:example|test|invalid))(?::\d*)?\.?$")
"""Names that are reserved for examples."""
_LONGEST_COMMAND = 1_000
_MAY_BE_EXAMPLES = ("e-mail address", "host name")
_TOP = "com|net|org|edu|gov|io|dev|co|de|uk|fr|es|eu|info|biz|cloud|app"
_IN_BACKTICKS = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(
    r"\s*(?:rm|mv|cp|ln|touch|mkdir|rmdir|chmod|chown|curl|wget|ssh|scp|nc|dd|sudo|killall|pkill|eval|bash|zsh|sh|python3?|perl|tar"
    r"|base64|crontab|systemctl|docker|kubectl|apt|apt-get|pip|npm)\s+\S"
    r"|\s*[\w./-]+\s(?:[^\s-]\S*\s)*--?[A-Za-z]|.*(?:\s\|\s*[a-z]|&&|\$[({]|>\s*[/~.])"
)
"""What stands in backticks and is a command: a program with an argument or an option, or a shell's operators.

Other words in backticks are names, as prose about programs has them.
"""
# Every repetition that another part must follow has a limit, so that no text takes time that grows with its square.
_PATTERNS = {
    "secret": re.compile(
        r"\b(?:sk|pk|rk)[-_](?=[\w-]{0,99}\d)[\w-]{12,}"
        r"|\bgh[pousr]_[A-Za-z0-9]{20,}\b|\bxox[abprs]-[A-Za-z0-9-]{10,}\b|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}\b"
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]{10,999}\.[\w-]{10,9999}\.[\w-]{5,}"
        r"|\b(?:password|passwd|secret|api[_-]?key|token)\s{0,9}(?:=\s{0,9}|:\s{0,9}(?=\S{0,99}\d))\S{6,}",
        re.IGNORECASE,
    ),
    "e-mail address": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
    "local path": re.compile(
        r"(?<![\w.])(?:/(?:home|Users|root|etc|var|tmp|opt|usr|mnt|srv|private|proc|dev|bin|Volumes)(?:/[\w.@+-]+)+|~/[\w./-]+"
        r"|[A-Za-z]:\\[\w\\ .-]+|[A-Za-z]:/[\w.-]+(?:/[\w.-]+)+|\\\\[\w.-]+\\[\w$.-]+|file://\S+"
        # Relative ones, by the dots that they begin with, a private folder, a variable, or the ending of a key file.
        r"|(?<!/)(?:\.\.?[/\\]){1,99}[\w@+-][\w.@+-]*(?:[/\\][\w.@+-]+)*"
        r"|\.(?:ssh|aws|gnupg|kube|config|docker|git)/[\w./-]+"
        r"|(?:\$HOME|\$\{HOME\}|%[A-Za-z]{1,63}%)[/\\][\w./\\-]+"
        r"|(?<![/-])(?:[\w.-]{1,63}[/\\]){1,9}[\w.-]{0,63}\.(?:pem|key|p12|pfx|ppk|kdbx)\b)"
    ),
    "network address": re.compile(
        r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.])"
        r"|\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b|\b(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}\b"
        r"|(?<![\w:])(?=[a-f:]{0,39}\d)(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})?::(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,5})(?![\w:])",
        re.IGNORECASE,
    ),
    "host name": re.compile(
        r"\b(?:https?|ftp|ssh|wss?)://[\w.:-]+|(?<![\w.-])(?:[\w-]{1,63}\.){1,9}(?:local|internal|lan|corp|intranet|home\.arpa)\b"
        rf"|(?<![\w.@-])(?:[\w-]{{1,63}}\.){{2,9}}(?:{_TOP})\b"
        r"|\blocalhost\b",
        re.IGNORECASE,
    ),
    "command": re.compile(
        r"\$\([^)]{0,999}\)|(?:^|[;&|]\s*|\bsudo\s+)(?:curl\s+(?:-|\w+://)|wget\s|chmod\s|chown\s|bash\s+-|sh\s+-c|python3?\s+-|nc\s+-|eval\s+[\"$`(]|mkfs|dd\s+if=)"
        r"|\brm\s+-[a-z]|\|\s*(?:sh|bash)\b|(?:&&|\|\|)\s*\w+|<script\b|\bDROP\s+TABLE\b",
        re.IGNORECASE,
    ),
}


def unsafe_parts(text: str) -> Iterator[Unsafe]:
    """Yield what should not stand in a committed text; names reserved for examples may."""
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            if kind not in _MAY_BE_EXAMPLES or not _EXAMPLE_HOST.search(match[0].casefold()):
                yield Unsafe(kind, match[0].strip())
    for match in _IN_BACKTICKS.finditer(text):
        if _COMMAND.match(match[1][:_LONGEST_COMMAND]):
            yield Unsafe("command", match[0].strip())


def is_opaque(text: str) -> bool:
    """Say whether a text is identifiers rather than language: most of its words have digits or odd capitals."""
    words = text.split()
    odd = [word for word in words if _ODD.search(word) or (_DIGIT.search(word) and _LETTER.search(word))]
    return bool(words) and 2 * len(odd) > len(words)


_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[A-Za-z]")
_ODD = re.compile(r"[a-z][A-Z]|[_#@/\\{}<>=]|^[A-Z0-9-]{5,}$|^\d+$")
