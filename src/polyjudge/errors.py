"""Every error polyjudge raises on purpose.

    PolyjudgeError
    ├── ConfigError               wrong before the first call                exit 2, never retried
    │   ├── UnknownNameError      lists the known names
    │   ├── MissingKeyError       names the variable to set                  soft skip: exit 0, 3 with --require-judge
    │   └── MissingExtraError     names the extra to install
    ├── DataError                 a file cannot be used: path and line       exit 2
    │   ├── ForeignFileError      a file that polyjudge did not write would be replaced
    │   ├── DuplicateKeyError     an object has a key twice, a table a column
    │   └── CacheError            the cache cannot be opened or written
    │       └── UnsharedRepliesError  paid replies are in a local cache, to be imported
    ├── ProviderError             a call failed                              the item is unjudged
    │   ├── TransientError        timeout, 5xx, lost connection; may carry retry_after_s
    │   │   └── RateLimitedError  asked too often: 429
    │   ├── RefusedError          4xx, content filter                        never retried
    │   └── NotRecordedError      a recording or replay holds no answer      never retried
    ├── StoppedError              no call can work, so the run stops         exit 3
    │   ├── UnusableError         the key is rejected, the model unknown
    │   ├── EmptyBatchesError     calls about several items brought no usable row
    │   └── CapReachedError       as many calls, tokens or dollars as allowed
    └── UnreadableReplyError      an answer without a verdict; keeps the text

A `ConfigError` and an `UnreadableReplyError` are also `ValueError`, so that code that knows nothing of
polyjudge can still catch them. Exit code 1 is no error: it means that what was judged missed its bar.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class PolyjudgeError(Exception):
    """Anything polyjudge raises on purpose."""

    exit_code = 3
    option = ""
    """The argument that would change this, by its name in Python; the command line names its flag."""
    value = ""
    """What to give it, where only one value would help."""


class ConfigError(PolyjudgeError, ValueError):
    """Something was wrong before the first call was made."""

    exit_code = 2

    def __init__(self, message: str, *, option: str = "", value: str = "") -> None:
        super().__init__(message)
        self.option = option
        self.value = value


class UnknownNameError(ConfigError):
    """A name that no table holds; the message lists those it does."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        close = get_close_matches(name, names, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        super().__init__(f"Unknown {what}: {name}. Available: {', '.join(names)}.{hint}")
        self.name = name
        self.known = names


class MissingKeyError(ConfigError):
    """An environment variable that a provider needs is not set; the message says in two lines what to do."""

    def __init__(self, variable: str, *, example: str, skipped: str) -> None:
        super().__init__(f"{variable} not set — skipping {skipped}.\nTo enable: export {variable}={example}")
        self.variable = variable
        self.example = example

    def instead(self, skipped: str) -> "MissingKeyError":
        """Return the same with another word for what is skipped."""
        return MissingKeyError(self.variable, example=self.example, skipped=skipped)


class MissingExtraError(ConfigError):
    """An optional package is not installed."""


class DataError(PolyjudgeError):
    """A file cannot be used; the message names it, and the line where there is one."""

    exit_code = 2

    def __init__(self, message: str, *, path: Path | str = "", line: int = 0, option: str = "") -> None:
        place = f"{path}:{line}: " if line else f"{path}: " if path else ""
        super().__init__(place + message)
        self.option = option
        self.path = path
        self.line = line


class ForeignFileError(DataError):
    """A file would be replaced that polyjudge did not write."""


class DuplicateKeyError(DataError):
    """An object of a JSON file has the same key twice, or a table the same column: it is not clear which one counts."""


class CacheError(DataError):
    """The cache cannot be opened or written, so nothing paid for could be kept."""


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
    """A call to a provider brought no answer."""

    kind = "provider_error"
    attempts = 1
    """How often the question was asked before this was raised."""


class TransientError(ProviderError):
    """The same call may work later: timeout, rate limit, server trouble, lost connection."""

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
        """No answer came at all, so nobody knows whether the call was carried out."""
        self.unreachable = unreachable
        """There was not even a connection."""


class RateLimitedError(TransientError):
    """The provider was asked more often than it allows."""

    kind = "transient"


class MalformedResponseError(ProviderError):
    """The provider answered, and charges for it, but what it said is no answer."""

    def __init__(self, message: str, *, text: str = "") -> None:
        super().__init__(message)
        self.text = text
        """What the model wrote, where it did."""


class RefusedError(ProviderError):
    """The provider or the model would not answer; asking again will not help."""

    kind = "refused"

    def __init__(self, message: str, *, text: str = "") -> None:
        super().__init__(message)
        self.text = text


class NotRecordedError(ProviderError):
    """A recording, or a cache in replay mode, holds no answer to this question."""

    kind = "not_recorded"


class StoppedError(PolyjudgeError):
    """No further call can work, so the run stops instead of failing every item."""


class UnusableError(StoppedError):
    """The provider rejects the key, does not know the model, or has no credit left."""


class EmptyBatchesError(StoppedError):
    """Calls about several items at once brought no usable row, so that every item would be asked about alone."""


class CapReachedError(StoppedError):
    """The caps on calls, tokens or spend leave no room for another call."""


class UnreadableReplyError(PolyjudgeError, ValueError):
    """The judge answered, but there is no verdict in what it wrote."""

    kind = "unreadable"

    def __init__(self, message: str, *, text: str) -> None:
        super().__init__(message)
        self.text = text
