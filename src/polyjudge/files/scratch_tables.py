"""Tables that are too large for memory, in a database without a name."""

import sqlite3
import weakref


def open_scratch(owner: object, schema: str) -> sqlite3.Connection:
    """Open a database that is closed, and gone, with its owner, and goes to disk only when it grows large."""
    scratch = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -16000", schema):
        scratch.execute(statement)
    scratch.execute("BEGIN")
    weakref.finalize(owner, scratch.close)
    return scratch


def stored(text: str) -> bytes:
    """Return a text so that it is sorted as Python sorts it, half characters and all."""
    return text.encode(errors="surrogatepass")


def unstored(text: bytes) -> str:
    """Return the text that was stored."""
    return text.decode(errors="surrogatepass")
