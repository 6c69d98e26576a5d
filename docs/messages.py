"""List every message in src that can reach a user, for reading them all in one place: `python -m docs.messages`.

A message is an argument of an error of polyjudge, a warning, a failure, a finding, a printed line, or a text of
argparse. A value is shown as its expression in braces, and a local name as the texts that are assigned to it.
"""

import ast
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "polyjudge"
ERROR = "PolyjudgeError"
RECORDS = {"Failure", "Warned", "AuditFinding", "Finding", "ScriptFinding"}
"""Records with a text that reports and the command line show."""
CALLS = {"print", "warn", "explain", "explain_end", "line", "_line", "write"}
ARGUMENTS = {"help", "description", "epilog", "title", "reason", "message", "remedy", "skipped"}
"""Keyword arguments that carry a text; other keywords carry names and values."""
PARSERS = {"add", "add_argument", "add_parser", "add_argument_group", "add_subparsers", "ArgumentParser"}
DEPTH = 4


@dataclass(frozen=True)
class Message:
    """One text and where it is written."""

    module: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.kind}: {self.text}"


@dataclass
class Scope:
    """The values that are assigned to the names of one function or module."""

    values: dict[str, list[ast.expr]] = field(default_factory=dict[str, list[ast.expr]])
    outer: "Scope | None" = None

    def find(self, name: str) -> list[ast.expr]:
        """Return what is assigned to a name here or further out."""
        return self.values.get(name) or (self.outer.find(name) if self.outer else [])


def error_names(trees: list[ast.Module]) -> set[str]:
    """Return the names of the classes that derive from the base of all errors."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = {ERROR}
    while more := {each.name for each in classes if {ast.unparse(base) for base in each.bases} & found} - found:
        found |= more
    return found


def scope_of(body: list[ast.stmt], outer: Scope | None = None) -> Scope:
    """Return the assignments in a body, except those in its functions and classes."""
    scope, rest = Scope(outer=outer), deque[ast.AST](body)
    while rest:
        node = rest.popleft()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        for target, value in _assigned(node):
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    scope.values.setdefault(name.id, []).append(value)
        rest += ast.iter_child_nodes(node)
    return scope


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.target, node.iter


def texts(node: ast.AST, scope: Scope, depth: int = DEPTH) -> Iterator[str]:
    """Yield the texts that an expression can be."""
    inner = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Constant):
        inner = []
        if isinstance(node.value, str):
            yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(map(_part, node.values))
        values = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        inner = [value for value in values if isinstance(value, ast.Name | ast.IfExp)]
    elif isinstance(node, ast.Name):
        inner = list[ast.AST](scope.find(node.id)) if depth else []
        depth -= 1
    for child in inner:
        yield from texts(child, scope, depth)


def _part(part: ast.expr) -> str:
    """Return a part of an f-string; a value is its expression in braces."""
    if isinstance(part, ast.FormattedValue):
        return f"{{{ast.unparse(part.value)}}}"
    return str(part.value) if isinstance(part, ast.Constant) else ""


def messages_of(module: str, tree: ast.Module, errors: set[str]) -> Iterator[Message]:
    """Yield the messages of a module, each once, in the order of their lines."""
    found: dict[tuple[str, str], Message] = {}
    pairs: list[tuple[ast.AST, Scope]] = [(tree, scope_of(tree.body))]
    while pairs:
        node, scope = pairs.pop()
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            for text in _call_texts(node, name, scope, errors):
                if _says_something(text):
                    found.setdefault((name, text), Message(module, node.lineno, name, " ".join(text.split())))
        for child in ast.iter_child_nodes(node):
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            pairs.append((child, scope_of(child.body, scope) if is_function else scope))
    yield from sorted(found.values(), key=lambda message: message.line)


def _call_texts(call: ast.Call, name: str, scope: Scope, errors: set[str]) -> Iterator[str]:
    carries_texts = name in errors or name in CALLS or name in RECORDS
    if carries_texts or (name == "__init__" and "super" in ast.unparse(call.func)):
        for value in call.args:
            yield from texts(value, scope)
    if carries_texts or name in PARSERS:
        for keyword in call.keywords:
            if keyword.arg in ARGUMENTS:
                yield from texts(keyword.value, scope)


def _says_something(text: str) -> bool:
    return any(word.isalpha() for word in text.replace("{", " {").split()) and " " in text.strip()


def messages() -> Iterator[Message]:
    """Yield every message, by module and line."""
    paths = sorted(SOURCE.rglob("*.py"))
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    errors = error_names(trees)
    for path, tree in zip(paths, trees, strict=True):
        yield from messages_of(str(path.relative_to(SOURCE)), tree, errors)


if __name__ == "__main__":
    sys.stdout.writelines(f"{message}\n" for message in messages())
