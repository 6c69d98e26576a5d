"""A Sphinx extension that writes the reference pages: of the commands, the public names, and the file formats."""

from pathlib import Path
from typing import Any

import check_pages
import command_pages
import format_pages
import python_pages
import record_pages
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import polyjudge


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to the build."""
    app.connect("builder-inited", _write_pages)
    app.connect("missing-reference", _public_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_pages(app: Sphinx) -> None:
    """Write the pages under docs/reference; an unchanged page keeps its time, so that it is not built again."""
    folder = Path(app.srcdir) / "reference"
    pages = {f"cli/{name}.rst": text for name, text in command_pages.pages().items()}
    pages |= {f"schemas/{name}.rst": text for name, text in format_pages.pages().items()}
    pages |= {
        "api.rst": python_pages.page(),
        "checks.rst": check_pages.page(),
        "records.rst": record_pages.page(),
        "cli/overview.txt": command_pages.overview(),
    }
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in [*folder.glob("cli/*.rst"), *folder.glob("schemas/*.rst")]:
        if path.relative_to(folder).as_posix() not in pages:
            path.unlink()


def _public_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.TextElement
) -> nodes.reference | None:
    """Lead a type that is named by its module, as annotations are, to its public name."""
    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in polyjudge.__all__:
        return None
    python = env.domains.python_domain
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", f"polyjudge.{name}", node, contnode)
