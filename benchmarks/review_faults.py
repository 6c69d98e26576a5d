"""How many planted faults `polyjudge review` finds at their lines: 26 kinds, 30 languages, 5 formats.

Beside it, on the gettext files: `pofilter` of Translate Toolkit, which is installed into an environment of its own
under `.venv/peers`, and `msgfmt --check` of gettext, both run as programs. A finding counts if it was not made at the
same message without the fault; one of polyjudge must also name the fault.
"""

import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from polyjudge.languages.table import language_table

from .catalogue_files import Entry, Written, write_files
from .check_strings import NAME, read
from .measuring import ROOT
from .planted_faults import FAULTS, LONGEST_LABEL, Case, accelerated

LANGUAGES = (
    *("de", "fr", "es", "it", "pt-BR", "nl", "sv", "da", "no", "fi", "pl", "cs", "sk", "ru", "uk", "bg", "sr", "el"),
    *("tr", "he", "ar", "fa", "hi", "bn", "th", "vi", "ja", "ko", "zh-Hans", "id"),
)
FORMATS = ("gettext", "android", "json", "xliff", "strings")
FAULTS_EACH = 3
"""Of a kind in a file."""
AMONG = 40
"""Messages of a file without faults."""
PEERS = ROOT / ".venv" / "peers"
TOOLKIT = "translate-toolkit==3.20.4"
RULES = {
    "nplurals=1; plural=0;": "ja zh-Hans ko vi th id",
    "nplurals=2; plural=n > 1;": "fr pt-BR hi bn fa",
    "nplurals=3; plural=n==1 ? 0 : n==2 ? 1 : 2;": "he",
    "nplurals=3; plural=n==1 ? 0 : n>=2 && n<=4 ? 1 : 2;": "cs sk",
    "nplurals=3; plural=n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2;": "pl",
    "nplurals=3; plural=n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2;": "ru uk sr",
    "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;": "ar",
}
"""The headers of PO files for the categories of CLDR; for other languages that of English."""
_PLAIN = re.compile(r"[^\W\d_][^_&%{}<>$\d|\\\"'’“”„«»()\[\]/~*#@+=:;.,!?…\n\t\u0964\u3002-]*[^\W\d_]")


class Planted(NamedTuple):
    """A fault in a file."""

    path: Path
    line: int
    key: tuple[str, str]


class Project(NamedTuple):
    """The files with the faults of one kind, and the same files without them."""

    bad: Path
    good: Path
    planted: Sequence[Planted]
    good_lines: Mapping[tuple[str, tuple[str, str]], int]
    """By relative path and key."""


def run(names: Sequence[str] = ()) -> None:
    """Print a table with a row for each kind of fault, or for those that are named."""
    path = Path(os.environ.get("POLYJUDGE_DATA", "")) / NAME
    if not path.is_file():
        print("review_faults: skipped, POLYJUDGE_DATA is not set or has no", NAME)
        return
    rows = strings_by_language(path)
    toolkit = installed_toolkit()
    print(f"{'planted fault':26} {'n':>5} {'polyjudge':>10}   of gettext: {'n':>4} {'polyjudge':>10}", end="")
    print(f" {'pofilter':>9} {'msgfmt':>9}")
    for name in names or FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            project = planted_project(Path(folder), name, rows)
            print(row_of(name, project, toolkit), flush=True)


def strings_by_language(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Return plain strings with their translations, each source once."""
    found = defaultdict[str, dict[str, str]](dict)
    for string in read(path):
        source, text = string.source.strip(), string.text.strip()
        is_plain = _PLAIN.fullmatch(source) and _PLAIN.fullmatch(text) and len(text) > 1
        if is_plain and source != text and string.language.tag in LANGUAGES:
            found[string.language.tag].setdefault(source, text)
    return {language: list(found[language].items()) for language in LANGUAGES}


def planted_project(folder: Path, name: str, rows: Mapping[str, Sequence[tuple[str, str]]]) -> Project:
    """Write the files of all languages and formats, with the faults of a kind and without them."""
    planted, good_lines, terms = list[Planted](), dict[tuple[str, tuple[str, str]], int](), list[tuple[str, str, str]]()
    for language in LANGUAGES:
        for form in FORMATS:
            written = "stringsdict" if form == "strings" and name == "plural form missing" else form
            maker = _Maker(name, language, written, rows)
            entries = maker.entries()
            if entries is None:
                continue
            rule = _rule(language) if form == "gettext" else ""
            options = {"rule": rule} if rule else {}
            good, bad = (
                write_files(folder / each / f"for_{language}", written, language, content, **options)
                for each, content in zip(("good", "bad"), entries, strict=True)
            )
            if FAULTS[name].breaks_file:
                _break_line(bad[0], bad[1].lines[maker.faulty[0], ""], form)
            relative = str(bad[0].relative_to(folder / "bad"))
            good_lines.update({(relative, key): line for key, line in good[1].lines.items()})
            planted += _planted(bad[0], bad[1], maker.faulty)
            terms += maker.terms
    if terms:
        with (folder / "terms.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("source", "target", "language"), *dict.fromkeys(terms)])
    return Project(folder / "bad", folder / "good", planted, good_lines)


class _Maker:
    """Makes the messages of a file."""

    def __init__(self, name: str, language: str, form: str, rows: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        self._fault, self._form = FAULTS[name], form
        self._language = language_table().find(language)
        self._random = random.Random(f"{name} {language} {form}")
        self._strings = self._random.sample(rows[language], len(rows[language]))
        self._all = rows
        self._has_shortcuts = name.startswith("shortcut")
        self.faulty: list[str] = []
        """The keys of the messages with a fault."""
        self.terms: list[tuple[str, str, str]] = []

    def entries(self) -> tuple[Sequence[Entry], Sequence[Entry]] | None:
        """Return the messages without the faults, and with them; None if the file can have none."""
        good, bad = list[Entry](), list[Entry]()
        used, wanted = set[int](), 1 if self._fault.breaks_file else FAULTS_EACH
        for place, (source, text) in enumerate(self._strings):
            if len(self.faulty) < wanted and len(source.split()) >= self._fault.fewest_words:
                pair = self._fault.plant(self._case(source, text))
                if pair is not None:
                    good += pair[0]
                    bad += pair[1]
                    self.faulty.append(pair[1][-1].key)
                    used.add(place)
        if not self.faulty:
            return None
        for place, (source, text) in enumerate(self._strings):
            if place not in used and len(good) < AMONG and self._form != "stringsdict":
                plain = Entry(f"plain_{place}", source, text)
                is_label = self._has_shortcuts and len(source.split()) <= LONGEST_LABEL
                entry = accelerated(self._case(source, text))._replace(key=plain.key) if is_label else plain
                good.append(entry)
                bad.append(entry)
        order = self._random.sample(range(len(good)), len(good))
        return [good[place] for place in order], [bad[place] for place in order]

    def _case(self, source: str, text: str) -> Case:
        assert self._language is not None
        words = [each for each in self._strings if " " not in each[0] and " " not in each[1] and len(each[0]) > 4]
        term = words[0] if words and words[0][1].isalpha() else ("", "")
        if term[0] and self._fault is FAULTS["wrong term"]:
            self.terms.append((*term, self._language.tag))
        others = [each for each in self._strings[-20:] if each[0] != source]
        foreign = {
            tag: dict(self._all[tag]).get(source, "") for tag in ("de", "fr", "pl", "ru", "it")
        } if self._fault is FAULTS["wrong language"] else {}  # fmt: skip
        number = len(self.faulty)
        key = f"faulty_{number}"
        return Case(
            self._random, key, source, text, self._language, self._form, number, [*words[1:], *others], foreign, term
        )


def _rule(language: str) -> str:
    """Return the header Plural-Forms for the categories of CLDR, in their order."""
    return next(
        (rule for rule, languages in RULES.items() if language in languages.split()), "nplurals=2; plural=n != 1;"
    )


def _planted(path: Path, written: Written, faulty: Sequence[str]) -> Iterator[Planted]:
    for name in faulty:
        key, line = next((key, line) for key, line in written.lines.items() if key[0] == name)
        yield Planted(path, line, key)


def _break_line(path: Path, line: int, form: str) -> None:
    """Take the escape from a sign in the line of a translation."""
    lines = path.read_text(encoding="utf-8").split("\n")
    escape, sign = {"android": ("\\'", "'"), "xliff": ("&amp;", "&")}.get(form, ('\\"', '"'))
    assert escape in lines[line - 1], lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(escape, sign, 1)
    path.write_text("\n".join(lines), encoding="utf-8", newline="\n")


def row_of(name: str, project: Project, toolkit: Path | None) -> str:
    """Return a row of the table: how many of the faults of a kind each program found."""
    kinds = FAULTS[name].kinds
    before, after = (review_findings(folder) for folder in (project.good, project.bad))
    found = [each for each in project.planted if _new_kinds(each, project, before, after) & kinds]
    of_gettext = [each for each in project.planted if each.path.suffix == ".po"]
    cells = [f"{name:26} {len(project.planted):5} {_share(found, project.planted)}   "]
    cells += [f"{len(of_gettext):17} {_share([each for each in of_gettext if each in found], of_gettext)}"]
    for program in (toolkit and _Pofilter(toolkit), _Msgfmt()):
        if program is None or not of_gettext:
            cells.append("        —")
            continue
        by_file = {each.path: program.new_messages(each.path, project) for each in of_gettext}
        cells.append(_share([each for each in of_gettext if each.key in by_file[each.path]], of_gettext, width=9))
    missed = [each for each in project.planted if each not in found]
    if missed and os.environ.get("SHOW_MISSED"):
        _show_missed(missed, project, before, after)
    return " ".join(cells)


def _share(part: Sequence[object], whole: Sequence[object], width: int = 10) -> str:
    return f"{len(part) / len(whole):{width}.1%}" if whole else "—".rjust(width)


def review_findings(folder: Path) -> dict[tuple[str, int], set[str]]:
    """Return the kinds of the findings of `polyjudge review` by file and line."""
    command = [sys.executable, "-m", "polyjudge", "review", str(folder), "--format", "json"]
    terms = folder.parent / "terms.csv"
    command += ["--glossary", str(terms)] if terms.is_file() else []
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode not in (0, 1):
        raise SystemExit(f"polyjudge review ended with {done.returncode}: {done.stderr[-500:]}")
    found = defaultdict[tuple[str, int], set[str]](set)
    for each in json.loads(done.stdout)["findings"]:
        path = Path(each["file"])
        relative = path.relative_to(folder) if path.is_absolute() else path
        found[str(relative), each["line"]].add(each["kind"])
    return found


def _new_kinds(
    planted: Planted,
    project: Project,
    before: Mapping[tuple[str, int], set[str]],
    after: Mapping[tuple[str, int], set[str]],
) -> set[str]:
    """Return the kinds that were found at the line of a fault, and not at the message without it."""
    relative = str(planted.path.relative_to(project.bad))
    lines = [line for (path, key), line in project.good_lines.items() if path == relative and key[0] == planted.key[0]]
    old = set[str]().union(*(before.get((relative, line), set()) for line in lines))
    return after.get((relative, planted.line), set()) - old


def _show_missed(
    missed: Sequence[Planted],
    project: Project,
    before: Mapping[tuple[str, int], set[str]],
    after: Mapping[tuple[str, int], set[str]],
) -> None:
    print("  missed:", dict(Counter(each.path.suffix for each in missed)))
    for each in missed[:: max(1, len(missed) // 15)]:
        line = each.path.read_text(encoding="utf-8").split("\n")[each.line - 1]
        relative = str(each.path.relative_to(project.bad))
        print("   ", relative, each.line, line[:150], _new_kinds(each, project, before, after))


class _Pofilter:
    """`pofilter` with its checks for GNOME, which know shortcuts with an underscore."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._known: dict[Path, dict[str, set[str]]] = {}

    def new_messages(self, path: Path, project: Project) -> set[tuple[str, str]]:
        """Return the keys of the messages with a test that fails, and did not without the fault."""
        good = project.good / path.relative_to(project.bad)
        before, after = self._failed(good), self._failed(path)
        lines = path.read_text(encoding="utf-8").split("\n")
        found = set[tuple[str, str]]()
        for each in project.planted:
            if each.path == path:
                name = _msgid(lines, each.line)
                without = _msgid(good.read_text(encoding="utf-8").split("\n"), _good_line(each, project))
                if after.get(name, set()) - before.get(without, set()):
                    found.add(each.key)
        return found

    def _failed(self, path: Path) -> dict[str, set[str]]:
        """Return the tests that fail by msgid, with its context."""
        if path not in self._known:
            output = path.with_suffix(".filtered")
            command = [str(self._program), "--gnome", "--progress=none", "-i", str(path), "-o", str(output)]
            subprocess.run(command, capture_output=True, check=False)
            text = output.read_text(encoding="utf-8") if output.is_file() else ""
            output.unlink(missing_ok=True)
            self._known[path] = {
                _msgid(block.split("\n"), len(block.split("\n"))): set(re.findall(r"\(pofilter\) (\w+)", block))
                for block in text.split("\n\n")
                if "(pofilter)" in block
            }
        return self._known[path]


def _good_line(planted: Planted, project: Project) -> int:
    relative = str(planted.path.relative_to(project.bad))
    return next(
        line for (path, key), line in project.good_lines.items() if path == relative and key[0] == planted.key[0]
    )


def _msgid(lines: Sequence[str], end: int) -> str:
    """Return what names the entry that has a line, without how it is broken into lines."""
    start = end - 1
    while start > 0 and lines[start - 1].strip():
        start -= 1
    text = "".join(line.strip() for line in lines[start:end] if not line.startswith(("#", "msgstr")))
    return re.sub(r"(?<!\\)\"", "", re.split(r"msgstr|msgid_plural", text)[0])


class _Msgfmt:
    """`msgfmt --check`, which names lines."""

    def new_messages(self, path: Path, project: Project) -> set[tuple[str, str]]:
        """Return the keys of the messages at whose lines it reports an error that is not there without the fault."""
        command = ["msgfmt", "--check", "--check-accelerators=_", "-o", os.devnull]
        try:
            done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return set()
        lines = {int(line) for line in re.findall(r"\.po:(\d+):", done.stderr)}
        own = [each for each in project.planted if each.path == path]
        return {each.key for each in own if lines & set(range(each.line - 5, each.line + 1))}


def installed_toolkit() -> Path | None:
    """Return the program `pofilter`, installed the first time; None where it cannot be installed."""
    program = PEERS / "translate-toolkit" / "bin" / "pofilter"
    if not program.is_file():
        uv = [sys.executable, "-m", "uv"]
        folder = PEERS / "translate-toolkit"
        created = subprocess.run([*uv, "venv", "--quiet", str(folder)], check=False)
        install = [*uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), TOOLKIT]
        if created.returncode or subprocess.run(install, check=False).returncode:
            print("pofilter could not be installed")
            return None
    return program


if __name__ == "__main__":
    run(sys.argv[1:])
