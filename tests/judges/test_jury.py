"""Several judges at once: what they say together, and agreement numbers computed by hand."""

import asyncio
import json

import pytest

from polyjudge.errors import ConfigError, ProviderError
from polyjudge.judges.choice import BinaryJudge
from polyjudge.judges.jury import Jury, RepeatedJudge, jury_agreement
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.records.rubrics import RubricCriterion
from polyjudge.rubrics.loading import load_rubric


def scorer(*scores):
    """A judge that gives these scores to the candidates '0', '1', … in turn; None is no verdict."""

    def script(request):
        score = scores[int(request.prompt.split("Candidate:\n")[1].split("\n")[1])]
        return "no verdict" if score is None else json.dumps({"score": score, "reason": f"said {score}"})

    return RubricJudge([RubricCriterion("quality", "?")], model="m", provider=ScriptedProvider(script))


def chooser(label):
    return BinaryJudge(["yes", "no"], provider=ScriptedProvider(lambda _: json.dumps({"verdict": label})))


def test_scores_are_put_together_by_mean_or_median():
    judges = [scorer(10), scorer(20), scorer(90)]

    assert Jury(judges).score_sync("0").score == 40
    assert Jury(judges, aggregate="median").score_sync("0").score == 20


def test_members_that_fail_are_left_out_and_kept_in_view():
    result = Jury([scorer(10), scorer(None), scorer(30)]).score_sync("0")

    assert result.score == 20
    assert [type(member).__name__ for member in result.members] == ["JudgeResult", "Failure", "JudgeResult"]


def test_too_few_verdicts_are_no_verdict():
    jury = Jury([scorer(10), scorer(None), scorer(None)])
    [outcome] = jury.score_batch_sync(["0"])

    assert isinstance(outcome, Failure)
    assert (outcome.kind, len(outcome.members)) == ("no_quorum", 3)
    assert "1 of 3 judges gave a verdict, 2 are needed" in outcome.reason
    with pytest.raises(ProviderError):
        jury.score_sync("0")
    assert Jury(jury.judges, quorum=1).score_sync("0").score == 10


def test_the_verdict_is_the_majoritys_or_none():
    assert Jury([chooser("yes"), chooser("yes"), chooser("no")]).score_sync("t").verdict == "yes"
    assert Jury([chooser("yes"), chooser("no")]).score_sync("t").verdict == ""


def test_a_flag_is_the_majoritys_or_left_open():
    def flagger(right):
        reply = {"reason": "", "subscores": {"script": 5, "grammar": 5, "coherence": 5}, "isCorrectLanguage": right}
        return RubricJudge(load_rubric("translation"), provider=ScriptedProvider(lambda _: json.dumps(reply)))

    assert Jury([flagger(True), flagger(False), flagger(True)]).score_sync("t").flags == {"isCorrectLanguage": True}
    assert Jury([flagger(False), flagger(False), flagger(True)]).score_sync("t").flags == {"isCorrectLanguage": False}
    assert Jury([flagger(True), flagger(False)]).score_sync("t").flags == {}


def test_a_member_that_raises_stops_the_others():
    finished = []

    async def slow(_):
        await asyncio.sleep(0.05)
        finished.append(1)
        return '{"score": 1, "reason": ""}'

    def fault(_):
        raise ZeroDivisionError

    criteria = [RubricCriterion("quality", "?")]
    judges = [RubricJudge(criteria, provider=ScriptedProvider(script)) for script in (slow, fault)]

    async def ask_and_wait():
        with pytest.raises(ZeroDivisionError):
            await Jury(judges).score("t")
        await asyncio.sleep(0.1)

    asyncio.run(ask_and_wait())
    assert finished == []


@pytest.mark.parametrize("options", [{"quorum": 0}, {"quorum": 2}, {"aggregate": "max"}])
def test_a_jury_that_makes_no_sense_is_an_error(options):
    with pytest.raises(ConfigError):
        Jury([scorer(1)], **options)
    with pytest.raises(ConfigError):
        Jury([])


def test_agreement_equals_the_numbers_worked_out_by_hand():
    # Items:      0   1   2   3
    # judge A     1   2   3   3        pairs: (1,1) (2,2) (3,4) and none for item 3, which B could not judge
    # judge B     1   2   4   –
    # exact 2/3; mean difference (0+0+1)/3.
    # alpha, nominal: values 1 1 2 2 3 4, n=6. Observed disagreement: 2 of 6 ordered pairs = 1/3.
    # Expected: 1 - (2*1 + 2*1) / (6*5) = 26/30. alpha = 1 - (1/3)/(26/30) = 8/13.
    # alpha, interval: observed 2*1/6 = 1/3. Expected: sum over ordered pairs of squared differences / 30:
    # pairs 1-2: 4*1, 1-3: 2*4, 1-4: 2*9, 2-3: 2*1, 2-4: 2*4, 3-4: 1 -> 41, twice 82; 82/30. alpha = 1 - 10/82.
    outcomes = Jury([scorer(1, 2, 3, 3), scorer(1, 2, 4, None)], quorum=1).score_batch_sync(["0", "1", "2", "3"])

    agreement = jury_agreement(outcomes)

    assert agreement.items == 3
    assert agreement.exact == pytest.approx(2 / 3)
    assert agreement.mean_difference == pytest.approx(1 / 3)
    assert agreement.alpha_nominal == pytest.approx(8 / 13)
    assert agreement.alpha_interval == pytest.approx(1 - 10 / 82)


def test_agreement_of_nothing_is_none():
    agreement = jury_agreement([Failure("x"), JudgeResult(1.0, "")])

    assert (agreement.items, agreement.exact, agreement.alpha_nominal) == (0, None, None)


class Fixed:
    """A judge of another package that always gives the same score."""

    def __init__(self, score):
        self.score = score

    async def outcome(self, candidate, context=None, *, repeat=0):
        return JudgeResult(self.score, "said so", model=f"fixed {self.score}")


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf")])
def test_a_member_whose_score_is_no_number_counts_as_failed(odd):
    [outcome] = Jury([Fixed(10.0), Fixed(odd), Fixed(30.0)]).score_batch_sync(["0"])

    assert (outcome.score, [type(member).__name__ for member in outcome.members]) == (
        20.0,
        ["JudgeResult", "Failure", "JudgeResult"],
    )
    [alone] = Jury([Fixed(odd)]).score_batch_sync(["0"])
    assert isinstance(alone, Failure)
    assert jury_agreement([outcome]).mean_difference == 20.0


@pytest.mark.parametrize("wrap", [lambda judge: judge, lambda judge: RepeatedJudge(judge, 3)])
def test_members_on_different_scales_are_refused(wrap):
    by_five = RubricJudge(load_rubric("translation"), model="m", provider=ScriptedProvider(lambda _: "{}"))

    with pytest.raises(ConfigError, match="different scales: 0 to 100 and 1 to 5"):
        Jury([scorer(50), wrap(by_five)])
    assert len(Jury([wrap(by_five), by_five]).judges) == 2
