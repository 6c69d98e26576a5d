"""From disk to records and back."""

from .canonical import canonical_json, fingerprint
from .json_lines import read_json_lines
from .json_records import from_json, to_json
from .outcome_rows import outcome_row, read_outcome_row
from .schema_files import schema, schema_names
from .writing import write_atomically

__all__ = [
    "canonical_json",
    "fingerprint",
    "from_json",
    "outcome_row",
    "read_json_lines",
    "read_outcome_row",
    "schema",
    "schema_names",
    "to_json",
    "write_atomically",
]
