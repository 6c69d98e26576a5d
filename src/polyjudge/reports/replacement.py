"""Report whether a judge could take the place of a person."""

from collections.abc import Iterator, Mapping
from typing import Any

from polyjudge.calibration.replacement import MIN_COMPARED, PASSES_FROM, ReplacementResult, Tested
from polyjudge.files.ownership import own_fields
from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import Replacement, ReplacementVerdict
from polyjudge.records.codec import to_json
from polyjudge.statistics.replacement import FALSE_DISCOVERIES, MIN_ITEMS, LeftOut
from polyjudge.verdicts.trust import figure_text

from .blocks import Block, Heading, Lines, Table
from .calibration import language_title, rate_text, replacement_table
from .wording import counted

_NO_NAME = "(no name)"
_ANSWERS: Mapping[ReplacementVerdict, str] = {
    "passes": "Yes",
    "fails": "No",
    "not enough data": "Not enough data to say",
}


def replacement_blocks(result: ReplacementResult, judge: str, table: LanguageTable) -> Iterator[Block]:
    """Yield the answer, how it came about, each person, and the languages."""
    overall = result.found[""]
    yield Heading(1, f"May {judge or 'the judge'} replace a person? {_ANSWERS[overall.replacement.verdict]}")
    yield Lines(tuple(_notes(result, overall)))
    if overall.test.people:
        yield Heading(2, "People left out, one at a time")
        yield _people(overall)
        yield Heading(2, "By epsilon")
        yield _epsilons(overall)
    languages = {tag: tested for tag, tested in result.found.items() if tag}
    if languages:
        yield Heading(2, "By language")
        titled = {language_title(tag, table): each.replacement for tag, each in languages.items()}
        yield replacement_table(titled)
        yield from _reasons(titled)


def _notes(result: ReplacementResult, tested: Tested) -> Iterator[str]:
    found, people = tested.replacement, tested.test.people
    if found.winning_rate is not None:
        matched = sum(each.is_matched for each in people)
        yield (
            f"Winning rate {found.winning_rate:.2f}: the judge matches {matched} of {len(people)} people; "
            f"it needs at least {PASSES_FROM:.2f} to pass."
        )
        yield (
            f"Average advantage probability {figure_text(found.advantage)}: how often it fits the other people at "
            "least as well as the person left out."
        )
    yield from (f"{why[:1].upper()}{why[1:]}." for why in found.why)
    if corrected := [each.name for each in people if not each.is_matched and each.p < FALSE_DISCOVERIES]:
        yield (
            f"Not matched although p is below {FALSE_DISCOVERIES:g}: {', '.join(corrected)}. The correction for "
            f"{len(people)} people requires a smaller p."
        )
    yield (
        f"Epsilon {result.epsilon:g}; {result.scoring}; one-sided t-test, Benjamini-Yekutieli at "
        f"{FALSE_DISCOVERIES:g}; {counted(found.items, 'item')} that the judge and at least two people labelled."
    )
    for name, count in tested.test.too_few.items():
        yield f"Left out: {name or _NO_NAME}, {counted(count, 'such item')} (at least {MIN_ITEMS} are needed)."
    if tested.unjudged:
        yield f"Labelled items without a verdict, which are left out: {tested.unjudged:,}."
    if result.not_judged:
        yield f"Labelled items that are not in the judge's results: {result.not_judged:,}."
    yield (
        "The test assumes that people labelled independently, and that epsilon fits them: 0.2 for experts, 0.15 for "
        "skilled annotators, 0.1 for a crowd."
    )


def _people(tested: Tested) -> Table:
    rows = tuple(
        (
            each.name or _NO_NAME,
            str(each.items),
            f"{each.judge:.3f}",
            f"{each.person:.3f}",
            f"{each.p:.2g}",
            "yes" if each.is_matched else "no",
        )
        for each in tested.test.people
    )
    header = ("Person", "Items", "Judge at least as good", "Person at least as good", "p", "Matched")
    return Table(header, rows, (1, 2, 3, 4))


def _epsilons(tested: Tested) -> Table:
    rows = tuple((f"{epsilon:g}", rate_text(rate)) for epsilon, rate in tested.test.other_rates.items())
    return Table(("Epsilon", "Winning rate"), rows, (0, 1))


def _reasons(found: Mapping[str, Replacement]) -> Iterator[Lines]:
    reasons = tuple(f"{title}: {why}." for title, each in found.items() for why in each.why)
    if reasons:
        yield Lines(reasons)


def replacement_json(result: ReplacementResult, judge: str) -> dict[str, object]:
    """Return all figures."""
    return {
        **own_fields(),
        "judge": judge,
        "scoring": result.scoring,
        "epsilon": result.epsilon,
        "passesFrom": PASSES_FROM,
        "peopleNeeded": MIN_COMPARED,
        "itemsNeeded": MIN_ITEMS,
        "notJudged": result.not_judged,
        "languages": {tag or "all": _tested_json(tested) for tag, tested in result.found.items()},
    }


def _tested_json(tested: Tested) -> dict[str, Any]:
    return {
        **to_json(tested.replacement),
        "winningRates": {f"{epsilon:g}": rate for epsilon, rate in tested.test.other_rates.items()},
        "unjudged": tested.unjudged,
        "annotators": [_person_json(each) for each in tested.test.people],
        "leftOut": [{"name": name, "items": count} for name, count in tested.test.too_few.items()],
    }


def _person_json(found: LeftOut) -> dict[str, object]:
    return {
        "name": found.name,
        "items": found.items,
        "judgeAdvantage": found.judge,
        "personAdvantage": found.person,
        "p": found.p,
        "matched": found.is_matched,
    }
