"""The items of a translation run."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from polyjudge.judges.grouped import BatchItem
from polyjudge.languages.table import LanguageTable
from polyjudge.records.translation import Language, LanguageResult, PromptResult
from polyjudge.rubrics.prompts import language_question

MUST_HAVE = ("zh-Hans", "yue", "es-419", "en")


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One prompt of one language; two are the same only if they are one."""

    language: LanguageResult
    known: Language | None
    """The language in the table."""
    index: int

    @property
    def prompt(self) -> PromptResult:
        """What was to be translated, and what came of it."""
        return self.language.prompts[self.index]

    @property
    def id(self) -> str:
        """A name for `--show-prompt`: `th:0`."""
        return f"{self.language.language_code or self.language.language_name}:{self.index}"

    def context(self) -> dict[str, str]:
        """Return what a judge is told beside the candidate."""
        name = self.language.language_name
        if self.known is not None:
            name = f"{self.known.name} ({self.known.native_name})"
        return {"language": name, **self._texts()}

    def plain_context(self) -> dict[str, str]:
        """Return what the judge `offline` is told: the language as the file names it, which may name its script."""
        named = {"language": self.language.language_code, "language_name": self.language.language_name}
        return {**named, "prompt": self.prompt.prompt, **self._texts()}

    def question(self) -> str:
        """Return what is asked about this language in particular."""
        return language_question(self.known.tag) if self.known else ""

    def batch_item(self) -> BatchItem:
        """Return this as one of several in a call."""
        return BatchItem(self.prompt.generated_output, self.context(), self.question())

    def _texts(self) -> dict[str, str]:
        texts = {"source": self.prompt.source_text, "reference": self.prompt.reference}
        return {name: text for name, text in texts.items() if text}


def tasks_of(
    languages: Iterable[LanguageResult], table: LanguageTable, *, samples: int | None = None, seed: int = 0
) -> list[Task]:
    """Return every prompt of the languages, or a seeded sample of so many of each."""
    tasks: list[Task] = []
    for language in languages:
        places = list(range(len(language.prompts)))
        if samples is not None and samples < len(places):
            pick = random.Random(f"{seed} {language.language_code} {language.language_name}")
            places = sorted(pick.sample(places, samples))
        known = table.find(language.language_code, language.language_name)
        tasks += [Task(language, known, place) for place in places]
    return tasks


def quick_choice(
    languages: Sequence[LanguageResult], table: LanguageTable
) -> tuple[list[LanguageResult], list[Language]]:
    """Return the must-have languages and the most spoken one of each script family, and the must-have ones absent."""
    chosen: list[LanguageResult] = []
    absent: list[Language] = []
    for tag in MUST_HAVE:
        wanted = table.find(tag)
        found = next((each for each in languages if table.find(each.language_code) == wanted), None)
        found = found or next((each for each in languages if table.find("", each.language_name) == wanted), None)
        if found is not None:
            chosen.append(found)
        elif wanted is not None:
            absent.append(wanted)
    families: dict[str, LanguageResult] = {}
    for language in languages:
        family = table.family(language.script_family, language.language_code, language.language_name).casefold()
        if family not in families or _weight(language, table) > _weight(families[family], table):
            families[family] = language
    chosen += [language for language in families.values() if language not in chosen]
    return chosen, absent


def _weight(language: LanguageResult, table: LanguageTable) -> tuple[bool, float]:
    """Return how well a language stands for its family: one with nothing to judge cannot, whoever speaks it."""
    known = table.find(language.language_code, language.language_name)
    return bool(language.prompts), known.speakers_millions if known else 0.0
