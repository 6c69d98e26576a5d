"""Where the CPU time of checks and reports goes: the functions that take most, kept in `benchmarks/profiles`.

A profile makes small functions look more expensive than they are; compare shares, and times only within one profile.
"""

import io
import os
import pstats
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.catalogue_files import write_files
from benchmarks.check_strings import NAME
from benchmarks.measuring import ROOT
from benchmarks.report import write_results
from benchmarks.review_reading import entries_by_language

FOLDER = Path(__file__).parent / "profiles"
OUTPUTS, LANGUAGES = 10_000, 6
SHOWN = 25
_DATE = re.compile(r"\w{3} \w{3} +\d+ ")
_PROFILED = """
import cProfile, sys, time
from polyjudge.cli import main

profile = cProfile.Profile(time.process_time)
profile.runcall(main, sys.argv[2:])
profile.dump_stats(sys.argv[1])
"""


def run() -> None:
    """Write a profile of each command, of one process."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for command, arguments in _commands(folder).items():
            profile = folder / f"{command}.prof"
            options = ["-c", _PROFILED, str(profile), *arguments, "--jobs", "1"]
            subprocess.run([sys.executable, *options], cwd=folder, capture_output=True, check=False)
            (FOLDER / f"{command}.txt").write_text(_described(profile), encoding="utf-8")
            print(f"profiling: {FOLDER.name}/{command}.txt", flush=True)


def _commands(folder: Path) -> Mapping[str, list[str]]:
    results, scores = map(str, write_results(folder, OUTPUTS))
    found = {
        f"report_{form}": ["report", "--results", results, "--full-judge", scores, "--format", form, "--output", "o"]
        for form in ("html", "json")
    }
    found["translation_check"] = ["translation", "check", results, "--output", "checked.json"]
    found["calibrate_perturb"] = ["calibrate", "perturb", "--judge", "offline", "--texts-per-language", "2"]
    strings = Path(os.environ.get("POLYJUDGE_DATA", "")) / NAME
    if strings.is_file():
        for language, entries in list(entries_by_language(strings).items())[:LANGUAGES]:
            write_files(folder / "messages", "gettext", language, entries)
        found["review"] = ["review", "messages"]
    return found


def _described(profile: Path) -> str:
    """Return the functions that take most time by themselves, and with what they call."""
    text = io.StringIO()
    stats = pstats.Stats(str(profile), stream=text)
    for order, title in (("tottime", "by the time in the function itself"), ("cumulative", "with all that it calls")):
        text.write(f"The {SHOWN} functions that take most time, {title}\n")
        stats.sort_stats(order).print_stats("polyjudge|site-packages|built-in|method", SHOWN)
    lines = (line.rstrip() for line in text.getvalue().splitlines())
    kept = [line for line in lines if line and not line.lstrip().startswith(("Ordered", "List"))]
    kept = [line for line in kept if not line.endswith(profile.name) and not _DATE.match(line)]
    return _without_places("\n".join(kept)) + "\n"


def _without_places(text: str) -> str:
    """Return a profile without the folders of this machine."""
    for place, name in (
        (str(ROOT / "src"), ""),
        *((path, "") for path in sorted(sys.path, key=len, reverse=True) if path),
    ):
        text = text.replace(f"{place}/", name)
    return text
