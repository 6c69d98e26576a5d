"""What the judges of a cascade and people said about the same items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyjudge.errors import ConfigError, DataError, suggestion
from polyjudge.formats.columns import TableOptions
from polyjudge.formats.ratings import Rating, Ratings
from polyjudge.formats.row_files import named_rows_of
from polyjudge.records.cascades import AgreementRule
from polyjudge.records.outcomes import Generated, JudgeResult, Outcome, RunOutcome, read_outcome_row
from polyjudge.text.display import one_line
from polyjudge.verdicts.confidence import confidence_of, is_same

from .cascade import CascadeItem
from .matching import are_equally_likely, match, usual_combination

_LONGEST = 400
_ROW_FIELDS = {"outcome", "schemaVersion"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a row of results says beside the score."""

    confidence: float | None
    cost_usd: float | None = None
    repeats: int = 1
    has_tokens: bool = False


def evidence_of(outcome: Outcome, rule: AgreementRule) -> Evidence:
    """Return how sure a judge was of an outcome, and what it cost."""
    origin = outcome.provenance
    is_pair = any(member.order for member in outcome.members)
    has_tokens = isinstance(outcome, JudgeResult) and (
        bool(outcome.probabilities) or outcome.expected_score is not None
    )
    repeats = 1 if is_pair else max(len(outcome.members), 1)
    return Evidence(confidence_of(outcome, rule), origin.cost_usd if origin else None, repeats, has_tokens)


def read_evidence(path: Path, table: TableOptions, rule: AgreementRule, column: str = "") -> dict[str, Evidence]:
    """Return the evidence in a file of results by item id; `column` has the confidence where another tool gave it."""
    found, names = dict[str, Evidence](), dict[str, None]()
    for place, row in named_rows_of(path, table, "id"):
        if isinstance(row, str):
            continue
        own_id = str(row.get("id"))
        if column:
            names |= dict.fromkeys(row)
            found[own_id] = Evidence(_number(row, column, place))
        elif row.keys() >= _ROW_FIELDS and not isinstance(outcome := _outcome(row, place), Generated):
            found[own_id] = evidence_of(outcome, rule)
    if column and column not in names:
        hint = suggestion(column, names) or f" Found: {one_line(', '.join(names), _LONGEST)}."
        raise DataError(
            f"no column {column!r}, which should have the confidence.{hint}", path=path, option="confidence"
        )
    if not found:
        what = "not results of polyjudge score or pairwise. Name the column with the judge's confidence"
        raise DataError(what, path=path, option="confidence", value="COLUMN")
    return found


def _outcome(row: Mapping[str, Any], place: object) -> RunOutcome:
    try:
        return read_outcome_row(row)[1]
    except DataError as error:
        raise DataError(f"{place}: {error}") from None


def _number(row: Mapping[str, Any], column: str, place: object) -> float | None:
    given = row.get(column)
    try:
        number = None if given in (None, "") else float(str(given))
    except ValueError:
        number = -1.0
    if number is not None and not 0 <= number <= 1:
        raise DataError(f"{place}: the confidence must be a number from 0 to 1, not {str(given)[:40]!r}")
    return number


def refuse_unequal(labels: Ratings) -> None:
    """Raise ConfigError if the labels are no plain random sample, which a guarantee needs."""
    if not are_equally_likely(labels.ratings):
        unequal = "The labels have different values of 'inclusionProbability', so they are no plain random sample"
        raise ConfigError(f"{unequal}, without which nothing can be guaranteed. Give labels of a plain random sample.")


def cascade_items(
    judged: Sequence[Ratings], evidence: Sequence[Mapping[str, Evidence]], labels: Ratings, rule: AgreementRule
) -> list[CascadeItem]:
    """Return the items that all judges were asked about, with the labels of people; several people's are combined."""
    refuse_unequal(labels)
    how = usual_combination(labels.ratings)
    people: dict[str, float] = {}
    by_judge: list[dict[str, Rating]] = []
    for each in judged:
        people |= {pair.id: pair.people for pair in match(each.ratings, labels.ratings, how).pairs}
        by_judge.append({rating.id: rating for rating in each.ratings})
    shared = [own_id for own_id in by_judge[0] if all(own_id in each for each in by_judge)]
    if not shared:
        raise ConfigError(
            "The results have no items in common. Give the results of each judge for the same items, with the same ids."
        )
    items: list[CascadeItem] = []
    for own_id in shared:
        ratings = [each[own_id] for each in by_judge]
        facts = [each.get(own_id, Evidence(None)) for each in evidence]
        pairs = list(zip(ratings, facts, strict=True))
        items.append(
            CascadeItem(
                own_id,
                next((rating.language for rating in ratings if rating.language), ""),
                tuple(fact.confidence if _is_usable(rating, rule) else None for rating, fact in pairs),
                tuple(agrees(rating, people[own_id], rule) for rating in ratings) if own_id in people else None,
                tuple(fact.cost_usd for fact in facts),
            )
        )
    return items


def _is_usable(rating: Rating, rule: AgreementRule) -> bool:
    """Return whether a rating has what is compared with people."""
    return rating.value is not None and not (rule.same == "pass" and rule.pass_from is None and rating.passed is None)


def agrees(rating: Rating, people: float, rule: AgreementRule) -> bool:
    """Return whether a judge's answer agrees with that of people."""
    value = rating.value if rating.verdict is None or rule.same != "verdict" else rating.verdict
    if value is None:
        return False
    if rule.same == "pass":
        own = rating.passed if rule.pass_from is None else value >= rule.pass_from
        return own == (people >= (rule.label_pass_from or 0.0))
    return is_same(value, people, rule)
