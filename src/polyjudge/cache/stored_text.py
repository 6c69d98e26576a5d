"""Text as a database of any encoding takes it: ASCII without NUL, and told apart from text that looks escaped."""

import json
import re

from polyjudge.errors import DataError

_ODD = re.compile(r"[^\x01-\x7e]|\\")


def stored(text: str) -> str:
    """Return a text as it is, or with escapes where it holds anything that a database might refuse."""
    return json.dumps(text)[1:-1] if _ODD.search(text) else text


def restored(text: str) -> str:
    """Return the text that `stored` was given."""
    if "\\" not in text:
        return text
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        raise DataError(f"{text!r} has a broken escape") from None
