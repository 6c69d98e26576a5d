"""Read what a git repository had at a revision, without running anything that the repository names.

A stranger's repository may name programs in its configuration: hooks, file-system monitors, filters, external
differences. Only objects are read here, never the working tree, so that none of them is needed; those that git would
run by itself are switched off.
"""

import os
from collections.abc import Mapping
from hashlib import sha1, sha256
from pathlib import Path
from typing import NamedTuple

from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError, ProviderError
from polyjudge.processes import SAFE_GIT, ProcessEnd, run_process

_TIMEOUT_S = 120.0
_LONGEST_LISTING = 400_000_000
_LONGEST_BLOB = 128_000_000
_SHOWN = 200
_SETTINGS = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.pager=cat")
_LOCALE = {
    "LC_ALL": "C",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}
_DEEPER = "Fetch its history: in actions/checkout, set fetch-depth to 0; elsewhere, run: git fetch --unshallow."
_FAILED = 128


class BaseFile(NamedTuple):
    """A file of a revision."""

    path: str
    """From the top folder of the repository."""
    blob: str


class Repository:
    """The repository that a folder is in, at the merge base of a revision and HEAD.

    `REV...HEAD` is what a pull request changes: what others have added to the branch of the revision meanwhile is not
    the change of this one.
    """

    def __init__(self, folder: Path, revision: str) -> None:
        refuse_option(revision)
        self._folder = folder
        top = self._run("rev-parse", "--show-toplevel")
        if top.code:
            raise _no_repository(folder, top)
        self.top = Path(os.fsdecode(top.out).rstrip("\n"))
        self.base = self._merge_base(revision)
        self._files: Mapping[str, BaseFile] | None = None

    @property
    def files(self) -> Mapping[str, BaseFile]:
        """The files at the merge base, by their paths."""
        if self._files is None:
            listed = self._checked("ls-tree", "-r", "-z", "--full-tree", self.base)
            found = dict[str, BaseFile]()
            for entry in listed.split(b"\0"):
                about, tab, path = entry.partition(b"\t")
                mode, _, rest = about.partition(b" ")
                kind, _, blob = rest.partition(b" ")
                if tab and kind == b"blob" and mode != b"120000":
                    name = os.fsdecode(path)
                    found[name] = BaseFile(name, blob.decode("ascii"))
            self._files = found
        return self._files

    def content(self, file: BaseFile) -> bytes:
        """Return the content of a file."""
        return self._checked("cat-file", "blob", file.blob)

    def path_of(self, path: Path) -> str:
        """Return the path of a file from the top folder; empty if it is not in the repository."""
        try:
            return path.parent.resolve().joinpath(path.name).relative_to(self.top.resolve()).as_posix()
        except ValueError:
            return ""

    def _merge_base(self, revision: str) -> str:
        named = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if named.code or not named.out.strip():
            raise self._unknown(revision)
        commit = named.out.decode("ascii").strip()
        found = self._run("merge-base", commit, "HEAD")
        if found.code or not found.out.strip():
            raise self._unrelated(revision)
        return found.out.decode("ascii").split()[0]

    def _unknown(self, revision: str) -> ConfigError:
        if self._is_shallow():
            message = f"The revision {revision!r} is not in this shallow clone. {_DEEPER}"
        else:
            message = (
                f"There is no revision {revision!r} in {str(self.top)!r}. Name a branch, a tag or a commit, such as "
                "origin/main; a branch that was never fetched needs: git fetch origin"
            )
        return ConfigError(message, option="since")

    def _unrelated(self, revision: str) -> ConfigError:
        if self._is_shallow():
            message = f"This shallow clone lacks the commits between {revision!r} and HEAD. {_DEEPER}"
        else:
            message = (
                f"{revision!r} and HEAD have no commit in common, so nothing can be compared. Name another revision."
            )
        return ConfigError(message, option="since")

    def _is_shallow(self) -> bool:
        return self._run("rev-parse", "--is-shallow-repository").out.strip() == b"true"

    def _checked(self, *words: str) -> bytes:
        ended = self._run(*words)
        if ended.code:
            raise DataError(f"git {words[0]} failed: {_reason(ended)}", path=self._folder)
        return ended.out

    def _run(self, *words: str) -> ProcessEnd:
        longest = _LONGEST_LISTING if words[0] == "ls-tree" else _LONGEST_BLOB
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        running = run_process(
            ["git", *_SETTINGS, *words],
            b"",
            timeout_s=_TIMEOUT_S,
            environment={**kept, **SAFE_GIT, **_LOCALE},
            folder=self._folder,
            longest=longest,
        )
        try:
            return run_sync(running)
        except ProviderError as error:
            raise DataError(str(error), path=self._folder) from None


def refuse_option(revision: str) -> None:
    """Refuse a revision that git would take for one of its options, or that names none."""
    if not revision.strip() or revision.startswith("-") or "\0" in revision or "\n" in revision:
        message = f"{revision!r} is not a revision. Name a branch, a tag or a commit, such as origin/main."
        raise ConfigError(message, option="since")


def blob_name(content: bytes, like: str) -> str:
    """Return the name that git gives to a content, with the same hash as that of another blob."""
    named = sha256 if len(like) > sha1(usedforsecurity=False).digest_size * 2 else sha1
    return named(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _no_repository(folder: Path, ended: ProcessEnd) -> DataError:
    reason = _reason(ended)
    if ended.code == _FAILED and b"safe.directory" in ended.err:
        return DataError(
            "git refuses to read this repository, because it belongs to another user. If you trust it, run: "
            f"git config --global --add safe.directory {str(folder.resolve())!r}",
            path=folder,
        )
    return DataError(f"changes since a revision need a git repository: {reason}", path=folder)


def _reason(ended: ProcessEnd) -> str:
    return " ".join(ended.err.decode(errors="replace").split())[:_SHOWN].removeprefix("fatal: ") or "no message"
