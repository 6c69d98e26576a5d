"""How a message starts and ends: its spaces and line breaks, as in its source."""

from collections.abc import Iterator

from polyjudge.records.findings import Finding, Severity

from .language_facts import base_of, language_facts

_SPACES = " \t\u00a0\u202f\u3000"


def edge_findings(text: str, source: str, *, language: str, format: str) -> Iterator[Finding]:
    """Find spaces and line breaks at the start and the end that differ from the source."""
    if not text.strip() or not source.strip():
        return
    yield from _line_breaks(text, source, format)
    if text[0] in _SPACES or source[0] in _SPACES:
        yield from _spaces(text[: _leading(text)], source[: _leading(source)], "start", language, 0)
    if text[-1] in _SPACES or source[-1] in _SPACES:
        end = len(text.rstrip(_SPACES))
        yield from _spaces(text[end:], source[len(source.rstrip(_SPACES)) :], "end", language, end)


def _leading(text: str) -> int:
    return len(text) - len(text.lstrip(_SPACES))


def _line_breaks(text: str, source: str, format: str) -> Iterator[Finding]:
    severity: Severity = "fail" if format == "gettext" else "warn"
    for where, ours, theirs in (
        ("starts", text[0] == "\n", source[0] == "\n"),
        ("ends", text[-1] == "\n", source[-1] == "\n"),
    ):
        if ours != theirs:
            has, lacks = ("source", "translation") if theirs else ("translation", "source")
            message = f"The {has} {where} with a line break, and the {lacks} does not."
            yield Finding("line_break_changed", severity, message)


def _spaces(ours: str, theirs: str, where: str, language: str, place: int) -> Iterator[Finding]:
    if bool(ours) == bool(theirs):
        return
    if theirs:
        # Without spaces between words, it may have been left out on purpose.
        severity: Severity = "info" if base_of(language) in language_facts().without_spaces else "warn"
        message = f"The source has a space at the {where}, and the translation has none."
        yield Finding("space_changed", severity, message)
    else:
        message = f"A space at the {where} that the source does not have."
        yield Finding("space_changed", "info", message, place, place + len(ours))
