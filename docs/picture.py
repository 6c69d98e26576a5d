"""Take the README's picture of the report that `polyjudge demo` writes: `make picture`, with chromium."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]

if CHROMIUM is None:
    sys.exit("chromium is not installed")
with tempfile.TemporaryDirectory() as folder:
    command = [sys.executable, "-m", "polyjudge", "demo"]
    subprocess.run(command, capture_output=True, check=True, cwd=folder)
    page = Path(folder, "polyjudge-demo", "report.html").as_uri()
    picture = Path("docs/images/report.png").resolve()
    drawn = [CHROMIUM, *QUIET, "--window-size=1200,1560", f"--screenshot={picture}", page]
    subprocess.run(drawn, check=True, capture_output=True, cwd=folder)
