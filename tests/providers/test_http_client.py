"""HTTP requests to real servers on loopback: what is sent, what is read, what is refused."""

import asyncio
import http.client
import io
import json
import socket
import struct
import subprocess
import sys
import zlib
from contextlib import asynccontextmanager, suppress
from itertools import pairwise

import pytest
import uvloop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyjudge.providers.http import LARGEST_RESPONSE, HttpClient
from polyjudge.providers.wire_errors import BadResponseError, NotReachedError, ResponseTooLargeError
from polyjudge.version import __version__

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PROXIES = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY")


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch):
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


class Host:
    """A server that answers each request with what `answer` gives for it, and counts its connections.

    `answer` is bytes, or a function that is given the body of the request and the writer.
    """

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
                if callable(self.answer):
                    await self.answer(self.bodies[-1], writer)
                else:
                    writer.write(self.answer)
                if self.closes:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def client_of(host, *, timeout_s=10.0, bind="127.0.0.1", path="/v1", **headers):
    server = await asyncio.start_server(host.serve, bind, 0)
    port = server.sockets[0].getsockname()[1]
    named = f"[{bind}]" if ":" in bind else bind
    client = HttpClient(f"http://{named}:{port}{path}", headers, timeout_s=timeout_s)
    try:
        yield client
    finally:
        await client.aclose()
        server.close()


def sent(answer, *, closes=True, timeout_s=10.0):
    """Return what comes of a request that is answered with these bytes."""

    async def play():
        async with client_of(Host(answer, closes=closes), timeout_s=timeout_s) as client:
            return await client.send("POST", "/", b"{}")

    return asyncio.run(play())


async def until(condition):
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it did not happen")


def test_a_request_has_only_the_needed_headers():
    async def play():
        host = Host()
        async with client_of(host, Authorization="Bearer k") as client:
            response = await client.send("POST", "/chat", "größe".encode())
            await client.send("GET", "/models")
        return host, response

    host, response = asyncio.run(play())

    assert (response.status, response.body) == (200, b"ok")
    assert host.bodies == ["größe".encode(), b""]
    common = {
        f"Host: 127.0.0.1:{host.port}", "Accept-Encoding: gzip", "Authorization: Bearer k", "Connection: close",
        f"User-Agent: polyjudge/{__version__}",
    }  # fmt: skip
    (post, *posted), (get, *got) = (head.removesuffix("\r\n\r\n").split("\r\n") for head in host.heads)
    assert (post, get) == ("POST /v1/chat HTTP/1.1", "GET /v1/models HTTP/1.1")
    assert len(posted) == len(set(posted))
    assert set(got) == common
    assert set(posted) - common <= {"Content-Length: 7", "Content-Type: application/x-www-form-urlencoded"}
    assert "Content-Length: 7" in posted


def test_each_request_has_a_connection_of_its_own():
    async def play():
        host = Host()
        async with client_of(host) as client:
            for _ in range(3):
                await client.send("GET", "/")
            await asyncio.gather(*(client.send("GET", "/") for _ in range(20)))
            await until(lambda: host.open == 0)
        return host.connections

    assert asyncio.run(play()) == 23


def echo(body):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def twice_at_once(body, writer):
    writer.write(echo(body) * 2)


async def twice_soon(body, writer):
    for wait_s in (0.0, 0.0, 0.001, 0.002):
        writer.write(echo(body))
        await asyncio.sleep(wait_s)


async def twice_later(body, writer):
    writer.write(echo(body))
    asyncio.get_running_loop().call_later(int(body) % 7 / 1000, writer.write, echo(body))


@pytest.mark.parametrize("answer", [twice_at_once, twice_soon, twice_later])
def test_a_late_or_surplus_response_reaches_no_other_request(answer):
    async def play():
        places = asyncio.Semaphore(8)
        async with client_of(Host(answer)) as client:

            async def ask(number):
                async with places:
                    return (await client.send("POST", "/", b"%d" % number)).body

            return await asyncio.gather(*map(ask, range(500)))

    assert asyncio.run(play()) == [b"%d" % number for number in range(500)]


def test_a_request_that_a_server_read_and_did_not_answer_is_not_sent_again():
    async def drop(body, writer):
        writer.transport.abort()

    async def play():
        host = Host(drop)
        async with client_of(host) as client:
            with pytest.raises(ConnectionError, match="Empty reply|reset"):
                await client.send("POST", "/", b"{}")
        return host.bodies

    assert asyncio.run(play()) == [b"{}"]


@pytest.mark.parametrize("answer", [OK[:-1], b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"])
def test_an_incomplete_response_is_an_error(answer):
    with pytest.raises(BadResponseError, match="missing|Empty reply|outstanding"):
        sent(answer)


@pytest.mark.parametrize("give_up", ["timeout", "cancel"])
def test_an_abandoned_call_closes_its_connection(give_up):
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
        async with client_of(host) as client:
            return (await client.send("GET", "/")).body

    assert asyncio.run(play()) == b"ok"


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid", "[::1]:1"])
def test_no_connection_and_a_lost_connection_are_different_errors(host):
    client = HttpClient(f"http://{host}/v1", {}, timeout_s=20.0)

    with pytest.raises(NotReachedError, match="no connection to"):
        asyncio.run(client.send("GET", "/"))


def test_a_path_with_unusual_characters_is_escaped_once():
    async def play():
        host = Host()
        async with client_of(host, path="/mod%20els/größe x/../y") as client:
            await client.send("GET", "/")
        return host.heads[0].split(" ")[1]

    assert asyncio.run(play()) == "/mod%20els/gr%C3%B6%C3%9Fe%20x/../y/"


def test_a_missing_tls_handshake_counts_as_no_connection():
    async def play():
        async def silent(reader, writer):
            await reader.read()
            writer.close()

        async with await asyncio.start_server(silent, "127.0.0.1", 0) as host:
            client = HttpClient(f"https://127.0.0.1:{host.sockets[0].getsockname()[1]}", {}, timeout_s=0.2)
            try:
                await client.send("POST", "/", b"{}")
            finally:
                await client.aclose()
                await asyncio.sleep(0.05)

    with pytest.raises(NotReachedError, match="it took too long"):
        asyncio.run(play())


def reset(writer):
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()


@pytest.mark.parametrize("start", [b'HTTP/1.1 200 OK\r\n\r\n{"half": ', b"HTTP/1.1 200 OK\r\nContent-Le", b""])
def test_a_response_that_stops_early_is_an_error(start):
    async def broken(body, writer):
        writer.write(start)
        await writer.drain()
        await asyncio.sleep(0.05)
        reset(writer)

    with pytest.raises(ConnectionError, match="reset|Recv failure"):
        sent(broken)


def test_a_refusal_before_the_request_was_read_is_read():
    async def hasty(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\n\r\nlong")
        await done.wait()
        writer.transport.abort()

    done = asyncio.Event()

    async def play():
        host = Host()
        host.serve = hasty
        async with client_of(host) as client:
            response = await client.send("POST", "/", b"x" * 50_000_000)
            done.set()
            return response.status, response.body

    assert asyncio.run(play()) == (413, b"long")


def test_requests_in_flight_are_allowed_to_finish():
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def late(body, writer):
        asked.set()
        await may_answer.wait()
        writer.write(OK)

    async def play():
        host = Host(late)
        async with client_of(host) as client:
            call = asyncio.ensure_future(client.send("GET", "/"))
            await asked.wait()
            await client.aclose()
            may_answer.set()
            assert (await call).body == b"ok"
            await until(lambda: host.open == 0)

    asyncio.run(play())


def gzipped(data):
    packer = zlib.compressobj(wbits=31)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize("framing", ["length", "chunks", "end"])
def test_a_gzip_answer_is_unpacked(framing):
    text = json.dumps({"text": "สวัสดี" * 5_000}).encode()

    response = sent(written(200, {"Content-Encoding": "gzip"}, gzipped(text), framing))

    assert response.body == text


def test_a_gzip_bomb_is_refused_while_it_is_read():
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join([*(packer.compress(bytes(2**20)) for _ in range(300)), packer.flush()])
    assert len(bomb) < 1_000_000

    with pytest.raises(ResponseTooLargeError, match="longer than 64 MB"):
        sent(written(200, {"Content-Encoding": "gzip"}, bomb, "length"))


def test_an_answer_without_end_is_refused_once_it_is_too_long():
    written_bytes = 0

    async def endless(body, writer):
        nonlocal written_bytes
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.is_closing():
            writer.write(bytes(2**20))
            written_bytes += 2**20
            await writer.drain()

    with pytest.raises(ResponseTooLargeError):
        sent(endless, timeout_s=60.0)
    assert LARGEST_RESPONSE < written_bytes < 2 * LARGEST_RESPONSE


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(status):
    async def play():
        host = Host()
        async with client_of(host) as client:
            there = f"http://127.0.0.1:{client._server.rpartition(':')[2]}/elsewhere"
            host.answer = written(status, {"Location": there}, b"", "length")
            response = await client.send("POST", "/", b"{}")
        return response.headers["location"] == there, response.status, len(host.bodies)

    assert asyncio.run(play()) == (True, status, 1)


def through_a_proxy(monkeypatch, url, *, variable, no_proxy=""):
    """Return what a proxy is asked when this address is; it answers nothing."""

    async def play():
        proxy, own = Host(written(502, {}, b"proxy", "length"), closes=True), Host()
        async with client_of(proxy) as to_proxy, client_of(own) as direct:
            monkeypatch.setenv(variable, f"http://{to_proxy._server}")
            if no_proxy:
                monkeypatch.setenv("NO_PROXY", no_proxy)
            client = HttpClient(url.format(own=direct._server), {}, timeout_s=5.0)
            try:
                return proxy, await client.send("GET", "/models")
            except OSError as error:
                return proxy, error
            finally:
                await client.aclose()

    return asyncio.run(play())


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("address", ["http://models.example/v1", "http://{own}/v1", "http://192.0.2.7:8000/v1"])
def test_the_proxy_of_the_environment_is_asked(monkeypatch, variable, address):
    proxy, response = through_a_proxy(monkeypatch, address, variable=variable)

    assert (response.status, response.body) == (502, b"proxy")
    [head] = proxy.heads
    assert head.startswith("GET http://")
    assert head.split(" ")[1].endswith("/v1/models")


@pytest.mark.parametrize("variable", ["https_proxy", "HTTPS_PROXY", "ALL_PROXY"])
def test_the_proxy_of_the_environment_is_asked_for_a_tunnel_before_tls(monkeypatch, variable):
    proxy, error = through_a_proxy(monkeypatch, "https://models.example/v1", variable=variable)

    assert [head.split("\r\n")[0] for head in proxy.heads] == ["CONNECT models.example:443 HTTP/1.1"]
    assert isinstance(error, NotReachedError)


@pytest.mark.parametrize("no_proxy", ["*", "127.0.0.1", "127.0.0.0/8", "example.org,127.0.0.1"])
def test_no_proxy_is_respected_also_for_addresses_in_numbers(monkeypatch, no_proxy):
    proxy, response = through_a_proxy(monkeypatch, "http://{own}/v1", variable="HTTP_PROXY", no_proxy=no_proxy)

    assert (response.status, proxy.heads) == (200, [])


def test_an_unreachable_proxy_counts_as_no_connection(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")

    with pytest.raises(NotReachedError, match="proxy"):
        asyncio.run(HttpClient("http://models.example/v1", {}, timeout_s=5.0).send("GET", "/"))


def test_it_works_under_uvloop():
    async def play():
        host = Host()
        async with client_of(host) as client:
            bodies = [(await client.send("POST", "/", b"{}")).body for _ in range(3)]
            bodies += [each.body for each in await asyncio.gather(*(client.send("GET", "/") for _ in range(50)))]
        return bodies

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(play()) == [b"ok"] * 53


def test_an_ipv6_server_is_asked():
    async def play():
        host = Host()
        async with client_of(host, bind="::1") as client:
            response = await client.send("GET", "/")
        return response.body, f"Host: [::1]:{host.port}" in host.heads[0]

    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    assert asyncio.run(play()) == (b"ok", True)


def test_a_program_that_ends_without_closing_the_client_ends_well():
    program = """
import asyncio, socket
from polyjudge.providers.http import HttpClient

async def serve(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    client = HttpClient(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", {}, timeout_s=5.0)
    silent = socket.create_server(("127.0.0.1", 0))
    other = HttpClient(f"http://127.0.0.1:{silent.getsockname()[1]}", {}, timeout_s=5.0)
    unfinished = asyncio.ensure_future(other.send("POST", "/", b"{}"))
    for response in await asyncio.gather(*(client.send("GET", "/") for _ in range(20))):
        assert response.body == b"ok"

asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=60)

    assert (ended.returncode, ended.stderr) == (0, "")


NAMES = st.sampled_from(["Date", "Retry-After", "x-request-id", "Server"])
VALUES = st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
BODIES = st.binary(max_size=300)
FRAMINGS = st.sampled_from(["length", "chunks", "end"])
over_a_socket = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(status, headers, body, framing, sizes=(7, 1, 40)):
    """A response as a server writes it."""
    lines = [f"HTTP/1.1 {status} Whatever it is", *(f"{name}: {value}" for name, value in headers.items())]
    if framing == "length":
        lines.append(f"Content-Length: {len(body)}")
    if framing == "chunks":
        lines.append("Transfer-Encoding: chunked")
        body = chunked(body, sizes)
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def chunked(body, sizes):
    pieces, place = [], 0
    while place < len(body):
        size = sizes[len(pieces) % len(sizes)]
        piece = body[place : place + size]
        pieces.append(b"%x;name=value\r\n%b\r\n" % (len(piece), piece))
        place += size
    return b"".join([*pieces, b"0\r\nTrailer: ignored\r\n\r\n"])


class Wire:
    def __init__(self, data):
        self.data = data

    def makefile(self, _mode):
        return io.BytesIO(self.data)


@over_a_socket
@given(
    status=st.sampled_from([200, 201, 400, 404, 429, 500, 503]),
    headers=st.dictionaries(NAMES, VALUES, max_size=4),
    body=BODIES,
    framing=FRAMINGS,
    cuts=st.lists(st.integers(0, 1000), max_size=6),
)
def test_a_response_in_any_pieces_is_what_the_standard_library_reads(status, headers, body, framing, cuts):
    data = written(status, headers, body, framing)
    theirs = http.client.HTTPResponse(Wire(data))
    theirs.begin()
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})

    async def in_pieces(_, writer):
        for start, end in pairwise(places):
            writer.write(data[start:end])
            await writer.drain()
            await asyncio.sleep(0.0005)

    ours = sent(in_pieces)

    assert (ours.status, ours.body) == (theirs.status, theirs.read()) == (status, body)
    assert {name.lower(): value for name, value in theirs.getheaders()} == ours.headers


@over_a_socket
@given(head=BODIES, body=BODIES, framing=FRAMINGS)
def test_any_bytes_are_either_read_or_refused(head, body, framing):
    for data in (head, b"HTTP/1.1 200 OK\r\n" + head, written(200, {}, body, framing)[: len(head)], head + body):
        status = 999
        with suppress(BadResponseError):
            status = sent(data).status
        assert 200 <= status <= 999


@over_a_socket
@given(body=BODIES, framing=st.sampled_from(["length", "chunks"]), left=st.integers(0, 500))
def test_a_response_that_was_cut_off_is_never_taken_for_a_whole_one(body, framing, left):
    data = written(200, {}, body, framing)
    if framing == "chunks":
        data = data[: data.index(b"0\r\nTrailer") + 1]  # what is missing after the last chunk is no part of the body

    with pytest.raises(BadResponseError):
        sent(data[: left % len(data)])


def test_informational_responses_are_skipped():
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    early += b"HTTP/1.1 102 Processing\r\n\r\n" * 20

    response = sent(early + written(200, {"a": "1"}, b"yes", "length"))

    assert (response.body, response.headers) == (b"yes", {"a": "1", "content-length": "3"})


@pytest.mark.parametrize(
    "head",
    [
        "HTTP/1.1 200 OK\r\nContent-Length: 0",
        "HTTP/1.1 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 0",
        "HTTP/1.0 200 OK\r\nContent-Length: 0",
        "HTTP/1.1 204 No Content",
        "HTTP/1.1 200\r\nContent-Length: 0",
    ],
)
def test_an_empty_body_is_a_response(head):
    assert sent(f"{head}\r\n\r\n".encode(), closes=False).body == b""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/0.9"),
        (b"HTTP/2 200\r\n\r\n", "not HTTP/1.1: it starts with 'HTTP/2"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "Content-Length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Content-Length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\n\r\n", "Content-Length"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "has both",
        ),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "Transfer-Encoding"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "hex"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n", "chunk"),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "Header without colon"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"1" * 400_000, "error 100"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "Empty reply"),
        (b"HTTP/1.1 102 Processing\r\n\r\n" * 50_000, "Empty reply|Too large|error 100"),
        (b"\x00\x00\x12\x04\x00\x00", "HTTP/0.9"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: zip\r\nContent-Length: 2\r\n\r\n\x1f\x8b", "content encoding"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone", "incorrect header check"),
    ],
)
def test_an_invalid_response_is_refused_with_the_reason(data, message):
    with pytest.raises(BadResponseError, match=message):
        sent(data)
