"""A jury of span judges: what most of them mark is kept, what only few mark is rejected, and nothing is lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from polyjudge import (
    ConfigError,
    Failure,
    JudgeResult,
    Jury,
    RepeatedJudge,
    RubricJudge,
    ScriptedProvider,
    SpanJudge,
    SpanVerifier,
)
from polyjudge.records.spans import ErrorSpan, LogisticModel, SpanConsensus
from polyjudge.rubrics.loading import load_rubric
from polyjudge.rubrics.prompts import rubric_fingerprint
from polyjudge.statistics.span_matching import SpanAnnotation
from polyjudge.text.difference import graphemes
from polyjudge.verdicts.span_consensus import as_marks, consensus_spans, joint_spans, voted_spans
from polyjudge.verdicts.span_pieces import AnnotatedText, feature_names

SOURCE = "The 14 black cats sleep in the old house on the hill."
TEXT = "Die 40 Katzen schlafen im Haus auf dem Hügel, im Haus."


def error(text, **fields):
    given = {"text": text, "in": "output", "before": "", "category": "accuracy/mistranslation", "severity": "major"}
    return given | {"explanation": "", "correction": ""} | fields


def judge(name, *errors, rubric="mqm", verifier=None, **more):
    reply = json.dumps({"errors": list(errors), **more}, ensure_ascii=False)
    return SpanJudge(rubric, model=name, provider=ScriptedProvider(lambda _: reply), verifier=verifier)


def outcome_of(jury, text=TEXT, source=SOURCE):
    [outcome] = jury.score_batch_sync([(text, {"source": source, "language": "de"})])
    return outcome


def test_a_jury_keeps_what_most_mark_rejects_the_rest_and_refuses_what_has_no_place():
    outcome = outcome_of(
        Jury(
            [
                judge("a", error("40 Katzen", explanation="wrong number"), error("Hunde")),
                judge("b", error("40", category="accuracy/number"), error("schlafen"), error("Hunde")),
                judge("c", error("40 Katzen schlafen"), error("black", **{"in": "source"})),
            ]
        )
    )

    found = [(span.text, span.state, span.annotators) for span in outcome.spans]
    assert found == [
        ("40 Katzen", "confirmed", ("scripted/a", "scripted/b", "scripted/c")),
        ("schlafen", "located", ("scripted/b", "scripted/c")),
        ("black", "rejected", ("scripted/c",)),
        ("Hunde", "proposed", ("scripted/a", "scripted/b")),
    ]
    first, _, black, hunde = outcome.spans
    assert (first.explanation, first.verification) == ("wrong number", "checks: the source has another number")
    assert black.verification == "jury: marked by 1 of 3, 2 are needed"
    assert hunde.refusal == "not in the text"
    assert outcome.score == -10
    assert [member.score for member in outcome.members] == [-5, -10, -10]
    assert [len(member.spans) for member in outcome.members] == [2, 3, 2]


def test_a_correction_is_kept_for_the_very_place_that_it_was_given_for():
    corrected = error("Katzen", correction="Kater")

    [same] = outcome_of(Jury([judge("a", corrected), judge("b", error("Katzen"))])).spans
    [other] = outcome_of(Jury([judge("a", error("Die 40 Katzen", correction="x")), judge("b", error("Katzen"))])).spans

    assert (same.text, same.correction) == ("Katzen", "Kater")
    assert (other.text, other.correction) == ("Katzen", "")


def test_an_esa_score_is_the_mean_of_the_stated_ones_with_joint_spans():
    jury = Jury([judge(name, error("Katzen"), rubric="esa", score=points) for name, points in (("a", 60), ("b", 80))])

    outcome = outcome_of(jury)

    assert (outcome.score, [span.text for span in outcome.spans]) == (70, ["Katzen"])


def test_repeats_are_combined_and_each_is_an_annotator():
    replies = [[error("Katzen")], [error("Katzen"), error("Hügel")], []]
    provider = ScriptedProvider(lambda request: json.dumps({"errors": replies[request.repeat % 3]}))

    outcome = outcome_of(RepeatedJudge(SpanJudge("mqm", model="m", provider=provider), 3))

    assert [(span.text, span.state, span.annotators) for span in outcome.spans] == [
        ("Katzen", "located", ("scripted/m", "scripted/m #2")),
        ("Hügel", "rejected", ("scripted/m #2",)),
    ]
    assert outcome.score == -5


def test_repeats_in_a_jury_and_the_same_model_twice_each_have_a_vote():
    def repeated(name, *errors):
        return RepeatedJudge(judge(name, *errors), 2)

    outcome = outcome_of(Jury([repeated("a", error("Katzen")), repeated("b", error("Katzen"), error("Hügel"))]))
    twice = outcome_of(Jury([judge("a", error("Katzen")), judge("a", error("Katzen"))]))

    assert [(span.text, span.state, len(span.annotators)) for span in outcome.spans] == [
        ("Katzen", "located", 4),
        ("Hügel", "rejected", 2),
    ]
    assert twice.spans[0].annotators == ("scripted/a", "scripted/a (2)")


def test_a_member_without_a_verdict_has_no_vote_and_a_second_judge_is_no_member():
    broken = SpanJudge("mqm", model="c", provider=ScriptedProvider(lambda _: "?"))
    said = json.dumps({"verdicts": [{"number": 1, "is_error": False, "reason": "fine"}]})
    second = SpanVerifier("second", provider=ScriptedProvider(lambda _: said))

    outcome = outcome_of(Jury([judge("a", error("Katzen")), judge("b", error("Katzen")), broken]))
    verified = outcome_of(Jury([judge(name, error("Katzen"), verifier=second) for name in ("a", "b")]))

    assert [(span.text, span.state) for span in outcome.spans] == [("Katzen", "located")]
    [span] = verified.spans
    assert (span.state, span.annotators, verified.score) == ("rejected", ("scripted/a", "scripted/b"), 0)
    assert span.verification == "scripted/second: fine"
    assert isinstance(outcome_of(Jury([judge("a"), broken])), Failure)


def test_results_without_provenance_are_members_too():
    span = ErrorSpan(text="Katzen", severity="major", start=7, end=13)
    members = (JudgeResult(-5, "", model="m", spans=(span,)), JudgeResult(-5, "", spans=(span,)))

    joint = judge("a").joint(JudgeResult(-5, "", members=members), TEXT)

    assert [(each.text, each.annotators) for each in joint.spans] == [("Katzen", ("judge", "m"))]


def test_a_jury_with_another_kind_of_judge_combines_scores_alone():
    reply = json.dumps({"score": -3, "reason": "r", "subscores": {}})
    rubric = replace(load_rubric("general"), scale=load_rubric("mqm").scale)
    other = RubricJudge(rubric, provider=ScriptedProvider(lambda _: reply))

    assert Jury([judge("a"), other]).joint is None


def test_a_mark_that_two_judges_share_in_part_is_whole_graphemes():
    text = "น้ำ👩\u200d👧 e\u0301"
    spans = {name: [ErrorSpan(text="", severity="minor", start=1, end=end)] for name, end in (("a", 4), ("b", 5))}

    [found] = joint_spans(spans, text)

    edges = {0}
    for cluster in graphemes(text):
        edges.add(max(edges) + len(cluster))
    assert {found.start, found.end} <= edges


places = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12), st.sampled_from(["minor", "major"])), max_size=5)


@given(st.lists(places, min_size=1, max_size=5))
def test_votes_are_those_of_calibrate_consensus_and_every_proposal_is_found_again(marked):
    text = "abcdefghij" * 5
    members = {
        f"m{number}": [ErrorSpan(text=text[a : a + n], severity=how, start=a, end=a + n) for a, n, how in spans]
        for number, spans in enumerate(marked)
    }
    annotations = {
        name: SpanAnnotation(annotator=name, candidate=text, marks=as_marks(spans)) for name, spans in members.items()
    }

    joint = joint_spans(members, text)

    counted = [(span.start, span.end, span.severity, span.annotators) for span in joint if span.counts]
    voted = voted_spans(AnnotatedText(judges=annotations), len(marked) // 2 + 1)
    assert counted == [(span.start, span.end, span.severity, span.annotators) for span in voted]
    for span in (each for spans in members.values() for each in spans):
        assert any(other.start < span.end and span.start < other.end for other in joint)
    assert not any(
        one.start < other.end and other.start < one.end for one in joint for other in joint if one is not other
    )


def consensus(annotators=("scripted/a", "scripted/b"), threshold=0.5):
    """Return a consensus for which a piece is likely if the first annotator marks it."""
    names = feature_names(annotators)
    weights = tuple({"one": -2.0, f"{annotators[0]} marks it": 4.0}.get(name, 0.0) for name in names)
    zeros, ones = (0.0,) * len(names), (1.0,) * len(names)
    model = LogisticModel(weights, zeros, ones)
    return SpanConsensus(annotators=annotators, features=names, model=model, threshold=threshold)


def learnt_rubric(learnt):
    rubric = load_rubric("mqm")
    return replace(rubric, spans=replace(rubric.spans, consensus=learnt))


def test_a_learnt_consensus_gives_probabilities_and_rejects_what_is_unlikely():
    rubric = learnt_rubric(consensus())
    jury = Jury([judge("a", error("Katzen"), rubric=rubric), judge("b", error("Hügel"), rubric=rubric)])

    outcome = outcome_of(jury)

    assert [(span.text, span.state, span.probability) for span in outcome.spans] == [
        ("Katzen", "located", 0.8808),
        ("Hügel", "rejected", 0.1192),
    ]
    assert outcome.spans[1].verification == "consensus: the probability 0.12 is below 0.50"
    assert outcome.score == -5


def test_what_a_jury_finds_by_a_consensus_is_what_calibrate_consensus_writes():
    learnt = consensus()
    jury = Jury([judge(name, error("Katzen"), rubric=learnt_rubric(learnt)) for name in ("a", "b")])
    marks = as_marks(outcome_of(jury).members[0].spans)
    known = {"candidate": TEXT, "source": SOURCE, "language": "de", "marks": marks}
    text = AnnotatedText(judges={name: SpanAnnotation(annotator=name, **known) for name in learnt.annotators})

    [joint], [written] = outcome_of(jury).spans, consensus_spans(text, learnt)

    assert (joint.start, joint.end, joint.probability, joint.annotators) == (
        written.start,
        written.end,
        written.probability,
        written.annotators,
    )


def test_a_consensus_changes_the_fingerprint_and_must_fit():
    assert rubric_fingerprint(learnt_rubric(None)) == rubric_fingerprint(load_rubric("mqm"))
    fingerprints = {rubric_fingerprint(learnt_rubric(consensus(threshold=each))) for each in (0.3, 0.5)}
    assert len(fingerprints | {rubric_fingerprint(load_rubric("mqm"))}) == 3
    with pytest.raises(ConfigError, match="another version of polyjudge"):
        SpanJudge(learnt_rubric(replace(consensus(), features=("x",))))
