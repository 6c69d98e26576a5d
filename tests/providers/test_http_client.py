import asyncio
import socket
import struct
from contextlib import asynccontextmanager

import pytest

from polyjudge.providers.http import HttpClient, NotReachedError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Host:
    """A server that answers each request with what `answer` gives for it, and counts its connections."""

    def __init__(self, answer=OK, *, closes=False):
        self.answer = answer
        self.closes = closes
        self.port = 0
        self.connections = 0
        self.open = 0
        self.heads = []
        self.bodies = []

    async def serve(self, reader, writer):
        self.port = writer.get_extra_info("sockname")[1]
        self.connections += 1
        self.open += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                self.heads.append(head.decode())
                length = next((line[16:] for line in self.heads[-1].split("\r\n") if line.startswith("Content-Le")), 0)
                self.bodies.append(await reader.readexactly(int(length)))
                if self.answer is None:
                    await reader.read()
                    break
                writer.write(self.answer)
                if self.closes:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def client_of(host, *, timeout_s=10.0, address="127.0.0.1", path="/v1", **headers):
    server = await asyncio.start_server(host.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = HttpClient(f"http://{address}:{port}{path}", headers, timeout_s=timeout_s)
    try:
        yield client
    finally:
        await client.aclose()
        server.close()


async def until(condition):
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it did not happen")


def test_a_request_says_all_that_is_needed_and_no_more():
    async def play():
        host = Host()
        async with client_of(host, Authorization="Bearer k") as client:
            response = await client.send("POST", "/chat", "größe".encode())
            await client.send("GET", "/models")
        return host, response

    host, response = asyncio.run(play())

    assert (response.status, response.body) == (200, b"ok")
    assert host.bodies == ["größe".encode(), b""]
    common = f"Host: 127.0.0.1:{host.port}\r\nAccept-Encoding: identity\r\nAuthorization: Bearer k\r\n"
    assert host.heads == [
        f"POST /v1/chat HTTP/1.1\r\n{common}Content-Length: 7\r\n\r\n",
        f"GET /v1/models HTTP/1.1\r\n{common}\r\n",
    ]


def test_a_connection_is_used_again_and_as_many_are_open_as_calls_were_at_once():
    async def play():
        host = Host()
        async with client_of(host) as client:
            for _ in range(5):
                await client.send("GET", "/")
            one = host.connections
            for _ in range(2):
                await asyncio.gather(*(client.send("GET", "/") for _ in range(20)))
        await until(lambda: host.open == 0)
        return one, host.connections

    assert asyncio.run(play()) == (1, 20)


@pytest.mark.parametrize("answer", [OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), OK])
def test_a_connection_that_the_server_closes_is_not_used_again(answer):
    async def play():
        host = Host(answer, closes=True)
        async with client_of(host) as client:
            for _ in range(3):
                assert (await client.send("GET", "/")).body == b"ok"
                await until(lambda: host.open == 0)
                await asyncio.sleep(0.01)
        return host.connections

    assert asyncio.run(play()) == 3


class ClockThatJumps(asyncio.SelectorEventLoop):
    ahead = 0.0

    def time(self):
        return super().time() + self.ahead


@pytest.mark.parametrize(("told", "idle_s"), [("", 60.0), ("Keep-Alive: timeout=2, max=100\r\n", 2.0)])
def test_a_connection_that_has_been_idle_is_not_trusted_longer_than_the_server_says(told, idle_s):
    async def play():
        host = Host(OK.replace(b"\r\n\r\n", f"\r\n{told}\r\n".encode()))
        async with client_of(host) as client:
            for ahead in (0.0, 0.5, idle_s):
                loop.ahead = ahead
                await client.send("GET", "/")
        return host.connections

    with asyncio.Runner(loop_factory=ClockThatJumps) as runner:
        loop = runner.get_loop()
        assert runner.run(play()) == 2


def test_a_server_that_speaks_unasked_is_left():
    async def play():
        host = Host(OK)
        async with client_of(host) as client:
            await client.send("GET", "/")
            host.answer = OK + OK
            await client.send("GET", "/")
            host.answer = OK
            return (await client.send("GET", "/")).body, host.connections

    assert asyncio.run(play()) == (b"ok", 2)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (OK[:-1], "before it had answered"),
        (b"", "before it had answered"),
        (b"SSH-2.0\r\n\r\n", "not HTTP/1.1"),
    ],
)
def test_half_an_answer_is_none(answer, complaint):
    async def play():
        async with client_of(Host(answer, closes=True)) as client:
            await client.send("POST", "/", b"{}")

    with pytest.raises(ConnectionError, match=complaint):
        asyncio.run(play())


@pytest.mark.parametrize("give_up", ["timeout", "cancel"])
def test_a_call_that_is_given_up_closes_its_connection(give_up):
    async def play():
        host = Host(None)
        async with client_of(host, timeout_s=0.05 if give_up == "timeout" else 60.0) as client:
            call = asyncio.ensure_future(client.send("POST", "/", b"{}"))
            await until(lambda: host.bodies)
            if give_up == "cancel":
                call.cancel()
            with pytest.raises(TimeoutError if give_up == "timeout" else asyncio.CancelledError):
                await call
            await until(lambda: host.open == 0)
            host.answer = OK
            return (await client.send("GET", "/")).body

    assert asyncio.run(play()) == b"ok"


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid", "[::1]:1"])
def test_nobody_there_is_told_apart_from_a_call_that_broke_off(host):
    client = HttpClient(f"http://{host}/v1", {}, timeout_s=20.0)

    with pytest.raises(NotReachedError, match="no connection to"):
        asyncio.run(client.send("GET", "/"))


def test_a_path_with_odd_letters_is_escaped_once():
    async def play():
        host = Host()
        async with client_of(host, path="/mod%20els/größe x") as client:
            await client.send("GET", "/")
        return host.heads[0].split(" ")[1]

    assert asyncio.run(play()) == "/mod%20els/gr%C3%B6%C3%9Fe%20x/"


def test_a_handshake_that_never_comes_is_nobody_there():
    async def play():
        async def silent(reader, writer):
            await reader.read()
            writer.close()

        async with await asyncio.start_server(silent, "127.0.0.1", 0) as host:
            client = HttpClient(f"https://127.0.0.1:{host.sockets[0].getsockname()[1]}", {}, timeout_s=0.2)
            try:
                await client.send("POST", "/", b"{}")
            finally:
                await asyncio.sleep(0.05)

    with pytest.raises(NotReachedError, match="it took too long"):
        asyncio.run(play())


def reset(writer):
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


def test_an_answer_of_no_stated_length_that_breaks_off_is_none():
    async def broken(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\n\r\n{"half": ')
        await writer.drain()
        await asyncio.sleep(0.05)
        reset(writer)

    async def play():
        host = Host()
        host.serve = broken
        async with client_of(host) as client:
            await client.send("GET", "/")

    with pytest.raises(ConnectionError, match="broke off|reset"):
        asyncio.run(play())


def test_a_connection_with_a_request_half_sent_is_not_used_again():
    async def hasty(reader, writer):
        host.connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        await host.done.wait()
        writer.transport.abort()

    host = Host()
    host.serve = hasty

    async def play():
        host.done = asyncio.Event()
        async with client_of(host) as client:
            await client.send("POST", "/", b"x" * 50_000_000)
            answered = (await client.send("GET", "/")).body, host.connections
            host.done.set()
            await asyncio.sleep(0.05)
            return answered

    assert asyncio.run(play()) == (b"ok", 2)


def test_a_connection_that_comes_free_after_the_end_is_closed():
    asked, may_answer = asyncio.Event(), asyncio.Event()
    is_open = True

    async def late(reader, writer):
        nonlocal is_open
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await may_answer.wait()
        writer.write(OK)
        await reader.read()
        is_open = False
        writer.close()

    async def play():
        host = Host()
        host.serve = late
        async with client_of(host) as client:
            call = asyncio.ensure_future(client.send("GET", "/"))
            await asked.wait()
            await client.aclose()
            may_answer.set()
            assert (await call).body == b"ok"
            await until(lambda: not is_open)

    asyncio.run(play())
