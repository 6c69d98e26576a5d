"""Judges with known behaviour, measured on the shipped sample: each gets the right card."""

import asyncio
import json
import re
from hashlib import sha256

import pytest
from tests.calibration.character_f import chrf

from polyjudge.calibration.cards import new_card, with_effects, with_measurement
from polyjudge.calibration.effects import effects_of
from polyjudge.calibration.measurement import calibrate, calibrate_sync, text_context
from polyjudge.calibration.probes import ProbeOptions, plan_probes, reordered
from polyjudge.calibration.trials import TrialOptions
from polyjudge.formats.reference_texts import sample_texts
from polyjudge.judges.pairwise import PairwiseJudge
from polyjudge.languages.table import language_table
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.rubrics import Rubric, RubricCriterion
from polyjudge.reports.blocks import plain_text
from polyjudge.reports.calibration import card_blocks

TABLE = language_table()
LANGUAGES = ("en", "ru", "ar", "hi", "ne", "th", "ja", "ko")
DEVANAGARI = ("hi", "ne")
PERTURBED = ("drop_words", "typos", "truncate", "shuffle_words", "drop_letters")
RUBRIC = Rubric(
    name="quality",
    instruction="{criteria}{candidate}{context}{subscores_schema}",
    criteria=(RubricCriterion("meaning", "is it the same"), RubricCriterion("form", "is it well put")),
)
OPTIONS = TrialOptions(types=(*PERTURBED, "white_space"), severities=(0.5, 1.0))
TEXTS = tuple(text for text in sample_texts() if text.language in LANGUAGES)
IDENTITY = JudgeIdentity(provider="known", model="judge", rubric="quality", rubric_fingerprint="0" * 16)


def context(text):
    """Return the context of a text, by which these judges find the original."""
    context = text_context(text, TABLE, by_tag=False)
    return context["source"], context["language"]


ORIGINALS = {context(text): text for text in TEXTS}


def closeness(candidate, context):
    """Return from 0 to 1 how similar a candidate is to the reference text."""
    return chrf(candidate, ORIGINALS[context["source"], context["language"]].text) / 100


def noise(candidate, context):
    """Return a number from -1 to 1 that depends only on the candidate."""
    seed = sha256(f"{context['language']}|{candidate}".encode()).digest()
    return int.from_bytes(seed[:4], "big") / 2**31 - 1


class Known:
    """A judge that scores by a function of candidate and context, from 0 to 1."""

    def __init__(self, score):
        self._score = score

    async def outcome(self, candidate, context=None, *, repeat=0):
        found = self._score(candidate, context)
        return found if isinstance(found, Failure) else JudgeResult(100 * found, "")


def measured(score, options=OPTIONS, texts=TEXTS):
    return calibrate_sync(Known(score), texts, RUBRIC, options)


def card_text(found, effects=None):
    card = with_measurement(new_card(None, IDENTITY, at="2026-01-01T00:00:00Z"), found, {}) if found else None
    card = with_effects(card or new_card(None, IDENTITY, at="2026-01-01T00:00:00Z"), effects or {}, {})
    return "".join(plain_text(card_blocks(card, TABLE)))


def test_an_oracle_is_reliable_in_every_language_and_for_every_kind():
    found = measured(closeness)

    assert {trust.verdict for trust in found.languages.values()} == {"reliable"}
    assert sorted(found.languages) == sorted(LANGUAGES)
    assert {kind: each.verdict for kind, each in found.perturbations.items()} == dict.fromkeys(PERTURBED, "reliable")
    assert all(each.auc.value == 1 for each in found.perturbations.values())
    assert all(each.rank_correlation.value < -0.9 and each.drop.low > 0.2 for each in found.perturbations.values())
    assert found.controls["white_space"].false_alarms.value == 0
    assert "Calibration: reliable in 8 of 8 languages." in card_text(found)
    assert "cannot tell" not in card_text(found)


def test_a_constant_judge_is_unreliable_in_every_language_and_for_every_kind():
    found = measured(lambda *_: 0.8)

    assert {trust.verdict for trust in found.languages.values()} == {"unreliable"}
    assert {kind: each.verdict for kind, each in found.perturbations.items()} == dict.fromkeys(PERTURBED, "unreliable")
    assert {trust.discrimination.value for trust in found.languages.values()} == {0.5}
    assert "unreliable in 8 of 8 languages" in card_text(found)
    assert "Does not notice: drop letters, drop words, shuffle words, truncate, typos." in card_text(found)


@pytest.mark.parametrize("slope", [0.3, 0.6])
def test_a_noisy_judge_has_the_drop_of_its_slope(slope):
    found = measured(
        lambda candidate, context: 0.35 + slope * closeness(candidate, context) + 0.05 * noise(candidate, context)
    )
    oracle = measured(closeness)

    for kind, each in found.perturbations.items():
        expected = slope * oracle.perturbations[kind].drop.value
        assert each.drop.value == pytest.approx(expected, abs=0.03), kind
    assert {trust.verdict for trust in found.languages.values()} == {"reliable"}


def test_noise_without_slope_is_reliable_nowhere():
    found = measured(lambda candidate, context: 0.5 + 0.4 * noise(candidate, context))

    assert "reliable" not in {trust.verdict for trust in found.languages.values()}
    assert "reliable" not in {each.verdict for each in found.perturbations.values()}


def test_a_judge_that_cannot_read_one_script_is_unreliable_only_in_its_languages():
    def blind_in_devanagari(candidate, context):
        return 0.7 if re.search("[\u0900-\u097f]", candidate) else closeness(candidate, context)

    found = measured(blind_in_devanagari)
    verdicts = {tag: trust.verdict for tag, trust in found.languages.items()}

    assert {tag for tag, verdict in verdicts.items() if verdict == "unreliable"} == set(DEVANAGARI)
    assert {verdicts[tag] for tag in verdicts if tag not in DEVANAGARI} == {"reliable"}
    assert "Unreliable in: Hindi (hi), Nepali (ne)." in card_text(found)


def test_a_judge_that_prefers_perturbed_texts_is_unreliable_and_rises_at_every_step():
    found = measured(lambda candidate, context: 1 - closeness(candidate, context))

    for each in found.perturbations.values():
        assert (each.verdict, each.auc.value) == ("unreliable", 0.0)
        assert each.violations.value > 0.9
        assert each.rank_correlation.value > 0.9
    assert {trust.verdict for trust in found.languages.values()} == {"unreliable"}


def test_a_judge_that_counts_letters_notices_deletions_but_not_repetitions():
    options = TrialOptions(types=("drop_words", "repeat_words", "shuffle_words"), severities=(1.0,))
    found = measured(lambda candidate, _: min(len(candidate) / 400, 1.0), options)

    verdicts = {kind: each.verdict for kind, each in found.perturbations.items()}
    assert verdicts["repeat_words"] == "unreliable"
    assert found.perturbations["repeat_words"].drop.value < 0
    assert found.perturbations["drop_words"].drop.low > 0
    assert found.perturbations["shuffle_words"].drop.value == pytest.approx(0, abs=0.005)


def test_a_judge_that_reacts_to_spaces_raises_false_alarms():
    def minds_spaces(candidate, context):
        return closeness(candidate, context) - 0.2 * (candidate not in {text.text for text in TEXTS})

    found = measured(minds_spaces)

    assert found.controls["white_space"].false_alarms.low > 0.5
    assert found.controls["white_space"].shift.high < 0
    assert found.languages["ru"].false_alarms.value == 1.0


def test_a_judge_that_fails_in_one_language_has_no_verdict_there_and_the_failures_are_counted():
    def fails_in_thai(candidate, context):
        return Failure("overloaded", "transient") if "Thai" in context["language"] else closeness(candidate, context)

    found = measured(fails_in_thai)
    thai = found.languages["th"]

    assert (thai.verdict, thai.comparisons) == ("not enough data", 0)
    assert all(each.unjudged > 0 and each.texts == 0 for each in thai.perturbations.values())
    assert found.unjudged > 0
    assert found.languages["ru"].verdict == "reliable"


def test_a_false_flag_that_is_needed_to_pass_counts_as_the_lowest_score():
    from polyjudge.rubrics.loading import load_rubric

    class WrongLanguage:
        async def outcome(self, candidate, context=None, *, repeat=0):
            right = closeness(candidate, context) > 0.99
            return JudgeResult(5.0, "", flags={"isCorrectLanguage": right})

    found = calibrate_sync(WrongLanguage(), TEXTS, load_rubric("translation"), OPTIONS)

    assert {trust.verdict for trust in found.languages.values()} == {"reliable"}
    assert found.perturbations["typos"].drop.value == 1.0


def test_the_same_judge_gets_the_same_figures_at_any_concurrency():
    alone = asyncio.run(calibrate(Known(closeness), TEXTS, RUBRIC, OPTIONS, concurrency=1))
    together = asyncio.run(calibrate(Known(closeness), TEXTS, RUBRIC, OPTIONS, concurrency=16))

    assert alone == together


def test_questions_stay_within_the_budget():
    asked = []
    options = TrialOptions(types=PERTURBED, severities=(1.0,), budget=60)
    found = measured(lambda candidate, context: asked.append(candidate) or closeness(candidate, context), options)

    assert len(asked) <= 60
    assert found.judged == len(asked)


# Judges of pairs

MARKED = re.compile(r"<(text-[0-9a-f]{32})>\n(.*?)\n</\1>", re.DOTALL)


def shown(request):
    """Return the two texts that a judge is shown, in order."""
    return [found[1] for found in MARKED.findall(request.prompt)][-2:]


def says(pick):
    return PairwiseJudge(
        RUBRIC.criteria,
        "scripted",
        provider=ScriptedProvider(lambda request: json.dumps({"verdict": pick(*shown(request)), "reason": "so"})),
    )


def biases(pairwise, score=lambda *_: 0.8, effects=("position", "length_in_pairs"), *, languages=LANGUAGES):
    """Ask all probes as the command does, and return the effects."""
    options = ProbeOptions(effects=effects, texts_per_language=3)
    texts = [text for text in TEXTS if text.language in languages]
    probes = plan_probes(texts, options, TABLE, compares=True, reorders=True)
    alone = Known(score)

    async def ask():
        outcomes = {}
        for probe in probes:
            context = text_context(probe.text, TABLE, by_tag=False)
            if probe.asks == "pair":
                outcomes[probe.id] = await pairwise.ask(probe.candidate, probe.other, context)
            else:
                outcomes[probe.id] = await alone.outcome(probe.candidate, context, repeat=probe.repeat)
        return outcomes

    return effects_of(probes, asyncio.run(ask()), RUBRIC)


def picked(first, second):
    return "tie" if first == second else "A" if first > second else "B"


def test_a_judge_that_always_picks_the_first_text_is_detected():
    found = biases(says(lambda *_: "A"))

    assert found["position"].size.value == 1.0
    assert found["position"].sentence == "It picks the text shown first in 100% of cases."
    assert found["length_in_pairs"].size.value == 0.5
    assert found["length_in_pairs"].sentence == "Length does not decide."
    assert "It picks the text shown first in 100% of cases." in card_text(None, found)


def test_a_judge_that_always_picks_the_second_text_is_detected():
    found = biases(says(lambda *_: "B"))

    assert found["position"].sentence == "It picks the text shown second in 100% of cases."


def test_a_judge_that_prefers_longer_texts_in_pairs_is_detected():
    found = biases(says(lambda first, second: picked(len(first), len(second))))

    assert found["length_in_pairs"].size.value == 1.0
    assert found["length_in_pairs"].sentence == "It picks the longer text in 100% of cases."
    assert found["position"].sentence == "The order does not decide."


def test_a_judge_that_prefers_shorter_texts_in_pairs_is_detected():
    found = biases(says(lambda first, second: picked(len(second), len(first))))

    assert found["length_in_pairs"].sentence == "It picks the shorter text in 100% of cases."


def test_a_judge_that_picks_by_quality_shows_no_bias():
    def by_content(first, second):
        return picked(sha256(first.encode()).digest(), sha256(second.encode()).digest())

    found = biases(says(by_content))

    assert found["position"].size.value == 0.5
    assert found["position"].sentence == "The order does not decide."


def test_a_judge_that_scores_longer_texts_higher_is_detected():
    found = biases(says(lambda *_: "tie"), lambda candidate, _: min(len(candidate) / 400, 1.0), ("length", "repeats"))

    assert found["length"].size.low > 0.05
    assert found["length"].sentence.startswith("A text that says everything twice: it prefers the longer text, by ")
    assert found["repeats"].sentence.startswith("The same question asked again: 0 of 24 texts got different scores")


def test_a_judge_that_obeys_the_judged_text_is_detected():
    found = biases(
        says(lambda *_: "tie"), lambda candidate, _: 1.0 if "highest score" in candidate else 0.3, ("injection",)
    )

    assert found["injection"].size.value == pytest.approx(0.7)
    assert (
        found["injection"].sentence
        == "A perturbed text that asks for the highest score: it obeys, by 70% of the scale."
    )


def test_reordering_a_rubric_twice_restores_it():
    assert reordered(RUBRIC).criteria == RUBRIC.criteria[::-1]
    assert reordered(reordered(RUBRIC)) == RUBRIC
