"""The tasks of a translation run, and the judge of single tasks."""

import random
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from polyjudge.checks.checker import TextChecker
from polyjudge.checks.policy import CheckPolicy
from polyjudge.judges.asking import ProviderSource
from polyjudge.judges.base import ItemWorker, ModelAddresses, bound, close_judge
from polyjudge.judges.grouped import BatchItem, with_question
from polyjudge.languages.table import LanguageMatcher, LanguageTable
from polyjudge.records.fingerprint import prompt_sha256
from polyjudge.records.outcomes import Item, RunOutcome
from polyjudge.records.requests import ModelName
from polyjudge.records.rubrics import Rubric
from polyjudge.records.translation import Language, LanguageResult, LanguageScore, PromptResult
from polyjudge.rubrics.prompts import PromptRenderer, language_question
from polyjudge.runs.plan import repeated
from polyjudge.runs.stack import judge_by_models
from polyjudge.verdicts.translation import Verdict, language_verdict
from polyjudge.verdicts.trust import JudgeTrust

MUST_HAVE = ("zh-Hans", "yue", "es-419", "en")


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One prompt of one language; compared by identity."""

    language: LanguageResult
    known: Language | None
    """The language in the table."""
    index: int

    @property
    def prompt(self) -> PromptResult:
        """The source text with the generated output."""
        return self.language.prompts[self.index]

    @property
    def id(self) -> str:
        """The id of its item: `th:0`."""
        return f"{self.language.language_code or self.language.language_name}:{self.index}"

    def context(self) -> dict[str, str]:
        """Return what a judge is shown besides the candidate."""
        name = self.language.language_name
        if self.known is not None:
            name = f"{self.known.name} ({self.known.native_name})"
        return {"language": name, **self._texts()}

    def item(self, *, offline: bool = False) -> Item:
        """Return the item of this task; the judge `offline` reads the language name of the file."""
        context = self.context()
        if offline:
            named = {"language_name": self.language.language_name, "prompt": self.prompt.prompt}
            context = {**named, **self._texts()}
        return Item(self.id, self.prompt.generated_output, context, self.language.language_code)

    def question(self) -> str:
        """Return the additional question about this language."""
        return language_question(self.known.tag) if self.known else ""

    def batch_item(self) -> BatchItem:
        """Return this task as one of several in a call."""
        return BatchItem(self.prompt.generated_output, self.context(), self.question())

    def _texts(self) -> dict[str, str]:
        texts = {"source": self.prompt.source_text, "reference": self.prompt.reference}
        return {name: text for name, text in texts.items() if text}


class LanguageJudge:
    """Judges each task in a call of its own, by models or the checks, with the question of its language.

    `prompts_in_groups`: hashes of the prompts about several languages by which an earlier run judged the tasks.
    """

    def __init__(
        self,
        rubric: Rubric,
        names: Sequence[ModelName],
        tasks: Iterable[Task],
        *,
        max_tokens: int | None = None,
        repeats: int = 1,
        prompts_in_groups: Mapping[str, set[str]] | None = None,
        checks: CheckPolicy | None = None,
    ) -> None:
        self.rubric = rubric
        self.policy = checks
        """What is wanted of the checks where they are the judge."""
        self.repeats = repeats if names else 1
        self._question_of = {task.id: task.question() if names else "" for task in tasks}
        rubrics = {question: with_question(rubric, question) for question in dict.fromkeys(self._question_of.values())}
        self._judges: dict[str, ItemWorker] = {
            question: repeated(judge_by_models(asking, names, max_tokens=max_tokens, checks=checks), repeats)
            for question, asking in rubrics.items()
        }
        self._renderers = {question: PromptRenderer(asking) for question, asking in rubrics.items()} if names else {}
        self._prompts_in_groups = prompts_in_groups or {}
        prompts = [str(getattr(judge, "fingerprint", "")) for judge in self._judges.values()]
        self.fingerprint = " ".join([*prompts, str(max_tokens or "")])

    @property
    def models(self) -> ModelAddresses:
        """The models with their addresses."""
        return next((getattr(judge, "models", ()) for judge in self._judges.values()), ())

    def bind(self, source: ProviderSource) -> "LanguageJudge":
        """Return this judge with its providers opened by a run."""
        bound_judge = copy(self)
        bound_judge._judges = {question: bound(judge, source) for question, judge in self._judges.items()}
        return bound_judge

    async def judge(self, item: Item, *, repeat: int = 0) -> RunOutcome:
        """Judge an item."""
        return await self._judges[self._question_of[item.id]].judge(item, repeat=repeat)

    def prompt_hashes(self, item: Item) -> set[str]:
        """Return the hashes of all prompts by which an item may have been judged."""
        renderer = self._renderers.get(self._question_of[item.id])
        prompt = item.candidate if renderer is None else renderer.render(item.candidate, item.context)
        return {prompt_sha256(prompt), *self._prompts_in_groups.get(item.id, ())}

    async def aclose(self) -> None:
        """Close the providers of all judges."""
        for judge in self._judges.values():
            await close_judge(judge)


def tasks_of(
    languages: Iterable[LanguageResult], table: LanguageTable, *, samples: int | None = None, seed: int = 0
) -> list[Task]:
    """Return a task for every prompt of the languages, or for a seeded sample of each language."""
    tasks: list[Task] = []
    for language in languages:
        indexes = list(range(len(language.prompts)))
        if samples is not None and samples < len(indexes):
            pick = random.Random(f"{seed} {language.language_code} {language.language_name}")
            indexes = sorted(pick.sample(indexes, samples))
        known = table.find(language.language_code, language.language_name)
        tasks += [Task(language, known, index) for index in indexes]
    return tasks


def named_languages(
    languages: Iterable[LanguageResult], names: Iterable[str], table: LanguageTable
) -> list[LanguageResult]:
    """Select languages by name or tag."""
    wanted, matcher = frozenset(names), LanguageMatcher(table)
    return [
        each
        for each in languages
        if matcher.is_among(each.language_code, wanted) or matcher.is_among(each.language_name, wanted)
    ]


def quick_choice(
    languages: Sequence[LanguageResult], table: LanguageTable
) -> tuple[list[LanguageResult], list[Language]]:
    """Select the must-have languages and the most spoken one of each script family; also return missing must-haves."""
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
    """Return the rank of a language in its family: by speakers, after those with prompts."""
    known = table.find(language.language_code, language.language_name)
    return bool(language.prompts), known.speakers_millions if known else 0.0


def verdicts_of(
    languages: Sequence[LanguageResult],
    scores: Sequence[LanguageScore],
    tier: str,
    table: LanguageTable,
    trust: JudgeTrust,
    *,
    checks: CheckPolicy | None = None,
) -> list[Verdict]:
    """Return the verdict on each language from its scores and the checks, all of them if no policy is given."""
    checker = TextChecker(table, policy=checks or CheckPolicy())
    return [
        language_verdict(language, checker.check_outputs(language), {tier: score}, table, {tier: trust})
        for language, score in zip(languages, scores, strict=True)
    ]
