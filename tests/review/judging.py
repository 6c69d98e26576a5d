"""A scripted judge of messages: it answers each message of a call by a function of its texts."""

import json
import re
from collections.abc import Callable

from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.requests import Reply, Request

_ITEM = re.compile(r"^## Candidate ([0-9a-f]{8})$(.*?)(?=^## Candidate |\Z)", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"<text-[0-9a-f]{32}>\n(.*?)\n</text-", re.DOTALL)


def row(item_id: str, score: int = 5, **changes) -> dict:
    scores = {"meaning": score, "sense": 5, "tone": 5, "idiom": 5}
    return {"id": item_id, "reason": f"score {score}", "subscores": scores, "suggestion": "", **changes}


class ScriptedJudge:
    """Counts calls and the messages in each; `answer` returns the row of a message from its texts."""

    def __init__(self, answer: Callable[[str, list[str]], dict | None] = lambda item_id, _: row(item_id)) -> None:
        self.calls: list[list[str]] = []
        """For each call the translations that it is about."""
        self._answer = answer
        self.provider = ScriptedProvider(self._reply)

    @property
    def asked(self) -> list[str]:
        """All translations that were asked about."""
        return [text for call in self.calls for text in call]

    def _reply(self, request: Request) -> Reply:
        items = _ITEM.findall(request.prompt)
        if not items:  # a message alone
            texts = _FENCED.findall(request.prompt)
            self.calls.append([texts[-1]])
            found = self._answer("", texts)
            return Reply(text=json.dumps(found) if found else "I cannot say.", model=request.model)
        texts = {item_id: _FENCED.findall(text) for item_id, text in items}
        self.calls.append([each[-1] for each in texts.values()])
        rows = [self._answer(item_id, each) for item_id, each in texts.items()]
        return Reply(text=json.dumps({"rows": [each for each in rows if each]}), model=request.model)
