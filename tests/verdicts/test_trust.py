"""Verdicts that rest on a blind judge cannot be relied on; all others stand."""

import dataclasses
import json

import pytest
from msgspec.structs import replace

from polyjudge.checks.checker import TextChecker
from polyjudge.formats.translation_results import TranslationResults
from polyjudge.formats.translation_scores import TranslationScores
from polyjudge.languages.table import language_table
from polyjudge.records.calibration import Figure, JudgeIdentity, LanguageTrust, MonotonicityResult, TrustCard
from polyjudge.records.outcomes import Provenance
from polyjudge.records.translation import LanguageResult, LanguageScore, PromptResult, PromptScore
from polyjudge.reports.translation import Report
from polyjudge.reports.translation_formats import FORMATS
from polyjudge.store.trust_cards import identity_in, trust_in, update_card
from polyjudge.verdicts.translation import language_verdict, status_label
from polyjudge.verdicts.trust import JudgeTrust, unmet_trust

TABLE = language_table()
OUTPUTS = (
    "मला तुमची मदत हवी आहे, कृपया डॉक्टरांना बोलवा.",
    "सर्वात जवळचे रेल्वे स्थानक कुठे आहे आणि तिथे कसे जायचे?",
    "याची किंमत किती आहे? तुम्ही थोडी कमी करू शकता का?",
)
HINDI = (
    "मुझे आपकी मदद की ज़रूरत है, कृपया डॉक्टर को बुलाइए।",
    "सबसे नज़दीकी रेलवे स्टेशन कहाँ है और वहाँ कैसे पहुँचा जाए?",
    "यह कितने का है? क्या आप थोड़ा कम कर सकते हैं?",
)
ENGLISH = ("I need your help, please call a doctor.",) * 3
GOOD = LanguageScore(
    language_name="Marathi", script_score=5, grammar_score=4, coherence_score=4, is_correct_language=True
)
BAD = replace(GOOD, grammar_score=1)
FAILED = LanguageScore(language_name="Marathi", error="refused: no")
IDENTITY = JudgeIdentity(provider="p", model="m", rubric="translation", rubric_fingerprint="0" * 16)


def trust(verdict, tag="mr"):
    known = LanguageTrust(verdict=verdict, discrimination=Figure(0.5, 0.45, 0.55), comparisons=40)
    return JudgeTrust("p/m", TrustCard(judge=IDENTITY, updated_at="", languages={tag: known}), "")


BLIND, SEEING, UNSURE = trust("unreliable"), trust("reliable"), trust("not enough data")
UNMEASURED, UNKNOWN = trust("unreliable", "th"), JudgeTrust("p/m")


def verdict(scores, judges, outputs=OUTPUTS, code="mr"):
    prompts = tuple(PromptResult(generated_output=output) for output in outputs)
    language = LanguageResult(language_name="Marathi", language_code=code, prompts=prompts)
    return language_verdict(language, TextChecker(TABLE).check_outputs(language), scores, TABLE, judges)


@pytest.mark.parametrize("score", [GOOD, BAD])
def test_what_a_blind_judge_passes_or_fails_is_unreliable(score):
    made = verdict({"quick": score}, {"quick": BLIND})

    assert made.status == "UNRELIABLE"
    assert made.reason == "quick is unreliable in this language (clean above perturbed: 0.50 [0.45, 0.55])"
    assert made.is_calibrated is False


@pytest.mark.parametrize("known", [SEEING, UNSURE, UNMEASURED, UNKNOWN])
@pytest.mark.parametrize(("score", "status"), [(GOOD, "PASS"), (BAD, "FAIL")])
def test_what_a_judge_says_that_is_not_known_to_be_blind_stands(known, score, status):
    assert verdict({"quick": score}, {"quick": known}).status == status


def test_only_a_judge_known_to_see_makes_a_language_calibrated():
    assert verdict({"quick": GOOD}, {"quick": SEEING}).is_calibrated is True
    for known in (BLIND, UNSURE, UNMEASURED, UNKNOWN):
        assert verdict({"quick": GOOD}, {"quick": known}).is_calibrated is False
    assert status_label(verdict({"quick": GOOD}, {"quick": SEEING})) == "PASS"
    for known in (UNSURE, UNMEASURED, UNKNOWN):
        assert status_label(verdict({"quick": GOOD}, {"quick": known})) == "PASS (judge not calibrated)"


@pytest.mark.parametrize(("score", "status"), [(GOOD, "PASS"), (BAD, "FAIL")])
def test_a_second_judge_that_sees_and_says_the_same_rescues_the_verdict(score, status):
    made = verdict({"quick": score, "full": score}, {"quick": BLIND, "full": SEEING})

    assert (made.status, made.is_calibrated) == (status, True)


def test_a_judge_that_sees_and_fails_it_decides_against_a_blind_one_that_passes():
    assert verdict({"quick": GOOD, "full": BAD}, {"quick": BLIND, "full": SEEING}).status == "FAIL"


def test_a_fail_by_a_blind_judge_alone_is_unreliable_though_another_passes():
    assert verdict({"quick": BAD, "full": GOOD}, {"quick": BLIND, "full": SEEING}).status == "UNRELIABLE"


@pytest.mark.parametrize("other", [UNSURE, UNMEASURED, UNKNOWN])
def test_a_second_judge_of_which_nothing_is_known_does_not_rescue(other):
    assert verdict({"quick": GOOD, "full": GOOD}, {"quick": BLIND, "full": other}).status == "UNRELIABLE"


def test_a_second_judge_that_brought_no_score_does_not_rescue():
    assert verdict({"quick": GOOD, "full": FAILED}, {"quick": BLIND, "full": SEEING}).status == "UNRELIABLE"


def test_the_wrong_script_fails_whatever_a_blind_judge_passes():
    made = verdict({"quick": GOOD}, {"quick": BLIND}, ENGLISH)

    assert (made.status, made.reason) == ("FAIL", "3 of 3 outputs fail the checks (wrong script 3)")


def test_the_wrong_script_fails_whatever_a_blind_judge_fails():
    made = verdict({"quick": BAD}, {"quick": BLIND}, ENGLISH)

    assert (made.status, made.reason) == ("FAIL", "3 of 3 outputs fail the checks (wrong script 3); quick: grammar 1/5")


def test_a_conflict_stays_a_conflict():
    assert verdict({"quick": GOOD}, {"quick": SEEING}, HINDI).status == "CONFLICT"
    assert verdict({"quick": GOOD}, {"quick": BLIND}, HINDI).status == "CONFLICT"


def test_unjudged_skipped_and_script_alone_stay_what_they_are():
    assert verdict({"quick": FAILED}, {"quick": BLIND}).status == "UNJUDGED"
    assert verdict({"quick": GOOD}, {"quick": BLIND}, ()).status == "SKIPPED"
    assert verdict({}, {"quick": BLIND}).status == "CHECKED"
    assert verdict({}, {}, ENGLISH).status == "FAIL"


def test_a_language_is_known_by_any_of_its_tags():
    assert verdict({"quick": GOOD}, {"quick": trust("unreliable", "mr-IN")}).status == "UNRELIABLE"
    assert verdict({"quick": GOOD}, {"quick": BLIND}, code="mr-IN").status == "UNRELIABLE"


def test_each_judge_with_a_card_is_told_of():
    card = BLIND.card
    seen = {"typos": MonotonicityResult(perturbation="typos", texts=9, verdict="unreliable")}
    known = replace(card, languages={"mr": replace(card.languages["mr"], perturbations=seen)})
    made = verdict(
        {"quick": GOOD, "full": GOOD, "none": GOOD},
        {"quick": dataclasses.replace(BLIND, card=known), "full": UNMEASURED, "none": UNKNOWN},
    )

    assert len(made.trust) == 2
    assert made.trust[0].startswith("quick: unreliable, clean above perturbed 0.50")
    assert made.trust[0].endswith("does not notice typos")
    assert made.trust[1] == "full: not measured in this language"


def test_a_language_without_a_code_is_known_by_its_name():
    by_name = trust("reliable", "Marathi")

    assert verdict({"quick": GOOD}, {"quick": trust("unreliable", "Marathi")}, code="").status == "UNRELIABLE"
    assert verdict({"quick": GOOD}, {"quick": by_name}, code="").is_calibrated is True


def test_a_judge_that_brought_no_score_makes_no_language_calibrated():
    assert verdict({"quick": GOOD, "full": FAILED}, {"quick": UNKNOWN, "full": SEEING}).is_calibrated is False


# Reports


def report(folder, trust_of, score=None):
    results = {
        "results": [
            {
                "languageName": name,
                "languageCode": code,
                "prompts": [
                    {"category": "c", "sourceText": "s", "prompt": "p", "generatedOutput": each} for each in OUTPUTS
                ],
            }
            for name, code in (("Marathi", "mr"), ("Hindi", "hi"))
        ]
    }
    given = {"scriptScore": 5, "grammarScore": 4, "coherenceScore": 4, "isCorrectLanguage": True} | (score or {})
    scores = {"scores": [{"languageName": "Marathi", "languageCode": "mr", **given}]}
    (folder / "r.json").write_text(json.dumps(results), encoding="utf-8")
    (folder / "s.json").write_text(json.dumps(scores), encoding="utf-8")
    return Report(
        TranslationResults(folder / "r.json"),
        {"quick": TranslationScores(folder / "s.json")},
        TABLE,
        timestamp="2026-01-01",
        trust={"quick": trust_of} if trust_of else None,
    )


def test_the_uncalibrated_are_the_languages_with_scores_that_no_seeing_judge_gave(tmp_path):
    assert report(tmp_path, SEEING).uncalibrated() == []
    for known in (BLIND, UNSURE, UNMEASURED, UNKNOWN, None):
        assert report(tmp_path, known).uncalibrated() == ["Marathi"]


def test_unreliable_languages_are_in_no_rate(tmp_path):
    found = report(tmp_path, BLIND)

    assert found.totals.counts["UNRELIABLE"] == 1
    assert found.totals.decided == found.totals.languages - 1


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_names_the_unreliable_language(tmp_path, format_):
    assert "UNRELIABLE" in "".join(FORMATS[format_](report(tmp_path, BLIND)))


# Cards


def test_scores_that_do_not_say_who_gave_them_are_nobody_s(tmp_path):
    assert identity_in([GOOD]) is None
    found = trust_in(None)
    assert (found.card, found.why) == (None, "its scores do not say who gave them")


def test_scores_say_who_gave_them_by_their_prompts():
    origin = Provenance(
        provider="p", model="m", rubric="r", rubric_fingerprint="f", prompt_sha256="x", model_answered="m2"
    )
    score = replace(GOOD, prompts=(PromptScore(index=0), PromptScore(index=1, provenance=origin)))

    assert identity_in([GOOD, score]) == JudgeIdentity(
        provider="p", model="m", rubric="r", rubric_fingerprint="f", model_answered="m2"
    )


def test_of_several_cards_named_the_one_of_the_judge_counts(tmp_path):
    other, own = tmp_path / "other.json", tmp_path / "own.json"
    update_card(other, lambda _: replace(BLIND.card, judge=replace(IDENTITY, model="other")))
    update_card(own, lambda _: SEEING.card)

    assert trust_in(IDENTITY, [other, own]).card == SEEING.card
    expired = trust_in(IDENTITY, [other])
    assert expired.card is None
    assert "has expired" in expired.why


def test_the_folder_of_cards_is_looked_at_where_none_is_named(in_folder):
    from polyjudge.store.trust_cards import card_path

    assert trust_in(IDENTITY).card is None
    update_card(card_path(IDENTITY), lambda _: SEEING.card)
    assert trust_in(IDENTITY).card == SEEING.card
    assert in_folder.exists()


def test_languages_are_told_by_what_the_judge_is_in_them():
    assert BLIND.by_verdict(["mr", "th", "mr-IN", ""], TABLE) == {
        "unreliable": ["mr", "mr-IN"],
        "not measured": ["th", ""],
    }
    assert UNKNOWN.by_verdict(["mr"], TABLE) == {"not measured": ["mr"]}


def test_trust_is_unmet_in_every_language_in_which_the_judge_is_not_known_to_be_reliable():
    assert unmet_trust(SEEING, ["mr", "mr-IN"], TABLE) == {}
    assert unmet_trust(SEEING, ["mr", "th"], TABLE) == {"not measured": ["th"]}
    assert unmet_trust(BLIND, ["mr", "th"], TABLE) == {"unreliable": ["mr"], "not measured": ["th"]}
    assert unmet_trust(UNKNOWN, ["mr"], TABLE) == {"not measured": ["mr"]}
