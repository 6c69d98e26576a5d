"""Three judges on the same texts: their joint scores and their agreement. Runs without a key."""

import json

from polyjudge.judges.jury import Jury, jury_agreement
from polyjudge.judges.rubric import RubricJudge
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.requests import Request
from polyjudge.records.rubrics import RubricCriterion

TEXTS = ["Where is the nearest station?", "nearest where station the is", "…"]


def judge_with_scores(*scores: int) -> RubricJudge:
    by_text = dict(zip(TEXTS, scores, strict=True))

    def answer(request: Request) -> str:
        score = next(score for text, score in by_text.items() if text in request.prompt)
        return json.dumps({"score": score, "reason": "-"})

    provider = ScriptedProvider(answer)
    return RubricJudge([RubricCriterion("fluency", "Does it read well?")], provider=provider)


jury = Jury([judge_with_scores(95, 20, 5), judge_with_scores(90, 30, 0), judge_with_scores(99, 25, 10)])
outcomes = jury.score_batch_sync(TEXTS)
for text, outcome in zip(TEXTS, outcomes, strict=True):
    print(f"{outcome.score:6.1f}  {text}" if hasattr(outcome, "score") else f"unjudged  {text}")
print(jury_agreement(outcomes))
