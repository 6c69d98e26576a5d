"""Write the JSON Schemas that ship with polyjudge, from the records that the files are made of: `make schemas`.

Fields, types and descriptions come from the records. What a type does not say is added here: what is around a record
in its file, limits, and what depends on the value of another field.
"""

import ast
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields

from polyjudge.cache.entries import Entry
from polyjudge.providers.scripted import RecordedAnswer
from polyjudge.records.calibration import (
    Figure,
    JudgeIdentity,
    LanguageTrust,
    MonotonicityResult,
    Reliability,
    TrustCard,
)
from polyjudge.records.cascades import AgreementRule, CascadePlan, CascadePoint, CascadeThresholds
from polyjudge.records.comparison import Alarm, Comparison, Difference, ItemChange, ItemCounts, LanguageChange
from polyjudge.records.messages import Review, ReviewedLanguage, ReviewFinding, UnjudgedMessage
from polyjudge.records.outcomes import ITEM_TEXTS, PAIR_FIELDS, Failure, Generated, JudgeResult, Provenance
from polyjudge.records.ranking import LanguageRanking, PairwiseSummary, RankedSystem, Ranking, SystemPair
from polyjudge.records.requests import Reply
from polyjudge.records.rubrics import Rubric, Scale
from polyjudge.records.samples import PlannedItem, SamplePlan
from polyjudge.records.sessions import ReviewRow
from polyjudge.records.spans import SpanSeverity
from polyjudge.records.translation import LanguageResult, LanguageScore, PromptResult, PromptScore
from polyjudge.records.vocabulary import Judgement, WordRecord
from polyjudge.records.watches import PinnedAnswer, PinnedQuestion, PinnedSet, Rewording, Watch
from polyjudge.reports.run_kinds import RunKind
from polyjudge.reports.run_rows import RunRow
from polyjudge.reports.vocabulary import Comparison as WordComparison
from polyjudge.reports.vocabulary import HardWord, JudgeAgreement
from polyjudge.store.labels import Label
from polyjudge.store.run_folder import ResultsManifest, ResultsPart
from polyjudge.verdicts.items import Status

from .site.declared_fields import declared

FOLDER = Path(__file__).parent.parent / "src" / "polyjudge" / "records" / "schemas"
NULL = {"type": ["object", "null"]}
VERSION = {"schemaVersion": {"const": 1}}
COUNT, SHARE, POINTS = {"minimum": 0}, {"minimum": 0, "maximum": 1}, {"minimum": 1, "maximum": 5}
LABEL_POINTS = {"minimum": -25, "maximum": 100}
PERCENT, CHANCE = {"minimum": 0, "maximum": 100}, {"exclusiveMinimum": 0, "maximum": 1}
SHA256, SHORT_HASH = {"pattern": "^[0-9a-f]{64}$"}, {"pattern": "^[0-9a-f]{16}$"}
VERDICTS = [*get_args(Reliability), "sensitive", "insensitive"]
"""Of trust cards: those of today, and those that older cards have."""
READINGS = ["schema", "json", "unwrapped", "embedded", "repaired", "lines", "label"]

LIMITS: dict[str, dict[str, Any]] = {
    "Provenance.rubricFingerprint": SHORT_HASH,
    "Provenance.promptSha256": SHA256,
    "JudgeResult.parse_method": {"enum": READINGS},
    "CurvePoint.severity": SHARE,
    **{key: {"enum": VERDICTS} for key in ("MonotonicityResult.verdict", "LanguageTrust.verdict")},
    "Difference.p": CHANCE,
    "Difference.adjustedP": CHANCE,
    "Difference.detectable": COUNT,
    "ComparisonOptions.alpha": {"exclusiveMinimum": 0, "maximum": 0.5},
    "ComparisonOptions.resamples": {"minimum": 1},
    "RankingOptions.alpha": {"exclusiveMinimum": 0, "maximum": 0.5},
    "RankingOptions.permutations": {"minimum": 1},
    "SystemPair.p": CHANCE,
    "SystemPair.adjustedP": CHANCE,
    "ComparisonOptions.permutations": {"minimum": 1},
    "RecordedAnswer.promptSha256": SHA256,
    "Rubric.criteria": {"minItems": 1},
    "RubricCriterion.weight": {"exclusiveMinimum": 0},
    "ResultsManifest.fingerprint": {"pattern": "^[0-9a-f]{12}$"},
    "ResultsManifest.rubricFingerprint": SHORT_HASH,
    "ResultsManifest.judges": {"minItems": 1},
    "ResultsManifest.asking": {"enum": ["", "refresh", "reread", "retry-failures"]},
    "ResultsPart.file": {"pattern": r"^part-[0-9]{5,}(-[0-9]{5,})?\.parquet$"},
    "ResultsPart.sha256": SHA256,
    "ResultsPart.itemsFingerprint": SHORT_HASH,
    "ReviewRow.agentScore": PERCENT,
    "ReviewRow.systemScore": PERCENT,
    "PlannedItem.inclusionProbability": CHANCE,
    "Watch.eValue": {"minimum": 1},
    "Watch.needed": {"exclusiveMinimum": 1},
    "Watch.falseAlarms": {"exclusiveMinimum": 0, "maximum": 0.5},
    "Watch.noticeable": SHARE,
    "PinnedQuestion.answers": {"minItems": 1},
    "WordRecord.timestamp": {"pattern": "^[0-9-]{10}T[0-9:]{8}Z$"},
    "WordRecord.finish": {"enum": ["stop", "length", "refusal"]},
    **{
        f"{name}.{part}Score": POINTS
        for name in ("LanguageScore", "PromptScore")
        for part in ("script", "grammar", "coherence")
    },
    **{
        f"{name}.{key}": COUNT
        for name, keys in {
            "Provenance": ("repeat", "attempts", "inputTokens", "outputTokens", "costUsd"),
            "JudgeResult": ("durationMs",),
            "Generated": ("durationMs",),
            "Reply": ("attempts", "durationMs", "inputTokens", "outputTokens", "costUsd"),
            "RecordedAnswer": ("inputTokens", "outputTokens"),
            "WordRecord": ("attempts", "duration_ms", "input_tokens", "output_tokens"),
            "MonotonicityResult": ("texts", "unjudged"),
            "ControlResult": ("texts",),
            "Effect": ("count",),
            "LanguageTrust": ("texts", "comparisons", "labels"),
            "TrustCard": ("labels",),
            "ComparisonOptions": ("seed", "show"),
            "LanguageRanking": ("comparisons", "clusters", "clustersNeeded"),
            "PairwiseSummary": ("pairs", "judged", "unjudged"),
            "RankedSystem": ("comparisons", "wins", "losses", "ties", "failures"),
            "RankingOptions": ("seed",),
            "SystemPair": ("comparisons", "wins", "losses", "ties"),
            "ItemCounts": [field.encode_name for field in fields(ItemCounts)],
            "ResultsManifest": ("rows", "judged", "unjudged"),
            "ResultsPart": ("rows", "judged", "unjudged", "itemsLine"),
            "ReviewRow": ("events", "unreadableRows"),
            "SamplePlan": ("size", "candidates"),
            "Rewording": [field.encode_name for field in fields(Rewording)],
            "Watch": [field.encode_name for field in fields(Watch) if field.type is int],
            "PromptScore": ("index",),
            "ReviewFinding": ("line", "start", "end"),
            "UnjudgedMessage": ("line",),
            "ReviewedLanguage": [field.encode_name for field in fields(ReviewedLanguage) if field.type is int],
        }.items()
        for key in keys
    },
}


class File:
    """One schema: what its file is, and the records that have a definition of their own in it."""

    def __init__(self, title: str, definitions: Mapping[type[Struct], str], *, closed: bool = False) -> None:
        self.title, self.definitions, self.closed = title, definitions, closed

    def document(self, name: str, body: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the whole schema around what a file is."""
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{name}.schema.json"}
        own = {key: self.record(kind) for kind, key in self.definitions.items()}
        definitions = {**own, **(extra or {})}
        return {**head, "title": self.title, **body, **({"$defs": definitions} if definitions else {})}

    def record(self, kind: type[Struct], *, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return a record as an object with the fields that it has in files, and those that the file adds to it."""
        more = more or {}
        written = [field for field in fields(kind) if field.name != "extra"]
        properties = {
            field.encode_name: self._field(kind, field.name, field.encode_name, field.type) for field in written
        }
        needed = [field.encode_name for field in written if field.required]
        closed = self.closed or kind.__struct_config__.forbid_unknown_fields
        return {
            "type": "object",
            "required": [*(key for key in more if key not in properties), *needed],
            **({"additionalProperties": False} if closed else {}),
            "properties": {**properties, **more} if set(more) <= set(properties) else {**more, **properties},
        }

    def row(self, kind: type[Struct]) -> dict[str, Any]:
        """Return a record that is a file of its own, or a row of one."""
        return self.record(kind, more=VERSION)

    def _field(self, kind: type[Struct], name: str, key: str, hint: Any) -> dict[str, Any]:
        found = {**self.value(hint), **LIMITS.get(f"{kind.__name__}.{key}", {})}
        if "enum" in found:
            found.pop("type", None)
        description = field_docstrings(kind).get(name)
        return {**found, "description": description} if description else found

    def value(self, hint: Any) -> dict[str, Any]:
        """Return what a type says of a value."""
        origin, arguments = get_origin(hint), get_args(hint)
        if hint is Any or hint is object:
            return {}
        if hint in _SCALARS:
            return {"type": _SCALARS[hint]}
        if origin is Literal:
            return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
        if origin in (Union, UnionType):
            return self._any_of(arguments)
        if origin in (tuple, Sequence):
            return {"type": "array", "items": self.value(arguments[0])}
        if isinstance(hint, type) and issubclass(hint, Struct):
            return self._reference(hint)
        inner = self.value(arguments[1])
        names = {"propertyNames": {"pattern": "^-?[0-9]+$"}} if arguments[0] is int else {}
        return {"type": "object", **({"additionalProperties": inner} if inner else {}), **names}

    def _any_of(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        kinds = [kind for kind in arguments if not (kind is int and float in arguments)]
        if all(kind in _SCALARS for kind in kinds):
            return {"type": [_SCALARS[kind] for kind in kinds] if len(kinds) > 1 else _SCALARS[kinds[0]]}
        return {"anyOf": [self.value(kind) for kind in kinds]}

    def _reference(self, kind: type[Struct]) -> dict[str, Any]:
        if kind in self.definitions:
            return {"$ref": f"#/$defs/{self.definitions[kind]}"}
        if kind in OUTCOME.definitions:
            return {"$ref": f"outcome.schema.json#/$defs/{OUTCOME.definitions[kind]}"}
        return self.record(kind)


_SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


@cache
def field_docstrings(kind: type) -> dict[str, str]:
    """Return what is said of each field of a record, below it."""
    return {ast.unparse(field.target): said for field, said in declared(kind) if said}


def object_of(needed: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return an object that is no record."""
    return {"type": "object", "required": list(needed), "properties": {**needed, **(optional or {})}}


def list_of(reference: str) -> dict[str, Any]:
    """Return a list of what a definition says."""
    return {"type": "array", "items": {"$ref": reference}}


def either(key: str, value: str, then: Mapping[str, Any], otherwise: Mapping[str, Any]) -> dict[str, Any]:
    """Return what holds where a field has this value, and what else."""
    return {"if": {"properties": {key: {"const": value}}}, "then": then, "else": otherwise}


ANY: dict[str, Any] = {}
TEXT, WHOLE, OBJECT = {"type": "string"}, {"type": "integer", **COUNT}, {"type": "object"}
OUTCOME = File(
    "One row of a results file: what a judge or a model made of one item",
    {Provenance: "provenance", JudgeResult: "result", Failure: "failure", Generated: "text"},
)


def outcome() -> dict[str, Any]:
    """Return the schema of a row of a run file."""
    body = object_of(
        {**VERSION, "id": TEXT, "outcome": {"enum": ["result", "failure", "text"]}},
        dict.fromkeys(("language", "cluster", "candidate", *ITEM_TEXTS, *PAIR_FIELDS), TEXT),
    )
    kinds = [
        {"if": {"properties": {"outcome": {"const": kind}}}, "then": {"$ref": f"#/$defs/{kind}"}}
        for kind in ("result", "failure", "text")
    ]
    return OUTCOME.document("outcome", {**body, "allOf": kinds})


def cache_entry() -> dict[str, Any]:
    """Return the schema of a row of an export of the cache, where the record is an object and not its text."""
    file = File("One row of `polyjudge cache export`", {Reply: "reply"})
    body = file.row(Entry)
    body["properties"]["value"] = OBJECT
    result = {"$ref": "outcome.schema.json#/$defs/result"}
    kinds = [{"properties": {"value": each}} for each in ({"$ref": "#/$defs/reply"}, result)]
    return file.document("cache-entry", {**body, **either("kind", "reply", *kinds)})


def comparison() -> dict[str, Any]:
    """Return the schema of `compare --format json`: the ruling, and then the comparison."""
    definitions = {JudgeIdentity: "judge", Difference: "difference", Figure: "figure"}
    definitions |= {ItemCounts: "counts", LanguageChange: "change", ItemChange: "item"}
    file = File("What changed between two runs over the same items", definitions, closed=True)
    rule = {
        "type": ["string", "null"],
        "pattern": "^(regression|drop:.+)$",
        "description": "The rule that could fail the comparison.",
    }
    ruling = {
        **VERSION,
        "failOn": rule,
        "maxUnjudged": {"type": ["number", "null"], **SHARE},
        "unjudgedShare": {
            "type": "number",
            **SHARE,
            "description": "Of the items with a verdict before: those without one now, or no longer there.",
        },
        "exitCode": {"enum": [0, 1, 3]},
        "undecided": {
            "type": "boolean",
            "description": "There is a rule, but no language has enough items to fail it, nor have all items together.",
        },
        "alarms": {
            "type": "array",
            "items": file.record(Alarm),
            "description": "What got worse by the rule; without a rule, what got significantly worse.",
        },
    }
    document = file.document("comparison", file.record(Comparison, more=ruling))
    document["$defs"]["counts"]["additionalProperties"] = WHOLE
    return document


def ranking() -> dict[str, Any]:
    """Return the schema of `rank --format json`."""
    definitions = {JudgeIdentity: "judge", Figure: "figure", LanguageRanking: "ranking"}
    definitions |= {RankedSystem: "system", SystemPair: "pair"}
    file = File("The ranking of several systems over the same items", definitions, closed=True)
    return file.document("ranking", file.row(Ranking))


def pairwise() -> dict[str, Any]:
    """Return the schema of `pairwise --format json`."""
    definitions = {Figure: "figure", LanguageRanking: "table", RankedSystem: "system", SystemPair: "pair"}
    definitions |= {JudgeIdentity: "judge", Ranking: "ranking"}
    file = File("Which of two systems a judge prefers", definitions, closed=True)
    return file.document("pairwise", file.row(PairwiseSummary))


def label() -> dict[str, Any]:
    """Return the schema of a row of a labels file, where what was not said is null."""
    title = "One row of a labels file of `polyjudge label`: what one person said of one item; the newest row counts"
    file = File(title, {})
    body = file.row(Label)
    points = {"anyOf": [{"type": "number", **LABEL_POINTS}, {"enum": ["pass", "fail"]}, {"type": "null"}]}
    reasons = [None if reason == "" else reason for reason in body["properties"]["reason"]["enum"]]
    for key, limits in {
        "id": {"minLength": 1},
        "annotator": {"minLength": 1},
        "seconds": COUNT,
        "weight": {"exclusiveMinimum": 0},
        "inclusionProbability": {"exclusiveMinimum": 0, "maximum": 1},
        "reason": {"enum": reasons},
    }.items():
        body["properties"][key] |= limits
    said = body["properties"]["label"]["description"]
    with_errors = "With marked errors: minus their penalties, or 0 to 100."
    body["properties"]["label"] = points | {"description": f"{said} {with_errors}"}
    absent = {"description": "The errors that the person marked; absent if the person was not asked to mark any."}
    body["properties"]["spans"] = body["properties"]["spans"]["anyOf"][0] | absent
    body["required"] = ["schemaVersion", "id", "label", "passed", "reason", "note", "annotator", "labelledAt"]
    without = {
        "if": {"properties": {"reason": {"type": "string"}}},
        "then": {"properties": {"label": {"type": "null"}}},
    }
    return file.document("label", {**body, **without})


def recording() -> dict[str, Any]:
    """Return the schema of a row of a recording, which need not name its version."""
    file = File("One row of a recording for the scripted provider", {})
    body = file.row(RecordedAnswer)
    return file.document("recording", {**body, "required": []})


def translation_results() -> dict[str, Any]:
    """Return the schema of a translator's outputs: a list of languages, or an object around it."""
    file = File("What a translator wrote, by language", {LanguageResult: "language", PromptResult: "prompt"})
    languages = list_of("#/$defs/language")
    around = object_of({"results": languages}, {"bindingUsed": ANY, "deviceInfo": ANY, "model": TEXT})
    document = file.document("translation-results", {"oneOf": [languages, around]})
    document["$defs"]["language"]["required"].append("prompts")
    problem = {"type": "object", "required": ["kind", "message"]}
    document["$defs"]["prompt"]["properties"]["checks"] = {
        "type": "object",
        "description": "What `polyjudge translation check --output` found.",
        "properties": {
            "script": {"enum": ["pass", "warn", "fail", "unknown"]},
            "language": {"enum": ["right", "wrong", "unsure"]},
            "found": TEXT,
            "problems": {"type": "array", "items": problem},
        },
    }
    return document


def translation_scores() -> dict[str, Any]:
    """Return the schema of a judge's scores, where what it cannot tell is null and not left out."""
    file = File("What a judge says of each language", {LanguageScore: "score", PromptScore: "prompt"})
    document = file.document("translation-scores", list_of("#/$defs/score"))
    scores = ["scriptScore", "grammarScore", "coherenceScore", "isCorrectLanguage"]
    score, prompt = document["$defs"]["score"], document["$defs"]["prompt"]
    score["required"] = ["schemaVersion", "languageName", *scores, "prompts"]
    score["properties"] = {**VERSION, **score["properties"]}
    prompt["required"] += scores
    return document


def translation_report() -> dict[str, Any]:
    """Return the schema of a report as JSON, which also has what the results file says of its run."""
    count = ["totalLanguages", "passedLanguages", "failedLanguages"]
    more = ["checkedLanguages", "conflictLanguages", "unreliableLanguages", "unjudgedLanguages", "skippedLanguages"]
    status = {"enum": ["PASS", "CHECKED", "FAIL", "CONFLICT", "UNRELIABLE", "UNJUDGED", "SKIPPED"]}
    verdict = {"type": "object", "required": ["languageName", "status"], "properties": {"status": status}}
    body = object_of(
        {
            **VERSION,
            "timestamp": TEXT,
            "bindingUsed": ANY,
            "deviceInfo": ANY,
            **dict.fromkeys(count, WHOLE),
            "languageResults": list_of("translation-results.schema.json#/$defs/language"),
            "judgeScores": list_of("translation-scores.schema.json#/$defs/score"),
        },
        {
            **dict.fromkeys(more, WHOLE),
            "passRate": {"type": ["number", "null"]},
            "verdicts": {"type": "array", "items": verdict},
        },
    )
    return File("A report in the format json", {}).document("translation-report", body)


def run_report() -> dict[str, Any]:
    """Return the schema of a report on a run as JSON."""
    file = File("A report on a run of any kind in the format json", {RunRow: "row", JudgeIdentity: "judge"})
    interval = {**object_of({"low": {"type": "number"}, "high": {"type": "number"}}), **NULL}
    counts = {"type": "object", "additionalProperties": WHOLE}
    mean = {"type": ["number", "null"]}
    statuses = {**counts, "description": "Rows by status; SCORED has a score that neither passes nor fails."}
    subscores = {"type": "object", "additionalProperties": object_of({"mean": mean, "scores": WHOLE})}
    error = object_of({"category": TEXT, "severity": {"enum": list(get_args(SpanSeverity))}, "count": WHOLE})
    figures = {
        **dict.fromkeys(("rows", "decided", "passing", "scores"), WHOLE),
        "statuses": statuses,
        "passInterval": interval,
        "mean": mean,
        "meanInterval": interval,
        "subscores": subscores,
        "failures": {**counts, "description": "Rows without a verdict, by kind."},
        "errors": {"type": "array", "items": error, "description": "Error spans that count, by category and severity."},
        "errorsNotCounted": {**counts, "description": "Error spans that do not count, by the reason."},
    }
    texts = {"type": "array", "items": TEXT}
    status = {"enum": [*get_args(Status), None]}
    group = dict.fromkeys(("column", "value", "name", "label", "why", "judgeSays", "failureKinds"), TEXT)
    step = object_of({"text": TEXT, "command": TEXT})
    scored = object_of({"from": {"type": "number"}, "to": {"type": "number"}, "rows": WHOLE})
    orders = object_of(dict.fromkeys(("items", "missing", "changed", "firstShownOfChanged"), WHOLE))
    preferences = object_of(
        {
            **dict.fromkeys(("first", "second"), TEXT),
            **dict.fromkeys(("items", "unjudged"), WHOLE),
            **dict.fromkeys(("winRate", "standardError", "discreteWinRate", "low", "high"), mean),
            "verdicts": counts,
            "orders": {**orders, **NULL},
        }
    )
    body = object_of(
        {
            **VERSION,
            "kind": {"const": "polyjudge run report"},
            "run": TEXT,
            "runKind": {"enum": list(get_args(RunKind))},
            "timestamp": TEXT,
            "headline": TEXT,
            "next": {"type": "array", "items": step},
            "limits": texts,
            "sameComments": texts,
            "warnings": texts,
            "filters": {"type": "object", "additionalProperties": texts},
            **figures,
            "preferences": {**preferences, **NULL, "description": "Of the first of two systems, if rows prefer one."},
            "scale": {"anyOf": [file.value(Scale), {"type": "null"}]},
            "distribution": {"type": "array", "items": scored},
            "worst": list_of("#/$defs/row"),
            "unjudged": list_of("#/$defs/row"),
            "groups": {"type": "array", "items": object_of({**group, "status": status, **figures})},
            "judges": list_of("#/$defs/judge"),
            "trust": {"type": "object", "additionalProperties": object_of({"card": ANY, "why": TEXT})},
            "costUsd": {"type": "number", **COUNT},
            "unpricedReplies": WHOLE,
            "cachedReplies": WHOLE,
            "skippedRows": WHOLE,
        }
    )
    document = file.document("run-report", body)
    for key in ("columns", "provenance"):
        del document["$defs"]["row"]["properties"][key]
    return document


def vocabulary_summary() -> dict[str, Any]:
    """Return the schema of the summary of a vocabulary run, which keeps the founding names."""
    file = File("What a word test came to, `output/summary.json`", {})
    models = {"type": "object", "additionalProperties": {"$ref": "#/$defs/model"}}
    errors = ["errors", "generation_errors", "judging_errors"]
    counts = ["correct", "total", "judged", "incorrect", "undetermined", "contradictory", *errors]
    interval = object_of({"low": {"type": "number"}, "high": {"type": "number"}})
    percent = {"type": ["number", "null"], "description": "Correct in a hundred of those judged."}
    figures = object_of(
        {**dict.fromkeys(counts, WHOLE), "percent": percent, "interval": {**interval, "type": ["object", "null"]}},
        {"categories": {"type": "object", "additionalProperties": {"$ref": "#/$defs/figures"}}},
    )
    model = {"allOf": [{"$ref": "#/$defs/figures"}], "properties": {"prompt_b": {"$ref": "#/$defs/figures"}}}
    judge_model = {**TEXT, "description": "The judge whose verdicts count."}
    lists = {"agreement": JudgeAgreement, "comparisons": WordComparison, "hard_words": HardWord}
    body = object_of(
        {**VERSION, "generated_at": TEXT, "judge_model": judge_model, "models": models},
        {
            "judge_provider": TEXT,
            "judges": {"type": "object", "additionalProperties": object_of({"models": models})},
            **{key: {"type": "array", "items": file.record(kind)} for key, kind in lists.items()},
        },
    )
    return file.document("vocabulary-summary", body, {"figures": figures, "model": model})


def word_record() -> dict[str, Any]:
    """Return the schema of a word record; one without a response says why."""
    file = File("What one model answered to one prompt about one word, `output/MODEL/WORD.json`", {}, closed=True)
    unanswered = {"if": {"properties": {"response": {"type": "null"}}}, "then": {"required": ["error"]}}
    return file.document("word-record", {**file.row(WordRecord), **unanswered})


def review() -> dict[str, Any]:
    """Return the schema of a review's scores; the last fields came later than the first files."""
    file = File("What a review of an agent's session came to, `eval-reviews/SCENARIO-TIME.json`", {}, closed=True)
    body = file.row(ReviewRow)
    body["required"] = body["required"][: body["required"].index("derived")]
    return file.document("review", body)


def localisation_review() -> dict[str, Any]:
    """Return the schema of `review --format json`, in which empty fields are written too."""
    definitions = {ReviewFinding: "finding", ReviewedLanguage: "language", UnjudgedMessage: "unjudged"}
    file = File("What a review of localisation files found", definitions)
    kind = {"kind": {"const": "polyjudge localisation review"}}
    return file.document("localisation-review", file.record(Review, more={**VERSION, **kind}))


def judgement() -> dict[str, Any]:
    """Return the schema of a word judgement."""
    file = File("One row of `output/judgements.jsonl`: what a judge made of one answer", {}, closed=True)
    return file.document("judgement", file.row(Judgement))


def results_manifest() -> dict[str, Any]:
    """Return the schema of the manifest of a run folder."""
    title = "The manifest of a folder of results: its parts, what each was made of, and whether all are there"
    file = File(title, {ResultsPart: "part"})
    return file.document("results-manifest", file.row(ResultsManifest))


def rubric() -> dict[str, Any]:
    """Return the schema of a rubric, whose file has no version."""
    file = File("A rubric, as its TOML file reads", {})
    return file.document("rubric", file.record(Rubric))


def trust_card() -> dict[str, Any]:
    """Return the schema of a trust card."""
    definitions = {Figure: "figure", MonotonicityResult: "monotonicity", LanguageTrust: "language"}
    file = File("What is known of one judge", definitions)
    return file.document("trust-card", file.row(TrustCard))


def pinned_set() -> dict[str, Any]:
    """Return the schema of pinned answers, in which the rubric is that of its own schema."""
    file = File(
        "The answers of a judge that a watch asks for again", {PinnedQuestion: "question", PinnedAnswer: "answer"}
    )
    body = file.record(PinnedSet, more={**VERSION, "polyjudgeVersion": TEXT})
    body["properties"]["rubric"] = {"$ref": "rubric.schema.json"}
    return file.document("pinned-set", body)


def sample_plan() -> dict[str, Any]:
    """Return the schema of the plan of an informative sample."""
    file = File("The items of an informative sample to label, with their probabilities", {PlannedItem: "item"})
    more = {**VERSION, "polyjudgeVersion": TEXT, "kind": {"const": "polyjudge sample"}}
    return file.document("sample-plan", file.record(SamplePlan, more=more))


def watch() -> dict[str, Any]:
    """Return the schema of a row of the history of watches, and of `calibrate watch --format json`."""
    file = File("What one watch of a judge found", {Rewording: "rewording"})
    return file.document("watch", file.record(Watch, more={**VERSION, "polyjudgeVersion": TEXT}))


def cascade() -> dict[str, Any]:
    """Return the schema of the plan of a cascade."""
    definitions = {Figure: "figure", JudgeIdentity: "judge", AgreementRule: "rule"}
    definitions |= {CascadeThresholds: "thresholds", CascadePoint: "point"}
    file = File("From which confidence on each judge of a cascade answers, and what that guarantees", definitions)
    kind = {"kind": {"const": "polyjudge cascade"}}
    return file.document("cascade", file.record(CascadePlan, more={**VERSION, **kind}))


def schemas() -> dict[str, str]:
    """Return each schema's text by its name."""
    found = [
        outcome(),
        cache_entry(),
        cascade(),
        comparison(),
        ranking(),
        pairwise(),
        pinned_set(),
        judgement(),
        label(),
        localisation_review(),
        recording(),
        results_manifest(),
        review(),
        rubric(),
        run_report(),
        sample_plan(),
        translation_report(),
        translation_results(),
        translation_scores(),
        trust_card(),
        vocabulary_summary(),
        watch(),
        word_record(),
    ]
    return {each["$id"]: json.dumps(each, ensure_ascii=False, indent=2) + "\n" for each in found}


if __name__ == "__main__":
    for file_name, text in schemas().items():
        (FOLDER / file_name).write_text(text, encoding="utf-8")
