"""Annotations of spans from any file meet, and a consensus of judges is learnt and measured fairly."""

import json
import os
import random
from pathlib import Path

import pytest

from polyjudge.calibration.span_agreement import SpanOptions, annotated_texts, measure_span_agreement
from polyjudge.calibration.span_learning import learn_consensus
from polyjudge.calibration.span_validation import by_language, in_halves, validated
from polyjudge.errors import ConfigError, DataError
from polyjudge.formats.span_rows import read_spans
from polyjudge.records.codec import to_json
from polyjudge.records.outcomes import JudgeResult, Provenance, outcome_row
from polyjudge.records.spans import ErrorSpan
from polyjudge.statistics.logistic import fit_logistic, probabilities, threshold_for
from polyjudge.statistics.span_matching import IN_SOURCE, Mark, SpanAnnotation
from polyjudge.store.span_consensus import read_consensus
from polyjudge.verdicts.span_consensus import consensus_spans, voted_spans, weights_of
from polyjudge.verdicts.span_pieces import AnnotatedText, feature_names, features, kinds_of, pieces

SPANS = Path(os.environ.get("POLYJUDGE_DATA", "")) / "spans_dev.jsonl.gz"
needs_spans = pytest.mark.skipif(not SPANS.is_file(), reason="POLYJUDGE_DATA is not set or lacks spans_dev.jsonl.gz")


def write(path, *rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def row(annotator, *spans, **more):
    given = {"segment": "1", "pair": "en-de", "system": "a", "doc": "d", "source": "The cat", "output": "Die Katze"}
    return {**given, "annotator": annotator, "spans": list(spans), **more}


def span(start, end, severity="minor", **more):
    return {"start": start, "end": end, "severity": severity, **more}


def note(annotator, *marks, unit="1", system="a", cluster="d", language="de", candidate="Die Katze", source=""):
    return SpanAnnotation(
        annotator=annotator,
        unit=unit,
        system=system,
        cluster=cluster,
        language=language,
        candidate=candidate,
        source=source,
        marks=tuple(marks),
    )


def test_rows_with_the_columns_of_other_tools_are_annotations(tmp_path):
    path = write(tmp_path / "s.jsonl", row("m", span(0, 3, "Major", category="x"), system="GPT-4.5"))
    [found] = read_spans(path).annotations
    assert (found.unit, found.system, found.language, found.cluster) == ("en-de|1", "gpt45", "de", "d")
    assert found.marks == (Mark(0, 3, "major", "x"),)


def test_a_span_is_placed_by_its_words_or_refused_with_the_reason(tmp_path):
    path = write(
        tmp_path / "s.jsonl",
        row(
            "m",
            span(0, 9, text="die katze"),
            span(4, 9, text="Katze"),
            span(0, 3, text="Hund"),
            span(0, 3, text="The cat"),
            span(0, 90),
            span(3, 3),
            span("1", 2),
            "Katze",
            span(None, None),
            span(0, 3, state="rejected"),
            span(None, None, refusal="ambiguous"),
        ),
    )
    found = read_spans(path)
    assert [mark[:2] for mark in found.annotations[0].marks] == [(0, 9), (4, 9)]
    assert found.methods == {"given": 1, "normalised": 1}
    assert found.refused == {
        "not in the text": 2,
        "in the other text": 1,
        "not a span": 3,
        "without a place": 1,
        "rejected": 1,
        "ambiguous": 1,
    }


def test_spans_of_the_source_share_no_character_with_those_of_the_output(tmp_path):
    path = write(tmp_path / "s.jsonl", row("m", span(0, 3, side="source", text="The")))
    assert read_spans(path).annotations[0].marks == (Mark(IN_SOURCE, IN_SOURCE + 3, "minor"),)


def test_results_of_a_judge_name_it_and_an_empty_result_marks_nothing(tmp_path):
    origin = Provenance(provider="p", model="m", rubric="mqm", rubric_fingerprint="f", prompt_sha256="s")
    marked = ErrorSpan(text="Die", severity="major", start=0, end=3)
    given = [
        outcome_row("1", JudgeResult(-5, "", spans=(marked,), provenance=origin)),
        outcome_row("2", JudgeResult(0, "", provenance=origin)),
        {"schemaVersion": 1, "id": "3", "outcome": "failure", "reason": "no"},
    ]
    found = read_spans(write(tmp_path / "r.jsonl", *given))
    assert [(each.annotator, len(each.marks)) for each in found.annotations] == [("p/m", 1), ("p/m", 0)]
    assert (found.no_verdict, list(found.judges)) == (1, ["p/m"])


def test_judges_meet_people_by_segment_and_system_or_by_the_words():
    judge, person = note("j", Mark(0, 3, "minor")), note("h", Mark(0, 3, "minor"))
    assert measure_span_agreement([judge], [person], SpanOptions(100)).texts == 1
    other = note("h", Mark(0, 3, "minor"), unit="")
    assert measure_span_agreement([judge], [other], SpanOptions(100)).texts == 1
    elsewhere = note("h", unit="2", candidate="Der Hund")
    assert measure_span_agreement([judge], [elsewhere], SpanOptions(100)).texts == 0


def test_annotations_of_different_words_never_meet():
    judge, person = note("j", Mark(0, 3, "minor")), note("h", Mark(0, 3, "minor"), candidate="Der Hund")
    assert measure_span_agreement([judge], [person], SpanOptions(100)).texts == 0


def test_each_person_is_compared_with_the_others_and_each_severity_is_counted():
    people = [note("h1", Mark(0, 4, "major", "c")), note("h2", Mark(0, 2, "minor")), note("h3")]
    result = measure_span_agreement([note("j", Mark(0, 2, "major"))], people, SpanOptions(100))
    [judge] = result.judges
    assert (judge.texts, [person.texts for person in result.people]) == (3, [2, 2, 2])
    assert judge.found["major"].value == 0.5
    assert judge.found["minor"].value == 1
    assert judge.found_by_category["c"].value == 0.5
    assert judge.right["major"].value == pytest.approx(4 / 6)
    assert judge.languages["de"][0] == 3


def test_pieces_are_what_the_same_judges_mark():
    given = {"a": note("a", Mark(0, 6, "minor")), "b": note("b", Mark(4, 8, "major"), Mark(4, 5, "minor"))}
    found = list(pieces(given))
    assert [(piece.start, piece.end, sorted(piece.marks)) for piece in found] == [
        (0, 4, ["a"]),
        (4, 5, ["a", "b"]),
        (5, 6, ["a", "b"]),
        (6, 8, ["b"]),
    ]
    assert found[1].marks["b"].severity == "major"
    table = features(AnnotatedText(judges=given), found, ("a", "b"))
    assert table.shape == (4, len(feature_names(("a", "b"))))


def test_a_vote_joins_what_touches_and_takes_the_usual_severity():
    given = AnnotatedText(
        judges={
            "a": note("a", Mark(0, 3, "minor"), Mark(IN_SOURCE, IN_SOURCE + 3, "major"), source="The cat"),
            "b": note("b", Mark(2, 6, "minor"), source="The cat"),
        }
    )
    one, two = voted_spans(given, 1)
    assert (one.text, one.start, one.end, one.severity, one.annotators) == ("Die Ka", 0, 6, "minor", ("a", "b"))
    assert (two.text, two.side, two.severity, two.probability) == ("The", "source", "major", None)
    assert [each.text for each in voted_spans(given, 2)] == ["e"]
    assert voted_spans(given, 3) == ()


def test_combined_spans_are_whole_graphemes():
    given = AnnotatedText(judges={"a": note("a", Mark(0, 2, "minor"), candidate="สวัสดี")})
    assert [each.text for each in voted_spans(given, 1)] == ["สวั"]


def invented(count=120, seed=1):
    """Return texts in which people mark what `good` marks, and `bad` marks anything."""
    draw = random.Random(seed)
    texts = []
    for number in range(count):
        start, other = draw.randrange(20), draw.randrange(20)
        shared = {"unit": str(number), "cluster": str(number // 3), "language": "de" if number % 2 else "cs"}
        shared["candidate"] = "abcdefghij" * 3
        right = Mark(start, start + 5, "major")
        judges = {"good": note("good", right, **shared), "bad": note("bad", Mark(other, other + 5, "minor"), **shared)}
        texts.append(AnnotatedText(judges=judges, people={"h": note("h", right, **shared)}))
    return texts


def test_the_judge_that_people_agree_with_gets_the_weight_and_its_spans_are_probable():
    consensus = learn_consensus(invented(), penalty=1.0)
    weights = weights_of(consensus)
    assert weights["good marks it"] + weights["good: major"] > weights["bad marks it"] + 0.5
    text = invented(seed=9)[0]
    [found] = consensus_spans(text, consensus)
    good = text.judges["good"].marks[0]
    assert (found.start, found.end, found.severity) == (*good[:2], "major")
    assert found.probability > 0.8


def test_probabilities_are_near_the_shares_that_people_mark():
    draw = random.Random(3)
    texts = []
    for number in range(600):
        shared = {"unit": str(number), "cluster": str(number), "candidate": "x" * 30}
        mark = Mark(0, 5, "minor")
        people = {"h": note("h", *([mark] if draw.random() < 0.3 else []), **shared)}
        texts.append(AnnotatedText(judges={"j": note("j", mark, **shared)}, people=people))
    consensus = learn_consensus(texts)
    [found] = consensus_spans(texts[0], consensus) or [ErrorSpan(text="", severity="minor", probability=0.3)]
    assert found.probability == pytest.approx(0.3, abs=0.06)


def test_what_was_learnt_is_saved_and_read_and_other_files_are_refused(tmp_path):
    consensus = learn_consensus(invented(60))
    path = tmp_path / "c.json"
    path.write_text(json.dumps(to_json(consensus)), encoding="utf-8")
    assert read_consensus(path) == consensus
    for content, message in (
        ("{", "not JSON"),
        ("[]", "not a consensus"),
        ('{"kind": "span consensus", "schemaVersion": 9}', "of version 1"),
        (json.dumps({**to_json(consensus), "annotators": ["x"]}), "another version of polyjudge"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            read_consensus(path)


def test_nothing_can_be_learnt_without_marks_of_people_or_in_one_part():
    empty = [AnnotatedText(judges=text.judges, people={"h": note("h")}) for text in invented(10)]
    with pytest.raises(ConfigError, match="cannot be learnt"):
        learn_consensus(empty)
    one = [text for text in invented(20) if text.any_one.language == "de"]
    with pytest.raises(ConfigError, match="cannot be validated"):
        validated(one, by_language)


def test_a_consensus_is_measured_on_texts_that_it_was_not_learnt_from():
    texts = invented(90)
    found = validated(texts, in_halves(texts), resamples=100)
    assert found.best_single == "good"
    assert found.consensus["char_f1"].value > found.single["bad"]["char_f1"].value
    assert found.gain.value <= 0.01
    assert set(found.votes) == {"1", "2"}
    halves = in_halves(texts)
    assert {halves(text) for text in texts} == {0, 1}
    assert len({(text.any_one.cluster, text.any_one.language, halves(text)) for text in texts}) == len(
        {(text.any_one.cluster, text.any_one.language) for text in texts}
    )


def test_the_regression_gives_the_shares_of_two_groups():
    import numpy as np

    rows = np.array([[1.0, 0.0], [1.0, 1.0]])
    model = fit_logistic(rows, np.array([0.2, 0.6]), np.array([50.0, 50.0]), penalty=1e-9)
    assert probabilities(model, rows) == pytest.approx([0.2, 0.6], abs=1e-6)


def test_thresholds_follow_from_the_probabilities():
    import numpy as np

    found, sizes = np.array([0.9, 0.5, 0.1]), np.ones(3)
    assert threshold_for(found, sizes, aim="f1") == 0.5
    assert threshold_for(found, sizes, aim="precision", precision=0.8) == 0.9
    assert threshold_for(found, sizes, aim="precision", precision=0.45) == 0.1
    assert threshold_for(found, sizes, aim="precision", precision=0.95) > 1
    assert threshold_for(np.array([]), np.array([]), aim="f1") > 1


@needs_spans
@pytest.mark.slow
def test_a_consensus_of_recorded_models_beats_the_best_one_on_other_documents():
    found = read_spans(SPANS).annotations
    assert len(found) == 13_200
    judges = [each for each in found if not each.annotator.startswith("human")]
    people = [each for each in found if each.annotator.startswith("human")]
    texts, repeated = annotated_texts(judges, people)
    assert (len(texts), repeated) == (1_585, 0)
    best = validated(texts, in_halves(texts), resamples=100)
    single = best.single[best.best_single]["char_f1_any_severity"].value
    assert best.consensus["char_f1_any_severity"].value > single + 0.04
    precise = validated(texts, in_halves(texts), aim="precision", precision=0.3, resamples=100)
    vote = precise.votes["5"]["char_recall_any_severity"].value
    assert precise.consensus["char_precision_any_severity"].value >= 0.3
    assert precise.consensus["char_recall_any_severity"].value > max(vote, 0.113)


def test_the_kind_of_an_error_is_known_by_its_category_or_its_explanation():
    assert kinds_of("fluency/punctuation", "") == {"punctuation"}
    assert kinds_of("", "Awkward phrasing with a wrong tense") == {"style", "meaning", "grammar"}
    assert kinds_of("", "") == kinds_of("خطأ", "ผิด") == frozenset()
    marked = Mark(0, 3, "minor", "", "missing comma")
    given = {"a": note("a", marked)}
    [row] = features(AnnotatedText(judges=given), list(pieces(given)), ("a",))
    said = {name for name, value in zip(feature_names(("a",)), row, strict=True) if name.startswith("kind") and value}
    assert said == {"kind: punctuation", "kind: omission"}
