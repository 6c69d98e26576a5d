"""`local` over TLS: certificates are made by openssl, and trusted only where SSL_CERT_FILE names them."""

import asyncio
import shutil
import ssl
import subprocess

import pytest

from polyjudge.providers.http import HttpClient, NotReachedError

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *name, *files]
    subprocess.run(command, check=True, capture_output=True)
    return folder


async def answer(reader, writer):
    """Answer each request with a body that takes several TLS records."""
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def asked(identity, times):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity / "cert.pem", identity / "key.pem")
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        client = HttpClient(f"https://localhost:{server.sockets[0].getsockname()[1]}/v1", {}, timeout_s=20.0)
        responses = [await client.send("GET", "/models") for _ in range(times)]
        await client.aclose()
    return [len(response.body) for response in responses]


def test_a_server_with_a_trusted_certificate_is_asked(identity, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(identity / "cert.pem"))

    assert asyncio.run(asked(identity, times=3)) == [100_000] * 3


def test_a_server_with_any_other_is_told_nothing(identity, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)

    with pytest.raises(NotReachedError, match="CERTIFICATE_VERIFY_FAILED"):
        asyncio.run(asked(identity, times=1))
