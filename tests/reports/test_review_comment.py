"""The comment of a pull request: what it says, what it leaves out, and that nothing judged acts in it."""

import re
from html.parser import HTMLParser

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace
from tests.conftest import TEXTS
from tests.reports.reviews import FINDINGS, HOSTILE, REVIEW, REVIEWS, hostile_review, language

from polyjudge.languages.table import language_table
from polyjudge.records.messages import Review
from polyjudge.reports.review_comment import LONGEST_COMMENT, comment_marker, review_comment, review_summary

OURS = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "code", "mark", "b", "i", "strong", "sub"}
OURS |= {"details", "summary"}
ATTRIBUTES = {"lang", "dir", "style"}
ACTS = re.compile(r"[@#]\w|://|\bwww\.|\bGH-\d|:[\w+-]+:", re.IGNORECASE)
"""Mentions, issues, addresses and emoji, as GitHub finds them outside of code."""


class Seen(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.open, self.prose, self.code, self.styles = set(), set(), [], "", "", set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.styles |= {value for name, value in attributes if name == "style"}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, "an element ends that is not open"

    def handle_data(self, data):
        if "code" in self.open:
            self.code += data
        else:
            self.prose += data


def seen(text):
    """Return what a reader of the comment gets, by a renderer of Markdown with tables and HTML."""
    rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    found = Seen()
    found.feed(rendered)
    assert not found.open
    return found


def comment(review, **more):
    return review_comment(review, language_table(), **more)


def size(text):
    return len(text.encode("utf-16-le")) // 2


def test_the_comment_starts_with_its_marker_and_the_answer():
    lines = comment(REVIEW).splitlines()

    assert lines[0] == "<!-- polyjudge-review -->"
    assert lines[1] == "### Localisation review"
    assert lines[3] == "Not yet. **3 findings fail** in 2 of 5 languages; 3 more are milder."
    assert "| Arabic (ar) | 100 | 2 | 1 |" in comment(REVIEW)
    assert "Without findings: Danish (da)." in comment(REVIEW)


def test_each_finding_has_its_place_texts_and_reason():
    text = comment(REVIEW)

    assert '<td lang="ar" dir="rtl"><code>مرحبًا <mark>{اسم}</mark>، أهلاً بعودتك!!</code></td>' in text
    assert '<td lang="hi" dir="ltr"><code><mark>क्ष</mark>त्रिय' in text
    assert "<code>locale/ar/app.po:12</code>" in text
    assert "The placeholder {name} is missing. The program shows a wrong text." in text
    assert "right in 98% of cases on WMT24; finding 00000000000c" in text
    assert "<td>Better</td>" in text
    assert "2 messages could not be judged" in text
    assert "1 accepted finding not shown" in text
    assert text.index("locale/ar/app.po:12") < text.index("lib/app_ja.arb:3") < text.index("lib/app_hi.arb:9")


@given(st.text(max_size=30))
@example("web app / mobile")
@example("--> <script>")
def test_a_name_keeps_two_reviews_apart_and_ends_no_comment(name):
    marker = comment_marker(name)

    assert re.fullmatch(r"<!-- polyjudge-review(: [\w.-]*\w[\w.-]*)? -->", marker)
    assert "--" not in marker[4:-3]
    assert comment(REVIEW, name=name).startswith(f"{marker}\n")
    assert comment_marker("web") != comment_marker("app") != comment_marker("")


@settings(max_examples=60)
@given(REVIEWS)
@example(hostile_review())
@example(hostile_review([f"x{text}" for text in TEXTS.values()]))
def test_nothing_judged_acts_in_a_comment(review):
    text = comment(review)
    found = seen(text)

    assert found.tags <= OURS
    assert found.attributes <= ATTRIBUTES
    assert found.styles <= {"text-align:right"}
    assert not ACTS.search(found.prose)
    assert size(text) <= LONGEST_COMMENT


def test_hostile_texts_are_shown_as_they_are():
    found = seen(comment(hostile_review()))

    for text in HOSTILE[:3]:
        assert text in found.code
        assert text in found.prose.replace("\u2060", "")


def test_a_long_review_fits_and_says_what_is_left_out():
    texts = ["🎉" * 5_000, "<&>" * 5_000, "@a" * 5_000, "\x1b" * 5_000]
    long = [replace(each, line=number) for number, each in enumerate(hostile_review(texts).findings * 60)]
    rows = tuple(language(f"x{number}", "&" * 300, fails=1) for number in range(150))
    review = Review(findings=tuple(long), languages=rows, skipped=("~" * 400,) * 40, trust=("#" * 5_000,) * 9)
    text = comment(review)
    [left] = re.findall(r"\*\*(\d+) findings more are left out\*\*", text)

    assert size(text) <= LONGEST_COMMENT
    assert len(re.findall(r"<b>FAIL</b>", text)) + int(left) == 240
    assert 0 < int(left) < 240
    assert "90 more languages have findings." in text
    assert seen(text).tags <= OURS


def test_one_message_with_very_many_findings_does_not_hide_the_others():
    many = [replace(FINDINGS[0], message="~" * 600, matters="~" * 600) for _ in range(100)]
    review = Review(findings=(*many, FINDINGS[3]), languages=())

    assert "<code>res/values-th/strings.xml:7</code>" in comment(review)
    assert "**100 findings more are left out**" in comment(review)


def test_the_first_findings_are_open_and_the_others_can_be_opened():
    review = Review(findings=tuple(replace(FINDINGS[0], line=line) for line in range(1, 15)), languages=())
    before, _, after = comment(review).partition("<details><summary>The other 4 findings</summary>")

    assert before.count("<table>") == 10
    assert after.count("<table>") == 4


def test_the_summary_of_a_step_has_more_room_and_no_marker():
    review = Review(findings=tuple(replace(FINDINGS[0], line=line) for line in range(1, 600)), languages=())
    text = review_summary(review, language_table())

    assert "<!--" not in text
    assert "left out" not in text
    assert "left out" in comment(review)
