"""The fields of a record as its class declares them."""

import ast
import inspect
import textwrap
from collections.abc import Iterator


def declared(record: type) -> Iterator[tuple[ast.AnnAssign, str]]:
    """Yield the fields of a record, each with the docstring below it."""
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(record))).body
    assert isinstance(definition, ast.ClassDef)
    for field, after in zip(definition.body, [*definition.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign):
            said = ast.literal_eval(after.value) if isinstance(after, ast.Expr) else ""
            yield field, " ".join(said.split())
