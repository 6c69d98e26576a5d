"""The judge `offline` with checks that a project chooses: they move the scores, and the name of the judge with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge.checks.accepted import AcceptedFinding, AcceptedFindings, fingerprint
from polyjudge.checks.catalogue import check_names, known_findings
from polyjudge.checks.checker import TextChecker
from polyjudge.checks.policy import CheckPolicy, check_policy
from polyjudge.judges.offline import MODEL, OfflineJudge, offline_model
from polyjudge.judges.rubric import identity_of_models
from polyjudge.languages.table import language_table
from polyjudge.records.findings import CheckedText
from polyjudge.rubrics.loading import load_rubric

RUBRIC = load_rubric("translation")
SOURCE = "Please call 112 quickly, my wife had an accident…"
GOOD = "Rufen Sie bitte schnell 112 an, meine Frau hatte einen Unfall…"
OTHER_NUMBER = GOOD.replace("112", "211")
RUSSIAN = "Пожалуйста, скорее позвоните по номеру 112, моя жена попала в аварию…"
NAMES = [*check_names(), *known_findings()]


def judged(candidate, policy=None, **context):
    judge = OfflineJudge(RUBRIC, policy=policy)
    [outcome] = judge.score_batch_sync([(candidate, {"language": "de", "source": SOURCE, **context})])
    return outcome


def accepting(*texts):
    """Return a policy that accepts all findings of these texts."""
    table, entries = language_table(), []
    for text in texts:
        checked = CheckedText(text=text, language=table.find("de"), source=SOURCE)
        found = TextChecker(table).check_text(checked).problems
        entries += [AcceptedFinding(finding=fingerprint(each, checked), reason="As agreed.") for each in found]
    assert entries
    return check_policy(accepted=AcceptedFindings(entries))


@pytest.mark.parametrize(
    ("candidate", "policy", "subscores"),
    [
        (OTHER_NUMBER, {}, {"script": 5, "coherence": 2}),
        (OTHER_NUMBER, {"skipped": ["numbers"]}, {"script": 5}),
        (OTHER_NUMBER, {"only": ["script", "language"]}, {"script": 5}),
        (OTHER_NUMBER, {"only": ["number_changed"]}, {"script": 5, "coherence": 2}),
        (OTHER_NUMBER, {"settings": {"number_changed": "warn"}}, {"script": 5, "coherence": 3}),
        (OTHER_NUMBER, {"settings": {"numbers": "info"}}, {"script": 5}),
        (OTHER_NUMBER, {"settings": {"numbers": "off"}}, {"script": 5}),
        (GOOD.removesuffix("…") + ".", {}, {"script": 5}),
        (GOOD.removesuffix("…") + ".", {"settings": {"ellipsis_lost": "fail"}}, {"script": 5, "coherence": 2}),
        (SOURCE, {"settings": {"source_copied": "warn"}, "skipped": ["language"]}, {"script": 5, "coherence": 3}),
        (GOOD + "```", {}, {"script": 5, "grammar": 2}),
        (GOOD + "```", {"settings": {"code_fence": "warn"}}, {"script": 5, "grammar": 3}),
        (GOOD.replace("ß", "ss").replace("ü", "\ufffd"), {"skipped": ["script"]}, {"script": 5}),
        (RUSSIAN, {}, {"script": 1, "coherence": 2}),
        (RUSSIAN, {"settings": {"wrong_script": "warn"}}, {"script": 3, "coherence": 3}),
        (RUSSIAN, {"skipped": ["script"]}, {"script": 5, "coherence": 2}),
        (RUSSIAN, {"skipped": ["script", "language"]}, {"script": 5}),
    ],
)
def test_the_findings_that_count_move_the_scores_and_the_others_do_not(candidate, policy, subscores):
    assert judged(candidate, check_policy(**policy)).subscores == subscores


def test_another_language_in_another_script_is_still_named_where_only_the_script_is_not_checked():
    outcome = judged(RUSSIAN, check_policy(skipped=["script"]))

    assert outcome.flags == {"isCorrectLanguage": False}
    assert "Wrong language: Russian, not German." in outcome.reason


def test_without_the_check_of_the_language_nothing_is_said_of_it():
    assert judged(GOOD, check_policy(skipped=["language"])).flags == {}
    assert "determine" not in judged("Taxi", check_policy(skipped=["language"])).reason


@pytest.mark.parametrize("candidate", [OTHER_NUMBER, RUSSIAN, GOOD + "```"])
def test_accepted_findings_lift_the_scores_and_are_counted_in_the_reason(candidate):
    before, after = judged(candidate), judged(candidate, accepting(candidate))

    assert before.score < after.score == 5
    assert "1 accepted finding does not count" in after.reason


def test_agreement_with_a_reference_counts_only_if_that_check_runs():
    pytest.importorskip("sacrebleu")

    assert judged(GOOD, reference=GOOD).subscores["coherence"] == 5
    assert "coherence" not in judged(GOOD, check_policy(skipped=["reference"]), reference=GOOD).subscores


def test_the_name_of_the_judge_has_a_digest_of_what_is_chosen_and_is_plain_where_nothing_is():
    policy = check_policy(skipped=["numbers"])
    outcome = judged(GOOD, policy)

    assert judged(GOOD).model == judged(GOOD, CheckPolicy()).model == MODEL
    assert outcome.model == outcome.provenance.model == outcome.provenance.model_answered == offline_model(policy)
    assert outcome.model.startswith(f"{MODEL}-")
    assert outcome.provenance.rubric_fingerprint == judged(GOOD).provenance.rubric_fingerprint
    assert OfflineJudge(RUBRIC, policy=policy).fingerprint != OfflineJudge(RUBRIC).fingerprint
    assert identity_of_models([], RUBRIC, checks=policy).model == outcome.model


POLICIES = st.fixed_dictionaries(
    {
        "only": st.lists(st.sampled_from(NAMES), max_size=3),
        "skipped": st.lists(st.sampled_from(NAMES), max_size=3),
        "settings": st.dictionaries(
            st.sampled_from(NAMES), st.sampled_from(["fail", "warn", "info", "off"]), max_size=3
        ),
        "names": st.lists(st.sampled_from(["a1", "b2", "c3"]), unique=True),
    }
)


def policy_from(chosen):
    entries = [AcceptedFinding(finding=name, reason="As agreed.") for name in chosen["names"]]
    others = {name: value for name, value in chosen.items() if name != "names"}
    return check_policy(**others, accepted=AcceptedFindings(entries))


@given(POLICIES, POLICIES)
def test_two_policies_have_one_name_exactly_if_they_choose_the_same(first, second):
    def meant(chosen):
        return [set(chosen["only"]), set(chosen["skipped"]), chosen["settings"], set(chosen["names"])]

    names = [offline_model(policy_from(each)) for each in (first, second)]

    assert (names[0] == names[1]) == (meant(first) == meant(second))
    turned = {name: dict(reversed(each.items())) if name == "settings" else each[::-1] for name, each in first.items()}
    assert offline_model(policy_from(turned)) == names[0]
