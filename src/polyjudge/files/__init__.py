"""From disk to records and back."""

from .canonical import canonical_json, fingerprint
from .fixtures import FixtureFile, read_fixtures
from .item_rows import DEFAULT_CONTEXT, ItemSource, Survey
from .json_lines import each_json_line, read_json_lines
from .json_records import from_json, to_json
from .outcome_rows import outcome_row, read_outcome_row
from .results_file import ResultsFile
from .row_log import RowLog, row_line
from .schema_files import schema, schema_names
from .scratch_rows import ScratchRows
from .translation_results import TranslationResults, language_row, read_language_row, write_translation_results
from .translation_scores import TranslationScores, read_score_row, score_row, write_translation_scores
from .writing import readable_json, write_atomically

__all__ = [
    "DEFAULT_CONTEXT",
    "FixtureFile",
    "ItemSource",
    "ResultsFile",
    "RowLog",
    "ScratchRows",
    "Survey",
    "TranslationResults",
    "TranslationScores",
    "canonical_json",
    "each_json_line",
    "fingerprint",
    "from_json",
    "language_row",
    "outcome_row",
    "read_fixtures",
    "read_json_lines",
    "read_language_row",
    "read_outcome_row",
    "read_score_row",
    "readable_json",
    "row_line",
    "schema",
    "schema_names",
    "score_row",
    "to_json",
    "write_atomically",
    "write_translation_results",
    "write_translation_scores",
]
