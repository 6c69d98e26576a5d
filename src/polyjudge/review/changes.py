"""Which messages of a file have changed since a revision.

A message has changed if its source, its translation, its context or its plural forms are not those of the merge base,
or if its translation was not yet confirmed there. A line that only moved is no change.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from polyjudge.catalogues.content import read_content
from polyjudge.errors import DataError
from polyjudge.records.messages import Catalogue, CatalogueFile, Message

from .git_repository import BaseFile, Repository, blob_name, refuse_option

_LEAST_ALIKE = 0.5
"""Share of lines that a renamed file has in common with the former one."""
_MOST_CANDIDATES = 50
ReadBase = Callable[[CatalogueFile, bytes, bytes | None], Catalogue]
"""Reads the former content of a file, and that of its sources if they are in another file."""
Identity = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Changed:
    """What has changed in a file."""

    names: Collection[Identity] | None = None
    """The changed messages; all of them if it is None."""
    problems: Collection[str] = ()
    """What was wrong with the file before."""
    has_forms: bool = True
    """The file declares other plural forms than before."""

    def has(self, message: Message) -> bool:
        """Say whether a message has changed."""
        return self.names is None or _identity(message) in self.names

    def has_problem(self, problem: str) -> bool:
        """Say whether a problem of the file is new."""
        return problem not in self.problems


EVERYTHING = Changed()


@dataclass(slots=True)
class Changes:
    """The changes since a revision, in one or several repositories."""

    revision: str
    _repositories: dict[Path, Repository] = field(default_factory=dict[Path, Repository])
    _gone: dict[Path, list[BaseFile]] = field(default_factory=dict[Path, list[BaseFile]])

    def __post_init__(self) -> None:
        """Refuse an invalid revision before anything is read."""
        refuse_option(self.revision)

    def of(self, file: CatalogueFile, now: Catalogue, content: bytes, read: ReadBase) -> Changed:
        """Return what has changed in a file; everything has if it is new."""
        path = Path(file.path)
        repository = self._repository(path.parent)
        before = self._before(repository, path, content)
        if before is None:
            return EVERYTHING
        source = None
        if file.source_path:
            source_path = Path(file.source_path)
            their_source = self._before(repository, source_path, read_content(source_path))
            if their_source is None:
                return EVERYTHING
            source = repository.content(their_source)
        former = repository.content(before)
        if former == content and (source is None or source == read_content(file.source_path)):
            return changes_between(now, now)
        try:
            then = read(file, former, source)
        except DataError:
            return EVERYTHING  # it could not be read then, so nothing in it was reviewed
        return changes_between(then, now)

    def _repository(self, folder: Path) -> Repository:
        folder = folder.resolve()
        if folder not in self._repositories:
            top = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)
            same = (each for each in self._repositories.values() if top is not None and each.top.resolve() == top)
            self._repositories[folder] = next(same, None) or Repository(folder, self.revision)
        return self._repositories[folder]

    def _before(self, repository: Repository, path: Path, content: bytes) -> BaseFile | None:
        """Return the former file of a path, also under another name."""
        own = repository.path_of(path)
        if own in repository.files:
            return repository.files[own]
        alike = [each for each in self._gone_from(repository) if PurePosixPath(each.path).suffix == path.suffix]
        for each in alike:
            if each.blob == blob_name(content, each.blob):
                return each
        lines = Counter(content.splitlines())
        # Files of the same name in another folder, and files of the same folder, come first.
        alike.sort(key=lambda each: -_closeness(each.path, own))
        shares = [(_share(lines, repository.content(each)), each) for each in alike[:_MOST_CANDIDATES]]
        share, best = max(shares, key=lambda pair: pair[0], default=(0.0, None))
        return best if share >= _LEAST_ALIKE else None

    def _gone_from(self, repository: Repository) -> list[BaseFile]:
        """Return the former files that are no longer there."""
        if repository.top not in self._gone:
            self._gone[repository.top] = [
                each for each in repository.files.values() if not (repository.top / each.path).exists()
            ]
        return self._gone[repository.top]


def _closeness(path: str, other: str) -> int:
    ours, theirs = PurePosixPath(path), PurePosixPath(other)
    return 2 * (ours.name == theirs.name) + (ours.parent == theirs.parent)


def _share(lines: Counter[bytes], content: bytes) -> float:
    theirs = Counter(content.splitlines())
    return (lines & theirs).total() / max(1, lines.total(), theirs.total())


def changes_between(then: Catalogue, now: Catalogue) -> Changed:
    """Return what has changed from one reading of a file to another."""
    before, after = _by_identity(then), _by_identity(now)
    return Changed(
        names=frozenset(name for name, forms in after.items() if forms != before.get(name)),
        problems=frozenset(problem for _, problem in then.problems),
        has_forms=then.plural_categories != now.plural_categories,
    )


def _identity(message: Message) -> Identity:
    return message.key, message.context


def _by_identity(catalogue: Catalogue) -> dict[Identity, Counter[Message]]:
    """Return the forms of each message, without line and comment, which may change."""
    found = defaultdict[Identity, Counter[Message]](Counter)
    for message in (*catalogue.messages, *catalogue.missing):
        plain = replace(message, line=0, comment="", syntaxes=(), is_raw=False, max_length=None)
        found[_identity(message)][plain] += 1
    return found
