"""The status of one item from a judge's outcome and the findings of the checks."""

import pytest

from polyjudge.records.findings import Finding
from polyjudge.records.outcomes import Failure, JudgeResult, Provenance
from polyjudge.rubrics.loading import load_rubric
from polyjudge.verdicts.items import item_status

RUBRIC = load_rubric("translation")
WRONG_LANGUAGE = Finding("wrong_language", "fail", "this looks like Hindi")
EMPTY = Finding("empty", "fail", "there is no text")
WARNING = Finding("cut_off", "warn", "ends with 'x'")


def result(script=5.0, grammar=4.0, coherence=4.0, correct=True, provider="openai"):
    given = {"script": script, "grammar": grammar, "coherence": coherence}
    scores = {name: value for name, value in given.items() if value is not None}
    origin = Provenance(provider=provider, model="m", rubric="translation", rubric_fingerprint="f", prompt_sha256="p")
    flags = {} if correct is None else {"isCorrectLanguage": correct}
    return JudgeResult(3.0, "why", scores, flags=flags, provenance=origin)


OFFLINE = result(grammar=None, coherence=None, provider="offline")


@pytest.mark.parametrize(
    ("outcome", "findings", "status"),
    [
        (result(), (), "PASS"),
        (result(), (WARNING,), "PASS"),
        (result(), (WRONG_LANGUAGE,), "CONFLICT"),
        (result(), (WRONG_LANGUAGE, EMPTY), "FAIL"),
        (result(), (EMPTY,), "FAIL"),
        (result(grammar=2), (), "FAIL"),
        (result(correct=False), (WRONG_LANGUAGE,), "FAIL"),
        (result(grammar=None), (), None),
        (result(grammar=None, correct=False), (), "FAIL"),
        (Failure("no", "refused"), (), "UNJUDGED"),
        (Failure("no", "refused"), (EMPTY,), "FAIL"),
        (None, (), "CHECKED"),
        (None, (WARNING,), "CHECKED"),
        (None, (EMPTY,), "FAIL"),
        (OFFLINE, (), "CHECKED"),
        (result(provider="offline"), (), "CHECKED"),
        (result(provider="offline"), (WRONG_LANGUAGE,), "FAIL"),
        (result(coherence=1, provider="offline"), (), "FAIL"),
    ],
)
def test_the_status_of_an_item(outcome, findings, status):
    assert item_status(outcome, findings, RUBRIC) == status


def test_without_a_pass_rule_a_scored_item_has_no_status():
    assert item_status(JudgeResult(90.0, ""), (), load_rubric("general")) is None
