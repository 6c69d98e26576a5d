"""Review localisation files: find them, read one after another, check them, and count.

Only what is needed of a language is kept: its messages until its last file is read, for the checks of consistency.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from polyjudge.catalogues.content import read_content
from polyjudge.catalogues.discovery import NO_LANGUAGE, find_catalogues
from polyjudge.catalogues.language_names import language_tag
from polyjudge.catalogues.layouts import format_of
from polyjudge.catalogues.reading import read_catalogue
from polyjudge.checks.policy import CheckPolicy
from polyjudge.concurrency.workers import FEW, Workers
from polyjudge.errors import ConfigError, DataError
from polyjudge.languages.table import LanguageMatcher, LanguageTable, language_table
from polyjudge.records.findings import Finding
from polyjudge.records.messages import (
    Catalogue,
    CatalogueFile,
    FailOn,
    FoundCatalogues,
    Message,
    Review,
    ReviewedLanguage,
    ReviewFinding,
)

from .changes import EVERYTHING, Changed, Changes
from .consistency import Consistency
from .file_checks import FileFinding, file_checker, placed_findings
from .findings import made_review, review_finding
from .glossary import Glossary
from .message_checks import is_shown

OnFile = Callable[[CatalogueFile], None]
_NEIGHBOURS = 1


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """What is reviewed, and how."""

    paths: Sequence[Path]
    since: str = ""
    """Only messages that changed since this revision."""
    source: str = ""
    """The language of the sources; empty if the files or their names say it."""
    languages: frozenset[str] = frozenset()
    """Only these languages, by tag or name; all if it is empty."""
    policy: CheckPolicy = field(default_factory=CheckPolicy)
    glossary: Glossary | None = None
    fail_on: FailOn = "fail"


@dataclass(frozen=True, slots=True)
class MessageToJudge:
    """A message that was reviewed, with what is beside it in its file."""

    file: str
    language: str
    message: Message
    neighbours: tuple[str, ...]
    """Sources of the messages before and after it."""


class _Read(NamedTuple):
    """A file that was read, and is to be checked."""

    group: str
    """The language that its name says."""
    catalogue: Catalogue
    language: str
    changed: Changed


@dataclass(slots=True)
class _Counts:
    files: int = 0
    messages: int = 0
    untranslated: int = 0


class Reviewer:
    """Reviews files, and gathers the messages that a judge may be asked about."""

    def __init__(self, options: ReviewOptions, *, table: LanguageTable | None = None, gathers: bool = False) -> None:
        self._options = options
        self._table = table or language_table()
        self._matcher = LanguageMatcher(self._table)
        self._changes = Changes(options.since) if options.since else None
        self._gathers = gathers
        self.to_judge: list[MessageToJudge] = []
        """If they are gathered: those that a reader sees, in the order of the files."""
        self._findings: list[ReviewFinding] = []
        self._counts: dict[str, _Counts] = {}
        self._consistency: dict[str, Consistency] = {}
        self._skipped: list[str] = []
        self._sources: set[str] = set()

    def found(self) -> FoundCatalogues:
        """Return the files of the paths, those of one language together.

        Files that were named and turn out to be sources leave nothing to review, which a folder without any does not.
        """
        paths = self._options.paths
        found = find_catalogues(paths, source=self._source())
        if not found.files and not all(path.is_file() and format_of(path) for path in paths):
            shown = ", ".join("this folder" if path == Path() else str(path) for path in paths)
            why = f" {found.skipped[0]}" if found.skipped else ""
            raise DataError(f"no localisation files in {shown}.{why}")
        return found

    def _source(self) -> str:
        """Return the tag of the language of the sources; empty if none was named."""
        given = self._options.source
        known = self._table.find(given) if given else None
        found = language_tag(given) or (known.tag if known else "")
        if given and not found:
            message = f"Unknown language {given!r}.{self._table.suggestion(given)} Give a tag, such as en."
            raise ConfigError(message, option="source")
        return found

    def review(self, on_file: OnFile | None = None, *, jobs: int = 1, few: int = FEW) -> Review:
        """Check all files and return what was found, without the findings that are accepted.

        Files are checked in as many processes as there are `jobs`, after the first `few` messages.
        """
        found = self.found()
        self._skipped += found.skipped
        # Files whose content says their language come first: theirs is then known when the language ends.
        files = sorted(found.files, key=lambda file: (file.language, file.path))
        language, reading = "", deque[_Read]()
        setup = self._table, self._options.policy, self._options.glossary
        with Workers(file_checker, setup, size=lambda each: len(each.messages), jobs=jobs, few=few) as workers:
            for checked in workers.map(self._catalogues(files, reading, on_file)):
                read = reading.popleft()
                if read.group != language:
                    self._end(language)
                    language = read.group
                self._review_catalogue(read, checked)
        for each in list(self._consistency):
            self._end(each)
        if self._options.languages and not self._counts:
            named = ", ".join(sorted(self._options.languages))
            close = self._matcher.suggestions(self._options.languages)
            raise ConfigError(f"No file in {named} found.{close}", option="filter")
        return self._result()

    def _is_wanted_language(self, tag: str) -> bool:
        return not tag or not self._options.languages or self._matcher.is_among(tag, self._options.languages)

    def _catalogues(
        self, files: Iterable[CatalogueFile], reading: deque[_Read], on_file: OnFile | None
    ) -> Iterator[Catalogue]:
        """Yield the files that can be read, and add what is known of each to `reading`."""
        for file in files:
            read = self._read_file(file) if self._is_wanted_language(file.language) else None
            if read is not None:
                reading.append(read)
                yield read.catalogue
            if on_file is not None:
                on_file(file)

    def _read_file(self, file: CatalogueFile) -> _Read | None:
        group = file.language
        try:
            content = read_content(file.path)
            catalogue = read_catalogue(file, content=content)
        except DataError as error:
            self._note_broken(file, error)
            return None
        file = catalogue.file
        if not file.language:
            self._skipped.append(f"{file.path}: neither its name nor its content says its language")
            return None
        if not self._is_wanted_language(file.language):
            return None
        self._sources.add(file.source_language)
        known = self._table.find(file.language)
        if known is None:
            note = f"{file.path}: {file.language} is not in the language table, so only its form was checked"
            self._skipped.append(f"{note}.{self._table.suggestion(file.language)}".removesuffix("."))
        changes = self._changes
        changed = EVERYTHING if changes is None else changes.of(file, catalogue, content, _read_former)
        return _Read(group, catalogue, known.tag if known else file.language, changed)

    def _note_broken(self, file: CatalogueFile, error: DataError) -> None:
        """Report a file of a folder that cannot be read as a finding; one that was named is an error."""
        if Path(file.path) in self._options.paths:
            raise error
        text = str(error).removeprefix(f"{file.path}:").lstrip(" 0123456789:")
        finding = Finding("file_broken", "fail", f"The file {text}{'' if text.endswith(('.', '?')) else '.'}")
        wanted = self._options.policy.wanted(finding)
        if wanted is not None:
            self._counts_of(file.language or NO_LANGUAGE).files += 1
            language = file.language or NO_LANGUAGE
            self._findings.append(review_finding(wanted, None, file.path, language, error.line or 1))

    def _review_catalogue(self, read: _Read, checked: Sequence[FileFinding]) -> None:
        _, catalogue, language, changed = read
        path, counts = catalogue.file.path, self._counts_of(language)
        counts.files += 1
        wanted = {id(message) for message in (*catalogue.messages, *catalogue.missing) if changed.has(message)}
        counts.messages += sum(id(message) in wanted for message in catalogue.messages)
        counts.untranslated += sum(
            id(message) in wanted and not message.translation.strip() and bool(message.source)
            for message in (*catalogue.messages, *catalogue.missing)
        )
        for message, finding, line, problem in placed_findings(catalogue, checked):
            of_file = changed.has_problem(problem) if problem else changed.has_forms
            if of_file if message is None else id(message) in wanted:
                self._findings.append(review_finding(finding, message, path, language, line))
        consistency = self._consistency.setdefault(language, Consistency())
        for message in catalogue.messages:
            if is_shown(message) and message.source:
                consistency.add(path, message, is_wanted=id(message) in wanted)
        if self._gathers:
            self._gather(catalogue, language, wanted)

    def _gather(self, catalogue: Catalogue, language: str, wanted: Collection[int]) -> None:
        messages = catalogue.messages
        sources = list(dict.fromkeys(message.source or message.key for message in messages))
        places = {source: place for place, source in enumerate(sources)}
        for message in messages:
            if id(message) in wanted and is_shown(message) and message.source.strip():
                place = places[message.source or message.key]
                beside = (*sources[max(0, place - _NEIGHBOURS) : place], *sources[place + 1 : place + 1 + _NEIGHBOURS])
                self.to_judge.append(MessageToJudge(catalogue.file.path, language, message, beside))

    def _end(self, language: str) -> None:
        """Compare the messages of a language with each other, and forget them."""
        known = self._table.find(language)
        consistency = self._consistency.pop(known.tag if known else language, None)
        for place, finding in consistency.findings() if consistency else ():
            wanted = self._options.policy.wanted(finding)
            if wanted is not None:
                tag = known.tag if known else language
                self._findings.append(review_finding(wanted, place.message, place.file, tag, place.message.line))

    def _counts_of(self, language: str) -> _Counts:
        return self._counts.setdefault(language, _Counts())

    def _result(self) -> Review:
        options = self._options
        return made_review(
            self._findings,
            self._languages(),
            options.policy.accepted,
            since=options.since,
            skipped=self._skipped,
            source_language=self._sources.pop() if len(self._sources) == 1 else "",
            fail_on=options.fail_on,
        )

    def _languages(self) -> Iterator[ReviewedLanguage]:
        """Yield the counts of each language; with a revision, of those in which anything has changed."""
        found = {each.language for each in self._findings}
        for tag, counts in sorted(self._counts.items()):
            if self._options.since and not (counts.messages or counts.untranslated or tag in found):
                continue
            known = self._table.find(tag)
            yield ReviewedLanguage(
                language=tag,
                name=known.name if known else tag,
                files=counts.files,
                messages=counts.messages,
                untranslated=counts.untranslated,
            )


def _read_former(file: CatalogueFile, content: bytes, source_content: bytes | None) -> Catalogue:
    return read_catalogue(file, content=content, source_content=source_content)
