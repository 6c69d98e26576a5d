"""The three vendors' batch APIs on one loopback server, beside their ordinary ones: the same prompt, the same verdict.

It stores and counts what it receives, and has the faults that a test sets.
"""

import asyncio
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from aiohttp import web

from . import vendor_server
from .vendor_server import Server


@dataclass
class BatchFaults:
    """Ways to misbehave."""

    polls: int = 0
    """How often a batch is still running when it is asked about; 0 has it ended at once."""
    becomes: Callable[[str], str] = lambda _: ""
    """What a request comes back as, by its prompt: refused, overloaded, expired, canceled, missing; else answered."""
    whole: str = ""
    """What a whole batch ends as: failed, expired or canceled; what was done of it until then is kept."""
    why: tuple[str, str] = ("invalid_json_line", "line 1 is no JSON")
    shuffled: bool = False
    lost_answers: int = 0
    """Batches that are accepted without an answer: the connection is dropped."""
    malformed_replies: int = 0
    """Batches that are accepted with an answer that is none."""
    unborn: int = 0
    """Batches that are neither accepted nor answered."""
    slow_answer_s: float = 0.0
    """How long the answer to a batch takes that is accepted already."""
    statuses: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Errors to answer with first, by what is asked: submit, upload, status, results, list, cancel."""
    odd_bodies: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    """What to say first with a 200 instead of an answer, by what is asked."""
    torn_results: int = 0
    """How often the results come without their end."""
    details: list[dict] = field(default_factory=list)
    """What Gemini's errors hold beside their message."""
    page: int = 2
    hidden_from_list: int = 0
    """How often a list leaves out what was just accepted."""


@dataclass
class Held:
    """A batch that was handed over."""

    vendor: str
    id: str
    model: str
    tag: str
    requests: list[tuple[str, dict]]
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    polls_left: int = 0
    canceled: bool = False
    headers: dict = field(default_factory=dict)

    @property
    def running(self) -> bool:
        return self.polls_left > 0


@dataclass
class BatchServer:
    """A server of single calls and of batches."""

    single: Server = field(default_factory=Server)
    faults: BatchFaults = field(default_factory=BatchFaults)
    batches: dict[str, Held] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    handed_over: Counter[str] = field(default_factory=Counter)
    """How often each prompt was part of a batch."""
    calls: Counter[str] = field(default_factory=Counter)
    keys: set[str] = field(default_factory=set)
    """Keys that were sent."""
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def submits(self) -> int:
        return len(self.batches)

    def app(self) -> web.Application:
        app = self.single.app()
        for method, path, what, handle in (
            ("POST", "/v1/messages/batches", "submit", self._anthropic_submit),
            ("GET", "/v1/messages/batches", "list", self._anthropic_list),
            ("GET", "/v1/messages/batches/{id}", "status", self._anthropic_status),
            ("GET", "/v1/messages/batches/{id}/results", "results", self._anthropic_results),
            ("POST", "/v1/messages/batches/{id}/cancel", "cancel", self._anthropic_cancel),
            ("POST", "/v1/files", "upload", self._openai_upload),
            ("GET", "/v1/files/{id}/content", "results", self._openai_content),
            ("POST", "/v1/batches", "submit", self._openai_submit),
            ("GET", "/v1/batches", "list", self._list_of_two),
            ("GET", "/v1/batches/{id}", "status", self._status_of_two),
            ("POST", "/v1/batches/{id}/cancel", "cancel", self._openai_cancel),
            ("POST", "/v1/models/{model}:batchGenerateContent", "submit", self._google_submit),
            ("POST", "/v1/batches/{id}:cancel", "cancel", self._google_cancel),
        ):
            app.router.add_route(method, path, self._guarded(what, handle))
        return app

    def _guarded(self, what, handle):
        async def guarded(request: web.Request) -> web.StreamResponse:
            self.calls[what] += 1
            given = request.headers.get("authorization") or request.headers.get("x-goog-api-key") or ""
            self.keys.add(given.removeprefix("Bearer "))
            error = self.single._refusal(request, {}, "")
            if self.faults.statuses[what]:
                error = self.faults.statuses[what].pop(0), "trouble as configured"
            if error is not None:
                return web.json_response(_error(*error), status=error[0])
            if self.faults.odd_bodies[what]:
                return web.Response(body=self.faults.odd_bodies[what].pop(0), content_type="application/json")
            return await handle(request)

        return guarded

    # What is the same for all

    async def _accept(self, request: web.Request, vendor, model, tag, requests) -> Held | None:
        """Take a batch; None if the caller is not to learn of it."""
        if self.faults.unborn:
            self.faults.unborn -= 1
            request.transport.close()
            return None
        number = len(self.batches) + 1
        held = Held(vendor, f"{vendor}-{number}", model, tag, requests, polls_left=self.faults.polls)
        held.headers = dict(request.headers)
        self.batches[held.id] = held
        self.handed_over.update(self._prompt(held, body) for _, body in requests)
        if self.faults.slow_answer_s:
            await asyncio.sleep(self.faults.slow_answer_s)
        if self.faults.lost_answers:
            self.faults.lost_answers -= 1
            request.transport.close()
            return None
        if self.faults.malformed_replies:
            self.faults.malformed_replies -= 1
            return None
        return held

    def _held(self, request: web.Request) -> Held:
        held = self.batches.get(request.match_info["id"].removesuffix(":cancel"))
        if held is None:
            raise web.HTTPNotFound(text=json.dumps(_error(404, "no such batch")), content_type="application/json")
        return held

    def _polled(self, request: web.Request, described: Callable[[Held], dict]) -> web.Response:
        held = self._held(request)
        answer = web.json_response(described(held))
        held.polls_left = max(0, held.polls_left - 1)
        return answer

    def _cancel(self, request: web.Request) -> Held:
        held = self._held(request)
        held.canceled, held.polls_left = True, 0
        return held

    def _newest(self, vendor: str) -> list[Held]:
        held = [each for each in reversed(self.batches.values()) if each.vendor == vendor]
        if self.faults.hidden_from_list:
            self.faults.hidden_from_list -= 1
            return held[1:]
        return held

    def _prompt(self, held: Held, body: dict) -> str:
        return _PROMPTS[held.vendor](body)

    def outcomes(self, held: Held) -> list[tuple[str, str, dict | str]]:
        """What becomes of each request: its name, what kind of end it has, and the reply or the message."""
        rows = []
        for place, (name, body) in enumerate(held.requests):
            prompt = self._prompt(held, body)
            kind = self.faults.becomes(prompt)
            refused = next((each for each in self.single.faults.refused_parameters if each in json.dumps(body)), None)
            if held.canceled and place >= len(held.requests) // 2:
                kind = "canceled"
            if kind == "missing":
                continue
            if refused and not kind:
                rows.append((name, "refused", f"Unsupported parameter: {refused}"))
            elif kind:
                rows.append((name, kind, f"{kind} as configured"))
            else:
                answer = self.single.reply_to(prompt)
                parts = (answer, "stop") if isinstance(answer, str) else answer
                reply = _REPLIES[held.vendor](parts[0], held.model, *parts[1:])
                if self.single.tokens is not None:
                    vendor_server._add_tokens(reply, body, self.single.tokens(parts[0]))
                rows.append((name, "", reply))
        if self.faults.shuffled:
            random.Random(1).shuffle(rows)
        return rows

    def _jsonl(self, rows: list[dict]) -> web.Response:
        body = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
        if self.faults.torn_results:
            self.faults.torn_results -= 1
            body = body[: len(body) - len(body) // 3]
        return web.Response(body=body, content_type="application/x-jsonl")

    # Anthropic

    async def _anthropic_submit(self, request):
        body = await request.json()
        requests = [(row["custom_id"], row["params"]) for row in body["requests"]]
        model = requests[0][1]["model"]
        held = await self._accept(request, "anthropic", model, "", requests)
        return web.json_response(self._anthropic_batch(held)) if held else web.json_response({})

    async def _anthropic_status(self, request):
        return self._polled(request, self._anthropic_batch)

    async def _anthropic_cancel(self, request):
        return web.json_response(self._anthropic_batch(self._cancel(request)))

    async def _anthropic_list(self, request):
        held = self._newest("anthropic")
        after = request.query.get("after_id")
        start = [each.id for each in held].index(after) + 1 if after else 0
        page = held[start : start + self.faults.page]
        rows = [self._anthropic_batch(each) for each in page]
        more = start + len(page) < len(held)
        last = page[-1].id if page else None
        return web.json_response({"data": rows, "has_more": more, "first_id": None, "last_id": last})

    async def _anthropic_results(self, request):
        held = self._held(request)
        rows = []
        for name, kind, said in self.outcomes(held):
            result = {"type": kind or "succeeded"}
            if not kind:
                result["message"] = said
            elif kind in ("refused", "overloaded"):
                named = {"refused": "invalid_request_error", "overloaded": "overloaded_error"}[kind]
                error = {"type": named, "message": said}
                result = {"type": "errored", "error": {"type": "error", "error": error, "request_id": None}}
            rows.append({"custom_id": name, "result": result})
        return self._jsonl(rows)

    def _anthropic_batch(self, held: Held) -> dict:
        count, state = len(held.requests), "in_progress" if held.running else "ended"
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts["processing" if held.running else "succeeded"] = count
        gone = self.faults.whole == "failed"
        return {
            "id": held.id, "type": "message_batch", "processing_status": state, "request_counts": counts,
            "created_at": _iso(held.created), "expires_at": _iso(held.created + timedelta(days=1)), "ended_at": None,
            "cancel_initiated_at": None, "archived_at": None,
            # Elsewhere on purpose: the key must not follow it there.
            "results_url": None if held.running or gone else "http://127.0.0.1:9/elsewhere",
        }  # fmt: skip

    # OpenAI

    async def _openai_upload(self, request):
        posted = await request.post()
        assert posted["purpose"] == "batch"
        name = f"file-{len(self.files) + 1}"
        self.files[name] = posted["file"].file.read()
        return web.json_response(
            {"id": name, "bytes": len(self.files[name]), "created_at": 1, "filename": posted["file"].filename,
             "object": "file", "purpose": "batch", "status": "processed"}
        )  # fmt: skip

    async def _openai_submit(self, request):
        body = await request.json()
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert {(line["method"], line["url"]) for line in lines} == {("POST", body["endpoint"])}
        requests = [(line["custom_id"], line["body"]) for line in lines]
        tag = (body.get("metadata") or {}).get("polyjudge", "")
        held = await self._accept(request, "openai", requests[0][1]["model"], tag, requests)
        return web.json_response(self._openai_batch(held)) if held else web.json_response({})

    async def _openai_cancel(self, request):
        return web.json_response(self._openai_batch(self._cancel(request)))

    def _openai_batch(self, held: Held) -> dict:
        status = "in_progress" if held.running else "completed"
        if not held.running and (held.canceled or self.faults.whole):
            status = {"canceled": "cancelled"}.get(self.faults.whole or "canceled", self.faults.whole)
        failed, ended = status == "failed", not held.running
        code, message = self.faults.why
        errors = {"object": "list", "data": [{"code": code, "message": message, "line": None, "param": None}]}
        return {
            "id": held.id, "object": "batch", "endpoint": "/v1/responses", "completion_window": "24h",
            "created_at": int(held.created.timestamp()), "input_file_id": "file-1", "status": status,
            "metadata": {"polyjudge": held.tag}, "errors": errors if failed else None,
            "output_file_id": f"out-{held.id}" if ended and not failed else None,
            "error_file_id": f"err-{held.id}" if ended and not failed else None,
            "request_counts": {"total": len(held.requests), "completed": 0 if held.running else 1, "failed": 0},
        }  # fmt: skip

    async def _openai_content(self, request):
        kind, _, batch = request.match_info["id"].partition("-")
        rows = []
        for name, trouble, said in self.outcomes(self.batches[batch]):
            if bool(trouble) != (kind == "err"):
                continue
            row = {"id": f"r-{name}", "custom_id": name, "response": None, "error": None}
            if trouble in ("expired", "canceled"):
                code = {"expired": "batch_expired", "canceled": "batch_cancelled"}[trouble]
                row["error"] = {"code": code, "message": said}
            else:
                status = {"": 200, "refused": 400, "overloaded": 503}[trouble]
                body = said if not trouble else vendor_server._openai_error(status, said)
                row["response"] = {"status_code": status, "request_id": "q", "body": body}
            rows.append(row)
        return self._jsonl(rows)

    # Gemini, and what it shares its paths with

    async def _google_submit(self, request):
        batch = (await request.json())["batch"]
        rows = batch["inputConfig"]["requests"]["requests"]
        requests = [(row["metadata"]["key"], row["request"]) for row in rows]
        model = request.match_info["model"]
        held = await self._accept(request, "google", model, batch["displayName"], requests)
        return web.json_response(self._google_batch(held)) if held else web.json_response({})

    async def _google_cancel(self, request):
        self._cancel(request)
        return web.json_response({})

    async def _status_of_two(self, request):
        described = {"openai": self._openai_batch, "google": self._google_batch}
        return self._polled(request, lambda held: described[held.vendor](held))

    async def _list_of_two(self, request):
        if "x-goog-api-key" not in request.headers:
            held, after = self._newest("openai"), request.query.get("after")
            start = [each.id for each in held].index(after) + 1 if after else 0
            page = held[start : start + self.faults.page]
            rows = [self._openai_batch(each) for each in page]
            more = start + len(page) < len(held)
            return web.json_response({"object": "list", "data": rows, "has_more": more})
        held, start = self._newest("google"), int(request.query.get("pageToken", 0))
        page = held[start : start + self.faults.page]
        more = {"nextPageToken": str(start + len(page))} if start + len(page) < len(held) else {}
        return web.json_response({"operations": [self._google_batch(each) for each in page], **more})

    def _google_batch(self, held: Held) -> dict:
        state = "RUNNING" if held.running else "SUCCEEDED"
        if not held.running and (held.canceled or self.faults.whole):
            state = {"canceled": "CANCELLED"}.get(self.faults.whole or "canceled", self.faults.whole.upper())
        metadata = {
            "@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch",
            "model": f"models/{held.model}", "displayName": held.tag, "createTime": _iso(held.created),
            "state": f"BATCH_STATE_{state}",
        }  # fmt: skip
        if not held.running and state != "FAILED":
            metadata["output"] = {"inlinedResponses": {"inlinedResponses": self._google_responses(held)}}
        return {"name": f"batches/{held.id}", "metadata": metadata, "done": not held.running}

    def _google_responses(self, held: Held) -> list[dict]:
        rows = []
        for name, kind, said in self.outcomes(held):
            if kind in ("expired", "canceled"):  # Gemini leaves these out
                continue
            code = {"refused": 3, "overloaded": 14}.get(kind)
            details = {"details": self.faults.details} if self.faults.details else {}
            part = {"response": said} if not kind else {"error": {"code": code, "message": said, **details}}
            rows.append({"metadata": {"key": name}, **part})
        return rows


_PROMPTS = {
    "anthropic": vendor_server._messages_prompt,
    "openai": vendor_server._responses_prompt,
    "google": vendor_server._gemini_prompt,
}
_REPLIES = {
    "anthropic": vendor_server._messages_reply,
    "openai": vendor_server._responses_reply,
    "google": vendor_server._gemini_reply,
}


def _iso(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")


def _error(status: int, message: str) -> dict:
    """An error in the words of all three."""
    return {"type": "error", "error": {"type": "error", "code": status, "message": message, "status": "ERROR"}}
