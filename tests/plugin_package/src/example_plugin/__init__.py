"""One of each kind of plugin."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from polyjudge import (
    CheckedText,
    Draft,
    Edit,
    EditPlan,
    Finding,
    Item,
    JudgeResult,
    Language,
    Reply,
    Request,
    Rubric,
    plan_edits,
)

_WORD = re.compile(r"[^\W\d_]{4,}")


class ExampleProvider:
    """Answers every request with a score; the model's name says which one."""

    def __init__(self, model: str) -> None:
        self._score = int(model)

    async def complete(self, request: Request) -> Reply:
        """Return the score as the rubrics `general` and `translation` want it."""
        scores = dict.fromkeys(("script", "grammar", "coherence"), self._score)
        answer = {**scores, "score": self._score, "isCorrectLanguage": True, "subscores": scores, "reason": "as asked"}
        return Reply(text=json.dumps(answer), model=request.model, input_tokens=10, output_tokens=5)


class LengthJudge:
    """Scores a text by its length, whatever the rubric says."""

    def __init__(self, rubric: Rubric, model: str) -> None:
        self._most = rubric.scale.highest

    async def judge(self, item: Item, *, repeat: int = 0) -> JudgeResult:
        """Return a point for each character."""
        return JudgeResult(score=min(self._most, float(len(item.candidate))), reason="its length")


def find_shouting(text: CheckedText) -> Iterator[Finding]:
    """Find words in capital letters that the source does not have."""
    for match in _WORD.finditer(text.text):
        if match[0].isupper() and match[0] not in text.source:
            yield Finding("shouting", "fail", f"{match[0]!r} is in capital letters", match.start(), match.end())


def upper_case(draft: Draft) -> EditPlan:
    """Write words in capital letters."""
    return plan_edits(
        draft.text, [Edit(word.start(), word.end(), word[0].upper()) for word in _WORD.finditer(draft.text)]
    )


class CardFormat:
    """Cards: an id, a colon and a text on each line."""

    suffixes = (".cards",)

    def recognises(self, path: Path, head: bytes) -> bool:
        """Expect a colon in the first line."""
        return b":" in head.partition(b"\n")[0]

    def read(self, path: Path) -> Iterator[dict[str, str] | str]:
        """Yield an item for each line."""
        for line in path.read_text(encoding="utf-8").splitlines():
            name, colon, text = line.partition(":")
            yield {"id": name.strip(), "candidate": text.strip()} if colon else "a card without a colon"


def silesian() -> Language:
    """Return a language that the table does not have."""
    return Language(tag="szl", name="Silesian", native_name="Ślōnskŏ gŏdka", scripts=("Latn",), family="Latin")
