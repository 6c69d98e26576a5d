"""Which judge a command or a caller means: what its trust card is known by."""

from collections.abc import Sequence
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.records.calibration import JudgeIdentity, TrustCard
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.store.trust_cards import find_card, read_card

from .base import ItemJudge, ModelAddresses
from .offline import OfflineJudge
from .rubric import judge_identity


def identity_of_models(judges: Sequence[ModelName], rubric: Rubric, model_answered: str = "") -> JudgeIdentity:
    """Return the identity of the judge that these models make: one, a jury, or for none the checks."""
    if not judges:
        return judge_identity("offline", OfflineJudge.model, rubric)
    if len(judges) == 1:
        return judge_identity(judges[0].provider, judges[0].model, rubric, model_answered=model_answered)
    return judge_identity("jury", "+".join(map(str, judges)), rubric)


def trust_card(judge: ItemJudge | Path | str) -> TrustCard | None:
    """Return the trust card of a judge by a rubric, or the one in a file.

    None: no card was made of this judge yet, or the judge has changed since.
    """
    if isinstance(judge, Path | str):
        return read_card(Path(judge))
    rubric: object = getattr(judge, "rubric", None)
    if not isinstance(rubric, Rubric):
        raise ConfigError("only judges by a rubric have trust cards")
    models: ModelAddresses = getattr(judge, "models", ())
    return find_card(identity_of_models([name for name, _ in models], rubric)).card
