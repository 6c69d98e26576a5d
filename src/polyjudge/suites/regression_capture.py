"""Fill the expected outputs of a file of inputs from a working translator, and record which one it was."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.files import FixtureFile
from polyjudge.records import Fixture, Recorded
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
