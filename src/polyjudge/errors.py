"""Every error polyjudge raises on purpose.

    PolyjudgeError
    ├── ConfigError               wrong options or settings                  exit 2, never retried
    │   ├── UnknownNameError      lists the known names
    │   ├── MissingKeyError       names the variable to set                  soft skip: exit 0, 3 with --require-judge
    │   └── MissingExtraError     names the command that installs it         exit 3 if it is the judge's, else 2
    ├── DataError                 a file cannot be used: path and line       exit 2
    │   ├── ForeignFileError      a file that may hold the only copy would be replaced
    │   ├── DuplicateKeyError     an object has a key twice, a table a column
    │   ├── EncodingError         the bytes are not text in the expected encoding
    │   ├── MissingColumnError    a table has no column for what is needed
    │   └── CacheError            the cache cannot be opened or written
    │       └── UnsharedRepliesError  paid replies are in a local cache, to be imported
    ├── ProviderError             a call failed                              the item is unjudged
    │   ├── TransientError        timeout, 5xx, lost connection; may carry retry_after_s
    │   │   └── RateLimitedError  too many requests: 429
    │   ├── MalformedResponseError  a response without a usable answer       the item is unjudged
    │   ├── RefusedError          4xx, content filter                        never retried
    │   └── NotRecordedError      a recording or replay has no answer        never retried
    ├── StoppedError              no further call can work, the run stops    exit 3
    │   ├── UnusableError         the key is rejected, the model unknown
    │   ├── EmptyBatchesError     calls about several items returned no usable row
    │   └── CapReachedError       the limit of calls, tokens or dollars is reached
    └── UnreadableReplyError      an answer without a verdict; keeps the text

A `ConfigError` and an `UnreadableReplyError` are also `ValueError`, so that code without polyjudge's classes can catch
them. Exit code 1 is not an error: it means that the judged texts failed.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path


def suggestion(name: str, known: Iterable[str], shown: str = "{!r}") -> str:
    """Return a sentence with the known name that is most like an unknown one, empty if none is."""
    from difflib import get_close_matches  # here, because most commands need none of it

    close = get_close_matches(name, list(known), n=1)
    return f" Did you mean {shown.format(close[0])}?" if close else ""


def other_version(found: object, expected: int) -> str:
    """Return the message about a file whose `schemaVersion` is not the expected one."""
    return (
        f"schemaVersion is {found!r}, expected {expected}; it is from another version of polyjudge or another program"
    )


class PolyjudgeError(Exception):
    """The base of all errors that polyjudge raises on purpose."""

    exit_code = 3
    option = ""
    """The Python argument that would fix this; the command line shows its flag."""
    value = ""
    """The value to give it, if there is only one."""


class ConfigError(PolyjudgeError, ValueError):
    """An option or setting is wrong; raised before the first call."""

    exit_code = 2

    def __init__(self, message: str, *, option: str = "", value: str = "") -> None:
        super().__init__(message)
        self.option = option
        self.value = value


class UnknownNameError(ConfigError):
    """A name is not in its table; the message lists the known names."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        super().__init__(f"Unknown {what}: {name}. Available: {', '.join(names)}.{suggestion(name, names)}")
        self.name = name
        self.known = names


class MissingKeyError(ConfigError):
    """An environment variable that a provider needs is not set; the message says what to set."""

    def __init__(self, variable: str, *, example: str, skipped: str, install: str = "") -> None:
        first = f"{install} && " if install else ""
        super().__init__(f"{variable} not set — skipping {skipped}.\nTo enable: {first}export {variable}={example}")
        self.variable = variable
        self.example = example
        self.skipped = skipped
        self.install = install
        """The command that installs what is missing too."""

    def instead(self, *, skipped: str = "", install: str = "") -> "MissingKeyError":
        """Return the same error with another name for what is skipped, or with what else is missing."""
        skipped, install = skipped or self.skipped, install or self.install
        return MissingKeyError(self.variable, example=self.example, skipped=skipped, install=install)


class MissingExtraError(ConfigError):
    """An optional package is not installed."""


class DataError(PolyjudgeError):
    """A file cannot be used; the message names the file and, if known, the line."""

    exit_code = 2

    def __init__(
        self, message: str, *, path: Path | str = "", line: int = 0, option: str = "", value: str = ""
    ) -> None:
        place = f"{path}:{line}: " if line else f"{path}: " if path else ""
        super().__init__(place + message)
        self.option = option
        self.value = value
        self.path = path
        self.line = line


class ForeignFileError(DataError):
    """An output would replace a file that polyjudge did not write, or that holds other data or more of it."""


class DuplicateKeyError(DataError):
    """An object of a JSON file has the same key twice, or a table the same column."""


class EncodingError(DataError):
    """The bytes of a file are not text in the expected encoding."""


class MissingColumnError(DataError):
    """A table has no column for what is needed; the message lists the columns it has."""

    def __init__(
        self,
        roles: Sequence[str],
        found: Sequence[str],
        *,
        path: Path | str = "",
        given: str = "",
        is_role: bool = True,
        may_lack_header: bool = False,
    ) -> None:
        named = [name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…" for name in found[:_MOST_NAMES]]
        more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
        what = f"no column {given!r} for {roles[0]}" if given else f"no {' or '.join(roles)} column"
        super().__init__(f"{what}. Found: {', '.join(named)}{more}.", path=path)
        self.role = roles[0]
        self.is_role = is_role
        """Whether it is a role, and not a language."""
        self.may_lack_header = may_lack_header
        """Whether no column was recognised, so that the first row may have no names."""


_MOST_NAMES = 30
_LONGEST_NAME = 60


class CacheError(DataError):
    """The cache cannot be opened or written, so replies could not be stored."""


class UnsharedRepliesError(CacheError):
    """Paid replies are in a local cache, because the shared one could not be written."""

    def __init__(self, message: str, *, fallback: Path, cache: str) -> None:
        super().__init__(message)
        self.fallback = fallback
        self.cache = cache
        """The shared cache, without its password."""


class CacheWarning(UserWarning):
    """An error of the cache that no caller could receive, because its task was cancelled."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class ProviderError(PolyjudgeError):
    """A call to a provider failed."""

    kind = "provider_error"
    attempts = 1
    """Number of calls before this was raised."""


class TransientError(ProviderError):
    """The same call may work later: timeout, rate limit, server error, lost connection."""

    kind = "transient"

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        may_be_charged: bool = False,
        unreachable: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.may_be_charged = may_be_charged
        """There was no response, so the call may have been carried out and charged."""
        self.unreachable = unreachable
        """The connection could not be made."""


class RateLimitedError(TransientError):
    """The provider's rate limit was exceeded."""

    kind = "transient"


class MalformedResponseError(ProviderError):
    """The provider sent a response, and charges for it, but it has no usable answer."""

    def __init__(self, message: str, *, text: str = "") -> None:
        super().__init__(message)
        self.text = text
        """The model's text, if there is any."""


class RefusedError(ProviderError):
    """The provider or the model refused to answer; a retry will not help."""

    kind = "refused"

    def __init__(self, message: str, *, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class NotRecordedError(ProviderError):
    """A recording, or a cache in replay mode, has no answer to this question."""

    kind = "not_recorded"


class StoppedError(PolyjudgeError):
    """No further call can work, so the run stops instead of failing every item."""


class UnusableError(StoppedError):
    """The provider rejects the key, does not know the model, or has no credit left."""


class EmptyBatchesError(StoppedError):
    """Calls about several items returned no usable row, so each item would need a call of its own."""


class CapReachedError(StoppedError):
    """The limits of calls, tokens or spend do not allow another call."""


class UnreadableReplyError(PolyjudgeError, ValueError):
    """The judge's reply contains no verdict."""

    kind = "unreadable"

    def __init__(self, message: str, *, text: str) -> None:
        super().__init__(message)
        self.text = text
