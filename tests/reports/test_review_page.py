"""The page of a review: counts that add up, texts with their language, whole graphemes, and nothing that acts."""

import re
from html.parser import HTMLParser

from hypothesis import example, given, settings
from msgspec.structs import replace
from tests.reports.reviews import FINDINGS, HOSTILE, REVIEW, REVIEWS, hostile_review

from polyjudge.records.messages import Review
from polyjudge.reports import review_page
from polyjudge.reports.review_formats import render_review

VOID = {"meta", "input", "path", "circle", "br"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["style"], ["script"]):
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def page(review):
    return Page(render_review(review, "html"))


def test_the_page_answers_first_and_its_counts_add_up():
    text = " ".join(page(REVIEW).text.split())

    assert "Not yet. 3 findings fail in 2 of 5 languages; 3 more are milder." in text
    assert (
        "495 + 1 + 1 + 3 = 500 messages, each counted by its worst finding. 1 accepted finding is not counted." in text
    )


def test_findings_are_grouped_by_language_and_file_the_worst_first():
    text = render_review(REVIEW, "html")
    order = [*re.findall(r'<h3 id="(?:language|other)-\d+-h"><bdi>(.*?)</bdi>', text)]

    assert order == ["Arabic (ar)", "Thai (th)", "Japanese (ja)", "Hindi (hi)"]
    assert re.findall(r"<h4><bdi><code>(.*?)</code>", text) == [
        "locale/ar/app.po",
        "res/values-th/strings.xml",
        "lib/app_ja.arb",
        "lib/app_hi.arb",
    ]
    assert text.count("<article") == 5  # two findings are about the same message


def test_translations_have_language_direction_and_marks_of_whole_graphemes():
    text = render_review(REVIEW, "html")

    assert '<div class="t" lang="ar" dir="rtl">مرحبًا <mark class="critical">{اسم}</mark>' in text
    assert '<mark class="minor">क्ष</mark>' in text
    assert '<div class="t" lang="en" dir="ltr">Hello {name}, welcome back!</div>' in text
    assert "∅ The translation is empty" in text
    assert "finding <code>00000000000c</code>" in text
    assert "Better: " in text


@settings(max_examples=40)
@given(REVIEWS)
@example(hostile_review())
def test_no_text_becomes_markup(review):
    found, plain = page(review), page(REVIEW)

    assert {tag for tag, _ in found.elements} <= {tag for tag, _ in plain.elements} | {"option", "select", "label"}
    names = {name for _, attributes in found.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")}
    assert not found.open
    links = [attributes["href"] for tag, attributes in found.elements if tag in ("a", "use")]
    assert all(link.startswith("#") for link in links)


def test_every_link_leads_to_a_place_on_the_page():
    found = page(REVIEW)
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]

    assert len(ids) == len(set(ids))
    assert {attributes["href"][1:] for tag, attributes in found.elements if tag in ("a", "use")} <= set(ids)


def test_hostile_texts_are_shown_as_they_are():
    text = page(hostile_review()).text

    assert all(each in text for each in HOSTILE[:3])
    assert "\\u202e" in text


def test_a_page_has_no_more_messages_than_a_browser_can_show_and_says_so():
    many = tuple(replace(FINDINGS[0], line=line) for line in range(1, review_page.MOST_MESSAGES + 8))
    text = render_review(Review(findings=many, languages=REVIEW.languages), "html")

    assert text.count("<article") == review_page.MOST_MESSAGES
    assert "7 further findings are left out here" in text


def test_counts_that_cannot_add_up_are_not_shown():
    few = Review(findings=FINDINGS, languages=(replace(REVIEW.languages[0], messages=2),))

    assert "each counted by its worst finding" not in render_review(few, "html")
