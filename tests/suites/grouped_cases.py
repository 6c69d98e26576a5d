"""Cases of grouped judging, with a model that answers by rule, so that outcomes do not depend on the order of calls."""

import json
import random
import re
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256

IDS = re.compile(r"^## Candidate ([0-9a-f]{8})$", re.MULTILINE)
TEXT = re.compile(r"text (\d+) of (\d+)")


@dataclass(frozen=True)
class Case:
    """The options of a run, and how much groups change the scores of its model."""

    number: int
    languages: int
    prompts: int
    size: int
    control_share: float
    tolerance: float
    seed: int
    shift: int
    """Points by which rows are lower in groups of more than `bearable` languages."""
    bearable: int
    lost: int
    """Percent of the rows that are missing in groups, so that they are judged alone."""
    silent: int
    """Percent of the texts without a readable answer alone."""

    @classmethod
    def of(cls, number):
        """Return the case of a number."""
        draw = random.Random(number)
        return cls(
            number=number,
            languages=draw.choice([1, 2, 3, 7, 8, 9, 16, 21, 40]),
            prompts=draw.choice([1, 1, 2, 3]),
            size=draw.randint(2, 10),
            control_share=draw.choice([0.0, 0.05, 0.2, 0.5, 1.0]),
            tolerance=draw.choice([0.0, 0.3, 0.5, 1.0, 4.0]),
            seed=draw.randint(0, 3),
            shift=draw.choice([0, 0, 1, 2, 3]),
            bearable=draw.choice([1, 1, 2, 4]),
            lost=draw.choice([0, 0, 10, 60, 100]),
            silent=draw.choice([0, 0, 0, 20, 100]),
        )


class CaseModel:
    """Answers by the rules of the case, and counts calls by their number of texts."""

    def __init__(self, case):
        self.case = case
        self.calls = []
        self.prompts = Counter()

    def answer(self, request):
        ids = IDS.findall(request.prompt)
        self.prompts[request.prompt] += 1
        self.calls.append(len(ids) or 1)
        if not ids:
            return self._alone(TEXT.search(request.prompt)[0])
        parts = re.split(IDS, request.prompt)[1:]
        texts = {item_id: TEXT.search(part)[0] for item_id, part in zip(parts[::2], parts[1::2], strict=True)}
        kept = [item_id for item_id in ids if self._draw(texts[item_id], len(ids)) >= self.case.lost]
        return json.dumps({"rows": [{"id": each, **self._verdict(texts[each], len(ids))} for each in kept]})

    def _alone(self, text):
        return "no idea" if self._draw(text, "silent") < self.case.silent else json.dumps(self._verdict(text, 1))

    def _verdict(self, text, size):
        shift = self.case.shift if size > self.case.bearable else 0
        score = max(1, 3 + self._draw(text, "score") % 3 - shift)
        scores = {"script": score, "grammar": score, "coherence": score}
        return {"reason": "", "subscores": scores, "isCorrectLanguage": True}

    def _draw(self, *parts):
        return int(sha256(repr((self.case.number, *parts)).encode()).hexdigest(), 16) % 100
