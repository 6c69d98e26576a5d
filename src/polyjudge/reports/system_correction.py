"""Render the corrected means of several systems."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from polyjudge.files.json_lines import readable_json
from polyjudge.files.ownership import own_fields
from polyjudge.languages.table import LanguageTable
from polyjudge.records.codec import to_json
from polyjudge.records.system_correction import SystemCorrection, SystemEstimate, SystemTable
from polyjudge.text.display import one_line
from polyjudge.verdicts.trust import figure_text

from .blocks import BLOCK_FORMATS, Block, Heading, Lines, Table
from .calibration import language_title
from .wording import listed

SystemFormat = Callable[[SystemCorrection, LanguageTable], Iterator[str]]
_DIGITS = 3
_LONGEST_NAME = 100
_STATUS_TEXT = {"assumed": "assumed, not checked"}


def system_correction_blocks(found: SystemCorrection, table: LanguageTable) -> Iterator[Block]:
    """Yield what was found in plain sentences, the estimates of all systems, the checks, and each language."""
    yield Heading(1, f"Estimated {found.estimate} of people, by system")
    if lines := tuple(summary(found)):
        yield Lines(lines)
    yield _estimates(found.overall)
    if found.checks:
        yield Heading(2, "Does the correction hold?")
        yield _checks(found)
        yield Lines(tuple(_checks_explained(found)))
    if found.overall.pairs:
        yield Heading(2, "Differences")
        yield _pairs(found.overall)
    for each in found.languages:
        yield Heading(2, language_title(each.language, table))
        if sentence := ranking_sentence(each):
            yield Lines((sentence,))
        yield _estimates(each)
    yield Lines(tuple(_explained(found)))


def summary(found: SystemCorrection) -> Iterator[str]:
    """Yield which systems are best, and which estimates need care."""
    if sentence := ranking_sentence(found.overall):
        yield sentence
    refused = [name for name, check in found.checks.items() if check.verdict == "does not carry over"]
    if refused:
        whose = "their" if len(refused) > 1 else "its"
        yield f"The correction does not hold for {_names(refused)}: {whose} own labels were used."
    by_status = {status: [each for each in found.overall.systems if each.status == status] for status in _CARE}
    for status, text in _CARE.items():
        if by_status[status]:
            yield f"{text}: {_names([each.system for each in by_status[status]])}."
    yield from found.notes


_CARE = {
    "assumed": "Assumed, not checked, for lack of labels",
    "not reliable here": "No interval that holds, because the labels are too few",
    "no labels": "No estimate, because no system has labels",
}


def ranking_sentence(found: SystemTable) -> str:
    """Return which systems are better than others, in one line; empty without two systems to compare."""
    ranked = [each for each in found.systems if each.group is not None]
    if len(ranked) < 2:
        return ""
    groups = [[each.system for each in members] for _, members in groupby(ranked, key=lambda each: each.group)]
    said = list[str]()
    for place, names in enumerate(groups):
        if len(names) > 1:
            said.append(f"{_names(names)} cannot all be distinguished")
        elif not place:
            said.append(f"{_names(names)} is best")
        else:
            said.append(f"{_names(names)} is {'worst' if place == len(groups) - 1 else 'next'}")
    which = "Of those that can be ranked, " if len(ranked) < len(found.systems) else ""
    return f"{which}{'; '.join(said)}."


def _names(names: Sequence[str]) -> str:
    return listed([one_line(name, _LONGEST_NAME) for name in names])


def _estimates(found: SystemTable) -> Table:
    header = ("System", "Rank", "Judged", "Labels", "Estimate", "Judge alone", "Labels alone", "Status", "Why")
    return Table(header, tuple(map(_row, found.systems)), (1, 2, 3, 4, 5, 6))


def _row(each: SystemEstimate) -> tuple[str, ...]:
    return (
        one_line(each.system, _LONGEST_NAME),
        _rank(each),
        f"{each.judged:,}",
        f"{each.labelled:,}",
        figure_text(each.figure, _DIGITS),
        figure_text(each.naive, _DIGITS),
        figure_text(each.labels_only, _DIGITS),
        _STATUS_TEXT.get(each.status, each.status),
        each.reason,
    )


def _rank(each: SystemEstimate) -> str:
    if each.best_rank is None or each.worst_rank is None:
        return "–"
    return str(each.best_rank) if each.best_rank == each.worst_rank else f"{each.best_rank}–{each.worst_rank}"


def _checks(found: SystemCorrection) -> Table:
    rows = tuple(
        (
            one_line(name, _LONGEST_NAME),
            check.verdict,
            figure_text(check.shift, _DIGITS),
            _p(check.adjusted_p),
            f"{check.noticeable:.{_DIGITS}f}",
        )
        for name, check in found.checks.items()
    )
    return Table(("System", "Verdict", "Shift", "p", "Noticeable"), rows, (2, 3, 4))


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def _checks_explained(found: SystemCorrection) -> Iterator[str]:
    learnt = f"on {_names(found.reference)}" if found.reference else "on the other systems for which it holds"
    yield f"Shift: people's mean minus the judge's, as corrected by the labels {learnt}."
    yield f"If the correction holds for all, the chance that any system is refused is at most {found.alpha:.0%} (Holm)."
    yield (
        "Noticeable: the shift that these labels show with a probability of 80%. A smaller shift may exist: "
        '"not shown to differ" does not mean that the correction holds.'
    )
    if found.margin is not None:
        yield f"Carries over: the shift is shown to be less than {found.margin:g} (two one-sided tests, 5%)."


def _pairs(found: SystemTable) -> Table:
    rows = tuple(
        (
            one_line(each.first, _LONGEST_NAME),
            one_line(each.second, _LONGEST_NAME),
            figure_text(each.difference, _DIGITS),
            _p(each.adjusted_p),
            "yes" if each.distinguished else "no",
        )
        for each in found.pairs
    )
    return Table(("First", "Second", "Difference", "p", "Distinguished"), rows, (2, 3))


def _explained(found: SystemCorrection) -> Iterator[str]:
    over = "the judged items" if found.only_these else "all items of which the judged ones are a random sample"
    yield f"The 95% interval of an estimate is of the mean over {over}; the labels must be a random sample of those."
    yield (
        f"Corrected: the judge's mean times {found.weight:.2f}, plus the mean remainder of the system's own labels, "
        "which is unbiased for each system."
    )
    yield (
        "Rank: the best and the worst that the labels allow; p-values of differences are adjusted over all pairs "
        "(Holm). Estimates that are assumed or not reliable are not ranked."
    )


def _rendered(form: Callable[[Iterator[Block]], Iterator[str]]) -> SystemFormat:
    return lambda found, table: form(system_correction_blocks(found, table))


def _json(found: SystemCorrection, table: LanguageTable) -> Iterator[str]:  # noqa: ARG001 - as all formats
    yield readable_json({**own_fields(), **to_json(found), "summary": list(summary(found))}, indent=1) + "\n"


SYSTEM_FORMATS: dict[str, SystemFormat] = {
    **{name: _rendered(form) for name, form in BLOCK_FORMATS.items()},
    "json": _json,
}
