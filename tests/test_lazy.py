"""Packages that load their modules on first use."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import polyjudge

ROOT = Path(polyjudge.__file__).parent
PACKAGES = sorted(
    file.parent.name for file in ROOT.glob("*/__init__.py") if "\nlazily(__name__)" in file.read_text(encoding="utf-8")
)


def loaded_by(code: str) -> set[str]:
    shown = f"{code}\nimport sys\nprint(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_that_a_package_offers_is_found(package):
    module = import_module(f"polyjudge.{package}")

    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_that_a_package_does_not_have_is_the_usual_error(package):
    with pytest.raises(AttributeError, match=f"module 'polyjudge.{package}' has no attribute 'nothing'"):
        _ = import_module(f"polyjudge.{package}").nothing


def test_a_module_does_not_take_the_name_of_what_it_is_the_home_of():
    told = "import polyjudge.reports.markdown, polyjudge.reports as reports; assert callable(reports.markdown)"

    assert "polyjudge.reports.markdown" in loaded_by(told)


def test_scoring_loads_neither_other_commands_nor_what_only_few_runs_need():
    loaded = loaded_by("import polyjudge.cli.score")

    assert "polyjudge.suites.scoring" in loaded
    unwanted = {
        "polyjudge.cache.postgres_cache", "polyjudge.cli.score_ray", "polyjudge.judges.review", "polyjudge.pages",
        "polyjudge.providers.batches", "polyjudge.reports.html", "polyjudge.suites.regression",
        "polyjudge.text.checking", "aiohttp", "asyncpg", "jinja2", "numpy", "pyarrow", "ray", "rich",
    }  # fmt: skip
    assert not loaded & unwanted
