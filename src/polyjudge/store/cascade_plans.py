"""Files of cascade plans."""

from pathlib import Path

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import readable_json
from polyjudge.files.kinds import FileKind, refuse_other_kind
from polyjudge.records.cascades import CascadePlan
from polyjudge.records.codec import to_json

from .documents import Document, read_document

_PLAN = Document(CascadePlan, "the plan of a cascade", "learn it again", kind="polyjudge cascade")


def write_plan(path: Path, plan: CascadePlan, *, force: bool = False) -> None:
    """Write a plan."""
    data = {"schemaVersion": _PLAN.version, "kind": _PLAN.kind, **to_json(plan)}
    with write_atomically(path, force=force, kind=FileKind.CASCADE) as file:
        file.write(readable_json(data, indent=1) + "\n")


def read_plan(path: Path) -> CascadePlan:
    """Read a plan; raise DataError for any other file."""
    refuse_other_kind(path, FileKind.CASCADE)
    plan = read_document(path, _PLAN)
    if any(len(each.thresholds) != len(plan.judges) for each in plan.groups.values()) or not plan.judges:
        raise DataError(f"is not {_PLAN.what}: each judge needs a threshold; {_PLAN.advice}", path=path)
    return plan
