"""Count the modules that one item passes in `polyjudge score`, and the switches between modules."""

import json
import os
import sys
import tempfile
from pathlib import Path
from types import FrameType

from tests.loopback.vendor_server import Server, ServerThread

import polyjudge

PACKAGE = str(Path(polyjudge.__file__).parent) + os.sep
_NOT_CALLS = ("<module>", "<listcomp>", "<genexpr>", "<lambda>", "<dictcomp>", "<setcomp>")


class Crossings:
    """Records the calls into our modules, without code that runs at import."""

    def __init__(self) -> None:
        self.visits: list[tuple[str, list[str]]] = []
        """The modules in order, each with the functions that were called in it before the next one."""

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Record one call."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE) or code.co_name in _NOT_CALLS:
            return
        back = frame.f_back
        if code.co_flags & 0x2 == 0 or (back is not None and back.f_code.co_name == "<module>"):
            return  # the body of a class, or a call during an import
        module = code.co_filename.removeprefix(PACKAGE)
        if not self.visits or self.visits[-1][0] != module:
            self.visits.append((module, []))
        self.visits[-1][1].append(code.co_name)


def run() -> None:
    """Judge one item with a model on a loopback server, and print the counts."""
    from polyjudge.cli import main as command

    with tempfile.TemporaryDirectory() as folder, ServerThread(Server()) as server:
        os.chdir(folder)
        os.environ.update(LOCAL_OPENAI_BASE_URL=f"{server.url}/v1", POLYJUDGE_TRUST=folder)
        Path("items.jsonl").write_text(json.dumps({"id": "1", "candidate": "text"}) + "\n", encoding="utf-8")
        crossings = Crossings()
        sys.setprofile(crossings)
        try:
            code = command(["score", "items.jsonl", "--rubric", "general", "--judge", "local/m", "--output", "r.jsonl"])
        finally:
            sys.setprofile(None)
        os.chdir("/")
    for number, (module, functions) in enumerate(crossings.visits, start=1):
        print(number, module, *dict.fromkeys(functions), file=sys.stderr)
    modules = {module for module, _ in crossings.visits}
    print(f"exit {code}: {len(modules)} modules, {len(crossings.visits)} switches", file=sys.stderr)
