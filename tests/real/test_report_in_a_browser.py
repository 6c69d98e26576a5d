"""The HTML report in a real browser: sorting, filters, search, links, and harmless text of models."""

import json
import re
from pathlib import Path

import pytest
from tests.conftest import TEXTS
from tests.real.browser import findings, serious_findings, watched_page

from polyjudge.cli import main
from polyjudge.files.json_lines import row_line
from polyjudge.languages.table import language_table
from polyjudge.records.outcomes import Failure, Item, JudgeResult, item_row

HOSTILE = [
    "<script>document.title='owned'</script>",
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<a href=\"javascript:document.title='owned'\">click</a>",
    "\u202etxet desrever\u202c \u2066isolated\u2069",
    "]]> --> <!-- &lt;script&gt; {{ 7 * 7 }} ${7*7}",
    "x" * 1_000_000,
]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The demo's report as a page."""
    folder = tmp_path_factory.mktemp("demo")
    assert main(["demo", "--output", str(folder)]) == 0
    place = folder / "report.html"
    given = ["--results", str(folder / "results.json"), "--full-judge", str(folder / "results-full-judge.json")]
    card = ["--card", str(folder / "card.json")]
    assert main(["report", *given, *card, "--format", "html", "--output", str(place)]) == 0
    return place


@pytest.fixture
def page(browser, report):
    with watched_page(browser) as page:
        page.goto(report.as_uri())
        yield page
        assert page.errors == []
        assert {url.partition("#")[0] for url in page.asked} == {report.as_uri()}


@pytest.fixture(scope="module")
def run_page(tmp_path_factory):
    """The page of a run of `score` over answers in several languages, some of which fail or have no verdict."""
    folder = tmp_path_factory.mktemp("run")
    rows, items = [], []
    for place, (tag, text) in enumerate([pair for pair in TEXTS.items() if pair[0] != "emoji"] * 3):
        items.append({"id": str(place), "candidate": text, "source": TEXTS["en"], "language": tag, "system": "a | b"})
        passed = tag not in ("ar", "th") or place < len(TEXTS)
        outcome = JudgeResult(5 if passed else 2, HOSTILE[2], {"grammar": 4, "meaning": 2 + 3 * passed}, passed=passed)
        outcome = Failure("busy", "transient", HOSTILE[0]) if tag == "ko" else outcome
        rows.append(item_row(Item(str(place), text, language=tag), outcome))
    for name, lines in (("items", items), ("run", rows)):
        (folder / f"{name}.jsonl").write_text("".join(map(row_line, lines)), encoding="utf-8")
    place = folder / "report.html"
    given = [str(folder / "run.jsonl"), "--items", str(folder / "items.jsonl"), "--by", "system"]
    assert main(["report", *given, "--format", "html", "--output", str(place)]) == 0
    return place


def test_the_page_of_a_run_answers_the_first_questions_without_a_click(browser, run_page):
    with watched_page(browser, viewport={"width": 1440, "height": 900}) as page:
        page.goto(run_page.as_uri())

        assert page.locator("h1").inner_text().startswith("Not yet. 13 of 16 languages are ready, 2 fail, and 1 is")
        assert "not calibrated" in page.locator(".hero").inner_text().casefold()
        attention = page.locator("#attention .row h3").all_inner_texts()
        assert attention == ["Arabic", "Thai"]
        assert page.locator("#attention .t[dir=rtl]").first.is_visible()
        page.locator("#lang-ar button.open").click()
        assert page.locator("tr.details article").count() == 3
        assert page.locator("tr.details article.bad").count() == 2
        assert page.errors == []
        assert page.asked == [run_page.as_uri()]


def test_the_reason_is_shown_on_a_phone(browser, run_page):
    with watched_page(browser, viewport={"width": 390, "height": 900}) as page:
        page.goto(run_page.as_uri())

        why = page.locator("#lang-ar td.why")
        assert why.is_visible()
        assert "1 of 3 is 33%: too few" in why.inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_nothing_scrolls_sideways(browser, report, width):
    with watched_page(browser, viewport={"width": width, "height": 900}) as page:
        page.goto(f"{report.as_uri()}#lang-bg")

        assert page.evaluate("document.documentElement.scrollWidth") <= width


def shown(page):
    return page.locator("#map tbody tr:not(.details):visible th button.open b").all_inner_texts()


def choose(page, name, value):
    page.locator(f"select[data-filter={name}]").select_option(value)


def test_languages_are_sorted_by_any_column_and_back(page):
    checks = page.get_by_role("button", name="Checks", exact=True)
    checks.click()
    assert page.locator("#map thead th[aria-sort]").get_attribute("aria-sort") == "ascending"
    shares = [float(each.get_attribute("data-value")) for each in page.locator("#map td[data-c=Checks]").all()]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]

    checks.click()
    assert page.locator("#map thead th[aria-sort]").get_attribute("aria-sort") == "descending"
    again = [float(each.get_attribute("data-value")) for each in page.locator("#map td[data-c=Checks]").all()]
    assert again == sorted(shares, reverse=True)


def test_languages_are_filtered_by_status_family_and_problem(page):
    page.locator("[data-chip=FAIL]").click()
    failed = shown(page)
    choose(page, "family", "Devanagari")

    assert len(failed) > 10
    assert shown(page) == ["Marathi"]
    assert page.locator("#count").inner_text() == "1 of 73 languages"
    page.locator("[data-chip=FAIL]").click()
    choose(page, "family", "")
    choose(page, "problems", "wrong_language")
    assert "Marathi" in shown(page)
    assert "German" not in shown(page)


def test_a_part_of_the_bar_shows_its_languages_in_the_map(page):
    page.locator(".segs [data-show=FAIL]").click()

    count = int(page.locator(".key [data-show=FAIL] b").inner_text())
    assert len(shown(page)) == count
    assert page.locator("[data-chip=FAIL]").get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.id") == "count"


def test_keys_move_between_languages_search_and_clear(page):
    page.locator("button.open").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent.includes('Simplified')")

    page.keyboard.press("/")
    page.keyboard.type("Thai")
    page.get_by_text(re.compile("^[1-9] of 73 languages")).wait_for()
    page.keyboard.press("Escape")
    assert page.locator("#count").inner_text() == "73 of 73 languages"


@pytest.mark.parametrize(
    ("words", "language"),
    [("أقرب محطة", "Arabic"), ("ซุปร้อนสองชาม", "Thai"), ("公交车票", "Chinese (Mandarin, Simplified)")],
)
def test_texts_are_found_in_any_script(page, words, language):
    page.locator("#search").fill(words)

    page.get_by_text("1 of 73 languages", exact=True).wait_for()
    assert shown(page) == [language]


def test_a_language_opens_by_keyboard_and_shows_what_is_wrong_inside_the_text(page):
    page.locator("#lang-bg button.open").focus()
    page.keyboard.press("Enter")

    details = page.locator("tr.details")
    assert details.locator("article").count() >= 3
    assert details.locator("mark").first.is_visible()
    page.keyboard.press("Enter")
    assert details.count() == 0


def test_a_link_opens_its_language(browser, report):
    with watched_page(browser) as page:
        page.goto(f"{report.as_uri()}#lang-ar")

        text = page.locator("tr.details article div:has(> .lab:text('Output')) > .t").first
        assert text.get_attribute("dir") == "rtl"
        assert text.get_attribute("lang") == "ar"
        assert page.locator("#lang-ar").bounding_box()["y"] < 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("which", ["translations", "run"])
def test_the_page_is_accessible(browser, report, run_page, which, scheme, width):
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}, "bypass_csp": False}
    with watched_page(browser, **options) as page:
        page.goto(f"{(report if which == 'translations' else run_page).as_uri()}#lang-ar")
        page.locator("tr.details article").first.wait_for()

        assert findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_text_of_models_runs_no_script_and_loads_nothing(browser, tmp_path):
    languages = [
        {"languageName": text[:200], "languageCode": f"x{place}", "prompts": prompts(text)}
        for place, text in enumerate(HOSTILE)
    ]
    place = write_report(tmp_path, languages)
    with watched_page(browser) as page:
        page.goto(place.as_uri())
        for button in page.locator("button.open").all():
            button.click()

        assert page.title().startswith("Nothing fails, but 7 of 7 languages are unknown.")
        assert page.errors == []
        assert {url.partition("#")[0] for url in page.asked} == {place.as_uri()}
        assert page.locator("main script:not([type='application/json'])").count() == 0
        assert page.locator("main img, main a[href^='javascript']").count() == 0
        assert "onerror" in page.locator("tr.details").nth(2).inner_text()


def test_a_hundred_thousand_outputs_stay_usable(browser, tmp_path):
    tags = [language.tag for language in language_table()][:50]
    languages = [
        {
            "languageName": tag,
            "languageCode": tag,
            "prompts": [*prompts("Das ist gut so."), *prompts("word " * 8)] * 1000,
        }
        for tag in tags
    ]
    place = write_report(tmp_path, languages)
    with watched_page(browser) as page:
        page.goto(place.as_uri())
        page.locator("button.open").first.click()

        assert page.locator("tr.details article").count() == 50
        page.get_by_role("button", name="Show more of 2000 outputs").click()
        assert page.locator("tr.details article").count() == 100


def prompts(text):
    return [{"category": text[:300], "sourceText": text[:5000], "generatedOutput": text, "reference": text[:5000]}]


def write_report(folder: Path, languages) -> Path:
    results, place = folder / "results.json", folder / "report.html"
    results.write_text(json.dumps({"model": HOSTILE[0], "results": languages}), encoding="utf-8")
    assert main(["report", "--results", str(results), "--format", "html", "--output", str(place)]) == 0
    return place


@pytest.fixture(scope="module")
def other_pages(tmp_path_factory):
    """Pages of the same family: a comparison, a trust card, cases of a regression run."""
    folder = tmp_path_factory.mktemp("pages")
    root = Path(__file__).parents[2]
    examples = root / "src" / "polyjudge" / "cli" / "demo_data" / "files"
    before, after = (str(examples / f"compare-{name}.jsonl") for name in ("before", "after"))
    assert main(["compare", before, after, "--format", "html", "--output", str(folder / "compare.html")]) == 0
    write_systems(folder / "systems.jsonl")
    systems = ["compare", str(folder / "systems.jsonl"), "--permutations", "1000"]
    assert main([*systems, "--format", "html", "--output", str(folder / "systems.html")]) == 0
    assert main(["rank", str(examples / "rank.csv"), "--output", str(folder / "rank.html")]) == 0
    asked = ["rank", str(folder / "systems.jsonl"), "--cluster", "none", "--output", str(folder / "ranks.html")]
    assert main(asked) == 0
    card = str(root / "docs" / "cards" / "offline.json")
    assert main(["calibrate", "card", card, "--format", "html", "--output", str(folder / "card.html")]) == 0
    judged, labels = str(examples / "judged.jsonl"), str(examples / "labels.csv")
    asked = ["calibrate", "agreement", judged, "--labels", labels, "--resamples", "100"]
    assert main([*asked, "--format", "html", "--output", str(folder / "agreement.html")]) == 0
    return folder


def write_systems(path: Path) -> None:
    """Write two systems in four languages: one gets better in Arabic, worse in Thai, and writes hostile text."""
    texts = {"ar": "مرحبا بكم في المدينة", "th": "สวัสดีชาวโลกทุกคน", "ja": "こんにちは、世界の皆さん", "de": HOSTILE[0]}
    shift = {"ar": 1.0, "th": -1.5}
    rows = [
        {
            "id": f"{tag}-{number}",
            "language": tag,
            "system": system,
            "document": f"d{number}",
            "source": f"Hello world {number}",
            "candidate": f"{text} {number}{'!' if system == 'new' else ''}",
            "score": 3 + number % 3 / 2 + (shift.get(tag, (number % 2 - 0.5) / 2) if system == "new" else 0),
            "reason": HOSTILE[0],
        }
        for tag, text in texts.items()
        for number in range(12)
        for system in ("old", "new")
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def test_the_page_of_a_comparison_filters_and_sorts_its_languages(browser, other_pages):
    with watched_page(browser) as page:
        page.goto((other_pages / "systems.html").as_uri())
        rows = page.locator("#map tbody tr")

        assert "better in 1 language" in page.text_content("h1")
        assert rows.count() == 4
        page.locator("[data-chip=worse]").click()
        assert page.locator("#map tbody tr:visible").count() == 1
        assert page.locator("#map tbody tr:visible").get_attribute("id") == "lang-th"
        page.locator("[data-chip=worse]").click()
        page.locator("[data-sort='3']").click()
        assert rows.first.get_attribute("id") == "lang-th"
        page.locator("[data-sort='3']").click()
        assert rows.first.get_attribute("id") == "lang-ar"
        page.locator("#search").fill("japan")
        page.get_by_text("1 of 4 languages").wait_for()
        assert page.locator("article.out .t[dir=rtl]").count() > 0


def test_the_page_of_a_ranking_shows_the_groups_with_intervals_on_a_line(browser, other_pages):
    with watched_page(browser) as page:
        page.goto((other_pages / "rank.html").as_uri())

        assert page.locator("table.rk tr.gr").all_text_contents() == ["Group 1: cannot all be distinguished", "Group 2"]
        plots = page.locator("table.rk tbody svg[role=img]")
        assert plots.count() == 3
        assert "95% interval" in plots.first.get_attribute("aria-label")
        assert page.locator("#open").text_content() == "What cannot be concluded"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["compare", "systems", "rank", "ranks", "card", "agreement"])
def test_the_other_pages_are_accessible(browser, other_pages, name, scheme):
    place = other_pages / f"{name}.html"
    with watched_page(browser, color_scheme=scheme, viewport={"width": 390, "height": 900}) as page:
        page.goto(place.as_uri())

        assert serious_findings(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.errors == []
        assert page.asked == [place.as_uri()]


def test_a_search_finds_only_shown_text(browser, tmp_path):
    texts = {"French": 'Il dit "bonjour" & s\'en va <vite>', "German": "Hallo Welt und 你好 dazu"}
    place = write_report(
        tmp_path, [{"languageName": name, "prompts": one_prompt(text)} for name, text in texts.items()]
    )
    wanted = {'dit "bon': 1, "& s'en": 1, "<vite>": 1, "direction": 0, "items": 0, "und 你好 dazu": 1, "bonjour": 1}
    with watched_page(browser) as page:
        page.goto(place.as_uri())
        for text, count in wanted.items():
            page.locator("#search").fill(text)
            page.get_by_text(f"{count} of 2 languages").wait_for()
            assert page.locator("#map tbody tr[data-place]:visible").count() == count, text


def test_a_link_to_a_language_that_is_filtered_out_shows_it(browser, tmp_path):
    languages = [
        {"languageName": "French", "languageCode": "fr", "priority": "must-have", "prompts": one_prompt("Bonjour")},
        {"languageName": "Thai", "languageCode": "th", "prompts": one_prompt("สถานีรถไฟ")},
    ]
    place = write_report(tmp_path, languages)
    with watched_page(browser) as page:
        page.goto(place.as_uri())
        choose(page, "priority", "must-have")
        page.evaluate("location.hash = '#lang-th'")
        page.locator("tr.details").wait_for()

        assert page.locator("#lang-th").is_visible()


def one_prompt(text):
    return [{"category": "one", "sourceText": "", "generatedOutput": text}]
