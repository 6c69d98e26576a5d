"""Plan the trials of a calibration: reference texts, clean and perturbed with rising severity."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from polyjudge.errors import ConfigError
from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import ReferenceText
from polyjudge.verdicts.trust import TEXTS_FOR_A_VERDICT

from .edits import EditContext
from .perturbations import CONTROL_TYPES, PERTURBATION_TYPES, neighbours_of, perturbation, perturbed_versions

SEVERITIES = (0.25, 0.5, 0.75, 1.0)
CLEAN = ""
"""The kind of a trial without a perturbation."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One question to the judge: a text, clean or with one perturbation."""

    text: ReferenceText
    kind: str
    severity: float
    candidate: str

    @property
    def id(self) -> str:
        """The id of the trial, which is the same in every run."""
        return trial_id(self.text, self.kind, self.severity)


def trial_id(text: ReferenceText, kind: str, severity: float) -> str:
    """Return the id of a trial."""
    return f"{text.language}|{text.id}|{kind or 'clean'}|{severity:g}"


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Which perturbations, at which severities, and the maximum number of questions."""

    types: Sequence[str] = (*PERTURBATION_TYPES, *CONTROL_TYPES)
    severities: Sequence[float] = SEVERITIES
    texts_per_language: int = 20
    seed: int = 0
    budget: int | None = None
    """The maximum number of questions; None for all."""

    def __post_init__(self) -> None:
        for name in self.types:
            perturbation(name)
        wrong = [severity for severity in self.severities if not 0 < severity <= 1]
        if wrong or not self.severities:
            raise ConfigError(f"severities must be above 0 and at most 1, not {wrong[0] if wrong else 'empty'}")
        if max(self.severities) != 1:
            raise ConfigError("the severities must include 1, the full perturbation")


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """The questions, the most informative first."""

    trials: tuple[Trial, ...]
    repeats: tuple[tuple[Trial, str], ...] = ()
    """Trials with the same text as another one, each with the id of that one."""
    left_out: int = 0
    """Questions beyond the budget."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The tags, in order."""
        return tuple(sorted({trial.text.language for trial in self.trials}))


def plan_trials(texts: Iterable[ReferenceText], options: TrialOptions, table: LanguageTable) -> TrialPlan:
    """Perturb every text in every way, and order the trials by how informative they are.

    Texts that a perturbation does not change are left out. Full severity comes before the severities between, and
    texts with many possible perturbations before others.
    """
    given = list(texts)
    _refuse_duplicates(given)
    chosen = chosen_texts(given, options.texts_per_language, options.seed)
    versions = [_text_versions(text, chosen, options, table) for group in chosen.values() for text in group]
    indexes = {language: index for index, language in enumerate(chosen)}
    trials, repeats = list[tuple[tuple[int, int], Trial]](), list[tuple[Trial, str]]()
    for rank, each in _ranked(versions):
        for stage, turn, trial, known in each.trials(options, indexes[each.text.language]):
            if known is None:
                trials.append(((rank + TEXTS_FOR_A_VERDICT * stage, turn), trial))
            else:
                repeats.append((trial, known))
    trials.sort(key=lambda each: each[0])
    ordered = list(_each_after_its_clean_trial([trial for _, trial in trials]))
    kept = _within_budget(ordered, options.budget)
    return TrialPlan(tuple(kept), tuple(repeats), len(ordered) - len(kept))


@dataclass(frozen=True, slots=True)
class _TextVersions:
    """One text with its perturbed versions."""

    text: ReferenceText
    perturbed: Mapping[str, Sequence[str]]
    """By kind: the text at each severity."""

    def trials(self, options: TrialOptions, place_of_language: int) -> Iterator[tuple[int, int, Trial, str | None]]:
        """Yield each trial with its stage, its order within the stage, and the id of an earlier trial of the same text.

        Each language starts with another kind, so that a small budget covers all kinds in some language.
        """
        if not self.perturbed:
            return
        clean = Trial(self.text, CLEAN, 0.0, self.text.text)
        asked = {self.text.text: clean.id}
        yield 0, -1, clean, None
        stages, kinds = _stages(options.severities), list(options.types)
        for kind, versions in self.perturbed.items():
            turn = (kinds.index(kind) + place_of_language) % len(kinds)
            for index in stages:
                severity = options.severities[index]
                if kind in CONTROL_TYPES and severity != 1:
                    continue
                trial = Trial(self.text, kind, severity, versions[index])
                known = asked.setdefault(trial.candidate, trial.id)
                yield stages.index(index), turn, trial, known if known != trial.id else None


def _stages(severities: Sequence[float]) -> list[int]:
    """Return the indexes of the severities, the most informative first: the highest, the middle, the rest."""
    end = max(range(len(severities)), key=lambda index: severities[index])
    return [end, *sorted(set(range(len(severities))) - {end}, key=lambda index: abs(severities[index] - 0.5))]


def _text_versions(
    text: ReferenceText, chosen: Mapping[str, Sequence[ReferenceText]], options: TrialOptions, table: LanguageTable
) -> _TextVersions:
    context = edit_context(text, chosen, table)
    perturbed: dict[str, Sequence[str]] = {}
    for kind in options.types:
        versions = perturbed_versions(text.text, kind, options.severities, options.seed, context)
        if versions[_stages(options.severities)[0]] != text.text:
            perturbed[kind] = versions
    return _TextVersions(text, perturbed)


def edit_context(
    text: ReferenceText, chosen: Mapping[str, Sequence[ReferenceText]], table: LanguageTable
) -> EditContext:
    """Return what perturbations may use: source, text in a neighbouring language, other texts of the language."""
    here = chosen[text.language]
    same = [each for each in here if each.text != text.text and (not text.source or each.source != text.source)]
    start = next((index for index, other in enumerate(chosen[text.language]) if other is text), 0)
    known = table.find(text.language)
    return EditContext(
        language=known.tag if known else text.language,
        source=text.source,
        neighbour=_neighbour(text, chosen, known.tag if known else text.language),
        others=tuple(other.text for other in (*same[start:], *same[:start]))[:8],
    )


def _neighbour(text: ReferenceText, chosen: Mapping[str, Sequence[ReferenceText]], tag: str) -> str:
    """Return the same content in the closest language that has it."""
    if not text.source:
        return ""
    for near in neighbours_of(tag):
        for other in chosen.get(near, ()):
            if other.source == text.source and other.text != text.text:
                return other.text
    return ""


def chosen_texts(texts: Iterable[ReferenceText], most: int, seed: int) -> dict[str, list[ReferenceText]]:
    """Choose at most `most` texts of each language, and the same sources in all languages."""
    groups: defaultdict[str, list[ReferenceText]] = defaultdict(list)
    for text in texts:
        if text.text.strip():
            groups[text.language].append(text)

    def sort_key(text: ReferenceText) -> bytes:
        return sha256(f"{seed}|{text.source or text.id}".encode(errors="surrogatepass")).digest()

    return {language: sorted(group, key=sort_key)[:most] for language, group in groups.items()}


def _ranked(texts: Sequence[_TextVersions]) -> Iterator[tuple[int, _TextVersions]]:
    """Yield each text with its rank within its language: those with many possible perturbations first."""
    counts: defaultdict[str, int] = defaultdict(int)
    for text in sorted(texts, key=lambda each: -len(each.perturbed)):
        yield counts[text.text.language], text
        counts[text.text.language] += 1


def _each_after_its_clean_trial(trials: Sequence[Trial]) -> Iterator[Trial]:
    """Move each clean trial directly before the first perturbed one of its text."""
    clean = {(trial.text.language, trial.text.id): trial for trial in trials if trial.kind == CLEAN}
    for trial in trials:
        if trial.kind != CLEAN:
            first = clean.pop((trial.text.language, trial.text.id), None)
            yield from [first, trial] if first is not None else [trial]


def _within_budget(trials: list[Trial], budget: int | None) -> list[Trial]:
    """Apply the budget; drop a clean trial at the end, which would have no perturbed one to compare with."""
    kept = trials if budget is None else trials[:budget]
    return kept[:-1] if kept and kept[-1].kind == CLEAN else kept


def _refuse_duplicates(texts: Iterable[ReferenceText]) -> None:
    seen: set[tuple[str, str]] = set()
    for text in texts:
        if (text.language, text.id) in seen:
            raise ConfigError(f"two reference texts in the language {text.language!r} have the id {text.id!r}")
        seen.add((text.language, text.id))
