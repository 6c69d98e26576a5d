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
    """Describe a translator: its command with paths reduced to names, the digest of its model, its version."""
    parts = [Path(part).name if "/" in part else part for part in command.parts]
    line = " ".join(" ".join(parts).split())  # a comment must be one line
    versions = {"polyjudge": __version__, **({"translator": " ".join(version.split())} if version else {})}
    digest = model_digest(command.model) if command.model is not None else ""
    return Recorded(command=line, model_sha256=digest, versions=versions)


def recorded_service(name: str, description_sha256: str = "") -> Recorded:
    """Describe a translator that is a model, or a service over HTTP by its description; never its address or keys."""
    described = {"description": f"{name} {description_sha256[:16]}"} if description_sha256 else {}
    return Recorded(command=f"translator {name}", versions={"polyjudge": __version__, **described})


def model_digest(path: Path) -> str:
    """Return the SHA-256 of a model file, or of all files of a model folder with their names."""
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
    """Return the description of a translator as comment lines."""
    lines = [f"{_MARK}command: {recorded.command}"]
    if recorded.model_sha256:
        lines.append(f"{_MARK}model: {recorded.model_sha256}")
    return lines + [f"{_MARK}version {name}: {value}" for name, value in sorted(recorded.versions.items())]


def captured_text(inputs: FixtureFile, outputs: Mapping[str, str], recorded: Recorded) -> str:
    """Return the inputs with their expected outputs, in the same order and with the same comments."""
    by_line = {fixture.line: fixture for fixture in inputs.fixtures}
    lines = recorded_lines(recorded) + _suite_line(inputs)
    for number, line in enumerate(inputs.lines, start=1):
        fixture = by_line.get(number)
        if fixture is not None:
            output = _tsv_cell(outputs[fixture.case_id], fixture)
            cells = (fixture.case_id, fixture.source_lang, fixture.target_lang, fixture.input_text, output)
            lines.append("\t".join(cells))
        elif not is_recorded(line):
            lines.append(line)
    return "\n".join(lines).rstrip("\n") + "\n"


def is_recorded(line: str) -> bool:
    """Return whether a line is a comment that a capture wrote about the translator."""
    return line.startswith(_RECORDED)


def _suite_line(inputs: FixtureFile) -> list[str]:
    """Return a line with the kind of suite if the inputs have it only in their file name."""
    is_declared = any(line.startswith("#") and "suite:" in line for line in inputs.lines)
    suite = inputs.fixtures[0].suite
    return [] if is_declared or suite == "translation" else [f"# suite: {suite}"]


def _tsv_cell(output: str, fixture: Fixture) -> str:
    """Return an output as a cell of a TSV file; refuse tabs, line breaks and bytes that were not UTF-8."""
    problem = ""
    if any(char in output for char in "\t\n\r"):
        problem = "has a tab or a line break; put the case into a folder (input.txt, expected.txt, case.toml)"
    elif "\ufffd" in output and "\ufffd" not in fixture.input_text:
        problem = "is not UTF-8 text"
    if problem:
        raise DataError(f"the output of {fixture.case_id!r} {problem}", path=fixture.path, line=fixture.line)
    return output


def changes(before: Recorded, now: Recorded) -> list[str]:
    """Return how a translator differs from the recorded one."""
    changed: list[str] = []
    if before.command and before.command != now.command:
        changed.append(f"captured with the command {before.command!r}, now {now.command!r}")
    if before.model_sha256 and before.model_sha256 != now.model_sha256:
        changed.append(f"captured with the model {before.model_sha256[:12]}…, now {now.model_sha256[:12] or 'none'}…")
    for name, version in before.versions.items():
        if name in now.versions and now.versions[name] != version:
            changed.append(f"captured with {name} {version}, now {now.versions[name]}")
    return changed


_PADDED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A problem in a file of cases."""

    case_id: str
    """Empty for a problem of the whole file."""
    kind: str
    message: str
    path: str = ""
    line: int = 0
    is_warning: bool = False


def audit_fixtures(file: FixtureFile, table: LanguageTable) -> Iterator[AuditFinding]:
    """Yield the problems of a file of cases."""
    checker = TextChecker(table)
    for fixture in file.fixtures:
        yield from _unsafe(fixture)
        yield from _check_expected_output(fixture, checker, table)
    yield from _unsafe_comments(file)
    yield from _duplicates(file.fixtures)
    yield from _padded(file)


def _unsafe(fixture: Fixture) -> Iterator[AuditFinding]:
    for name, text in (("input", fixture.input_text), ("expected output", fixture.expected_output)):
        for kind, part in unsafe_parts(text):
            yield _finding(fixture, "unsafe", f"{kind} in the {name}: {part!r}")


def _unsafe_comments(file: FixtureFile) -> Iterator[AuditFinding]:
    for number, line in enumerate(file.lines, start=1):
        for kind, part in unsafe_parts(line) if line.startswith("#") else ():
            # Recorded commands and versions may look like commands and addresses, but must not contain a secret.
            if not is_recorded(line) or kind == "secret":
                yield AuditFinding("", "unsafe", f"{kind} in a comment: {part!r}", str(file.path), number)


def _check_expected_output(fixture: Fixture, checker: TextChecker, table: LanguageTable) -> Iterator[AuditFinding]:
    """Run the checks on an expected output."""
    if fixture.suite == "preserve":
        if fixture.expected_output.strip() != fixture.input_text.strip():
            yield _finding(
                fixture,
                "not_preserved",
                "the expected output differs from the input, which a preserve suite does not allow",
            )
        return
    language = table.find(fixture.target_lang)
    if not fixture.expected_output.strip():
        yield _finding(fixture, "empty", "the expected output is empty")
        return
    if language is None:
        close = table.suggestion(fixture.target_lang)
        message = f"unknown language {fixture.target_lang!r}; the expected output is not checked.{close}".rstrip(".")
        yield _finding(fixture, "unknown_language", message, is_warning=True)
        return
    check = checker.check(fixture.expected_output, language, source=fixture.input_text)
    for problem in check.problems:
        if problem.severity == "fail":
            yield _finding(fixture, problem.kind, f"the expected output: {problem.message}")


def _duplicates(fixtures: Sequence[Fixture]) -> Iterator[AuditFinding]:
    seen: dict[tuple[str, str, str], str] = {}
    for fixture in fixtures:
        key = fixture.source_lang, fixture.target_lang, fixture.input_text.strip()
        if key in seen:
            yield _finding(fixture, "duplicate", f"same input as {seen[key]!r}")
        seen.setdefault(key, fixture.case_id)


def _padded(file: FixtureFile) -> Iterator[AuditFinding]:
    by_path: dict[str, list[Fixture]] = defaultdict(list)
    for fixture in file.fixtures:
        if fixture.suite == "translation":
            by_path[fixture.path if fixture.line else str(file.path)].append(fixture)
    for path, fixtures in by_path.items():
        opaque = [fixture for fixture in fixtures if is_opaque(fixture.input_text)]
        if len(opaque) > _PADDED_SHARE * len(fixtures):
            message = f"{len(opaque)} of {len(fixtures)} cases are identifiers; move them to a preserve suite"
            yield AuditFinding("", "padded", message, path, is_warning=True)


def _finding(fixture: Fixture, kind: str, message: str, *, is_warning: bool = False) -> AuditFinding:
    return AuditFinding(fixture.case_id, kind, message, fixture.path, fixture.line, is_warning)
