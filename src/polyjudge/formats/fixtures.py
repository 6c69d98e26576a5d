"""Read regression fixtures."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.files.text_files import read_text, read_toml
from polyjudge.records.sessions import Fixture, Recorded, Suite

_COLUMNS = ("case_id", "source_lang", "target_lang", "input_text", "expected_output")
_SUITE = re.compile(r"#\s*suite:\s*(\S+)\s*")
_RECORDED = re.compile(r"#\s*polyjudge\s+(command|model|version\s+\S+):\s*(.*?)\s*")
_IN_FOLDER = ("input.txt", "expected.txt", "case.toml")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LANGUAGE = re.compile(r"\w[\w@.+-]*")
"""Neither an option nor a path, because it is put into commands."""


@dataclass(frozen=True, slots=True)
class FixtureFile:
    """The cases of a file or folder, and what is recorded about the translator that wrote them."""

    path: Path
    fixtures: tuple[Fixture, ...]
    recorded: Recorded = field(default_factory=Recorded)
    lines: tuple[str, ...] = ()
    """The unchanged lines of a TSV, so that comments and order can be kept."""


def read_fixtures(path: Path, *, with_expected: bool = True) -> FixtureFile:
    """Read a TSV, or a folder of cases or TSVs; without `with_expected`, a TSV may have only the first four columns."""
    if path.is_dir():
        return _read_folder(path)
    found = _read_tsv(path, with_expected)
    _check_unique(found.fixtures)
    if not found.fixtures:
        raise DataError("no cases found; write a row for each", path=path)
    return found


def suite_of_name(name: str) -> Suite:
    """Return the suite that a file name stands for."""
    return "preserve" if name.startswith("preserve") else "translation"


def _read_tsv(path: Path, with_expected: bool) -> FixtureFile:
    lines = [line.removesuffix("\r") for line in read_text(path).split("\n")]
    suite, recorded = suite_of_name(path.name), Recorded()
    fixtures: list[Fixture] = []
    for number, line in enumerate(lines, start=1):
        if line.startswith("#"):
            suite = _suite(line, suite, path, number)
            recorded = _with_recorded(recorded, line)
        elif line.strip():
            fixtures.append(_fixture(line, suite, path, number, with_expected))
    return FixtureFile(path, tuple(fixtures), recorded, tuple(lines))


def _fixture(line: str, suite: Suite, path: Path, number: int, with_expected: bool) -> Fixture:
    cells = line.split("\t")
    count = len(_COLUMNS) if with_expected else len(_COLUMNS) - 1
    if with_expected and len(cells) == len(_COLUMNS) - 1:
        remedy = "Store the outputs of a translator that works first, with regression capture."
        raise DataError(f"no expected output, only inputs. {remedy}", path=path, line=number)
    if len(cells) != count and not (not with_expected and len(cells) == len(_COLUMNS)):
        raise DataError(
            f"expected {count} columns ({', '.join(_COLUMNS[:count])}), found {len(cells)}", path=path, line=number
        )
    named = dict(zip(_COLUMNS, [*cells, ""], strict=False))
    empty = [name for name in _COLUMNS[:3] if not named[name].strip()]
    if empty:
        raise DataError(f"{empty[0]} is empty", path=path, line=number)
    return _checked(
        Fixture(
            case_id=named["case_id"].strip(),
            source_lang=named["source_lang"].strip(),
            target_lang=named["target_lang"].strip(),
            input_text=named["input_text"],
            expected_output=named["expected_output"],
            suite=suite,
            path=str(path),
            line=number,
        )
    )


def _checked(fixture: Fixture) -> Fixture:
    """Return a case if its name can be printed and its languages can be put into a command."""
    if not fixture.case_id.strip() or _CONTROL.search(fixture.case_id):
        raise DataError(
            f"the case_id {fixture.case_id!r} is empty or has control characters", path=fixture.path, line=fixture.line
        )
    for language in (fixture.source_lang, fixture.target_lang):
        if not _LANGUAGE.fullmatch(language):
            raise DataError(f"invalid language code {language!r}", path=fixture.path, line=fixture.line)
    if not fixture.input_text.strip():
        raise DataError("input_text is empty", path=fixture.path, line=fixture.line)
    return fixture


def _suite(line: str, suite: Suite, path: Path, number: int) -> Suite:
    match = _SUITE.fullmatch(line)
    if match is None:
        return suite
    if match[1] not in get_args(Suite):
        raise DataError(f"unknown suite {match[1]!r}; expected translation or preserve", path=path, line=number)
    return cast(Suite, match[1])


def _with_recorded(recorded: Recorded, line: str) -> Recorded:
    match = _RECORDED.fullmatch(line)
    if match is None:
        return recorded
    what, value = match[1], match[2]
    if what == "command":
        return replace(recorded, command=value)
    if what == "model":
        return replace(recorded, model_sha256=value)
    return replace(recorded, versions={**recorded.versions, what.split()[1]: value})


def _read_folder(path: Path) -> FixtureFile:
    """Read the case in a folder, or all its TSVs and folders of cases in the order of their names."""
    fixtures: list[Fixture] = []
    recorded = Recorded()
    if (path / "case.toml").is_file():
        fixtures.append(_case(path))
    for entry in sorted(path.iterdir()):
        if any((entry / name).is_file() for name in _IN_FOLDER):
            fixtures.append(_case(entry))
        elif entry.suffix == ".tsv":
            found = _read_tsv(entry, with_expected=True)
            fixtures += found.fixtures
            recorded = found.recorded if found.recorded != Recorded() else recorded
    if not fixtures:
        raise DataError("no cases found; expected .tsv files or folders with a case.toml", path=path)
    _check_unique(fixtures)
    return FixtureFile(path, tuple(fixtures), recorded)


def _case(folder: Path) -> Fixture:
    missing = [name for name in _IN_FOLDER if not (folder / name).is_file()]
    if missing:
        raise DataError(f"{missing[0]} is missing", path=folder)
    about = folder / "case.toml"
    data = read_toml(about)
    wrong = [name for name in data if name not in ("case_id", "source_lang", "target_lang", "suite")]
    if wrong:
        raise DataError(f"unknown key {wrong[0]!r}; known keys: case_id, source_lang, target_lang, suite", path=about)
    needed = [name for name in ("source_lang", "target_lang") if not isinstance(data.get(name), str)]
    if needed or data.get("suite", "translation") not in get_args(Suite):
        raise DataError(
            "source_lang and target_lang are required, and suite must be translation or preserve", path=about
        )
    return _checked(
        Fixture(
            case_id=str(data.get("case_id", folder.name)),
            source_lang=data["source_lang"],
            target_lang=data["target_lang"],
            input_text=read_text(folder / "input.txt"),
            expected_output=read_text(folder / "expected.txt"),
            suite=data.get("suite", "translation"),
            path=str(folder),
        )
    )


def _check_unique(fixtures: Iterable[Fixture]) -> None:
    places: dict[str, Fixture] = {}
    for fixture in fixtures:
        if fixture.case_id in places:
            first = places[fixture.case_id]
            where = f"{first.path}:{first.line}" if first.line else first.path
            message = f"duplicate case {fixture.case_id!r}, first in {where}"
            raise DataError(message, path=fixture.path, line=fixture.line)
        places[fixture.case_id] = fixture
