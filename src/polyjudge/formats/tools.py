"""The result files of other evaluation tools: how each is recognised, and which function reads it as outcome rows."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from polyjudge.files.opening import inner_suffix, open_bytes

from .columns import Row

ToolRows = Iterator[tuple[int, Row | str]]
"""The line of each row, or its number in files without lines, and the row or an error message."""
_HEAD = 1 << 16


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """One kind of file that another tool writes."""

    name: str
    """The tool and the kind of file, for messages."""
    suffixes: tuple[str, ...]
    reader: str
    """`module:function` in `polyjudge.formats`; the function takes a path and yields `ToolRows`."""
    marks: tuple[str, ...] = ()
    """Patterns that are all found near the start of such a file; none if the suffix is enough."""

    def rows(self, path: Path) -> ToolRows:
        """Yield the rows of a file."""
        module, _, function = self.reader.partition(":")
        read = cast(Callable[[Path], ToolRows], getattr(import_module(f"{__package__}.{module}"), function))
        return read(path)


def _keys(*names: str) -> tuple[str, ...]:
    """Return patterns of keys in a JSON object."""
    return tuple(rf'"{re.escape(name)}"\s*:' for name in names)


_NAME, _LANGUAGE = r'(?:[^,"\n]+|"[^"\n]*")', r"[a-z]{2,3}(?:[-_]\w+)?"
_APPRAISE_ROW = rf"\A\ufeff?{_NAME},{_NAME},\d+,[A-Z]{{3}},{_LANGUAGE},{_LANGUAGE},(?:-?[\d.]+|None)?,"
"""The first fields of a row: user, system, index, type, both languages and score."""
_MQM_HEADER = r"\A(?=.*\b(?:seg_id|docSegId|globalSegId|doc_segment_id)\t).*\bsystem(?:_id)?\t.*\tcategory\tseverity"
_WMT_DOCUMENT = r'"doc_id"\s*:\s*"[^"\\]*_#+_'
"""The id of a document with its languages, domain and name."""
TOOL_FORMATS: tuple[ToolFormat, ...] = (
    ToolFormat(
        "AlpacaEval annotations",
        (".json",),
        "tool_pairs:alpaca_eval",
        _keys("instruction", "output_1", "output_2", "preference"),
    ),
    ToolFormat("PandaLM test set", (".json",), "tool_pairs:panda_labels", _keys("idx", "response1", "annotator1")),
    ToolFormat("PandaLM verdicts", (".json",), "tool_pairs:panda_results", (*_keys("idx"), r'"\w[\w.-]*_result"\s*:')),
    ToolFormat("LLMBar results", (".json",), "tool_pairs:llm_bar", (*_keys("output_1", "results"), r'"swap = \w+"')),
    ToolFormat(
        "LLMBar statistics",
        (".json",),
        "tool_pairs:llm_bar_statistics",
        _keys("correct_False", "correct_True", "kappa_agreement"),
    ),
    ToolFormat(
        "JudgeBench output",
        (".jsonl",),
        "tool_pairs:judge_bench",
        _keys("pair_id", "question", "response_model", "response_A"),
    ),
    ToolFormat("CJE draws", (".jsonl",), "tool_scores:cje", _keys("prompt_id", "response", "judge_score")),
    ToolFormat("Inspect log", (".eval",), "tool_inspect:inspect_archive", (r"\APK",)),
    ToolFormat("Inspect log", (".json",), "tool_inspect:inspect_json", _keys("status", "eval", "run_id")),
    ToolFormat("promptfoo results", (".json",), "tool_frameworks:promptfoo", _keys("evalId", "results", "prompts")),
    ToolFormat("DeepEval test run", (".json",), "tool_frameworks:deepeval", _keys("testCases", "metricsData")),
    ToolFormat(
        "pydantic-evals report", (".json",), "tool_frameworks:pydantic_evals", _keys("inputs", "expected_output")
    ),
    ToolFormat(
        "lm-evaluation-harness samples", (".jsonl",), "tool_lm_eval:lm_eval", _keys("doc_id", "resps", "filtered_resps")
    ),
    ToolFormat("MQM errors", (".tsv",), "mqm_tables:mqm_table", (_MQM_HEADER,)),
    ToolFormat("WMT mean MQM scores", (".tsv",), "metrics_files:average_scores", (r"\Asystem mqm_avg_score seg_id",)),
    ToolFormat("Appraise scores", (".csv",), "annotations:appraise_scores", (_APPRAISE_ROW,)),
    ToolFormat("Appraise items", (".json",), "annotations:appraise_items", _keys("documentID", "targetText", "mqm")),
    ToolFormat(
        "Pearmut annotations",
        (".jsonl",),
        "annotations:pearmut_annotations",
        _keys("annotation", "user_id", "item_i", "tgt"),
    ),
    ToolFormat("Pearmut campaign", (".json",), "annotations:pearmut_items", _keys("campaign_id", "data", "tgt")),
    ToolFormat("mt-metrics-eval scores", (".score",), "metrics_files:score_file"),
    ToolFormat("mt-metrics-eval ratings", (".rating",), "metrics_files:rating_file"),
    ToolFormat(
        "WMT system outputs", (".jsonl",), "metrics_files:system_outputs", (_WMT_DOCUMENT, *_keys("hypothesis"))
    ),
    ToolFormat(
        "WMT automatic scores", (".jsonl",), "metrics_files:automatic_scores", _keys("document_id", "metric_scores")
    ),
)
TOOL_SUFFIXES = frozenset(suffix for each in TOOL_FORMATS for suffix in each.suffixes)
"""The suffixes that such files have."""


_METRICS_FOLDER = ToolFormat("mt-metrics-eval folder", (), "metrics_folder:metrics_folder")


def is_metrics_folder(path: Path) -> bool:
    """Return whether a folder has the layout of mt-metrics-eval."""
    return any((path / name).is_dir() for name in ("system-outputs", "human-scores", "metric-scores"))


def tool_format_of(path: Path) -> ToolFormat | None:
    """Return the format of a file or folder that another tool wrote, or None."""
    if path.is_dir():
        return _METRICS_FOLDER if is_metrics_folder(path) else None
    suffix = inner_suffix(path)
    if suffix not in TOOL_SUFFIXES or not path.is_file():
        return None
    with open_bytes(path) as file:
        head = file.read(_HEAD).decode("utf-8", errors="replace")
    fitting = (each for each in TOOL_FORMATS if suffix in each.suffixes)
    return next((each for each in fitting if all(re.search(mark, head) for mark in each.marks)), None)
