"""A site on a free port of loopback, for the time of a test."""

import asyncio

import aiohttp
from aiohttp import web

from polyjudge.pages.server import HOST, application


def over_http(site, ask):
    """Serve a site on a free port, and run its client."""

    async def run():
        runner = web.AppRunner(application(site), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, HOST, 0).start()
        try:
            async with aiohttp.ClientSession() as session:
                return await ask(session, site.address(runner.addresses[0][1]))
        finally:
            await runner.cleanup()

    return asyncio.run(run())
