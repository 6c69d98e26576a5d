"""Which checks run, how severe their findings are, and which findings are accepted."""

from typing import get_args

import pytest

from polyjudge import register
from polyjudge.checks.accepted import AcceptedFinding, AcceptedFindings, fingerprint
from polyjudge.checks.catalogue import (
    check_names,
    known_findings,
    measured_findings,
    record_of_kind,
    require_known,
    track_record,
)
from polyjudge.checks.checker import TextChecker
from polyjudge.checks.policy import CheckPolicy, check_policy
from polyjudge.errors import ConfigError
from polyjudge.languages.table import language_table
from polyjudge.plugins import PLUGINS
from polyjudge.records.findings import CheckedText, Finding, ProblemKind

TABLE = language_table()
SOURCE = "Please call 112 quickly, my wife had an accident."
TEXT = "Rufen Sie bitte schnell 211 an, meine Frau hatte einen Unfall.```"


def checked(text=TEXT, source=SOURCE):
    language = TABLE.find("de")
    assert language is not None
    return CheckedText(text=text, language=language, source=source)


def found(policy, text=TEXT, source=SOURCE):
    return TextChecker(TABLE, policy=policy).check_text(checked(text, source))


def kinds(check):
    return {(each.kind, each.severity) for each in check.problems}


def test_the_catalogue_has_every_finding_and_nothing_else():
    assert set(known_findings()) == {*get_args(ProblemKind), "reference_agreement"}
    for kind, known in known_findings().items():
        assert known.finds.endswith("."), kind
        assert known.matters.endswith("."), kind
    assert not set(check_names()) & set(known_findings())


def test_only_what_is_right_in_nine_of_ten_cases_fails_a_text():
    for kind, measured in measured_findings()["fail"].items():
        assert kind in known_findings()
        assert measured.precision is None or measured.precision >= 0.9 or kind == "wrong_script", kind
        assert known_findings()[kind].severity == "fail", kind


def test_a_track_record_is_said_where_it_was_measured():
    measured = measured_findings()["warn"]["number_lost"].precision
    assert measured is not None
    assert 0.55 < measured < 0.6
    assert track_record(Finding("number_lost", "warn", "")) == f"right in {measured:.0%} of cases on WMT24"
    assert track_record(Finding("anything", "fail", "")) == record_of_kind("anything") == ""
    assert record_of_kind("repetition").count("WMT24") >= 1


def test_checks_are_chosen_by_their_names_and_by_those_of_findings():
    assert kinds(found(CheckPolicy())) == {("code_fence", "fail"), ("number_changed", "fail")}
    assert kinds(found(check_policy(only=["numbers"]))) == {("number_changed", "fail")}
    assert kinds(found(check_policy(only=["code_fence", "script"]))) == {("code_fence", "fail")}
    assert kinds(found(check_policy(skipped=["leaks"]))) == {("number_changed", "fail")}
    assert kinds(found(check_policy(skipped=["leaks", "number_changed"]))) == set()


def test_a_project_sets_severities_of_checks_and_findings():
    policy = check_policy(settings={"numbers": "info", "code_fence": "warn"})

    assert kinds(found(policy)) == {("code_fence", "warn"), ("number_changed", "info")}
    assert not found(policy).fails
    assert kinds(found(check_policy(settings={"leaks": "off"}))) == {("number_changed", "fail")}
    assert kinds(found(check_policy(settings={"leaks": "off", "code_fence": "fail"}))) == kinds(found(CheckPolicy()))


@pytest.mark.parametrize(
    ("names", "message"), [({"only": ["nunbers"]}, "nunbers"), ({"settings": {"numbers": "error"}}, "error")]
)
def test_a_name_or_a_severity_that_does_not_exist_is_refused(names, message):
    with pytest.raises(ConfigError, match=message):
        check_policy(**names)
    require_known(["mine"], {"mine"})


def test_what_is_not_wanted_does_not_fail_the_script_or_the_language_either():
    hindi = "मुझे डॉक्टर की ज़रूरत है, कृपया जल्दी बुलाइए।"
    english = "I need a doctor, please call one quickly."

    assert found(CheckPolicy(), hindi, english).script.state == "fail"
    assert found(check_policy(skipped=["script"]), hindi, english).script.state == "pass"
    assert found(CheckPolicy(), "Necesito un médico, llame a uno rápidamente.", english).language.state == "wrong"
    assert (
        found(check_policy(skipped=["language"]), "Necesito un médico, llame a uno rápidamente.").language.state
        != "wrong"
    )


def test_an_accepted_finding_is_set_apart_and_fails_nothing():
    [first, *_] = [each for each in found(CheckPolicy()).problems if each.kind == "number_changed"]
    name = fingerprint(first, checked())
    accepted = AcceptedFindings([AcceptedFinding(finding=name, reason="The number of a test.")])
    result = found(check_policy(accepted=accepted, skipped=["leaks"]))

    assert (result.problems, result.fails) == ((), False)
    assert [each.kind for each in result.accepted] == ["number_changed"]
    assert accepted.unused() == []
    assert found(check_policy(accepted=accepted), "Rufen Sie 311 an.").fails


def test_a_check_of_a_plugin_is_chosen_by_its_name():
    @register.check("greeting")
    def greeting(text):
        yield Finding("no_greeting", "warn", f"No greeting in {len(text.text)} characters.")

    try:
        for policy, expected in (
            (CheckPolicy(), {("no_greeting", "warn")}),
            (check_policy(only=["greeting"], plugins=["greeting"]), {("no_greeting", "warn")}),
            (check_policy(skipped=["greeting"], plugins=["greeting"]), set()),
            (check_policy(settings={"greeting": "fail"}, plugins=["greeting"]), {("no_greeting", "fail")}),
            (check_policy(settings={"greeting": "off"}, plugins=["greeting"]), set()),
            (check_policy(only=["numbers"]), set()),
        ):
            assert kinds(found(policy, "Alles gut.", "All is well.")) == expected
    finally:
        PLUGINS.remove("checks", "greeting")
