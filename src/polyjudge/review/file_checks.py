"""Check whole files in other processes, which return findings with the places of their messages."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from polyjudge.checks.policy import CheckPolicy
from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import Finding
from polyjudge.records.messages import Catalogue

from .glossary import Glossary
from .message_checks import MessageChecker, MessageFinding


class FileFinding(NamedTuple):
    """A finding in a file, as it is sent between processes."""

    place: int | None
    """Of the message, among those of the file and then those that it lacks; None for the file as a whole."""
    finding: Finding
    line: int
    problem: str


def file_checker(
    setup: tuple[LanguageTable, CheckPolicy, Glossary | None],
) -> Callable[[Catalogue], Sequence[FileFinding]]:
    """Return what checks the messages of a file."""
    checker = MessageChecker(*setup)

    def check(catalogue: Catalogue) -> list[FileFinding]:
        places = {id(message): place for place, message in enumerate((*catalogue.messages, *catalogue.missing))}
        return [
            FileFinding(None if message is None else places[id(message)], finding, line, problem)
            for message, finding, line, problem in checker.findings(catalogue)
        ]

    return check


def placed_findings(catalogue: Catalogue, found: Iterable[FileFinding]) -> Iterator[MessageFinding]:
    """Yield the findings with the messages that they are about."""
    messages = (*catalogue.messages, *catalogue.missing)
    for place, finding, line, problem in found:
        yield MessageFinding(None if place is None else messages[place], finding, line, problem)
