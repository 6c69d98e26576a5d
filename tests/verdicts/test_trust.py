"""Verdicts of an unreliable judge are UNRELIABLE; all others count."""

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


UNRELIABLE, RELIABLE, UNSURE = trust("unreliable"), trust("reliable"), trust("not enough data")
NOT_MEASURED, NO_CARD = trust("unreliable", "th"), JudgeTrust("p/m")


def verdict(scores, judges, outputs=OUTPUTS, code="mr"):
    prompts = tuple(PromptResult(generated_output=output) for output in outputs)
    language = LanguageResult(language_name="Marathi", language_code=code, prompts=prompts)
    return language_verdict(language, TextChecker(TABLE).check_outputs(language), scores, TABLE, judges)


@pytest.mark.parametrize("score", [GOOD, BAD])
def test_a_verdict_of_an_unreliable_judge_is_unreliable(score):
    made = verdict({"quick": score}, {"quick": UNRELIABLE})

    assert made.status == "UNRELIABLE"
    assert made.reason == "quick is unreliable in this language (clean above perturbed: 0.50 [0.45, 0.55])"
    assert made.is_calibrated is False


@pytest.mark.parametrize("known", [RELIABLE, UNSURE, NOT_MEASURED, NO_CARD])
@pytest.mark.parametrize(("score", "status"), [(GOOD, "PASS"), (BAD, "FAIL")])
def test_a_verdict_of_a_judge_that_is_not_unreliable_counts(known, score, status):
    assert verdict({"quick": score}, {"quick": known}).status == status


def test_only_a_reliable_judge_makes_a_language_calibrated():
    assert verdict({"quick": GOOD}, {"quick": RELIABLE}).is_calibrated is True
    for known in (UNRELIABLE, UNSURE, NOT_MEASURED, NO_CARD):
        assert verdict({"quick": GOOD}, {"quick": known}).is_calibrated is False
    assert status_label(verdict({"quick": GOOD}, {"quick": RELIABLE})) == "PASS"
    for known in (UNSURE, NOT_MEASURED, NO_CARD):
        assert status_label(verdict({"quick": GOOD}, {"quick": known})) == "PASS (judge not calibrated)"


@pytest.mark.parametrize(("score", "status"), [(GOOD, "PASS"), (BAD, "FAIL")])
def test_a_reliable_second_judge_that_agrees_makes_the_verdict_count(score, status):
    made = verdict({"quick": score, "full": score}, {"quick": UNRELIABLE, "full": RELIABLE})

    assert (made.status, made.is_calibrated) == (status, True)


def test_a_reliable_judge_that_fails_decides_against_an_unreliable_one_that_passes():
    assert verdict({"quick": GOOD, "full": BAD}, {"quick": UNRELIABLE, "full": RELIABLE}).status == "FAIL"


def test_a_fail_by_only_an_unreliable_judge_is_unreliable():
    assert verdict({"quick": BAD, "full": GOOD}, {"quick": UNRELIABLE, "full": RELIABLE}).status == "UNRELIABLE"


@pytest.mark.parametrize("other", [UNSURE, NOT_MEASURED, NO_CARD])
def test_a_second_judge_without_calibration_does_not_make_the_verdict_count(other):
    assert verdict({"quick": GOOD, "full": GOOD}, {"quick": UNRELIABLE, "full": other}).status == "UNRELIABLE"


def test_a_second_judge_without_scores_does_not_make_the_verdict_count():
    assert verdict({"quick": GOOD, "full": FAILED}, {"quick": UNRELIABLE, "full": RELIABLE}).status == "UNRELIABLE"


def test_the_wrong_script_fails_although_an_unreliable_judge_passes_it():
    made = verdict({"quick": GOOD}, {"quick": UNRELIABLE}, ENGLISH)

    assert (made.status, made.reason) == ("FAIL", "3 of 3 outputs fail the checks (wrong script 3)")


def test_the_wrong_script_fails_although_an_unreliable_judge_fails_it_too():
    made = verdict({"quick": BAD}, {"quick": UNRELIABLE}, ENGLISH)

    assert (made.status, made.reason) == ("FAIL", "3 of 3 outputs fail the checks (wrong script 3); quick: grammar 1/5")


def test_trust_does_not_change_a_conflict():
    assert verdict({"quick": GOOD}, {"quick": RELIABLE}, HINDI).status == "CONFLICT"
    assert verdict({"quick": GOOD}, {"quick": UNRELIABLE}, HINDI).status == "CONFLICT"


def test_trust_does_not_change_unjudged_skipped_and_checked():
    assert verdict({"quick": FAILED}, {"quick": UNRELIABLE}).status == "UNJUDGED"
    assert verdict({"quick": GOOD}, {"quick": UNRELIABLE}, ()).status == "SKIPPED"
    assert verdict({}, {"quick": UNRELIABLE}).status == "CHECKED"
    assert verdict({}, {}, ENGLISH).status == "FAIL"


def test_a_language_is_found_in_a_card_by_any_of_its_tags():
    assert verdict({"quick": GOOD}, {"quick": trust("unreliable", "mr-IN")}).status == "UNRELIABLE"
    assert verdict({"quick": GOOD}, {"quick": UNRELIABLE}, code="mr-IN").status == "UNRELIABLE"


def test_each_judge_with_a_card_has_a_note():
    card = UNRELIABLE.card
    seen = {"typos": MonotonicityResult(perturbation="typos", texts=9, verdict="unreliable")}
    known = replace(card, languages={"mr": replace(card.languages["mr"], perturbations=seen)})
    made = verdict(
        {"quick": GOOD, "full": GOOD, "none": GOOD},
        {"quick": dataclasses.replace(UNRELIABLE, card=known), "full": NOT_MEASURED, "none": NO_CARD},
    )

    assert len(made.trust) == 2
    assert made.trust[0].startswith("quick: unreliable, clean above perturbed 0.50")
    assert made.trust[0].endswith("does not notice typos")
    assert made.trust[1] == "full: not measured in this language"


def test_a_language_without_a_code_is_found_by_its_name():
    by_name = trust("reliable", "Marathi")

    assert verdict({"quick": GOOD}, {"quick": trust("unreliable", "Marathi")}, code="").status == "UNRELIABLE"
    assert verdict({"quick": GOOD}, {"quick": by_name}, code="").is_calibrated is True


def test_a_judge_without_scores_makes_no_language_calibrated():
    assert verdict({"quick": GOOD, "full": FAILED}, {"quick": NO_CARD, "full": RELIABLE}).is_calibrated is False


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


def test_languages_without_scores_of_a_reliable_judge_are_uncalibrated(tmp_path):
    assert report(tmp_path, RELIABLE).uncalibrated() == []
    for known in (UNRELIABLE, UNSURE, NOT_MEASURED, NO_CARD, None):
        assert report(tmp_path, known).uncalibrated() == ["Marathi"]


def test_unreliable_languages_are_in_no_rate(tmp_path):
    found = report(tmp_path, UNRELIABLE)

    assert found.totals.counts["UNRELIABLE"] == 1
    assert found.totals.decided == found.totals.languages - 1


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_names_the_unreliable_language(tmp_path, format_):
    assert "UNRELIABLE" in "".join(FORMATS[format_](report(tmp_path, UNRELIABLE)))


# Cards


def test_scores_without_provenance_have_an_unknown_judge(tmp_path):
    assert identity_in([GOOD]) is None
    found = trust_in(None)
    assert (found.card, found.why) == (None, "its scores do not say who gave them")


def test_the_judge_of_scores_follows_from_their_prompts():
    origin = Provenance(
        provider="p", model="m", rubric="r", rubric_fingerprint="f", prompt_sha256="x", model_answered="m2"
    )
    score = replace(GOOD, prompts=(PromptScore(index=0), PromptScore(index=1, provenance=origin)))

    assert identity_in([GOOD, score]) == JudgeIdentity(
        provider="p", model="m", rubric="r", rubric_fingerprint="f", model_answered="m2"
    )


def test_of_several_cards_that_of_the_judge_counts(tmp_path):
    other, own = tmp_path / "other.json", tmp_path / "own.json"
    update_card(other, lambda _: replace(UNRELIABLE.card, judge=replace(IDENTITY, model="other")))
    update_card(own, lambda _: RELIABLE.card)

    assert trust_in(IDENTITY, [other, own]).card == RELIABLE.card
    expired = trust_in(IDENTITY, [other])
    assert expired.card is None
    assert "has expired" in expired.why


def test_without_named_cards_the_folder_is_searched(in_folder):
    from polyjudge.store.trust_cards import card_path

    assert trust_in(IDENTITY).card is None
    update_card(card_path(IDENTITY), lambda _: RELIABLE.card)
    assert trust_in(IDENTITY).card == RELIABLE.card
    assert in_folder.exists()


def test_languages_are_grouped_by_verdict():
    assert UNRELIABLE.by_verdict(["mr", "th", "mr-IN", ""], TABLE) == {
        "unreliable": ["mr", "mr-IN"],
        "not measured": ["th", ""],
    }
    assert NO_CARD.by_verdict(["mr"], TABLE) == {"not measured": ["mr"]}


def test_trust_is_unmet_in_every_language_without_a_reliable_verdict():
    assert unmet_trust(RELIABLE, ["mr", "mr-IN"], TABLE) == {}
    assert unmet_trust(RELIABLE, ["mr", "th"], TABLE) == {"not measured": ["th"]}
    assert unmet_trust(UNRELIABLE, ["mr", "th"], TABLE) == {"unreliable": ["mr"], "not measured": ["th"]}
    assert unmet_trust(NO_CARD, ["mr"], TABLE) == {"not measured": ["mr"]}
