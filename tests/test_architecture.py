"""Rules of the code base: sizes, public names, imports at start."""

import ast
import re
import subprocess
import sys
from collections import Counter
from importlib.metadata import requires
from pathlib import Path

import pytest
from tests.folding import for_each

import polyjudge

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "polyjudge"
MODULES = sorted(SOURCE.rglob("*.py"))
HEAVY = {
    "anthropic",
    "openai",
    "google",
    "aiohttp",
    "numpy",
    "scipy",
    "pyarrow",
    "pandas",
    "rich",
    "ray",
    "torch",
    "httpx2",
    "pycurl",
}
FOUNDING = {"RubricJudge", "BinaryJudge", "JudgeResult", "Failure", "RubricCriterion", "JudgeCache"} | {
    "parse_judge_json",
    "parse_critique",
}


@for_each("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_is_small_and_documented_and_has_small_functions(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)

    assert text.count("\n") <= 400
    assert ast.get_docstring(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 40, node.name


@for_each("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_is_a_collection_of_unrelated_helpers(path):
    assert path.stem not in {"utils", "util", "common", "helpers", "misc"}
    assert len(path.relative_to(SOURCE).parts) <= 2


OTHER_PROGRAMS = {
    # module: flags in it that are another program's, or of a command that is shown whole, to be copied
    "extras.py": {"--editable", "--extra", "--force", "--from", "--inexact", "--project", "--python", "--with"},
    "review/git_repository.py": {
        *(
            "--add",
            "--end-of-options",
            "--full-tree",
            "--global",
            "--is-shallow-repository",
            "--quiet",
            "--show-toplevel",
        ),
        *("--unshallow", "--verify"),
    },
    "pages/item_list.py": {"--format", "--items", "--output"},
    "providers/agents.py": {"--version"},
    "providers/local.py": {"--port"},
}
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
LIBRARY = [path for path in MODULES if path.relative_to(SOURCE).parts[0] not in ("cli", "__main__.py")]
DECISIONS = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
"""Comparisons that would decide by an error's words or the name of its class."""


@for_each("path", LIBRARY, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_command_line_uses_flags_and_terminals(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    allowed = OTHER_PROGRAMS.get(str(path.relative_to(SOURCE)), set())
    docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)}
    docstrings |= {node.value.value for node in ast.walk(tree) if _is_note(node)}

    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docstrings:
            assert set(FLAG.findall(node.value)) <= allowed, node.value
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", "") or ""}
            assert "argparse" not in names
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in {"print", "sys.stdout.write", "sys.stderr.write"}, node.lineno


@for_each("path", LIBRARY, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_is_decided_by_an_errors_words_or_the_name_of_its_class(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    words = {f"str({name})" for name in caught} | {f"{name}.args" for name in caught}

    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], DECISIONS):
            printed = ast.unparse(node)
            assert ".__name__" not in printed, node.lineno
            assert not any(each in printed for each in words), node.lineno
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            decides = node.func.attr in {"startswith", "endswith"}
            assert not (decides and ast.unparse(node.func.value) in words), node.lineno


_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _is_note(node):
    """Say whether a node is a docstring of a variable."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def test_asyncio_run_is_called_in_one_module():
    callers = [path.name for path in MODULES if "asyncio.run(" in path.read_text(encoding="utf-8")]

    assert callers == ["sync.py"]


def test_the_public_names_are_there_and_the_founding_ones_among_them():
    for name in polyjudge.__all__:
        assert getattr(polyjudge, name) is not None
    assert set(polyjudge.__all__) >= FOUNDING
    assert set(dir(polyjudge)) >= FOUNDING
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        polyjudge.nothing  # noqa: B018


def test_the_tests_mirror_the_packages():
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")} - {"records"}

    assert packages <= {path.name for path in Path(__file__).parent.iterdir() if path.is_dir()}


@pytest.mark.parametrize("code", ["import polyjudge", "import polyjudge.cli; polyjudge.cli.build_parser()"])
def test_starting_up_loads_nothing_heavy(code):
    loaded = _modules_loaded_by(code)

    assert not loaded & {*HEAVY, "asyncio", "dataclasses", "difflib", "msgspec", "sqlite3"}


def test_building_a_judge_loads_no_sdk():
    code = (
        "import polyjudge as p; p.RubricJudge([p.RubricCriterion('a', 'b')], provider=p.ScriptedProvider(lambda r: ''))"
    )

    assert not _modules_loaded_by(code) & HEAVY


def _modules_loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_every_dependency_is_listed_here():
    needed = {
        line.split(";")[0].split(">")[0].strip() for line in requires("polyjudge") or [] if "extra ==" not in line
    }

    assert needed == {
        "aiohttp",
        "anyascii",
        "genai-prices",
        "jinja2",
        "msgspec",
        "numpy",
        "py3langid",
        "pycld2",
        "pycurl",
        "rapidfuzz",
        "regex",
        "rich",
    }


def test_the_pins_name_no_address():
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")

    assert "://" not in pins
    assert all("==" in line for line in pins.splitlines())


def test_the_pins_are_the_same_on_every_python():
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    names = Counter(pin.partition("==")[0] for pin in pins)

    assert [name for name, count in names.items() if count > 1] == []
