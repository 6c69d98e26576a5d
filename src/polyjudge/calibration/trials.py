"""What a judge is asked to show that it can be trusted: good texts, clean and spoiled more and more."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from polyjudge.errors import ConfigError
from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import ReferenceText

from .edits import EditContext
from .perturbations import CONTROL_TYPES, PERTURBATION_TYPES, neighbours_of, perturbation, severity_ladder

SEVERITIES = (0.25, 0.5, 0.75, 1.0)
_ENOUGH_FOR_A_VERDICT = 9
"""Texts seen at both ends before the steps between are looked at."""
CLEAN = ""
"""Stands for no spoiling at all."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One question to the judge: a text, clean or spoiled in one way to some degree."""

    text: ReferenceText
    kind: str
    severity: float
    candidate: str

    @property
    def id(self) -> str:
        """A name that stays the same over runs."""
        return trial_id(self.text, self.kind, self.severity)


def trial_id(text: ReferenceText, kind: str, severity: float) -> str:
    """Return the name of a trial."""
    return f"{text.language}|{text.id}|{kind or 'clean'}|{severity:g}"


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Which ways of spoiling, how far, and how many questions at most."""

    types: Sequence[str] = (*PERTURBATION_TYPES, *CONTROL_TYPES)
    severities: Sequence[float] = SEVERITIES
    texts_per_language: int = 20
    seed: int = 0
    budget: int | None = None
    """Questions at most; None asks all."""

    def __post_init__(self) -> None:
        for name in self.types:
            perturbation(name)
        wrong = [severity for severity in self.severities if not 0 < severity <= 1]
        if wrong or not self.severities:
            raise ConfigError(f"a severity lies above 0 and is at most 1; {wrong[0] if wrong else 'none'} was given")
        if max(self.severities) != 1:
            raise ConfigError("the severities must end at 1, where a text is wholly spoiled")


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """The questions, the most telling first."""

    trials: tuple[Trial, ...]
    repeats: tuple[tuple[Trial, str], ...] = ()
    """Trials whose text is that of another one: the id of the trial that answers for them."""
    left_out: int = 0
    """Questions beyond the budget."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The tags, in order."""
        return tuple(sorted({trial.text.language for trial in self.trials}))


def plan_trials(texts: Iterable[ReferenceText], options: TrialOptions, table: LanguageTable) -> TrialPlan:
    """Spoil every text in every way, and put the most informative questions first.

    A text that a way of spoiling cannot change is not asked about. With a budget, the ends of the ladder come before
    the steps between, and texts that can be spoiled in many ways before those that cannot.
    """
    given = list(texts)
    _refuse_doubles(given)
    chosen = chosen_texts(given, options.texts_per_language, options.seed)
    ladders = [_ladders(text, chosen, options, table) for group in chosen.values() for text in group]
    places = {language: place for place, language in enumerate(chosen)}
    trials, repeats = list[tuple[tuple[int, int], Trial]](), list[tuple[Trial, str]]()
    for rank, ladder in _ranked(ladders):
        for stage, turn, trial, known in ladder.trials(options, places[ladder.text.language]):
            if known is None:
                trials.append(((rank + _ENOUGH_FOR_A_VERDICT * stage, turn), trial))
            else:
                repeats.append((trial, known))
    trials.sort(key=lambda each: each[0])
    ordered = list(_after_their_clean_ones([trial for _, trial in trials]))
    kept = _within_budget(ordered, options.budget)
    return TrialPlan(tuple(kept), tuple(repeats), len(ordered) - len(kept))


@dataclass(frozen=True, slots=True)
class _Ladders:
    """One text, and what becomes of it in each way that changes it."""

    text: ReferenceText
    spoiled: Mapping[str, Sequence[str]]
    """By kind, at each severity."""

    def trials(self, options: TrialOptions, place_of_language: int) -> Iterator[tuple[int, int, Trial, str | None]]:
        """Yield each question with its stage, its turn within it, and the id of the one that asks the same.

        Every language begins with another kind, so that a small budget sees all kinds in some language.
        """
        if not self.spoiled:
            return
        clean = Trial(self.text, CLEAN, 0.0, self.text.text)
        asked = {self.text.text: clean.id}
        yield 0, -1, clean, None
        stages, kinds = _stages(options.severities), list(options.types)
        for kind, versions in self.spoiled.items():
            turn = (kinds.index(kind) + place_of_language) % len(kinds)
            for place in stages:
                severity = options.severities[place]
                if kind in CONTROL_TYPES and severity != 1:
                    continue
                trial = Trial(self.text, kind, severity, versions[place])
                known = asked.setdefault(trial.candidate, trial.id)
                yield stages.index(place), turn, trial, known if known != trial.id else None


def _stages(severities: Sequence[float]) -> list[int]:
    """Return the places of the severities, the most telling first: the far end, then the middle, then the rest."""
    end = max(range(len(severities)), key=lambda place: severities[place])
    return [end, *sorted(set(range(len(severities))) - {end}, key=lambda place: abs(severities[place] - 0.5))]


def _ladders(
    text: ReferenceText, chosen: Mapping[str, Sequence[ReferenceText]], options: TrialOptions, table: LanguageTable
) -> _Ladders:
    around = edit_context(text, chosen, table)
    spoiled: dict[str, Sequence[str]] = {}
    for kind in options.types:
        versions = severity_ladder(text.text, kind, options.severities, options.seed, around)
        if versions[_stages(options.severities)[0]] != text.text:
            spoiled[kind] = versions
    return _Ladders(text, spoiled)


def edit_context(
    text: ReferenceText, chosen: Mapping[str, Sequence[ReferenceText]], table: LanguageTable
) -> EditContext:
    """Return what a text may be spoiled with: its source, its neighbour's version, and other texts of its language."""
    here = chosen[text.language]
    same = [each for each in here if each.text != text.text and (not text.source or each.source != text.source)]
    start = next((place for place, other in enumerate(chosen[text.language]) if other is text), 0)
    known = table.find(text.language)
    return EditContext(
        language=known.tag if known else text.language,
        source=text.source,
        neighbour=_neighbour(text, chosen, known.tag if known else text.language),
        others=tuple(other.text for other in (*same[start:], *same[:start]))[:8],
    )


def _neighbour(text: ReferenceText, chosen: Mapping[str, Sequence[ReferenceText]], tag: str) -> str:
    """Return the same content in the nearest language that there is a text in."""
    if not text.source:
        return ""
    for near in neighbours_of(tag):
        for other in chosen.get(near, ()):
            if other.source == text.source and other.text != text.text:
                return other.text
    return ""


def chosen_texts(texts: Iterable[ReferenceText], most: int, seed: int) -> dict[str, list[ReferenceText]]:
    """Return so many texts of each language; parallel ones are kept together, by taking the same sources everywhere."""
    groups: defaultdict[str, list[ReferenceText]] = defaultdict(list)
    for text in texts:
        if text.text.strip():
            groups[text.language].append(text)

    def place(text: ReferenceText) -> bytes:
        return sha256(f"{seed}|{text.source or text.id}".encode(errors="surrogatepass")).digest()

    return {language: sorted(group, key=place)[:most] for language, group in groups.items()}


def _ranked(ladders: Sequence[_Ladders]) -> Iterator[tuple[int, _Ladders]]:
    """Yield each text with its rank within its language: those that can be spoiled in many ways come first."""
    counts: defaultdict[str, int] = defaultdict(int)
    for ladder in sorted(ladders, key=lambda each: -len(each.spoiled)):
        yield counts[ladder.text.language], ladder
        counts[ladder.text.language] += 1


def _after_their_clean_ones(trials: Sequence[Trial]) -> Iterator[Trial]:
    """Yield each clean text just before the first of its spoiled versions."""
    clean = {(trial.text.language, trial.text.id): trial for trial in trials if trial.kind == CLEAN}
    for trial in trials:
        if trial.kind != CLEAN:
            first = clean.pop((trial.text.language, trial.text.id), None)
            yield from [first, trial] if first is not None else [trial]


def _within_budget(trials: list[Trial], budget: int | None) -> list[Trial]:
    """Keep so many questions; a clean text without a spoiled one would tell nothing."""
    kept = trials if budget is None else trials[:budget]
    return kept[:-1] if kept and kept[-1].kind == CLEAN else kept


def _refuse_doubles(texts: Iterable[ReferenceText]) -> None:
    seen: set[tuple[str, str]] = set()
    for text in texts:
        if (text.language, text.id) in seen:
            raise ConfigError(f"two good texts have the id {text.id!r} in the language {text.language!r}")
        seen.add((text.language, text.id))
