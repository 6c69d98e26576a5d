"""Files of the plans of informative samples."""

from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.files.ownership import own_fields
from polyjudge.records.codec import to_json
from polyjudge.records.samples import SamplePlan

from .documents import Document, read_document

_PLAN = Document(SamplePlan, "the plan of a sample", "give other labels", kind="polyjudge sample", option="labels")


def plan_path(labels: Path) -> Path:
    """Return the path of the plan of a sample, beside its labels."""
    return labels.with_name(f"{labels.stem}.sample.json")


def write_plan(path: Path, plan: SamplePlan) -> None:
    """Write a plan."""
    with write_atomically(path) as file:
        file.write(readable_json({**own_fields(), "kind": _PLAN.kind, **to_json(plan)}, indent=1) + "\n")


def read_plan(path: Path) -> SamplePlan:
    """Read a plan; raise DataError for any other file."""
    plan = read_document(path, _PLAN)
    wrong = next((each.id for each in plan.items if not 0 < each.inclusion_probability <= 1), None)
    if wrong is not None:
        message = f"gives the item {wrong!r} a probability that is not above 0 and at most 1; {_PLAN.advice}"
        raise DataError(message, path=path, option=_PLAN.option)
    return plan
