"""One server on loopback that speaks the protocols of five translators, written from their documentation.

DeepL v2, Google Cloud Translation v2, Azure AI Translator v3, LibreTranslate and Apertium-APY: their paths, bodies,
ways to give the key, limits, and the form of their errors. A text is translated by putting the target language before
it. It counts the requests, and has the faults that a test sets.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

KEY = "k3y-0123456789abcdef"


@dataclass
class Asked:
    """One request, as it arrived."""

    service: str
    path: str
    """With the query, as sent."""
    headers: dict[str, str]
    body: Any
    texts: list[str]
    pair: tuple[str, str]


@dataclass
class TranslationServer:
    """What is asked of it, and what it does."""

    failures: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """Statuses and headers with which the next requests are answered."""
    quota_is_used_up: bool = False
    refuses: str = ""
    """A text that contains this is refused, and so is the call that it is in."""
    translate: Callable[[str, str], str] = lambda text, target: f"[{target}] {text}"
    body: bytes = b""
    """Sent with a 200 instead of an answer."""
    asked: list[Asked] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v2/translate", self._deepl)
        app.router.add_post("/language/translate/v2", self._google)
        app.router.add_route("*", "/translate", self._shared)
        app.router.add_post("/{prefix}/translate", self._shared)
        return app

    async def _shared(self, request: web.Request) -> web.Response:
        """Azure, LibreTranslate and APY have the same path; Azure has a version, APY a pair."""
        if "api-version" in request.query:
            return await self._azure(request)
        is_json = request.content_type == "application/json"
        return await (self._libretranslate(request) if is_json else self._apy(request))

    def _note(self, service: str, request: web.Request, body: Any, texts: list[str], pair: tuple[str, str]) -> None:
        self.asked.append(Asked(service, request.raw_path, dict(request.headers), body, texts, pair))

    def _failure(self, texts: list[str], form: Callable[[int, str], Any]) -> web.Response | None:
        if self.failures:
            status, headers = self.failures.pop(0)
            return web.json_response(form(status, "as configured"), status=status, headers=headers)
        if self.refuses and any(self.refuses in text for text in texts):
            return web.json_response(form(400, "the text is refused"), status=400)
        if self.body:
            return web.Response(body=self.body, content_type="application/json")
        return None

    async def _deepl(self, request: web.Request) -> web.Response:
        def error(_: int, message: str) -> dict:
            return {"message": message}

        body = await request.json()
        texts, target = body["text"], body["target_lang"]
        self._note("deepl", request, body, texts, (body.get("source_lang", ""), target))
        if request.headers.get("Authorization") not in (f"DeepL-Auth-Key {KEY}", f"DeepL-Auth-Key {KEY}:fx"):
            return web.json_response(error(403, f"Forbidden: {request.headers.get('Authorization')}"), status=403)
        if self.quota_is_used_up:
            return web.json_response(error(456, "Quota Exceeded"), status=456)
        if (failed := self._failure(texts, error)) is not None:
            return failed
        if not isinstance(texts, list) or len(texts) > 50:
            return web.json_response(error(400, "Value for 'text' not supported."), status=400)
        if target.upper() == "XX":
            return web.json_response(error(400, "Value for 'target_lang' not supported."), status=400)
        rows = [{"detected_source_language": "EN", "text": self.translate(text, target)} for text in texts]
        return web.json_response({"translations": rows})

    async def _google(self, request: web.Request) -> web.Response:
        def error(status: int, message: str, reason: str = "badRequest", code: str = "") -> dict:
            kind = "type.googleapis.com/google.rpc.ErrorInfo"
            details = [{"@type": kind, "reason": code, "domain": "googleapis.com"}] if code else []
            listed = [{"message": message, "domain": "global", "reason": reason}]
            return {"error": {"code": status, "message": message, "errors": listed, "details": details}}

        body = await request.json()
        texts = body["q"] if isinstance(body["q"], list) else [body["q"]]
        self._note("google", request, body, texts, (body.get("source", ""), body["target"]))
        given = request.headers.get("X-Goog-Api-Key") or request.query.get("key")
        if given != KEY:
            message = f"API key not valid. Please pass a valid API key. Got {given}"
            return web.json_response(error(400, message, code="API_KEY_INVALID"), status=400)
        if self.quota_is_used_up:
            return web.json_response(error(403, "Daily Limit Exceeded", "dailyLimitExceeded"), status=403)
        if (failed := self._failure(texts, error)) is not None:
            return failed
        if len(texts) > 128 or body["target"] == "xx":
            return web.json_response(error(400, "Invalid Value", "invalid"), status=400)
        escaped = body.get("format", "html") == "html"
        found = [self.translate(text, body["target"]) for text in texts]
        rows = [{"translatedText": text.replace("'", "&#39;") if escaped else text} for text in found]
        return web.json_response({"data": {"translations": rows}})

    async def _azure(self, request: web.Request) -> web.Response:
        def error(status: int, message: str) -> dict:
            return {"error": {"code": status if status > 999 else status * 1000, "message": message}}

        body = await request.json()
        texts, target = [row["Text"] for row in body], request.query["to"]
        self._note("azure", request, body, texts, (request.query.get("from", ""), target))
        if request.headers.get("Ocp-Apim-Subscription-Key") != KEY or request.query["api-version"] != "3.0":
            return web.json_response(error(401, "credentials are missing or invalid"), status=401)
        if self.quota_is_used_up:
            return web.json_response(error(403001, "exceeded its free quota"), status=403)
        if (failed := self._failure(texts, error)) is not None:
            return failed
        if target == "xx":
            return web.json_response(error(400036, "The target language is not valid."), status=400)
        return web.json_response(
            [{"translations": [{"text": self.translate(text, target), "to": target}]} for text in texts]
        )

    async def _libretranslate(self, request: web.Request) -> web.Response:
        def error(_: int, message: str) -> dict:
            return {"error": message}

        body = await request.json()
        self._note("libretranslate", request, body, [body["q"]], (body["source"], body["target"]))
        if body.get("api_key", KEY) != KEY:
            return web.json_response(error(403, f"Invalid API key {body['api_key']}"), status=403)
        if (failed := self._failure([body["q"]], error)) is not None:
            return failed
        if body["target"] == "xx":
            return web.json_response(error(400, "xx is not supported"), status=400)
        return web.json_response({"translatedText": self.translate(body["q"], body["target"])})

    async def _apy(self, request: web.Request) -> web.Response:
        def error(status: int, message: str) -> dict:
            return {"status": "error", "code": status, "message": "Bad Request", "explanation": message}

        form = dict(await request.post()) or dict(request.query)
        text = str(form["q"])
        source, _, target = str(form["langpair"]).partition("|")
        self._note("apertium-apy", request, form, [text], (source, target))
        if (failed := self._failure([text], error)) is not None:
            return failed
        if target == "xx":
            return web.json_response(error(400, "That pair is not installed"), status=400)
        found = {"translatedText": self.translate(text, target)}
        return web.json_response({"responseData": found, "responseDetails": None, "responseStatus": 200})
