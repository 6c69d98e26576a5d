"""Trust cards on disk: read, update and find the card of a judge."""

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.files.kinds import FileKind
from polyjudge.files.names import safe_name
from polyjudge.folder_trust import make_folder, private_path
from polyjudge.records.calibration import JudgeIdentity, TrustCard, identity_of
from polyjudge.records.codec import to_json
from polyjudge.records.translation import LanguageScore
from polyjudge.verdicts.trust import JudgeTrust

from .documents import Document, read_object, record_in

CARDS_FOLDER = "cards"
"""The folder of trust cards in the private folder."""
_CARD = Document(TrustCard, "a trust card", "make a new card of this judge")


def card_path(judge: JudgeIdentity, folder: Path | None = None) -> Path:
    """Return the path of a judge's card; each model and rubric has its own."""
    folder = folder or private_path(CARDS_FOLDER)
    name = safe_name("-".join([judge.provider, judge.model, judge.rubric]))
    return folder / f"{name}-{judge.rubric_fingerprint[:8]}.json"


def read_card(path: Path) -> TrustCard:
    """Read a card."""
    row = cast(dict[str, Any], _current_words(read_object(path, _CARD)))
    return record_in(row, _CARD, path)


_FORMER = {"sensitive": "reliable", "insensitive": "unreliable"}


def _current_words(value: object) -> object:
    """Replace the verdicts of cards written by earlier versions."""
    if isinstance(value, list):
        return [_current_words(each) for each in cast(list[object], value)]
    if not isinstance(value, dict):
        return value
    found = {_FORMER.get(key, key): _current_words(each) for key, each in cast(dict[str, object], value).items()}
    if isinstance(verdict := found.get("verdict"), str):
        found["verdict"] = _FORMER.get(verdict, verdict)
    return found


def card_row(card: TrustCard) -> dict[str, Any]:
    """Return a card as a row, with numbers rounded to four decimal places."""
    return {"schemaVersion": _CARD.version, **cast(dict[str, Any], _rounded(to_json(card)))}


def card_lines(card: TrustCard) -> Iterator[str]:
    """Yield a card as text, with one line per language and perturbation, so that differences are readable."""
    ends = "{\n"
    for name, value in card_row(card).items():
        yield f"{ends} {readable_json(name)}: "
        if isinstance(value, dict) and name != "judge":
            rows = cast(dict[str, Any], value).items()
            yield "{\n" + ",\n".join(f"  {readable_json(key)}: {readable_json(row)}" for key, row in rows) + "\n }"
        else:
            yield readable_json(cast(object, value))
        ends = ",\n"
    yield "\n}\n"


def write_card(path: Path, card: TrustCard) -> None:
    """Write a card."""
    with write_atomically(path, kind=FileKind.CARD) as file:
        file.writelines(card_lines(card))


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 4) + 0.0  # avoids -0.0
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in cast(dict[str, object], value).items()}
    return [_rounded(each) for each in cast(list[object], value)] if isinstance(value, list) else value


def update_card(path: Path, change: Callable[[TrustCard | None], TrustCard]) -> TrustCard:
    """Change or create a card under a lock, so that concurrent updates are not lost."""
    try:
        make_folder(path.parent)
        folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path=path) from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        card = change(read_card(path) if path.exists() else None)
        write_card(path, card)
    finally:
        os.close(folder)
    return card


@dataclass(frozen=True, slots=True)
class FoundCard:
    """The card of a judge, or why there is no valid one."""

    card: TrustCard | None
    path: Path | None = None
    why: str = ""
    """Why there is no valid card: none was made, or it is of another model or rubric."""


_NO_CARD = "it has no trust card yet"


def find_card(judge: JudgeIdentity, folder: Path | None = None, path: Path | None = None) -> FoundCard:
    """Return the card of a judge from a path, or from the folder."""
    folder = folder or private_path(CARDS_FOLDER)
    if path is None and not folder.is_dir():
        return FoundCard(None, None, _NO_CARD)
    card_file = path or card_path(judge, folder)
    if path is None and not card_file.exists():
        return FoundCard(None, None, _other_card(judge, folder) or _NO_CARD)
    card = read_card(card_file)
    expired = expiry(card.judge, judge)
    return FoundCard(None, card_file, f"its card has expired: {expired}") if expired else FoundCard(card, card_file)


def expiry(card_judge: JudgeIdentity, judge: JudgeIdentity) -> str:
    """Return what has changed about a judge since its card was made; unknown fields count as unchanged."""
    pairs = {
        "judge": (f"{card_judge.provider}/{card_judge.model}", f"{judge.provider}/{judge.model}"),
        "rubric": (card_judge.rubric_fingerprint, judge.rubric_fingerprint),
        "prompt": (card_judge.prompt_sha256, judge.prompt_sha256),
        "model that answers": (card_judge.model_answered, judge.model_answered),
    }
    for what, (old, new) in pairs.items():
        if old and new and old != new:
            return f"the {what} has changed" if what in ("rubric", "prompt") else f"the {what} was {old}, now {new}"
    return ""


def _other_card(judge: JudgeIdentity, folder: Path) -> str:
    """Return a message if there is a card of the same judge and an older rubric of the same name."""
    mine = card_path(judge, folder).name.rpartition("-")[0]
    others = [card_file for card_file in sorted(folder.glob("*.json")) if card_file.name.rpartition("-")[0] == mine]
    return "its card has expired: the rubric has changed" if others else ""


def trust_in(judge: JudgeIdentity | None, cards: Sequence[Path] = ()) -> JudgeTrust:
    """Return the trust in a judge by the given cards, or by its card in the folder."""
    if judge is None:
        return JudgeTrust("unknown judge", None, "its scores do not say who gave them")
    title, found = f"{judge.provider}/{judge.model}", FoundCard(None, None, "")
    for path in cards:
        card = read_card(path)
        expired = expiry(card.judge, judge)
        if not expired:
            return JudgeTrust(title, card, "")
        found = replace(found, why=f"its card has expired: {expired}")
    if not cards:
        try:
            found = find_card(judge)
        except DataError as error:
            found = replace(found, why=str(error))
    return JudgeTrust(title, found.card, found.why)


def trust_of_cards(cards: Sequence[Path]) -> dict[str, JudgeTrust]:
    """Return the trust by cards that the user names for scores that do not say who gave them."""
    found = [read_card(path) for path in cards]
    titles = [f"{card.judge.provider}/{card.judge.model}" for card in found]
    return {title: JudgeTrust(title, card, "") for title, card in zip(titles, found, strict=True)}


def identity_in(scores: Iterable[LanguageScore]) -> JudgeIdentity | None:
    """Return the judge of scores, from the first one that names it."""
    origins = (prompt.provenance for score in scores for prompt in score.prompts)
    return next((identity_of(origin) for origin in origins if origin is not None), None)
