"""Render what a cascade guarantees, and what other targets would give."""

from collections.abc import Iterator, Mapping, Sequence

from polyjudge.languages.table import LanguageTable
from polyjudge.records.calibration import JudgeIdentity
from polyjudge.records.cascades import AgreementRule, CascadePlan, CascadePoint, CascadeThresholds

from .blocks import Block, Heading, Lines, Table
from .wording import counted

_AGREEMENT = {
    "verdict": "An answer agrees if it equals people's verdict.",
    "pass": "An answer agrees if it passes or fails the item as people do.",
    "tolerance": "An answer agrees if its score differs from people's by at most {tolerance:g}.",
}
_CHANCE = 0.5


def judge_name(judge: JudgeIdentity) -> str:
    """Return the name of a judge as in a command."""
    return f"{judge.provider}/{judge.model}" if judge.provider else judge.model


def guarantee(plan: CascadePlan) -> str:
    """Return what a plan guarantees, in one sentence."""
    labels = sum(each.labels for each in plan.groups.values())
    languages = ", in each language by itself" if set(plan.groups) - {""} else ""
    which = f"the {plan.coming:,} items without a label, and later ones" if plan.coming else "items like these"
    return (
        f"Among the answers about {which}, at least {_percent(plan.target)} agree with people{languages}: with a "
        f"probability of {_percent(1 - plan.delta)} over the choice of the {counted(labels, 'label')}."
    )


def agreement_sentence(rule: AgreementRule) -> str:
    """Return when an answer agrees with people."""
    return _AGREEMENT[rule.same].format(tolerance=rule.tolerance or 0.0)


def cascade_blocks(plan: CascadePlan, table: LanguageTable, items: str = "all items") -> Iterator[Block]:
    """Yield the guarantee of a plan, its thresholds and what other targets would give; `items` says of which items."""
    names = [judge_name(judge) for judge in plan.judges]
    title = f"agreement of {_percent(plan.target)}" if plan.groups else f"no guarantee of {_percent(plan.target)}"
    yield Heading(1, f"Cascade of {' → '.join(names)}: {title}")
    opening = [guarantee(plan)] if plan.groups else []
    yield Lines((*opening, *_why_not(plan.unguaranteed, plan, table), agreement_sentence(plan.rule)))
    if plan.groups:
        yield Heading(2, "Thresholds")
        yield _threshold_table(plan.groups, names, table)
    if plan.curve:
        yield Heading(2, "What other targets would give")
        yield curve_table(plan.curve, names, items)
        yield Lines(
            (
                "Each row is a separate guarantee: choose the target before you look at the rows. No model was "
                "asked for this table.",
                "The labels must be a random sample of the items.",
            )
        )


def _why_not(unguaranteed: Mapping[str, str], plan: CascadePlan, table: LanguageTable) -> Iterator[str]:
    for tag, why in unguaranteed.items():
        where = f"{_language(tag, plan, table)}: " if plan.groups or tag else ""
        yield f"{where}{why}"


def _language(tag: str, plan: CascadePlan, table: LanguageTable) -> str:
    if tag:
        known = table.find(tag)
        return tag if known is None else known.name
    return "other languages" if set(plan.groups) - {""} else "all languages"


def _threshold_table(groups: Mapping[str, CascadeThresholds], names: Sequence[str], table: LanguageTable) -> Table:
    header = [
        "Language",
        *(f"{name} answers from" for name in names),
        "Labels",
        "Answered of the labelled items",
        "Agreement",
    ]
    rows: list[tuple[str, ...]] = []
    for tag, group in sorted(groups.items()):
        known = table.find(tag) if tag else None
        shares = [f"{sum(group.answered) / group.labels:.0%}"] if group.labels else ["-"]
        figure = group.agreement
        agreement = f"{_percent(figure.value or 0)} ({_percent(figure.low or 0)} to {_percent(figure.high or 0)})"
        thresholds = ["never" if each is None else f"{each:.4g}" for each in group.thresholds]
        name = (known.name if known else tag) or ("all others" if len(groups) > 1 else "all")
        rows.append((name, *thresholds, str(group.labels), *shares, agreement))
    return Table(tuple(header), tuple(rows), tuple(range(1, len(header))))


def curve_table(curve: Sequence[CascadePoint], names: Sequence[str], items: str) -> Table:
    """Return the table of targets with what each would give; `items` says of which items."""
    header = ("Target", f"Answered of {items}", *(f"by {name}" for name in names), "Cost against the last alone")
    rows: list[tuple[str, ...]] = []
    for point in curve:
        if not point.answered:
            rows.append((_percent(point.target), "not guaranteed", *("" for _ in names), ""))
            continue
        shares = [f"{share:.0%}" for share in point.answered]
        cost = "not known" if point.cost is None else f"{point.cost:.0%}"
        rows.append((_percent(point.target), f"{sum(point.answered):.0%}", *shares, cost))
    return Table(header, tuple(rows), tuple(range(1, len(header))))


def unguaranteed_sentence(
    target: float, labels: int, *, reachable: float | None, needed: int | None, best: float, of_two: bool
) -> str:
    """Return why a target cannot be guaranteed, what these labels guarantee, and how many it would take.

    `of_two` says that an answer is one of two, which agrees in half of the items by chance.
    """
    start = f"{_percent(target)} cannot be guaranteed with {counted(labels, 'label')} in the test."
    reached = f"They guarantee {_percent(reachable)}." if reachable else "They guarantee no target."
    if needed is None:
        agreed = f"{reached} More labels alone do not help: the judges agreed with people in {_percent(best)}."
        asked = " Are pass and fail, or first and second, exchanged in the labels?" if of_two and best < _CHANCE else ""
        return f"{start} {agreed}{asked}"
    return f"{start} {reached} It would take {needed:,} labels or more, if the judges agree as often as here."


def _percent(share: float) -> str:
    return f"{share * 100:.4g}%"
