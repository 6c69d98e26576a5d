"""Capture fixtures from a translator, and audit them."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polyjudge.checks.checker import TextChecker
from polyjudge.checks.unsafe import is_opaque, unsafe_parts
from polyjudge.errors import DataError
from polyjudge.formats.fixtures import FixtureFile
from polyjudge.languages.table import LanguageTable
from polyjudge.records.sessions import Fixture, Recorded
from polyjudge.version import __version__

from .regression import TranslatorCommand

_MARK = "# polyjudge "
_RECORDED = (f"{_MARK}command:", f"{_MARK}model:", f"{_MARK}version ")


def recorded_now(command: TranslatorCommand, version: str = "") -> Recorded:
    """Return what is recorded of a translator: its command with paths reduced to names, its model, its version."""
    parts = [Path(part).name if "/" in part else part for part in command.parts]
    told = " ".join(" ".join(parts).split())  # a comment is one line, whatever stands in a command
    versions = {"polyjudge": __version__, **({"translator": " ".join(version.split())} if version else {})}
    digest = model_digest(command.model) if command.model is not None else ""
    return Recorded(command=told, model_sha256=digest, versions=versions)


def model_digest(path: Path) -> str:
    """Return the SHA-256 of a model: of a file, or of all files of a folder with their names."""
    digest = hashlib.sha256()
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    for file in files:
        if file != path:
            digest.update(f"{file.relative_to(path)}\n".encode())
        with file.open("rb") as content:
            while piece := content.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()


def recorded_lines(recorded: Recorded) -> list[str]:
    """Return what is recorded as comments of a file."""
    lines = [f"{_MARK}command: {recorded.command}"]
    if recorded.model_sha256:
        lines.append(f"{_MARK}model: {recorded.model_sha256}")
    return lines + [f"{_MARK}version {name}: {value}" for name, value in sorted(recorded.versions.items())]


def captured_text(inputs: FixtureFile, outputs: Mapping[str, str], recorded: Recorded) -> str:
    """Return the file with its expected outputs; the order and the comments of the inputs are kept."""
    by_line = {fixture.line: fixture for fixture in inputs.fixtures}
    lines = recorded_lines(recorded) + _suite_line(inputs)
    for number, line in enumerate(inputs.lines, start=1):
        fixture = by_line.get(number)
        if fixture is not None:
            output = _kept(outputs[fixture.case_id], fixture)
            cells = (fixture.case_id, fixture.source_lang, fixture.target_lang, fixture.input_text, output)
            lines.append("\t".join(cells))
        elif not is_recorded(line):
            lines.append(line)
    return "\n".join(lines).rstrip("\n") + "\n"


def is_recorded(line: str) -> bool:
    """Say whether a line of a file is one that a capture wrote about the translator."""
    return line.startswith(_RECORDED)


def _suite_line(inputs: FixtureFile) -> list[str]:
    """Keep the kind that the name of the inputs tells, since the captured file may have another."""
    is_told = any(line.startswith("#") and "suite:" in line for line in inputs.lines)
    suite = inputs.fixtures[0].suite
    return [] if is_told or suite == "translation" else [f"# suite: {suite}"]


def _kept(output: str, fixture: Fixture) -> str:
    """Return an output that a TSV can hold and that was text when it came."""
    told = ""
    if any(sign in output for sign in "\t\n\r"):
        told = "has a tab or a line break; make it a folder of its own (input.txt, expected.txt, case.toml)"
    elif "\ufffd" in output and "\ufffd" not in fixture.input_text:
        told = "is not UTF-8 text"
    if told:
        raise DataError(f"the output of {fixture.case_id!r} {told}", path=fixture.path, line=fixture.line)
    return output


def changes(before: Recorded, now: Recorded) -> list[str]:
    """Return in which way the translator is another than the one that was recorded."""
    told: list[str] = []
    if before.command and before.command != now.command:
        told.append(f"captured with the command {before.command!r}, now {now.command!r}")
    if before.model_sha256 and before.model_sha256 != now.model_sha256:
        told.append(f"captured with the model {before.model_sha256[:12]}…, now {now.model_sha256[:12] or 'none'}…")
    for name, version in before.versions.items():
        if name in now.versions and now.versions[name] != version:
            told.append(f"captured with {name} {version}, now {now.versions[name]}")
    return told


_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """Something wrong with a file of cases."""

    case_id: str
    """Empty where it is about the file."""
    kind: str
    message: str
    path: str = ""
    line: int = 0
    is_warning: bool = False


def audit_fixtures(file: FixtureFile, table: LanguageTable) -> Iterator[AuditFinding]:
    """Yield what is wrong with the cases of a file."""
    checker = TextChecker(table)
    for fixture in file.fixtures:
        yield from _unsafe(fixture)
        yield from _doubtful(fixture, checker, table)
    yield from _unsafe_comments(file)
    yield from _doubles(file.fixtures)
    yield from _padded(file)


def _unsafe(fixture: Fixture) -> Iterator[AuditFinding]:
    for name, text in (("input", fixture.input_text), ("expected output", fixture.expected_output)):
        for kind, part in unsafe_parts(text):
            yield _finding(fixture, "unsafe", f"the {name} holds a {kind}: {part!r}")


def _unsafe_comments(file: FixtureFile) -> Iterator[AuditFinding]:
    for number, line in enumerate(file.lines, start=1):
        for kind, part in unsafe_parts(line) if line.startswith("#") else ():
            # A capture records the command and versions, which may look like commands and addresses; but no key.
            if not is_recorded(line) or kind == "secret":
                yield AuditFinding("", "unsafe", f"a comment holds a {kind}: {part!r}", str(file.path), number)


def _doubtful(fixture: Fixture, checker: TextChecker, table: LanguageTable) -> Iterator[AuditFinding]:
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


def _doubles(fixtures: Sequence[Fixture]) -> Iterator[AuditFinding]:
    seen: dict[tuple[str, str, str], str] = {}
    for fixture in fixtures:
        key = fixture.source_lang, fixture.target_lang, fixture.input_text.strip()
        if key in seen:
            yield _finding(fixture, "duplicate", f"has the input of {seen[key]!r}")
        seen.setdefault(key, fixture.case_id)


def _padded(file: FixtureFile) -> Iterator[AuditFinding]:
    by_path: dict[str, list[Fixture]] = defaultdict(list)
    for fixture in file.fixtures:
        if fixture.suite == "translation":
            by_path[fixture.path if fixture.line else str(file.path)].append(fixture)
    for path, fixtures in by_path.items():
        opaque = [fixture for fixture in fixtures if is_opaque(fixture.input_text)]
        if len(opaque) > _MOSTLY * len(fixtures):
            told = f"{len(opaque)} of {len(fixtures)} cases are identifiers, which belong in a preserve suite"
            yield AuditFinding("", "padded", told, path, is_warning=True)


def _finding(fixture: Fixture, kind: str, message: str, *, is_warning: bool = False) -> AuditFinding:
    return AuditFinding(fixture.case_id, kind, message, fixture.path, fixture.line, is_warning)
