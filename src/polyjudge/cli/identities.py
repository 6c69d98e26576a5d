"""Which judge the models make that a command names: what its trust card is known by."""

from collections.abc import Sequence

from polyjudge.judges.offline import OfflineJudge
from polyjudge.judges.rubric import judge_identity
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric


def identity_of_models(judges: Sequence[ModelName], rubric: Rubric, model_answered: str = "") -> JudgeIdentity:
    """Return the identity of the judge that these models make: one, a jury, or for none the checks."""
    if not judges:
        return judge_identity("offline", OfflineJudge.model, rubric)
    if len(judges) == 1:
        return judge_identity(judges[0].provider, judges[0].model, rubric, model_answered=model_answered)
    return judge_identity("jury", "+".join(map(str, judges)), rubric)
