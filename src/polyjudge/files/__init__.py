"""From disk to records and back."""

from .canonical import canonical_json, fingerprint
from .item_rows import DEFAULT_CONTEXT, ItemSource, Survey
from .json_lines import each_json_line, read_json_lines
from .json_records import from_json, to_json
from .outcome_rows import outcome_row, read_outcome_row
from .results_file import ResultsFile
from .row_log import row_line
from .schema_files import schema, schema_names
from .writing import write_atomically

__all__ = [
    "DEFAULT_CONTEXT",
    "ItemSource",
    "ResultsFile",
    "Survey",
    "canonical_json",
    "each_json_line",
    "fingerprint",
    "from_json",
    "outcome_row",
    "read_json_lines",
    "read_outcome_row",
    "row_line",
    "schema",
    "schema_names",
    "to_json",
    "write_atomically",
]
