"""Are the cases themselves fit to be kept: safe to commit, worth running, and not captured mistakes?"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polyjudge.files import FixtureFile
from polyjudge.languages import LanguageTable
from polyjudge.records import Fixture
from polyjudge.text import TextChecker, is_opaque, unsafe_parts

from .regression_capture import is_recorded

_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a file of cases."""

    case_id: str
    """Empty where it is about the file."""
    kind: str
    message: str
    path: str = ""
    line: int = 0
    is_warning: bool = False


def audit(file: FixtureFile, table: LanguageTable) -> Iterator[Finding]:
    """Yield what is wrong with the cases of a file."""
    checker = TextChecker(table)
    for fixture in file.fixtures:
        yield from _unsafe(fixture)
        yield from _doubtful(fixture, checker, table)
    yield from _unsafe_comments(file)
    yield from _doubles(file.fixtures)
    yield from _padded(file)


def _unsafe(fixture: Fixture) -> Iterator[Finding]:
    for name, text in (("input", fixture.input_text), ("expected output", fixture.expected_output)):
        for kind, part in unsafe_parts(text):
            yield _finding(fixture, "unsafe", f"the {name} holds a {kind}: {part!r}")


def _unsafe_comments(file: FixtureFile) -> Iterator[Finding]:
    for number, line in enumerate(file.lines, start=1):
        for kind, part in unsafe_parts(line) if line.startswith("#") else ():
            # A capture records the command and versions, which may look like commands and addresses; but no key.
            if not is_recorded(line) or kind == "secret":
                yield Finding("", "unsafe", f"a comment holds a {kind}: {part!r}", str(file.path), number)


def _doubtful(fixture: Fixture, checker: TextChecker, table: LanguageTable) -> Iterator[Finding]:
    """Check an expected output as if a translator had just written it."""
    if fixture.suite == "preserve":
        if fixture.expected_output.strip() != fixture.input_text.strip():
            yield _finding(fixture, "not_preserved", "expects something else than its input, in a suite of identifiers")
        return
    language = table.find(fixture.target_lang)
    if not fixture.expected_output.strip():
        yield _finding(fixture, "empty", "expects nothing")
        return
    if language is None:
        told = f"{fixture.target_lang!r} is not in the table of languages; its output is not checked"
        yield _finding(fixture, "unknown_language", told, is_warning=True)
        return
    check = checker.check(fixture.expected_output, language, source=fixture.input_text)
    for problem in check.problems:
        if problem.severity == "fail":
            yield _finding(fixture, problem.kind, f"the expected output: {problem.message}")


def _doubles(fixtures: Sequence[Fixture]) -> Iterator[Finding]:
    seen: dict[tuple[str, str, str], str] = {}
    for fixture in fixtures:
        key = fixture.source_lang, fixture.target_lang, fixture.input_text.strip()
        if key in seen:
            yield _finding(fixture, "duplicate", f"has the input of {seen[key]!r}")
        seen.setdefault(key, fixture.case_id)


def _padded(file: FixtureFile) -> Iterator[Finding]:
    by_path: dict[str, list[Fixture]] = defaultdict(list)
    for fixture in file.fixtures:
        if fixture.suite == "translation":
            by_path[fixture.path if fixture.line else str(file.path)].append(fixture)
    for path, fixtures in by_path.items():
        opaque = [fixture for fixture in fixtures if is_opaque(fixture.input_text)]
        if len(opaque) > _MOSTLY * len(fixtures):
            told = f"{len(opaque)} of {len(fixtures)} cases are identifiers, which belong in a preserve suite"
            yield Finding("", "padded", told, path, is_warning=True)


def _finding(fixture: Fixture, kind: str, message: str, *, is_warning: bool = False) -> Finding:
    return Finding(fixture.case_id, kind, message, fixture.path, fixture.line, is_warning)
