"""Runs, comparisons and trust cards as frames of pandas and polars."""

import json

import pytest

from polyjudge import Failure, Item, JudgeResult, Run, TrustCard, compare
from polyjudge.records.calibration import JudgeIdentity, LanguageTrust


class Failing:
    """A judge without a verdict for the first 200 items; whole and other scores, subscores only now and then."""

    async def judge(self, item, *, repeat=0):
        number = int(item.id)
        if number < 200:
            return Failure("no", "refused")
        return JudgeResult(number if number % 2 else number + 0.5, "why", {"style": number} if number > 300 else {})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_every_row_and_column_is_in_the_frame(library, tmp_path):
    frames = pytest.importorskip(library, reason=f"{library} is not installed")
    summary = Run([Item(str(n), "x", language="th") for n in range(400)], Failing(), cache=None).execute()

    frame = summary.to_frame(library)
    assert isinstance(frame, frames.DataFrame)
    assert frame.shape[0] == 400
    assert {"id", "language", "candidate", "score", "reason", "failure", "subscore_style"} <= set(frame.columns)
    assert float(frame["score"].sum()) == sum(n if n % 2 else n + 0.5 for n in range(200, 400))

    rows = [{"id": str(n), "language": "th", "score": n % 5} for n in range(20)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert compare(tmp_path / "a.jsonl", tmp_path / "a.jsonl").to_frame(library).shape[0] == 2
    judge = JudgeIdentity(provider="openai", model="m", rubric="general", rubric_fingerprint="f")
    card = TrustCard(judge=judge, updated_at="2026-11-01T00:00:00Z", languages={"th": LanguageTrust()})
    assert list(card.to_frame(library)["language"]) == ["th"]
