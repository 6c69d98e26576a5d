"""Draw the README's pictures from what `polyjudge demo` really makes: `make docs`."""

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]

with tempfile.TemporaryDirectory() as folder:
    command = [sys.executable, "-m", "polyjudge", "demo"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout
    if CHROMIUM:
        page = Path(folder, "polyjudge-demo", "report.html").as_uri()
        picture = Path("docs/images/report.png").resolve()
        drawn = [CHROMIUM, *QUIET, "--window-size=1200,1560", f"--screenshot={picture}", page]
        subprocess.run(drawn, check=True, capture_output=True, cwd=folder)


def excerpt(text: str) -> str:
    """Return what fits in a picture: the totals, the priority languages, some failures, and the end."""
    lines = [line[:WIDTH] for line in text.rstrip().splitlines()]
    families, failures = lines.index("By Script Family"), lines.index("Quick Failures")
    return "\n".join([*lines[:families], *lines[failures : failures + 15], "…", "", *lines[-7:]])


WIDTH = 132
console = Console(record=True, width=WIDTH + 2, file=io.StringIO())
text = Text("$ make demo\n" + excerpt(shown))
for word, style in {"PASS": "green", "CHECKED": "cyan", "FAIL": "red", "UNJUDGED": "yellow"}.items():
    text.highlight_words([word], style)
console.print(text)
drawing = console.export_svg(title="polyjudge demo", unique_id="demo")
# The picture must not fetch a font from anywhere.
drawing = re.sub(r"@font-face \{.*?\}\n", "", drawing, flags=re.DOTALL)
Path("docs/images/demo.svg").write_text(drawing, encoding="utf-8")
