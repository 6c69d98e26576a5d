"""The judge of error spans: what it asks, where it finds what was quoted, what counts, and what it refuses."""

import json
import random
import time

import pytest
import regex
from msgspec.structs import replace

from polyjudge import ConfigError, Failure, JudgeResult, RubricJudge, ScriptedProvider, SpanJudge, SpanVerifier
from polyjudge.judges.spans import MOST_SPANS, counts
from polyjudge.rubrics.loading import load_rubric
from polyjudge.rubrics.prompts import render_prompt

SOURCE = "The 14 black cats sleep in the old house on the hill."
TEXT = "Die 40 Katzen schlafen im Haus auf dem Hügel, im Haus."


def error(text, **fields):
    given = {"text": text, "in": "output", "before": "", "category": "accuracy/mistranslation", "severity": "major"}
    return given | {"explanation": "", "correction": ""} | fields


def reply_of(*errors, **more):
    return json.dumps({"errors": list(errors), **more}, ensure_ascii=False)


def outcome_of(reply, text=TEXT, source=SOURCE, rubric="mqm", verifier=None):
    judge = SpanJudge(rubric, provider=ScriptedProvider(lambda _: reply), verifier=verifier)
    [outcome] = judge.score_batch_sync([(text, {"source": source})])
    return outcome


def spans_of(*errors, **more):
    outcome = outcome_of(reply_of(*errors), **more)
    assert isinstance(outcome, JudgeResult), outcome
    return outcome.spans


def test_the_prompts_match_the_reviewed_ones(snapshot):
    context = {"language": "de", "source": SOURCE}
    verifier = SpanVerifier(provider=ScriptedProvider(lambda _: ""))
    marked = {1: spans_of(error("Katzen"))[0], 2: spans_of(error("black", **{"in": "source"}))[0]}

    snapshot("mqm-prompt.txt", render_prompt(load_rubric("mqm"), TEXT, context))
    snapshot("esa-prompt.txt", render_prompt(load_rubric("esa"), TEXT, context))
    snapshot("span-verification-prompt.txt", verifier.build_prompt(marked, TEXT, context))


def test_a_text_without_errors_has_the_highest_score():
    outcome = outcome_of(reply_of())

    assert (outcome.score, outcome.spans, outcome.reason) == (0, (), "no errors")


def test_each_error_has_its_place_and_takes_its_penalty():
    outcome = outcome_of(
        reply_of(
            error("schlafen", severity="minor"),
            error("Katzen"),
            error(",", category="fluency/punctuation", severity="minor"),
            error("black", category="accuracy/omission", **{"in": "source"}),
        )
    )

    assert [(span.side, span.start, span.end, span.text) for span in outcome.spans] == [
        ("output", 7, 13, "Katzen"),
        ("output", 14, 22, "schlafen"),
        ("output", 44, 45, ","),
        ("source", 7, 12, "black"),
    ]
    assert outcome.score == -(5 + 1 + 0.1 + 5)


def test_the_score_does_not_fall_below_the_scale():
    words = TEXT.replace(",", "").replace(".", "").split()
    errors = [error(word, category="other") for word in dict.fromkeys(words) if TEXT.count(word) == 1]

    assert len(errors) > 5
    assert outcome_of(reply_of(*errors)).score == -25


def test_an_esa_score_is_the_stated_one():
    outcome = outcome_of(reply_of(error("Katzen", category="error"), score=71), rubric="esa")

    assert (outcome.score, len(outcome.spans)) == (71, 1)
    assert isinstance(outcome_of(reply_of(error("Katzen")), rubric="esa"), Failure)
    assert isinstance(outcome_of(reply_of(error("Katzen"), score=140), rubric="esa"), Failure)


def test_a_repeated_quote_is_placed_by_the_words_before_it_or_refused():
    [placed] = spans_of(error("im Haus", before="Hügel,"))
    [refused] = spans_of(error("im Haus"))

    assert (placed.start, placed.text) == (46, "im Haus")
    assert (refused.start, refused.state, refused.refusal) == (None, "proposed", "ambiguous")


@pytest.mark.parametrize(
    ("quote", "why"),
    [
        ("Hunde", "not in the text"),
        ("old house on the hill", "in the other text"),
        ("", "empty"),
        ("…", "not in the text"),
    ],
)
def test_what_is_not_in_the_text_is_refused_and_takes_no_penalty(quote, why):
    outcome = outcome_of(reply_of(error(quote), error("Katzen")))

    assert [span.refusal for span in outcome.spans] == ["", why]
    assert outcome.score == -5
    assert f"1 proposed, {why}" in outcome.reason


def test_a_quote_in_another_spelling_keeps_what_the_judge_wrote():
    [span] = spans_of(error("KATZEN  schlafen"))

    assert (span.text, span.quote, span.method) == ("Katzen schlafen", "KATZEN  schlafen", "normalised")


def test_an_error_given_twice_counts_once_with_its_highest_severity():
    outcome = outcome_of(
        reply_of(error("Katzen", severity="minor"), error("Katzen"), error("Katzen", severity="minor"))
    )

    assert [span.severity for span in outcome.spans] == ["major"]
    assert outcome.score == -5


@pytest.mark.parametrize(
    ("given", "state"),
    [
        (error("40", category="accuracy/number"), "confirmed"),
        (error("Hügel", category="accuracy/untranslated"), "rejected"),
        (error("Katzen", correction=" Katzen "), "rejected"),
        (error("Katzen", correction="Kater"), "located"),
        (error("hill", category="accuracy/omission", **{"in": "source"}), "located"),
    ],
)
def test_the_checks_confirm_and_reject_what_the_texts_decide(given, state):
    [span] = spans_of(given)

    assert span.state == state
    assert bool(span.verification) == (state != "located")
    assert counts(span) == (state != "rejected")


def test_the_checks_know_untranslated_words_equal_numbers_and_what_was_not_left_out():
    text, source = "Die 14 cats sind in Berlin.", "The 14 cats are in Berlin."

    [left] = spans_of(error("cats", category="accuracy/untranslated"), text=text, source=source)
    [number] = spans_of(error("14", category="accuracy/number"), text=text, source=source)
    [kept] = spans_of(error("Berlin", category="accuracy/omission", **{"in": "source"}), text=text, source=source)

    assert (left.state, number.state, kept.state) == ("confirmed", "rejected", "rejected")


def verifier_saying(verdicts, prompts=None):
    def script(request):
        (prompts if prompts is not None else []).append(request.prompt)
        return json.dumps({"verdicts": verdicts})

    return SpanVerifier("second", provider=ScriptedProvider(script))


def test_a_second_judge_confirms_and_rejects_without_knowing_what_was_said():
    prompts = []
    rows = [{"number": 1, "is_error": True, "reason": "yes"}, {"number": 2, "is_error": False, "reason": "fine"}]
    given = [error("Katzen", explanation="SECRET", severity="critical"), error("Hügel", correction="Berg")]

    outcome = outcome_of(reply_of(*given), verifier=verifier_saying(rows, prompts))

    assert [(span.text, span.state) for span in outcome.spans] == [("Katzen", "confirmed"), ("Hügel", "rejected")]
    assert outcome.score == -25
    assert not any(word in prompts[0] for word in ("SECRET", "critical", "Berg", "accuracy"))
    assert outcome.members[0].raw


@pytest.mark.parametrize(
    "rows", [[], [{"number": 1, "is_error": "yes"}], [{"number": 7, "is_error": True}], [{"number": 1}], ["1"]]
)
def test_a_second_judge_without_a_verdict_changes_nothing(rows):
    outcome = outcome_of(reply_of(error("Katzen")), verifier=verifier_saying(rows))

    assert [span.state for span in outcome.spans] == ["located"]
    assert "Not verified:" in outcome.reason
    assert isinstance(outcome.members[0], Failure)


def test_the_second_judge_is_a_part_of_the_rubric_and_its_fingerprint():
    rubric = load_rubric("mqm")

    second = replace(rubric, spans=replace(rubric.spans, verifier="openai/m"))

    assert SpanJudge(second, provider=ScriptedProvider(lambda _: "")).verifier.model == "openai/m"
    assert SpanJudge(rubric).fingerprint != SpanJudge(second).fingerprint


def test_rubrics_and_judges_must_fit():
    with pytest.raises(ConfigError, match="use SpanJudge"):
        RubricJudge("mqm")
    with pytest.raises(ConfigError, match="use mqm or esa"):
        SpanJudge("general")


UNREADABLE = {
    "no object": "There are no errors.",
    "not a list": '{"errors": "none"}',
    "an object": '{"errors": {"text": "Katzen"}}',
    "entries that are texts": '{"errors": ["Katzen"]}',
    "unknown severity": reply_of(error("Katzen", severity="catastrophic")),
    "no severity": '{"errors": [{"text": "Katzen"}]}',
    "a number as text": reply_of(error(7)),
    "a list as category": reply_of(error("Katzen", category=["a"])),
    "unknown side": reply_of(error("Katzen", **{"in": "reference"})),
    "too many": reply_of(*[error("Katzen")] * (MOST_SPANS + 1)),
    "ten thousand": reply_of(*[error(f"{number}") for number in range(10_000)]),
    "two answers": f"[{reply_of(error('Katzen'))}, {reply_of(error('Hügel'))}]",
    "cut off": reply_of(error("Katzen"))[:-10],
    "nested": '{"errors": [{"errors": [{"text": "Katzen", "severity": "minor"}]}]}',
    "empty": "",
}


@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE)
def test_a_reply_that_is_no_list_of_errors_is_no_verdict(reply):
    outcome = outcome_of(reply)

    assert isinstance(outcome, Failure), outcome
    assert (outcome.kind, outcome.raw) == ("unreadable", reply)


TEXTS = (
    "القطط السوداء تنام في البيت القديم على التل.",
    "แมวดำนอนหลับอยู่ในบ้านเก่าบนเนินเขา",
    "काली बिल्लियाँ पहाड़ी पर पुराने घर में सोती हैं।",
    "黒猫は丘の上の古い家で眠っています。👩‍👩‍👧‍👦と🇩🇪も。",
    "Zwölf schwarze Katzen, <b>zwölf</b> Katzen & ein e\u0301te\u0301.",
    "שנים־עשר חתולים \u200f(12)\u200f ישנים\u200e.",
)


def hostile_errors(text, chance):
    """Return errors as hostile judges give them: parts of the text and the source, changed, nested and repeated."""
    found = []
    for _ in range(chance.randrange(1, 9)):
        start = chance.randrange(len(text))
        quote = text[start : start + chance.randrange(1, 12)]
        change = chance.randrange(8)
        quote = (
            [
                quote,
                quote.upper(),
                quote[::-1],
                f"«{quote}»",
                f"<v>{quote}</v>",
                f"\u202e{quote}\u202c",
                SOURCE[:9],
                text,
            ]
        )[change]
        found.append(error(quote, severity=chance.choice(["minor", "Major", "CRITICAL"]), before=text[:start][-5:]))
    return found


@pytest.mark.slow
def test_500_hostile_replies_are_right_or_refused():
    chance = random.Random(26)
    located = refused = 0
    for number in range(500):
        text = TEXTS[number % len(TEXTS)]
        errors = hostile_errors(text, chance)
        if number % 25 == 7:
            too_many, nested = reply_of(*errors * 10_000)[:5_000_000], reply_of({"errors": errors})
            outcome = outcome_of(chance.choice([nested, too_many, reply_of(*errors * 250)]), text=text)
            assert (type(outcome), outcome.kind) == (Failure, "unreadable")
            refused += 1
            continue
        reply = reply_of(*errors)
        if number % 10 == 0:
            reply = f"```json\n{reply}\n```"
        outcome = outcome_of(reply, text=text)
        assert isinstance(outcome, JudgeResult), (reply, outcome)
        ends = {0, *(match.end() for match in regex.finditer(r"\X", text))}
        for span in outcome.spans:
            assert (span.start is None) == bool(span.refusal) == (span.state == "proposed")
            if span.start is not None:
                where = text if span.side == "output" else SOURCE
                assert span.text == where[span.start : span.end]
                assert {span.start, span.end} <= ends
                located += 1
        taken = sum({"minor": 1, "major": 5, "critical": 25}[span.severity] for span in outcome.spans if counts(span))
        assert outcome.score == max(-25, -taken)
    assert (located > 500, refused) == (True, 20)


@pytest.mark.slow
def test_a_megabyte_is_read_in_linear_time():
    def seconds(size):
        text = "Katzen schlafen im Haus. " * (size // 25)
        errors = [error("Katzen schlafen", before="x" * 50) for _ in range(100)] + [error("Kotzen schlofen")] * 50
        start = time.process_time()
        outcome_of(reply_of(*errors), text=text, source=text)
        return time.process_time() - start

    small = max(seconds(100_000), 0.05)
    assert seconds(1_000_000) < 30 * small
