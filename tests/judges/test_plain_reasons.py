"""A plain reason is not read sentence by sentence, so reading it so must find nothing."""

import itertools
import json
from importlib.resources import files
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.folding import for_each

from polyjudge.judges.judged_text import ReplyContext
from polyjudge.judges.plain_reasons import has_plain_reason
from polyjudge.judges.statement_words import word_tables
from polyjudge.judges.statements import contradicting_reason
from polyjudge.records.rubrics import Scale

CONTRADICTED = Path(__file__).parent / "contradicted_replies.jsonl"
CONTEXT = ReplyContext(("A text of 2019.",), Scale(0, 100))
SCORES = [0, 5, 12, 40, 85, 100]
PIECES = [
    *(
        "because",
        "The text has",
        "out of",
        "(",
        "0-5",
        "(1 to 5)",
        "lower is better",
        "0 = perfect",
        "/",
        "%",
        "-",
        ",",
    ),
    *("i'd", "d'", "*", "_", "5-point", "no", "not", ". ", "\n", '"', "best", "in the second sentence", "noted", "on"),
]
WORDS = sorted(
    {
        entry.replace("*", "").replace(" ~ ", " really ")
        for table in word_tables().values()
        for kind, entries in table.items()
        if kind in ("refusal", "example", "score", "highest", "final", "revision", "correction", "scale", "retraction")
        for entry in entries
        if entry.isascii()
    }
)
NUMBERS = sorted(
    {
        form
        for line in (files("polyjudge.judges") / "number_words.txt").read_text(encoding="utf-8").splitlines()
        for form in line.split("\t")[2:]
        if form.isascii()
    }
)
reasons = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from(PIECES),
        st.sampled_from(WORDS),
        st.sampled_from(NUMBERS),
        st.sampled_from(NUMBERS).map(lambda form: f"{form}lar"),
        st.sampled_from(["{score}", "{score}.", "7", "90", "four", "fifty"]),
    ),
    max_size=5,
)


def check(reason, score):
    """Return whether a reason is plain; then it must not contradict its score."""
    value = {"score": score, "reason": reason}
    is_plain = has_plain_reason(value, ("score",), CONTEXT)
    assert not is_plain or contradicting_reason(value, ("score",), CONTEXT) is None, reason
    return is_plain


@given(reasons, st.sampled_from(SCORES))
def test_a_plain_reason_contradicts_no_verdict(parts, score):
    check(" ".join(parts).replace("{score}", str(score)), score)


def test_a_word_of_any_list_beside_the_score_contradicts_nothing_if_the_reason_is_plain():
    for word, score in itertools.product([*WORDS, *NUMBERS], (12, 85)):
        check(f"It is {word} here", score)
        check(f"It is {word}: {score}", score)


def test_no_line_of_a_reply_that_contradicts_itself_is_plain_and_contradicts():
    lines = {
        line
        for row in CONTRADICTED.read_text(encoding="utf-8").splitlines()
        for line in json.loads(row)["reply"].splitlines()
    }
    for line, score in itertools.product(sorted(lines), SCORES):
        check(line, score)


@for_each(
    "reason",
    [
        "",
        "Accurate, natural and complete.",
        "Fluent and idiomatic, the register matches the source.",
        "The summary captures the central idea but misses the conclusion.",
        "The translation changes the meaning of the last clause, which makes it misleading.",
        "La traduction est fluide et le sens est conserve.",
        "The style is not elegant, but the sense is kept.",
        "because 85",
    ],
)
def test_an_ordinary_reason_is_plain(reason):
    assert check(reason, 85)


@for_each(
    "value",
    [
        {"score": 85, "reason": "out of 50"},
        {"score": 85, "reason": "85 of 85"},
        {"score": 85, "reason": "The score is 85"},
        {"score": 85, "reason": "I decline to score this."},
        {"score": 85, "reason": "forty"},
        {"score": 5, "reason": "five of ten"},
        {"score": 85, "reason": "Très bien."},
        {"score": 85, "explanation": "Fine."},
        {"score": 85, "reason": "Fine.", "explanation": "Fine."},
        {"score": "85", "reason": "Fine."},
        {"verdict": "good", "reason": "Fine."},
    ],
)
def test_a_reason_that_may_state_a_verdict_is_not_plain(value):
    assert not has_plain_reason(value, ("score",), CONTEXT)


def test_no_reason_of_a_judge_that_chooses_a_label_is_plain():
    labels = ReplyContext(CONTEXT.judged, labels=("good", "bad"))
    assert not has_plain_reason({"score": 85, "reason": "Fine."}, ("score",), labels)
