"""The addresses of the labelling page."""

from dataclasses import dataclass

from aiohttp import web

from polyjudge.errors import DataError

from .labelling import Labelling
from .server import Site, answer, page


@dataclass(frozen=True, slots=True)
class LabelSite:
    """Answers what the labelling page asks."""

    labelling: Labelling
    title: str
    """Of which results."""

    def site(self) -> Site:
        """Return the addresses, under a new secret."""
        return Site(
            [
                ("GET", "", self.first_page),
                ("GET", "overview", self.overview),
                ("GET", "item", self.item),
                ("GET", "part", self.part),
                ("POST", "label", self.label),
            ]
        )

    async def first_page(self, request: web.Request) -> web.Response:
        """Return the page."""
        del request
        scale, count = self.labelling.task.scale, len(self.labelling.task.sample.items)
        return page("label.html", {"title": self.title, "scale": scale, "count": count})

    async def overview(self, request: web.Request) -> web.Response:
        """Return a person's items and the figures."""
        return answer(self.labelling.overview(request.query.get("annotator", "")))

    async def item(self, request: web.Request) -> web.Response:
        """Return the texts of an item."""
        return answer(self.labelling.item(request.query.get("id", "")))

    async def part(self, request: web.Request) -> web.Response:
        """Return more of a long text."""
        start = request.query.get("start", "0")
        if not (start.isascii() and start.isdecimal() and len(start) < 12):
            raise DataError("the start must be a number")
        return answer(self.labelling.part(request.query.get("id", ""), request.query.get("name", ""), int(start)))

    async def label(self, request: web.Request) -> web.Response:
        """Keep a label; the answer goes out when it is on disk."""
        if request.content_type != "application/json":
            raise web.HTTPUnsupportedMediaType(text="a label comes as JSON\n")
        try:
            given = await request.json()
        except (ValueError, LookupError, RecursionError, web.RequestPayloadError):  # an encoding nobody knows, too
            raise DataError("the label is no JSON") from None
        return answer(self.labelling.take(given))
