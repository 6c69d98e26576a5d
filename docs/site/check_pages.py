"""The reference of the checks: every finding of the built-in checks, with an anchor of its own."""

from collections.abc import Iterator, Mapping

from rst_text import escaped, heading

from polyjudge.checks.catalogue import (
    KnownFinding,
    check_names,
    known_findings,
    message_check_names,
    message_findings,
    record_of_kind,
)


def page() -> str:
    """Return the page of all findings, those of each check together."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield ".. _checks-reference:\n"
    yield heading("Findings of the checks", "=")
    yield (
        "Each finding can be chosen by its name or by that of its check, with ``--checks`` and ``--skip-checks``. "
        "It has a severity that ``[checks]`` in ``polyjudge.toml`` can change. :doc:`/guides/checks` shows how.\n"
    )
    yield heading("In any text", "-")
    for check in check_names():
        yield from _check(check, known_findings())
    yield heading("In the messages of localisation files", "-")
    yield "``review`` reports these too, with the knowledge of the format: :doc:`/guides/review`.\n"
    for check in message_check_names():
        yield from _check(check, message_findings(), more=check in check_names())


def _check(check: str, findings: Mapping[str, KnownFinding], *, more: bool = False) -> Iterator[str]:
    """Yield the findings of a check; `more` if the check has others, which are listed above."""
    own = {kind: known for kind, known in findings.items() if known.check == check}
    if not own:
        return
    yield heading(f"{check.capitalize()}{' of messages' if more else ''}", "~")
    for kind, known in own.items():
        yield f".. _{kind.replace('_', '-')}:\n"
        yield heading(kind, "^")
        yield f"{escaped(known.finds)} {escaped(known.matters)}\n"
        record = record_of_kind(kind)
        severity = f"Severity: ``{known.severity}``" + ("." if known.severity != "fail" else " at most.")
        yield f"{severity} {f'Measured: {record}.' if record else ''}\n"
