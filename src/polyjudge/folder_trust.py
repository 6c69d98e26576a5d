"""Decide which files of the working folder may be used, because the folder may be untrusted.

`.polyjudge/` contains private state: the cache, trust cards, prices, models, languages, batches. A forged one changes
verdicts and costs. It is used if polyjudge created it here, or if the user has trusted it. Both are recorded outside
the folder, in `trust.json` of the user's state folder, by real path, owner and a random id that is also stored in
`.polyjudge/id`. A folder that was copied, cloned or unpacked has no record; its state is then kept in the user's state
folder instead.

`polyjudge.toml` may run commands and name addresses only after the user has trusted its content, recorded by SHA-256.
The same holds for a description of a translator over HTTP, which decides where texts and keys are sent.

`POLYJUDGE_TRUST` names folders, separated as in PATH, whose files are trusted without a record: for CI.
"""

import fcntl
import json
import os
import secrets
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any, cast

from polyjudge.errors import ConfigError, DataError

PRIVATE_FOLDER = Path(".polyjudge")
PROJECT_FILE = Path("polyjudge.toml")
ACCEPTED_FILE = Path("polyjudge-accepted.toml")
"""Where a project keeps the findings that it accepts; it only hides findings, so it needs no trust."""
CACHE_FILE = "cache.sqlite"
DEFAULT_CACHE = str(PRIVATE_FOLDER / CACHE_FILE)
"""The cache of the working folder."""
BATCHES_FOLDER = "batches"
"""The folder of the journal of batches in the private folder."""
TRUST_VARIABLE = "POLYJUDGE_TRUST"
_ID_FILE = "id"
_RECORDS = "trust.json"
_SCHEMA_VERSION = 1
_MANY_RECORDS = 200


class UntrustedFolderWarning(UserWarning):
    """The working folder has a `.polyjudge` that is not used."""


@dataclass(frozen=True, slots=True)
class TrustedPath:
    """One record: a private folder with its id and owner, or a project file with the hash of its content."""

    path: str
    proof: str
    owner: int = -1
    """The user id of a private folder's owner."""


def private_path(*parts: str) -> Path:
    """Return the path of private state: in `.polyjudge`, or in the user's state folder if that is not trusted."""
    if _is_absent(PRIVATE_FOLDER) or is_trusted_folder(PRIVATE_FOLDER):
        return PRIVATE_FOLDER.joinpath(*parts)
    instead = state_folder() / "folders" / sha256(os.fsencode(PRIVATE_FOLDER.absolute())).hexdigest()[:16]
    warnings.warn(
        f"{PRIVATE_FOLDER} is not trusted: polyjudge did not create it in this folder, or its trust was revoked. "
        f"{instead} is used instead. If you trust {PRIVATE_FOLDER}, run: polyjudge trust",
        UntrustedFolderWarning,
        stacklevel=1,  # one place, so that Python shows it once
    )
    return instead.joinpath(*parts)


def make_folder(folder: Path) -> None:
    """Create a folder with its parents; if the private folder is among them, record that polyjudge created it."""
    private = PRIVATE_FOLDER.absolute()
    if _is_absent(private) and folder.absolute().is_relative_to(private):
        _create(private)
    folder.mkdir(parents=True, exist_ok=True)


def is_trusted_folder(folder: Path) -> bool:
    """Say whether polyjudge created a private folder at this path for its current owner, or the user trusts it."""
    if _named_in_environment(folder.parent.resolve()):
        return True
    real = folder.resolve()
    proof = _id_of(real)
    if not proof or not real.is_dir():
        return False
    wanted = TrustedPath(str(real), proof, real.stat().st_uid)
    return wanted in _read_records()


def is_trusted_file(path: Path) -> bool:
    """Say whether the user has trusted a project file with its current content."""
    if _named_in_environment(path.parent.resolve()):
        return True
    return TrustedPath(str(path.resolve()), _hash_of(path)) in _read_records()


def is_trusted_description(path: Path, content: bytes) -> bool:
    """Say whether the user has trusted a description of a translator with this content, or a folder that it is in."""
    real = path.resolve()
    if any(map(_named_in_environment, real.parents)):
        return True
    return TrustedPath(str(real), sha256(content).hexdigest()) in _read_records()


def trust(folder: Path) -> list[Path]:
    """Record the private folder and the project file of `folder` as trusted; return those that exist.

    A file is recorded by itself.
    """
    if folder.is_file():
        _record(TrustedPath(str(folder.resolve()), _hash_of(folder)))
        return [folder.resolve()]
    trusted: list[TrustedPath] = []
    private, project = (folder / PRIVATE_FOLDER).resolve(), (folder / PROJECT_FILE).resolve()
    if private.is_dir():
        trusted.append(TrustedPath(str(private), _id_of(private) or _write_id(private), private.stat().st_uid))
    if project.is_file():
        trusted.append(TrustedPath(str(project), _hash_of(project)))
    _record(*trusted)
    return [Path(each.path) for each in trusted]


def revoke(folder: Path) -> list[Path]:
    """Remove the records of the private folder and the project file of `folder`, or of a file; return their paths."""
    paths = {str((folder / name).resolve()) for name in (PRIVATE_FOLDER, PROJECT_FILE, ".")}
    with _locked():
        records = _read_records()
        _write_records([each for each in records if each.path not in paths])
    return [Path(each.path) for each in records if each.path in paths]


def trusted_paths() -> list[TrustedPath]:
    """Return all records, sorted by path."""
    return sorted(_read_records(), key=lambda each: each.path)


def is_current(record: TrustedPath) -> bool:
    """Say whether a trusted path is unchanged since it was recorded."""
    path = Path(record.path)
    if record.owner < 0:
        return path.is_file() and _hash_of(path) == record.proof
    return path.is_dir() and _id_of(path) == record.proof and path.stat().st_uid == record.owner


def state_folder() -> Path:
    """Return the folder of the user's own state, outside every project."""
    given = os.environ.get("XDG_STATE_HOME", "")
    if Path(given).is_absolute():  # a relative one is invalid, and would be inside the working folder
        return Path(given) / "polyjudge"
    try:
        return Path.home() / ".local" / "state" / "polyjudge"
    except RuntimeError:
        raise ConfigError("The home folder is unknown: set HOME or XDG_STATE_HOME.") from None


def _is_absent(path: Path) -> bool:
    return not path.exists() and not path.is_symlink()


def _named_in_environment(folder: Path) -> bool:
    named = [Path(each) for each in os.environ.get(TRUST_VARIABLE, "").split(os.pathsep) if each]
    names = (PRIVATE_FOLDER.name, PROJECT_FILE.name)
    return any(folder == (each.parent if each.name in names else each).resolve() for each in named)


def _create(folder: Path) -> None:
    """Create a private folder, recorded before it is renamed to its final name: no process sees it unrecorded."""
    if _named_in_environment(folder.parent.resolve()):
        return
    real = folder.parent.resolve() / folder.name
    part = real.with_name(f"{real.name}.{secrets.token_hex(8)}.part")
    try:
        part.mkdir()
        (part / ".gitignore").write_text("*\n", encoding="utf-8")
        made = TrustedPath(str(real), _write_id(part), part.stat().st_uid)
        with _locked():
            if _is_absent(real):
                _write_records([*(each for each in _read_records() if each.path != made.path), made])
                part.rename(real)
    finally:
        rmtree(part, ignore_errors=True)  # it exists only after a failure


def _id_of(folder: Path) -> str:
    try:
        with (folder / _ID_FILE).open("rb") as file:
            return file.read(64).decode("ascii", errors="replace").strip()
    except OSError:
        return ""


def _write_id(folder: Path) -> str:
    chosen = secrets.token_hex(16)
    path = folder / _ID_FILE
    path.unlink(missing_ok=True)  # never through a link
    with path.open("x", encoding="ascii") as file:
        file.write(chosen + "\n")
    return chosen


def _hash_of(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _record(*added: TrustedPath) -> None:
    paths = {each.path for each in added}
    with _locked():
        _write_records([*(each for each in _read_records() if each.path not in paths), *added])


def _read_records() -> list[TrustedPath]:
    """Return the records; none if the file is missing or damaged."""
    try:
        data: Any = json.loads((state_folder() / _RECORDS).read_text(encoding="utf-8", errors="surrogateescape"))
        rows = cast(list[dict[str, Any]], data["trusted"])
        return [TrustedPath(str(row["path"]), str(row["proof"]), int(row["owner"])) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, ConfigError):
        return []


def _write_records(records: list[TrustedPath]) -> None:
    """Replace the records atomically, with the lock held; drop some of removed folders if there are many."""
    if len(records) > _MANY_RECORDS:
        records = [each for each in records if Path(each.path).parent.is_dir()]
    rows = [{"path": each.path, "proof": each.proof, "owner": each.owner} for each in records]
    text = json.dumps({"schemaVersion": _SCHEMA_VERSION, "trusted": rows}, indent=1)
    part = state_folder() / f"{_RECORDS}.part"
    with _explained():
        part.write_text(text + "\n", encoding="ascii")
        part.replace(state_folder() / _RECORDS)


@contextmanager
def _locked() -> Generator[None]:
    """Hold the lock for reading and then writing the records."""
    with _explained():
        state_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (state_folder() / "trust.lock").open("w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _explained() -> Generator[None]:
    try:
        yield
    except OSError as error:
        remedy = f"set XDG_STATE_HOME to a writable folder, or {TRUST_VARIABLE} to the working folder if you trust it"
        raise DataError(f"cannot be written: {error.strerror}; {remedy}", path=state_folder()) from None
