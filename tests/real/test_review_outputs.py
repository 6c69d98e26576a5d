"""The page of a review in a real browser, and its SARIF by the official schema and validator."""

import json
import os
import platform
import subprocess
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace
from tests.real.browser import findings, watched_page
from tests.reports.reviews import FINDINGS, REVIEW, hostile_review

from polyjudge.records.messages import Review
from polyjudge.reports.review_formats import render_review

SHOTS = os.environ.get("POLYJUDGE_SHOTS", "")
"""A folder for pictures, for people to look at."""
SARIF = Path(__file__).parents[2] / ".venv" / "node" / "node_modules" / "@microsoft" / "sarif-multitool-linux"
"""Microsoft's validator, which has the schema of SARIF 2.1.0 beside it; both are under the MIT licence."""
REVIEWS = {"review": REVIEW, "hostile": hostile_review(), "empty": Review(findings=(), languages=REVIEW.languages[1:2])}


@pytest.fixture(scope="module", params=list(REVIEWS))
def any_page(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("review") / f"{request.param}.html"
    place.write_text(render_review(REVIEWS[request.param], "html"), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("review") / "review.html"
    place.write_text(render_review(REVIEW, "html"), encoding="utf-8")
    return place


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_accessible_and_asks_nothing(browser, any_page, scheme, width):
    with watched_page(browser, color_scheme=scheme, viewport={"width": width, "height": 900}) as page:
        page.goto(any_page.as_uri())
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/review-{any_page.stem}-{width}-{scheme}.png", full_page=True)

        assert findings(page) == []
        assert page.title() != "owned"
        assert page.errors == []
        assert page.asked == [any_page.as_uri()]


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_scrolls_sideways(browser, any_page, width):
    with watched_page(browser, viewport={"width": width, "height": 900}) as page:
        page.goto(any_page.as_uri())

        assert page.evaluate("document.documentElement.scrollWidth") <= width


def shown(page):
    return page.locator("article.out:visible h5 code").all_inner_texts()


def test_findings_are_filtered_by_language_severity_and_text(browser, place):
    with watched_page(browser) as page:
        page.goto(place.as_uri())
        count = page.locator("#count")
        assert count.inner_text() == "6 of 6 findings"

        page.locator("button[data-severity=warn]").click()
        assert shown(page) == ["greeting", "title"]
        page.locator("#language").select_option(label="Arabic (ar)")
        assert shown(page) == ["greeting"]
        assert count.inner_text() == "2 of 6 findings"
        page.locator("button[data-severity=warn]").click()
        assert shown(page) == ["greeting", "files [few]"]
        page.locator("#language").select_option(value="")
        page.keyboard.press("Escape")
        page.locator("h1").click()
        page.keyboard.press("/")
        page.keyboard.type("ออกจากระบบ")
        page.get_by_text("1 of 6 findings").wait_for()
        assert shown(page) == ["sign_out"]
        assert page.locator(".language:visible").count() == 1

        page.locator("#languages + .scroll a", has_text="Hindi").click()
        page.get_by_text("6 of 6 findings").wait_for()
        assert len(shown(page)) == 5
        assert page.errors == []


def test_the_page_is_whole_without_scripts_and_on_paper(browser, place):
    with watched_page(browser, java_script_enabled=False) as page:
        page.goto(place.as_uri())
        assert len(shown(page)) == 5
        assert not page.locator("#filters").is_visible()

        page.emulate_media(media="print")
        assert len(shown(page)) == 5
        assert page.locator("article.out .t[dir=rtl] mark").first.is_visible()


def test_right_to_left_text_and_marks_are_laid_out_as_text(browser, place):
    with watched_page(browser) as page:
        page.goto(place.as_uri())
        text = page.locator("article.out .t[dir=rtl]").first
        mark, box = text.locator("mark").first.bounding_box(), text.bounding_box()

        assert page.evaluate("text => getComputedStyle(text).textAlign", text.element_handle()) == "start"
        assert mark["x"] > box["x"] + box["width"] / 2  # the first third of an Arabic sentence is on the right


def test_a_page_with_as_many_messages_as_it_shows_is_filtered_at_once(browser, tmp_path):
    many = tuple(replace(each, line=line) for line in range(1, 2_100) for each in FINDINGS[:1])
    path = tmp_path / "many.html"
    path.write_text(render_review(Review(findings=many, languages=REVIEW.languages), "html"), encoding="utf-8")

    with watched_page(browser) as page:
        page.goto(path.as_uri())
        page.locator("#search").fill("line 1999")
        page.get_by_text("1 of 2,000 findings").wait_for(timeout=10_000)
        assert page.errors == []


def sarif_files(folder):
    for name, review in REVIEWS.items():
        path = folder / f"{name}.sarif"
        path.write_text(render_review(review, "sarif"), encoding="utf-8")
        yield path


def test_sarif_is_valid_by_its_official_schema(tmp_path):
    if not SARIF.is_dir():
        pytest.skip("the validator of SARIF is not installed")
    rules = json.loads((SARIF / "sarif-2.1.0.json").read_text(encoding="utf-8-sig"))
    validator = jsonschema.validators.validator_for(rules)(rules)
    assert not validator.is_valid({"version": "2.1.0", "runs": [{}]})

    for path in sarif_files(tmp_path):
        assert [error.message for error in validator.iter_errors(json.loads(path.read_text(encoding="utf-8")))] == []


def test_the_official_validator_finds_no_fault_in_sarif(tmp_path):
    program = SARIF / "Sarif.Multitool"
    if not program.is_file() or platform.machine() != "x86_64":
        pytest.skip("the validator of SARIF is not installed, or not for this machine")
    paths = [str(path) for path in sarif_files(tmp_path)]
    given = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    command = [str(program), "validate", *paths, "--rule-kind", "Sarif;Ghas", "--level", "Error;Warning"]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False, timeout=300)
    found = [line for line in done.stdout.splitlines() if ": error " in line or ": warning " in line]

    assert "3 files scanned" in done.stdout
    # The project has no address yet that could be given for more information.
    assert [line for line in found if "SARIF2005" not in line] == []
