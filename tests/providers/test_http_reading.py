import http.client
import io
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.providers.http import BadResponseError, ResponseReader

NAMES = st.sampled_from(["Date", "Retry-After", "x-request-id", "Server"])
VALUES = st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
BODIES = st.binary(max_size=300)
FRAMINGS = st.sampled_from(["length", "chunks", "end"])


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


def read(data, cuts=()):
    """What comes of the bytes when they arrive in pieces, and then the connection ends."""
    reader = ResponseReader()
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for start, end in pairwise(places):
        response = reader.feed(data[start:end])
        if response is not None:
            assert end == len(data)
            return response
    return reader.end()


class Wire:
    def __init__(self, data):
        self.data = data

    def makefile(self, _mode):
        return io.BytesIO(self.data)


@given(
    status=st.sampled_from([200, 201, 400, 404, 429, 500, 503]),
    headers=st.dictionaries(NAMES, VALUES, max_size=4),
    body=BODIES,
    framing=FRAMINGS,
    cuts=st.lists(st.integers(0, 1000), max_size=6),
)
@settings(max_examples=300)
def test_a_response_in_any_pieces_is_what_the_standard_library_reads(status, headers, body, framing, cuts):
    data = written(status, headers, body, framing)
    theirs = http.client.HTTPResponse(Wire(data))
    theirs.begin()

    ours = read(data, cuts)

    assert (ours.status, ours.body) == (theirs.status, theirs.read()) == (status, body)
    assert {name.lower(): value for name, value in theirs.getheaders()} == ours.headers
    assert ours.may_go_on == (framing != "end")


@given(head=BODIES, body=BODIES, framing=FRAMINGS)
@settings(max_examples=300)
def test_any_bytes_are_read_or_refused_and_nothing_else(head, body, framing):
    for data in (head, b"HTTP/1.1 200 OK\r\n" + head, written(200, {}, body, framing)[: len(head)], head + body):
        reader = ResponseReader()
        status = 999
        with suppress(BadResponseError):
            status = (reader.feed(data) or reader.end()).status
        assert 200 <= status <= 999


@given(body=BODIES, framing=st.sampled_from(["length", "chunks"]), left=st.integers(0, 500))
def test_a_response_that_was_cut_off_is_never_taken_for_a_whole_one(body, framing, left):
    data = written(200, {}, body, framing)

    with pytest.raises(BadResponseError, match="before it had answered"):
        read(data[: left % len(data)])


def test_what_a_server_says_before_its_response_is_passed_over():
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    early += b"HTTP/1.1 102 Processing\r\n\r\n" * 2_000

    assert read(early + written(200, {}, b"yes", "length"), cuts=[3, 30, 60]).body == b"yes"


@pytest.mark.parametrize(
    ("head", "may_go_on"),
    [
        ("HTTP/1.1 200 OK\r\nContent-Length: 0", True),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0", False),
        ("HTTP/1.1 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 0", True),
        ("HTTP/1.0 200 OK\r\nContent-Length: 0", False),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0", True),
        ("HTTP/1.1 204 No Content", True),
        ("HTTP/1.1 200\r\nContent-Length: 0", True),
    ],
)
def test_a_connection_goes_on_where_both_sides_know_where_the_response_ended(head, may_go_on):
    response = read(f"{head}\r\n\r\n".encode())

    assert (response.body, response.may_go_on) == (b"", may_go_on)


def test_bytes_after_the_response_end_the_connection():
    assert not read(written(200, {}, b"yes", "length") + b"more").may_go_on
    assert not read(written(200, {}, b"yes", "chunks") + b"more").may_go_on


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "not HTTP/1.1: it begins with 'SSH-2.0"),
        (b"HTTP/2 200\r\n\r\n", "not HTTP/1.1"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "two different lengths"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "'-1' bytes"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\n\r\n", "bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "not asked for"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "a chunk of b'xyz' bytes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabcd", "longer than it says"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 5000, "does not end"),
        (b"HTTP/1.1 200 OK\r\nno header\r\n\r\n", "a header that is none"),
        (b"HTTP/1.1 200 OK\r\nX : 1\r\n\r\n", "a header that is none"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"1" * 70_000, "headers do not end"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "another protocol"),
        (b"HTTP/1.1 102 Processing\r\n\r\n" * 5_000, "headers do not end"),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "not HTTP/1.1"),
        (b"\x00\x00\x12\x04\x00\x00", "not HTTP/1.1"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b", "'gzip'"),
    ],
)
def test_what_is_no_response_is_refused_with_the_reason(data, complaint):
    with pytest.raises(BadResponseError, match=complaint):
        ResponseReader().feed(data)
