"""From disk to records and back."""

from typing import TYPE_CHECKING

from polyjudge.lazy import lazily

if TYPE_CHECKING:
    from .batch_journal import BatchJob, BatchJournal
    from .canonical import canonical_json, fingerprint
    from .fixtures import FixtureFile, read_fixtures
    from .good_texts import GoodTexts, TextSource
    from .item_rows import DEFAULT_CONTEXT, ItemSource, Survey, rows_of
    from .json_lines import each_json_line, read_json_lines
    from .json_records import from_json, from_snake_json, to_json
    from .judgement_rows import JudgementLog, read_judgements
    from .locking import only_run_in
    from .outcome_rows import item_row, outcome_row, read_outcome_row
    from .ownership import (
        XML_COMMENT,
        generated_comment,
        own_fields,
        refuse_foreign,
        written_by_polyjudge,
    )
    from .parquet_rows import outcomes_in, write_parquet_rows
    from .parsing import parse_json
    from .ratings import Rating, RatingColumns, Ratings, read_ratings
    from .results_file import ResultsFile, remove_unbegun
    from .results_folder import ResultsFolder, RunIdentity
    from .results_manifest import (
        ResultsManifest,
        ResultsPart,
        is_intact,
        manifest_of,
        read_manifest,
        sha256_of,
        write_manifest,
    )
    from .row_log import RowLog, row_line
    from .safe_names import safe_name, safe_names
    from .schema_files import schema, schema_names
    from .scratch_rows import ScratchRows
    from .shards import Shard, ShardedSurvey, shard_digest, survey_shards
    from .stored_outcomes import StoredOutcomes
    from .toml_files import read_toml
    from .transcripts import Transcript
    from .translation_results import TranslationResults, language_row, read_language_row, write_translation_results
    from .translation_scores import TranslationScores, read_score_row, score_row, write_translation_scores
    from .trust_cards import (
        CARDS_FOLDER,
        FoundCard,
        card_lines,
        card_path,
        card_row,
        expiry,
        find_card,
        identity_of,
        read_card,
        update_card,
        write_card,
    )
    from .vocabulary_suite import read_models, read_vocabulary
    from .word_records import JUDGEMENTS_FILE, SUMMARY_FILE, WordRecords, recorded_models
    from .writing import note_moment, noted_moment, readable_json, write_atomically

__all__ = [
    "CARDS_FOLDER",
    "DEFAULT_CONTEXT",
    "JUDGEMENTS_FILE",
    "SUMMARY_FILE",
    "XML_COMMENT",
    "BatchJob",
    "BatchJournal",
    "FixtureFile",
    "FoundCard",
    "GoodTexts",
    "ItemSource",
    "JudgementLog",
    "Rating",
    "RatingColumns",
    "Ratings",
    "ResultsFile",
    "ResultsFolder",
    "ResultsManifest",
    "ResultsPart",
    "RowLog",
    "RunIdentity",
    "ScratchRows",
    "Shard",
    "ShardedSurvey",
    "StoredOutcomes",
    "Survey",
    "TextSource",
    "Transcript",
    "TranslationResults",
    "TranslationScores",
    "WordRecords",
    "canonical_json",
    "card_lines",
    "card_path",
    "card_row",
    "each_json_line",
    "expiry",
    "find_card",
    "fingerprint",
    "from_json",
    "from_snake_json",
    "generated_comment",
    "identity_of",
    "is_intact",
    "item_row",
    "language_row",
    "manifest_of",
    "note_moment",
    "noted_moment",
    "only_run_in",
    "outcome_row",
    "outcomes_in",
    "own_fields",
    "parse_json",
    "read_card",
    "read_fixtures",
    "read_json_lines",
    "read_judgements",
    "read_language_row",
    "read_manifest",
    "read_models",
    "read_outcome_row",
    "read_ratings",
    "read_score_row",
    "read_toml",
    "read_vocabulary",
    "readable_json",
    "recorded_models",
    "refuse_foreign",
    "remove_unbegun",
    "row_line",
    "rows_of",
    "safe_name",
    "safe_names",
    "schema",
    "schema_names",
    "score_row",
    "sha256_of",
    "shard_digest",
    "survey_shards",
    "to_json",
    "update_card",
    "write_atomically",
    "write_card",
    "write_manifest",
    "write_parquet_rows",
    "write_translation_results",
    "write_translation_scores",
    "written_by_polyjudge",
]

lazily(__name__)
