"""What can be wrong with PostgreSQL, in one line each: why, and what to do."""

import socket
import ssl

from polyjudge.errors import CacheError

from .postgres_address import Address

CONNECT_TIMEOUT_S = 10.0
_AWAY = {"57P01", "57P02", "57P03", "57P05", "57014", "55P03", "40001", "40P01"}
"""Shut down by its operator, after a crash, not yet up, idle or busy or locked for too long, in each other's way."""
_CROWDED = "53300"
_REMEDIES = {
    "25006": "can only be read, as a standby can; name the primary",
    "26000": "forgets between two statements: behind PgBouncer, pool sessions and not transactions",
    "28P01": "does not take the password; check it in the URL, in PGPASSWORD or in ~/.pgpass",
    "3D000": "has no such database; make it with createdb, or name another",
    "42P01": "has lost its table polyjudge_entries; run again to make it anew",
    "53100": "has no room: the server's disk is full. What was kept before is safe; make room and run again",
    "53200": (
        "is out of shared memory for its locks, one for each question under way; raise max_locks_per_transaction "
        "in postgresql.conf and restart it, or lower --concurrency"
    ),
}


class OutOfReachError(CacheError):
    """PostgreSQL cannot be reached now; it may be later."""


class NoCacheYetError(CacheError):
    """The database holds no cache."""


def problem_of(error: Exception, address: Address) -> CacheError:
    """Return our own error for one of asyncpg's or the system's."""
    state: str = getattr(error, "sqlstate", None) or ""
    # asyncpg follows the server's words with its hints on further lines.
    said = address.without_secrets(str(error).partition("\n")[0].strip().rstrip("."))
    if state:
        return _told_by_server(state, said, address.place)
    if isinstance(error, OSError):
        return _told_by_system(error, said, address.place)
    return CacheError(f"cannot be used: {said}", path=address.place)


def _told_by_server(state: str, said: str, place: str) -> CacheError:
    if state == _CROWDED:
        return OutOfReachError(f"has no connection left ({said}); raise max_connections or run fewer", path=place)
    if state in _AWAY or state.startswith("08"):
        return OutOfReachError(f"is out of reach ({said}); start PostgreSQL, or wait for it", path=place)
    if state == "42501":
        return CacheError(f"does not allow it ({said}); have the owner grant it, or name another user", path=place)
    if state == "28000":
        remedy = "check user and database, or add ?sslmode=require if it wants TLS"
        return CacheError(f"does not let this user in ({said}); {remedy}", path=place)
    return CacheError(_REMEDIES.get(state, f"cannot be used as a cache: {said} ({state})"), path=place)


def _told_by_system(error: OSError, said: str, place: str) -> CacheError:
    if isinstance(error, ssl.SSLError):
        return CacheError(f"comes to no terms over TLS ({said}); check sslmode and sslrootcert", path=place)
    if "rejected SSL upgrade" in said:
        return CacheError("offers no TLS, which sslmode asks for, or is no PostgreSQL; check the URL", path=place)
    if isinstance(error, socket.gaierror):
        return OutOfReachError("there is no such host; check its name", path=place)
    if isinstance(error, TimeoutError):
        return OutOfReachError("does not answer in time; check host and port, and what stands between", path=place)
    if isinstance(error, FileNotFoundError):
        return OutOfReachError("there is no such socket or certificate; check the URL", path=place)
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in said:
        return OutOfReachError(
            "nothing listens there (connection refused); start PostgreSQL, or check host and port", path=place
        )
    return OutOfReachError(f"is out of reach ({error.strerror or said}); check host and port", path=place)
