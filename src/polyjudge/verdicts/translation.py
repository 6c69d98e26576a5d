"""Decide the status of a language from check findings, judge scores and trust: one rule for every command and report.

Only this module knows the share of outputs that a language needs and the passing score of the translation dimensions.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Any

from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Interval
from polyjudge.records.findings import TextCheck
from polyjudge.records.translation import DIMENSIONS, LanguageResult, LanguageScore, PromptResult, PromptScore
from polyjudge.statistics.intervals import reached_at_best, reached_by, wilson_interval

from .items import OFFLINE, STATUSES, Status, meets
from .trust import JudgeTrust, trust_notes, untrusted

NEEDED_SHARE = 0.8
"""Share of a language's outputs that must have no finding of severity `fail`, and that must reach its scores."""
PASSING_SCORE = 3.0
FAILING: tuple[Status, ...] = ("FAIL", "CONFLICT", "UNRELIABLE")
"""Statuses with which a command that gates on languages exits 1."""
_DECIDED: tuple[Status, ...] = ("PASS", "CHECKED", "FAIL", "CONFLICT")
_UNSEEN = {True: ("grammar", "meaning"), False: ("language", "grammar", "meaning")}
"""What the checks do not judge, for languages in the table and others."""
_LARGE_DIFFERENCE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The status of one language and what it is based on."""

    language: str
    """The tag in the file."""
    name: str
    family: str
    is_priority: bool
    status: Status
    script_only: bool = False
    """No judge scored grammar and meaning: the checks alone decided."""
    not_judged: tuple[str, ...] = ()
    """What neither a check nor a judge has judged, if the status is CHECKED."""
    reason: str = ""
    prompts: int = 0
    script_checked: int = 0
    """Prompts with a script result in the file or from the check."""
    script_passed: int = 0
    tokens_per_second: float | None = None
    scores: Mapping[str, LanguageScore] = field(default_factory=dict[str, LanguageScore])
    """Scores of the language as a whole, by judge."""
    disagreements: tuple[str, ...] = ()
    looks_like: str = ""
    """The other language of too many outputs, by the check."""
    checked_outputs: int = 0
    failing_outputs: int = 0
    """Of these, outputs with a finding of severity `fail`."""
    trust: tuple[str, ...] = ()
    """Notes on this language from the trust card of each judge."""
    trust_words: tuple[str, ...] = ()
    """The trust-card verdict on this language for each judge with scores."""
    problems: Mapping[str, int] = field(default_factory=dict[str, int])
    """Kinds of findings, and the number of outputs with each."""

    @property
    def is_calibrated(self) -> bool:
        """Whether a judge that gave scores is reliable in this language, by its trust card."""
        return "reliable" in self.trust_words

    @property
    def passes_checks(self) -> bool | None:
        """Whether enough outputs have no finding of severity `fail`; None if none was checked."""
        passed = is_enough(self.checked_outputs - self.failing_outputs, self.checked_outputs)
        return passed if self.checked_outputs else None


@dataclass(frozen=True, slots=True)
class Totals:
    """The number of languages by status. The counts add up to `languages`."""

    counts: Mapping[Status, int]

    @property
    def languages(self) -> int:
        """All languages."""
        return sum(self.counts.values())

    @property
    def decided(self) -> int:
        """Languages with PASS, CHECKED, FAIL or CONFLICT: the base of every rate."""
        return sum(self.counts[status] for status in _DECIDED)

    @property
    def without_failure(self) -> int:
        """Languages that pass or are checked."""
        return self.counts["PASS"] + self.counts["CHECKED"]

    @property
    def rate(self) -> float | None:
        """Share of the decided languages that pass or are checked."""
        return self.without_failure / self.decided if self.decided else None

    @property
    def rate_interval(self) -> Interval | None:
        """The 95% interval of `rate`."""
        return wilson_interval(self.without_failure, self.decided)

    def interval(self, status: Status) -> Interval | None:
        """Return the 95% interval of a status's share of the decided languages; None for a status outside them."""
        return wilson_interval(self.counts[status], self.decided) if status in _DECIDED else None

    @property
    def fails_gate(self) -> bool:
        """Whether a command that gates on languages exits 1."""
        return any(self.counts[status] for status in FAILING)


def totals(verdicts: Iterable[Verdict]) -> Totals:
    """Count languages by status."""
    found = Counter(verdict.status for verdict in verdicts)
    return Totals({status: found[status] for status in STATUSES})


def family_totals(verdicts: Iterable[Verdict]) -> dict[str, Totals]:
    """Count languages by script family and status, the largest family first."""
    families: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        families[verdict.family or "unknown"].append(verdict)
    by_size = sorted(families.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return {family: totals(members) for family, members in by_size}


def status_label(verdict: Verdict) -> str:
    """Return the status with its limits: what was not judged, or that no judge is calibrated."""
    if verdict.status == "CHECKED":
        return f"CHECKED (script-only; {', '.join(verdict.not_judged)} not judged)"
    if verdict.status == "PASS" and not verdict.is_calibrated:
        return "PASS (judge not calibrated)"
    return verdict.status


def status_fields(verdict: Verdict) -> dict[str, Any]:
    """Return the status fields of a language in JSON outputs."""
    return {
        "languageName": verdict.name,
        "languageCode": verdict.language,
        "status": verdict.status,
        "label": status_label(verdict),
        "scriptOnly": verdict.script_only,
        "notJudged": list(verdict.not_judged),
        "reason": verdict.reason,
    }


def counts_text(found: Totals) -> str:
    """Return the totals in one line, without empty statuses."""
    counts = ", ".join(f"{count} {status}" for status, count in found.counts.items() if count)
    return f"{found.languages} {'language' if found.languages == 1 else 'languages'}: {counts or 'none'}"


def language_verdict(
    language: LanguageResult,
    checks: Sequence[TextCheck | None],
    scores: Mapping[str, LanguageScore],
    table: LanguageTable,
    trust: Mapping[str, JudgeTrust] | None = None,
) -> Verdict:
    """Return the verdict on a language from the checks of its outputs, and the scores of and trust in each judge."""
    cards, tag = trust or {}, language.language_code or language.language_name
    findings = _Findings.of(language.prompts, checks)
    looks_like = findings.other_language(table)
    judging = {name: score for name, score in scores.items() if score.judge != OFFLINE}
    scored = [name for name, score in scores.items() if name in cards and has_scores(score)]
    status, reason = _status(findings, judging, looks_like, lambda names: untrusted(cards, names, tag, table))
    known = table.find(language.language_code, language.language_name)
    return Verdict(
        language=language.language_code,
        name=language.language_name,
        family=table.family(language.script_family, language.language_code, language.language_name),
        is_priority=is_must_have(language.priority),
        status=status,
        script_only=not judging and status in ("CHECKED", "FAIL"),
        not_judged=_UNSEEN[known is not None] if status == "CHECKED" else (),
        reason=reason,
        prompts=len(language.prompts),
        script_checked=findings.script[True] + findings.script[False],
        script_passed=findings.script[True],
        tokens_per_second=fmean(findings.rates) if findings.rates else None,
        scores=scores,
        disagreements=tuple(_disagreements(scores, looks_like, known.name if known else "the right language")),
        looks_like=looks_like,
        checked_outputs=findings.checked,
        failing_outputs=findings.failing.total(),
        trust=tuple(trust_notes(cards, list(scores), tag, table)),
        trust_words=tuple(cards[name].word(tag, table) for name in scored),
        problems=findings.problems,
    )


def is_enough(part: int, whole: int) -> bool:
    """Return whether a part is at least the needed share, in integers because floats are inexact."""
    return 100 * part >= round(100 * NEEDED_SHARE) * whole


def reached_by_enough(values: Sequence[float | None], sure_below: float = PASSING_SCORE) -> float | None:
    """Return the highest value that the needed share of the values reach; None in `values` is an unknown value.

    None if that depends on unknown values, unless the result is below `sure_below` in any case.
    """
    best = reached_at_best(values, NEEDED_SHARE)
    return best if best is not None and best < sure_below else reached_by(values, NEEDED_SHARE)


def scores_pass(score: LanguageScore | PromptScore) -> bool | None:
    """Return whether translation scores pass: all three at least 3, in the right language.

    None: no scores, or nothing fails but a score or the answer about the language is missing.
    """
    if score.error:
        return None
    return meets(dimension_scores(score).values(), [score.is_correct_language], PASSING_SCORE)


def has_scores(score: LanguageScore | PromptScore) -> bool:
    """Return whether there is any score or answer."""
    values = (score.script_score, score.grammar_score, score.coherence_score, score.is_correct_language)
    return not score.error and values != (None, None, None, None)


def dimension_scores(score: LanguageScore | PromptScore) -> dict[str, float | None]:
    """Return the score of each dimension; None for one that is not known."""
    return dict(zip(DIMENSIONS, (score.script_score, score.grammar_score, score.coherence_score), strict=True))


def is_must_have(priority: str) -> bool:
    """Return whether a priority is the highest in any spelling: `must-have`, `mustHave`, `must have`."""
    return "".join(letter for letter in priority.casefold() if letter.isalpha()) == "musthave"


def script_ok(prompt: PromptResult, check: TextCheck | None) -> bool | None:
    """Return whether an output passes the script check, by the file or else by our own check.

    None if the file has no result and the language is not in the table.
    """
    given = prompt.script_validation_passed
    if given is not None or check is None:
        return given
    return check.script.state != "fail"


@dataclass(slots=True)
class _Findings:
    """What was found in the outputs of a language, in counts."""

    outputs: int = 0
    checked: int = 0
    """Outputs with a result of a check, or of the file's own script check."""
    failing: Counter[frozenset[str]] = field(default_factory=Counter[frozenset[str]])
    """The failing outputs by the kinds of their findings of severity `fail`."""
    problems: Counter[str] = field(default_factory=Counter[str])
    """Outputs by kinds of findings of any severity."""
    script: Counter[bool | None] = field(default_factory=Counter[bool | None])
    """Outputs by whether they pass the script check."""
    rates: "array[float]" = field(default_factory=lambda: array("d"))
    """Tokens per second, where they are known."""
    looks_like: Counter[str] = field(default_factory=Counter[str])
    """Outputs that are in another language, by its tag."""

    @classmethod
    def of(cls, prompts: Sequence[PromptResult], checks: Sequence[TextCheck | None]) -> "_Findings":
        """Count; prompts and checks may be on disk, and are read once."""
        found = cls()
        for prompt, check in zip(prompts, checks, strict=True):
            found.add(prompt, check)
        return found

    def add(self, prompt: PromptResult, check: TextCheck | None) -> None:
        """Count one output."""
        problems, given = check.problems if check else (), prompt.script_validation_passed
        kinds = {each.kind for each in problems if each.severity == "fail"}
        if given is False:
            kinds.add("wrong_script")
        if kinds:
            self.failing[frozenset(kinds)] += 1
        self.outputs += 1
        self.checked += given is not None or check is not None
        self.problems.update(dict.fromkeys((each.kind for each in problems), 1))
        self.script[script_ok(prompt, check)] += 1
        if prompt.tokens_per_second is not None:
            self.rates.append(prompt.tokens_per_second)
        if check is not None and check.language.state == "wrong":
            self.looks_like[check.language.found] += 1

    def other_language(self, table: LanguageTable) -> str:
        """Return another language that the check identifies in too many outputs, or nothing."""
        wrong = self.looks_like.total()
        if not wrong or is_enough(self.outputs - wrong, self.outputs):
            return ""
        (tag, _), *_ = self.looks_like.most_common(1)
        return known.name if (known := table.find(tag)) else tag

    @property
    def are_few(self) -> bool:
        """Whether the needed share of the outputs has no finding."""
        return is_enough(self.checked - self.failing.total(), self.checked)

    @property
    def are_of_language_alone(self) -> bool:
        """Whether the needed share would be reached without findings about the language."""
        others = self.failing.total() - self.failing[frozenset({"wrong_language"})]
        return is_enough(self.checked - others, self.checked)

    def __str__(self) -> str:
        counts = Counter(kind for kinds in self.failing.elements() for kind in kinds)
        ranked = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
        named = ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in ranked)
        return f"{self.failing.total()} of {self.checked} outputs fail the checks ({named})"


def _status(
    findings: _Findings, judging: Mapping[str, LanguageScore], looks_like: str, unreliable: Callable[[list[str]], str]
) -> tuple[Status, str]:
    """Return the status and its reason; `unreliable` returns why the deciding judges are unreliable, or nothing."""
    if not findings.outputs:
        return "SKIPPED", "no usable prompt"
    passing = [name for name, score in judging.items() if scores_pass(score)]
    failing = [name for name, score in judging.items() if scores_pass(score) is False]
    shortfalls = [f"{name}: {_shortfall(judging[name])}" for name in failing]
    if not findings.are_few:
        if passing and not failing and looks_like and findings.are_of_language_alone:
            return "CONFLICT", f"a judge passes it, but the language check identifies {looks_like}"
        return "FAIL", "; ".join([str(findings), *shortfalls])
    if passing or failing:
        if why := unreliable(failing or passing):
            return "UNRELIABLE", why
        return ("FAIL", "; ".join(shortfalls)) if failing else ("PASS", "")
    if judging:
        return "UNJUDGED", next((score.error for score in judging.values() if score.error), _missing(judging))
    return ("CHECKED", "") if findings.checked else ("UNJUDGED", "not in the language table, and no judge scored it")


def _missing(judging: Mapping[str, LanguageScore]) -> str:
    """Return which scores of the judges are missing."""
    name, score = next(iter(judging.items()))
    if not has_scores(score):
        return "no score"
    named = {**dimension_scores(score), "answer about the language": score.is_correct_language}
    return f"{name}: no {', '.join(what for what, value in named.items() if value is None)}"


def _shortfall(score: LanguageScore) -> str:
    named = dimension_scores(score).items()
    low = [f"{name} {value:g}/5" for name, value in named if value is not None and value < PASSING_SCORE]
    return ", ".join([*low, *(["wrong language"] if score.is_correct_language is False else [])])


def _disagreements(scores: Mapping[str, LanguageScore], looks_like: str, wanted: str) -> list[str]:
    found: list[str] = []
    judged = {name: score for name, score in scores.items() if has_scores(score)}
    for first, second in pairwise(judged):
        one, two = judged[first], judged[second]
        passed = (scores_pass(one), scores_pass(two))
        if set(passed) == {True, False}:
            words = ["PASS" if each else "FAIL" for each in passed]
            found.append(f"{first} says {words[0]}, {second} says {words[1]}")
        others = dimension_scores(two)
        for dimension, left in dimension_scores(one).items():
            right = others[dimension]
            if left is not None and right is not None and abs(left - right) >= _LARGE_DIFFERENCE:
                found.append(f"{dimension}: {first} {left:g}, {second} {right:g}")
    for name, score in judged.items():
        if looks_like and score.is_correct_language:
            found.append(f"{name} says that it is {wanted}, the language check identifies {looks_like}")
    return found


def group_status(counts: Mapping[Status, int], undecided: int = 0, *, unreliable: bool = False) -> Status | None:
    """Return the status of a group: enough of its decided rows must pass, whatever the undecided ones are.

    `unreliable` says that its judge is unreliable there. Rows without a verdict are in no share. None: the rows have
    scores, but none passes or fails.
    """
    passing, failing = counts["PASS"] + counts["CHECKED"], counts["FAIL"] + counts["CONFLICT"]
    total = passing + failing + undecided
    if total == undecided:
        return None if total else "UNJUDGED" if counts["UNJUDGED"] else "SKIPPED"
    if unreliable:
        return "UNRELIABLE"
    if not is_enough(passing, total):
        return "UNJUDGED" if is_enough(passing + undecided, total) else "FAIL"
    return "CHECKED" if counts["CHECKED"] else "PASS"
