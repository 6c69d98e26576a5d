"""A real Chromium: Debian's, driven by Playwright, with every request that a page makes on record."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or ""
AXE = Path(__file__).parents[2] / ".venv" / "node" / "node_modules" / "axe-core" / "axe.min.js"
_QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not CHROMIUM:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_QUIET)
        yield browser
        browser.close()


@contextmanager
def watched_page(browser, **options):
    """Yield a page, and what it asked for and complained of."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.asked, page.errors = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("dialog", lambda dialog: (page.errors.append("a dialog"), dialog.dismiss()))
    yield page
    context.close()


def serious_findings(page):
    """Return what axe-core finds that would keep people from using the page."""
    return findings(page, ("serious", "critical"))


def findings(page, impacts=("minor", "moderate", "serious", "critical")):
    """Return what axe-core finds, of these impacts."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed")
    # The page's own policy forbids scripts that are not its own, so the checker comes in from outside of it.
    page.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
    found = page.evaluate("async () => await axe.run()")
    assert "color-contrast" in [each["id"] for each in found["passes"]], "axe looked at nothing"
    return [
        f"{each['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for each in found["violations"]
        if each["impact"] in impacts
        for node in each["nodes"]
    ]
