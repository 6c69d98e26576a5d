"""The reference of the checks: every finding of the built-in checks, with an anchor of its own."""

from collections.abc import Iterator

from rst_text import escaped, heading

from polyjudge.checks.catalogue import check_names, known_findings, record_of_kind


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
    for check in check_names():
        yield heading(check.capitalize(), "-")
        for kind, known in known_findings().items():
            if known.check == check:
                yield f".. _{kind.replace('_', '-')}:\n"
                yield heading(kind, "~")
                yield f"{escaped(known.finds)} {escaped(known.matters)}\n"
                record = record_of_kind(kind)
                severity = f"Severity: ``{known.severity}``" + ("." if known.severity != "fail" else " at most.")
                yield f"{severity} {f'Measured: {record}.' if record else ''}\n"
