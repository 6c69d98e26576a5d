"""Files of cascade plans."""

from pathlib import Path
from typing import Any, cast

from polyjudge.errors import DataError
from polyjudge.files.atomic import write_atomically
from polyjudge.files.json_lines import parse_data, readable_json
from polyjudge.files.kinds import FileKind, refuse_other_kind
from polyjudge.records.cascades import CascadePlan
from polyjudge.records.codec import from_json, to_json

SCHEMA_VERSION = 1
KIND = "polyjudge cascade"


def write_plan(path: Path, plan: CascadePlan, *, force: bool = False) -> None:
    """Write a plan."""
    data = {"schemaVersion": SCHEMA_VERSION, "kind": KIND, **to_json(plan)}
    with write_atomically(path, force=force, kind=FileKind.CASCADE) as file:
        file.write(readable_json(data, indent=1) + "\n")


def read_plan(path: Path) -> CascadePlan:
    """Read a plan; raise DataError for any other file."""
    refuse_other_kind(path, FileKind.CASCADE)
    try:
        found = parse_data(path.read_text(encoding="utf-8"), path, finite=True)
        row = cast(dict[str, Any], found) if isinstance(found, dict) else {}
        if (row.pop("kind", None), row.pop("schemaVersion", None)) != (KIND, SCHEMA_VERSION):
            raise DataError(f"not a cascade plan of version {SCHEMA_VERSION}; learn it again")
        plan = from_json(CascadePlan, row)
        if any(len(each.thresholds) != len(plan.judges) for each in plan.groups.values()) or not plan.judges:
            raise DataError("invalid plan of a cascade: each judge needs a threshold")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from None
    except DataError as error:
        raise error if error.path else DataError(str(error), path=path) from None
    except (ValueError, RecursionError):
        raise DataError("not a cascade plan: the file is not JSON", path=path) from None
    return plan
