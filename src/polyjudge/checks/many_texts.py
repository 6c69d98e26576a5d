"""Check the outputs of many languages, over processes if there are many."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from polyjudge.concurrency.workers import FEW, Workers
from polyjudge.files.spill import Spilled
from polyjudge.languages.table import LanguageTable
from polyjudge.records.findings import CheckedText, TextCheck
from polyjudge.records.translation import Language, LanguageResult

from .checker import CheckedAlone, TextChecker, checked_output
from .policy import CheckPolicy

TEXTS_AT_ONCE = 250
_LETTERS_AT_ONCE = 250_000


@dataclass(slots=True)
class _Waiting:
    """A language whose outputs are being checked."""

    language: LanguageResult
    known: Language | None
    alone: Spilled[CheckedAlone]
    """What was found so far."""

    @property
    def is_checked(self) -> bool:
        return self.known is None or len(self.alone) == len(self.language.prompts)


@dataclass(slots=True)
class ManyTexts:
    """Checks the outputs of languages, one after the other; those of a long language stay on disk."""

    checker: TextChecker
    jobs: int = 1
    few: int = FEW
    """Outputs that are checked in this process."""
    at_once: int = TEXTS_AT_ONCE
    _waiting: deque[_Waiting] = field(default_factory=deque[_Waiting])
    _asked: deque[Sequence[_Waiting]] = field(default_factory=deque[Sequence[_Waiting]])
    """For each chunk that the workers have, the language of each of its texts."""

    def checked(
        self, languages: Iterable[LanguageResult]
    ) -> Iterator[tuple[LanguageResult, Sequence[TextCheck | None]]]:
        """Yield each language with the checks of its outputs, in order; None for all if the table does not have it."""
        setup = self.checker.table, self.checker.policy
        with Workers(_prepare, setup, size=len, jobs=self.jobs, few=self.few) as workers:
            for found in workers.map(self._chunks(languages)):
                for language, each in zip(self._asked.popleft(), found, strict=True):
                    language.alone.append(each)
                yield from self._finished()
            yield from self._finished()

    def _chunks(self, languages: Iterable[LanguageResult]) -> Iterator[Sequence[CheckedText]]:
        """Yield the outputs of all languages some at a time, fewer where they are long."""
        chunk, owners, letters = list[CheckedText](), list[_Waiting](), 0
        for text, owner in self._texts(languages):
            chunk.append(text)
            owners.append(owner)
            letters += len(text.text) + len(text.source)
            if len(chunk) == self.at_once or letters > _LETTERS_AT_ONCE:
                self._asked.append(owners)
                yield chunk
                chunk, owners, letters = [], [], 0
        if chunk:
            self._asked.append(owners)
            yield chunk

    def _texts(self, languages: Iterable[LanguageResult]) -> Iterator[tuple[CheckedText, _Waiting]]:
        for language in languages:
            known = self.checker.table.find(language.language_code, language.language_name)
            owner = _Waiting(language, known, Spilled())
            self._waiting.append(owner)
            if known is not None:
                yield from ((checked_output(each, known), owner) for each in language.prompts)

    def _finished(self) -> Iterator[tuple[LanguageResult, Sequence[TextCheck | None]]]:
        """Yield the languages at the head of the queue whose outputs were all checked."""
        while self._waiting and self._waiting[0].is_checked:
            found = self._waiting.popleft()
            yield found.language, self._completed(found)

    def _completed(self, found: _Waiting) -> Sequence[TextCheck | None]:
        known, prompts = found.known, found.language.prompts
        if known is None:
            return [None] * len(prompts)
        texts = (checked_output(each, known) for each in prompts)
        return Spilled(self.checker.completed(texts, found.alone, known)).short()


def _prepare(setup: tuple[LanguageTable, CheckPolicy]) -> Callable[[Sequence[CheckedText]], list[CheckedAlone]]:
    """Return what checks some texts, each alone."""
    table, policy = setup
    return TextChecker(table, policy=policy).check_alone
