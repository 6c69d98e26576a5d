"""`local` over TLS: certificates are made by openssl, and trusted only where SSL_CERT_FILE names them."""

import asyncio
import shutil
import ssl
import subprocess

import pytest

from polyjudge.providers.http import HttpClient
from polyjudge.providers.wire_errors import NotReachedError

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def identity(tmp_path_factory):
    """A server's key and its certificate, made by an authority of its own and by itself."""
    folder = tmp_path_factory.mktemp("tls")
    new = ("-newkey", "rsa:2048", "-nodes", "-keyout")
    name = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    openssl(folder, "req", "-x509", *new, "key.pem", "-out", "cert.pem", "-days", "2", *name)
    openssl(folder, "req", "-x509", *new, "ca-key.pem", "-out", "ca.pem", "-days", "2", "-subj", "/CN=ours")
    openssl(folder, "req", "-new", "-key", "key.pem", "-out", "request.pem", *name)
    by = ("-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-copy_extensions", "copy", "-days", "2")
    openssl(folder, "x509", "-req", "-in", "request.pem", "-out", "signed.pem", *by)
    (folder / "authorities").mkdir()
    (folder / "authorities" / "ca.pem").write_bytes((folder / "ca.pem").read_bytes())
    openssl(folder, "rehash", "authorities")
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


async def asked(identity, times=1, certificate="cert.pem", host="localhost"):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity / certificate, identity / "key.pem")
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        client = HttpClient(f"https://{host}:{server.sockets[0].getsockname()[1]}/v1", {}, timeout_s=20.0)
        try:
            responses = [await client.send("GET", "/models") for _ in range(times)]
        finally:
            await client.aclose()
    return [len(response.body) for response in responses]


def test_a_server_with_a_trusted_certificate_is_asked(identity, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(identity / "cert.pem"))

    assert asyncio.run(asked(identity, times=3)) == [100_000] * 3


@pytest.mark.parametrize(("variable", "place"), [("SSL_CERT_FILE", "ca.pem"), ("SSL_CERT_DIR", "authorities")])
def test_a_server_with_a_certificate_of_a_trusted_authority_is_asked(identity, monkeypatch, variable, place):
    monkeypatch.setenv(variable, str(identity / place))

    assert asyncio.run(asked(identity, times=3, certificate="signed.pem")) == [100_000] * 3


def test_a_server_with_any_other_gets_no_request(identity, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)

    with pytest.raises(NotReachedError, match="self-signed certificate"):
        asyncio.run(asked(identity))


def test_a_server_with_the_certificate_of_another_name_gets_no_request(identity, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(identity / "cert.pem"))

    with pytest.raises(NotReachedError, match="127.0.0.1"):
        asyncio.run(asked(identity, host="127.0.0.1"))
