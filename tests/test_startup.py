"""The modules that each command loads: only those that it needs."""

import re
import subprocess
import sys

from polyjudge.version import __version__


def loaded_by(code: str) -> set[str]:
    shown = f"{code}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True).stdout.split())


def test_scoring_loads_no_other_commands_and_no_rarely_needed_modules():
    loaded = loaded_by("import polyjudge.cli.score")

    assert "polyjudge.runs.summary" in loaded
    unwanted = {
        "polyjudge.cache.postgres", "polyjudge.runs.ray", "polyjudge.judges.session_review", "polyjudge.pages",
        "polyjudge.batches.provider", "polyjudge.reports.blocks", "polyjudge.suites.regression",
        "polyjudge.checks.checker", "aiohttp", "asyncpg", "jinja2", "numpy", "pyarrow", "ray", "rich",
    }  # fmt: skip
    assert not loaded & unwanted


def test_the_version_is_known_without_the_metadata_of_the_installed_package():
    # It need not be that of the metadata: each build in a checkout, such as `make dist`, writes the file again.
    assert re.match(r"\d+\.\d+\.\d+", __version__)
    assert "importlib.metadata" not in loaded_by("import polyjudge.version")
