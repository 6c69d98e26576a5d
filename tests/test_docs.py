"""Every example runs, and links between pages and names of modules on them are valid."""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import polyjudge
from polyjudge.plugins import GROUPS, PLUGINS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DEMO_FILES = ROOT / "src" / "polyjudge" / "cli" / "demo_data" / "files"
OTHER_PAGES = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md")]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$(?:\n+^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
EXAMPLES = [
    pytest.param(
        *(page, match[1], match[2], match[3]),
        id=f"{page.relative_to(ROOT)}:{match.start()}",
        marks=[pytest.mark.slow] if match[1] == "console" and page.parent.name == "guides" else [],
    )
    for page in PAGES
    for match in BLOCK.finditer(page.read_text(encoding="utf-8"))
    if match[1] in ("python", "console")
]


def test_every_public_name_has_an_example_or_a_line_in_the_python_reference():
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    used = {name for match in BLOCK.finditer(page) for name in re.findall(r"\w+", match[2])}
    errors = {name for name in polyjudge.__all__ if name.endswith("Error")}

    assert set(polyjudge.__all__) - errors - {"__version__"} <= used
    assert errors <= set(re.findall(r"`(\w+)`", page))


@pytest.fixture
def no_plugins():
    """Remove the plugins of an example, because their table belongs to the process."""
    yield
    for group in GROUPS:
        for name in PLUGINS.names(group):
            PLUGINS.remove(group, name)


@pytest.mark.usefixtures("no_plugins")
@pytest.mark.parametrize(("page", "language", "code", "shown"), EXAMPLES)
def test_an_example_runs_and_prints_what_the_page_says(page, language, code, shown, in_folder, demo):
    shutil.copytree(DEMO_FILES, in_folder, dirs_exist_ok=True)
    printed = _run_python(code) if language == "python" else _run_console(code, demo)

    if shown is not None:
        assert _trimmed(printed) == _trimmed(shown)


def _run_python(code: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "example", "exec"), {"__name__": "example"})
    return printed.getvalue()


def _run_console(code: str, demo) -> str:
    """Run the lines that start with `$ `; the demo was run already."""
    printed = ""
    for line in code.splitlines():
        if line == "$ polyjudge demo":
            shutil.copytree(demo.folder, Path(), dirs_exist_ok=True)
            printed += demo.printed
        elif line.startswith("$ polyjudge"):
            command = [sys.executable, "-m", "polyjudge", *shlex.split(line)[2:]]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            printed += done.stdout
    return printed


def _trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


@pytest.mark.parametrize("page", [*PAGES, *OTHER_PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


SAID_TWICE = {  # on both first pages
    "polyjudge judges what language models write, in any language, and measures whether the judge itself is reliable"
    " in that language"
}
RUN = 8
_NO_PROSE = re.compile(r"^```.*?^```$|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
_END = re.compile(r"\n\s*\n|\n(?=[-*#\d])|\|")
"""Between two blocks, rows or cells."""


def test_no_two_pages_say_the_same_in_eight_words():
    allowed = {run for sentence in SAID_TWICE for run in runs_of_words(sentence)}
    pages_of: dict[str, set[str]] = {}
    for page in (*PAGES, *OTHER_PAGES, ROOT / "benchmarks" / "README.md"):
        if page.parent.name != "cards":  # written by a command
            for run in runs_of_words(_NO_PROSE.sub("", page.read_text(encoding="utf-8"))):
                pages_of.setdefault(run, set()).add(str(page.relative_to(ROOT)))

    assert {run: pages for run, pages in pages_of.items() if len(pages) > 1 and run not in allowed} == {}


def runs_of_words(text: str) -> set[str]:
    """Return every eight words that follow one another in a block of a page."""
    blocks = [re.findall(r"[\w'`-]+", block.lower()) for block in _END.split(text)]
    return {" ".join(words[start : start + RUN]) for words in blocks for start in range(len(words) - RUN + 1)}


EXPLAINING = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "design").glob("*.md"))]


@pytest.mark.parametrize("page", EXPLAINING, ids=lambda page: page.name)
def test_modules_that_a_page_names_are_there(page):
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_*]+\.(?:py|toml|tsv|jsonl))`", page.read_text(encoding="utf-8"))
    places = (ROOT / "src" / "polyjudge", ROOT)

    assert [name for name in named if not any(list(place.glob(name)) for place in places)] == []


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_an_example_file_runs_without_a_key(script, tmp_path):
    command = [sys.executable, script]
    done = subprocess.run(command, cwd=tmp_path, input="Hello.\n", capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout
