"""A PostgreSQL server for the tests, in a temporary folder, which they can stop, kill and restart."""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

_PROGRAMS = os.pathsep.join([os.environ.get("PATH", ""), *map(str, Path("/usr/lib/postgresql").glob("*/bin"))])
_HBA_RULES = """
local all all trust
host all secretive all scram-sha-256
hostssl all careful all trust
host all careful all reject
host all all all trust
"""
_SETTINGS = {"listen_addresses": "127.0.0.1", "fsync": "off", "max_connections": "60", "timezone": "UTC"}


class Postgres:
    """The server process; as root it is started as the user postgres, because it does not run as root."""

    def __init__(self) -> None:
        initdb, self._program = shutil.which("initdb", path=_PROGRAMS), shutil.which("postgres", path=_PROGRAMS)
        if initdb is None or self._program is None:
            pytest.skip("PostgreSQL is not installed: no initdb and postgres")
        pytest.importorskip("asyncpg")
        self._user = "postgres" if os.geteuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="polyjudge-postgres-"))
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._data = self._folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._databases = 0
        self._starter = ThreadPoolExecutor(max_workers=1)
        made = [initdb, "-D", self._data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(made, check=True, capture_output=True, **self._as_user())
        (self._data / "pg_hba.conf").write_text(_HBA_RULES, encoding="utf-8")

    def url(self, database: str = "postgres", user: str = "postgres", password: str = "") -> str:
        login = f"{user}:{password}" if password else user
        return f"postgresql://{login}@127.0.0.1:{self.port}/{database}"

    @property
    def pid(self) -> int:
        """The process of the server, whose children serve the connections."""
        assert self._process is not None
        return self._process.pid

    def new_database(self) -> str:
        """Create an empty database and return its URL."""
        self._databases += 1
        self.run(f"create database cache_{self._databases}")
        return self.url(f"cache_{self._databases}")

    def run(self, statements: str, url: str = "") -> str:
        """Run SQL and return its output, one line per row."""
        psql = shutil.which("psql", path=_PROGRAMS)
        command = [psql, "--no-psqlrc", "-qtA", "-v", "ON_ERROR_STOP=1", "-d", url or self.url(), "-c", statements]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def start(self, **settings: str) -> None:
        """Start the server and wait until it accepts connections."""
        options_by_name = {
            **_SETTINGS,
            "port": str(self.port),
            "unix_socket_directories": str(self._folder),
            **settings,
        }
        options = [f"--{name}={value}" for name, value in options_by_name.items()]
        self._process = self._starter.submit(self._popen, [self._program, "-D", self._data, *options]).result()
        ready = shutil.which("pg_isready", path=_PROGRAMS)
        while subprocess.run([ready, "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False).returncode:
            assert self._process.poll() is None, (self._folder / "log").read_text(encoding="utf-8")[-2000:]
            time.sleep(0.05)

    def stop(self) -> None:
        """Shut down as an operator does, closing all connections."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kill the server, as in a crash."""
        self._end(signal.SIGQUIT)

    def restart(self, **settings: str) -> None:
        self.stop()
        self.start(**settings)

    def certify(self) -> Path:
        """Restart with TLS and a new self-signed certificate; return its path."""
        openssl = shutil.which("openssl")
        if openssl is None:
            pytest.skip("openssl is not installed")
        key, certificate = self._data / "server.key", self._data / "server.crt"
        made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        named = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
        subprocess.run([*made, *named], check=True, capture_output=True, **self._as_user())
        key.chmod(0o600)
        self.restart(ssl="on")
        return certificate

    def remove(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
        self._starter.shutdown()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _popen(self, command: list) -> "subprocess.Popen[bytes]":
        """Start it in a thread that lives as long as the tests, because the kernel considers the thread its parent."""
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - it only makes a system call
                **self._as_user(),
            )

    def _end(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(timeout=60)

    def _as_user(self) -> dict:
        return {"cwd": self._folder} | ({"user": self._user, "extra_groups": []} if self._user else {})


def _end_with_parent() -> None:
    """Let the kernel stop the server when the tests are killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGINT, 0, 0, 0)  # PR_SET_PDEATHSIG
