"""Render a review for other programs: annotations of GitHub's workflows, SARIF 2.1.0 and JUnit XML."""

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from polyjudge.checks.catalogue import known_finding, record_of_kind
from polyjudge.files.json_lines import readable_json
from polyjudge.files.ownership import XML_COMMENT, own_fields
from polyjudge.records.findings import Severity
from polyjudge.records.messages import Review, ReviewFinding, UnjudgedMessage
from polyjudge.text.display import harmless
from polyjudge.version import __version__

from .blocks import shown
from .escaping import escape_command, escape_property, no_command, xml_text
from .review_text import finding_line
from .review_wording import (
    Names,
    fails_at,
    headline,
    key_beside_source,
    key_words,
    kind_words,
    plain_excerpt,
    worst_first,
)
from .wording import counted, listed, plain

_MOST_ANNOTATIONS = 10
"""As many of each level are shown for a step; GitHub drops the others."""
_COMMANDS: Mapping[Severity, str] = {"fail": "error", "warn": "warning", "info": "notice"}
_LONGEST_TEXT = 400
_LEVELS: Mapping[Severity, str] = {"fail": "error", "warn": "warning", "info": "note"}
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
_UNJUDGED = "unjudged"
_SKIPPED = "not_reviewed"
_NOTIFICATIONS = {
    _UNJUDGED: "A judge was asked about the message and gave no usable answer.",
    _SKIPPED: "A part was not reviewed.",
}


def review_annotations(review: Review) -> Iterator[str]:
    """Render the worst findings as annotations of GitHub, and all others as lines of the log."""
    used: Counter[Severity] = Counter()
    others: list[ReviewFinding] = []
    for finding in worst_first(review.findings):
        if used[finding.severity] < _MOST_ANNOTATIONS - (finding.severity == "info"):
            yield _annotation(finding)
            used[finding.severity] += 1
        else:
            others.append(finding)
    left = Counter(each.severity for each in others)
    if others:
        names = listed([counted(left[severity], name) for severity, name in _COMMANDS.items() if left[severity]])
        yield from ("::group::Findings without an annotation\n", *map(finding_line, others), "::endgroup::\n")
        yield f"::notice title=polyjudge review::{names} more: GitHub shows only {_MOST_ANNOTATIONS} of each a step.\n"
    for line in _without_verdict(review):
        yield no_command(f"::warning title=polyjudge review::{escape_command(line)}\n")
    yield no_command(f"{plain(headline(review))}\n")


def _annotation(finding: ReviewFinding) -> str:
    texts = {"Source": finding.source, "Translation": finding.translation, "Better": finding.suggestion}
    placed = {"Translation": (finding.start, finding.end)}
    key = key_beside_source(finding)
    lines = [finding.message, finding.matters, f"Key: {key}" if key else ""]
    lines += [
        f"{name}: {plain_excerpt(text, _LONGEST_TEXT, *placed.get(name, ()))}" for name, text in texts.items() if text
    ]
    message = "%0A".join(escape_command(line) for line in lines if line)
    title = escape_property(f"{kind_words(finding)} ({finding.language})")
    path = harmless(_normal(finding.file)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    path = path.replace(":", "%3A").replace(",", "%2C")
    return no_command(f"::{_COMMANDS[finding.severity]} file={path},line={finding.line},title={title}::{message}\n")


def _without_verdict(review: Review) -> Iterator[str]:
    if review.unjudged:
        kinds = Counter(each.reason for each in review.unjudged).most_common(3)
        why = ", ".join(f"{reason} ({count:,})" for reason, count in kinds)
        yield f"{counted(len(review.unjudged), 'message')} could not be judged: {why}"
    if review.skipped:
        yield f"{len(review.skipped):,} not reviewed: {'; '.join(review.skipped[:3])}"


def review_sarif(review: Review) -> str:
    """Render a review as SARIF 2.1.0, with accepted findings as suppressed results."""
    findings = [*worst_first(review.findings), *worst_first(review.accepted)]
    kinds = list(dict.fromkeys(each.kind for each in findings))
    seen: Counter[tuple[str, str]] = Counter()
    driver = {
        "name": "polyjudge",
        "version": __version__,
        "rules": [_rule(kind, findings) for kind in kinds],
        "notifications": [
            {"id": kind, "shortDescription": said, "fullDescription": said, "help": said}
            for kind, said in ((kind, {"text": text}) for kind, text in _NOTIFICATIONS.items())
        ],
    }
    notes = [_notification(each) for each in review.unjudged]
    notes += [_note(_SKIPPED, each) for each in review.skipped]
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder that polyjudge ran in"}}},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(each, kinds.index(each.kind), seen, is_accepted=place >= len(review.findings))
            for place, each in enumerate(findings)
        ],
        "properties": {"headline": plain(headline(review))},
    }
    return (
        readable_json({"$schema": _SCHEMA, "version": "2.1.0", "properties": own_fields(), "runs": [run]}, indent=2)
        + "\n"
    )


def _rule(kind: str, findings: Sequence[ReviewFinding]) -> dict[str, Any]:
    first = next(each for each in findings if each.kind == kind)
    known, words = known_finding(kind), kind_words(first)
    finds = known.finds if known else f"{words[:1].upper()}{words[1:]}."
    matters = first.matters or (known.matters if known else "")
    record = record_of_kind(kind) or first.record
    full = " ".join(filter(None, (finds, matters)))
    text = " ".join(filter(None, (full, record and f"Measured: {record}.")))
    level = _LEVELS[known.severity if known else first.severity]
    name = "".join(word.capitalize() for word in words.split())
    return {
        "id": shown(kind),
        **({"name": name} if name.casefold() != kind.casefold() else {}),
        "shortDescription": {"text": _sarif_text(finds)},
        "fullDescription": {"text": _sarif_text(full)},
        "help": {"text": _sarif_text(text)},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["localisation", shown(first.check)]},
    }


def _result(finding: ReviewFinding, rule: int, seen: Counter[tuple[str, str]], *, is_accepted: bool) -> dict[str, Any]:
    texts = {"Source": finding.source, "Translation": finding.translation, "Better": finding.suggestion}
    words = [finding.message, *(f"{name}: {plain_excerpt(text, 2_000)}" for name, text in texts.items() if text)]
    about = {"language": finding.language, "check": finding.check, "plural": finding.plural, "judge": finding.judge}
    known = {"key": finding.key, **about, "record": finding.record}
    result = {
        "ruleId": shown(finding.kind),
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join(map(_sarif_text, words))},
        "locations": [_location(finding.file, finding.line, finding.key)],
        "properties": {name: value for name, value in known.items() if value},
    }
    if finding.fingerprint:
        # Of equal texts in one file the first is 1, the second 2: one that moves to another line keeps its alert.
        seen[finding.file, finding.fingerprint] += 1
        name = f"{finding.fingerprint}:{seen[finding.file, finding.fingerprint]}"
        result["partialFingerprints"] = {"primaryLocationLineHash": name, "polyjudge/v1": finding.fingerprint}
    if is_accepted:
        why = {"justification": shown(finding.reason)} if finding.reason else {}
        result["suppressions"] = [{"kind": "external", "status": "accepted", **why}]
    return result


def _location(file: str, line: int, key: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(file), "region": {"startLine": max(1, line)}}
    }
    return {**found, "logicalLocations": [{"name": shown(key), "kind": "resource"}]} if shown(key) else found


def _artifact(file: str) -> dict[str, str]:
    path = _normal(file)
    try:
        uri = quote(path.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        uri = quote(path.encode("utf-8", "replace"))
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": _ROOT}


def _notification(unjudged: UnjudgedMessage) -> dict[str, Any]:
    found = _note(_UNJUDGED, f"{unjudged.key}: {unjudged.reason}")
    return {**found, "locations": [_location(unjudged.file, unjudged.line, unjudged.key)]}


def _note(kind: str, text: str) -> dict[str, Any]:
    return {"descriptor": {"id": kind}, "level": "warning", "message": {"text": _sarif_text(text)}}


def _sarif_text(text: str) -> str:
    """Return a text as one line in which nothing is read as a link."""
    return shown(text).replace("](", "] (") or "–"


def _normal(path: str) -> str:
    """Return a path without the dots that would make it differ from that of the repository."""
    return posixpath.normpath(path) if path else "."


def review_junit(review: Review) -> str:
    """Render a suite for each language and file: what fails the review, what warns, and what has no verdict."""
    root, names = ElementTree.Element("testsuites", name="polyjudge review"), Names(review)
    suites: dict[tuple[str, str], ElementTree.Element] = {}
    used: Counter[tuple[str, ...]] = Counter()
    rows: list[ReviewFinding | UnjudgedMessage] = [*review.findings, *review.unjudged]
    for each in sorted(rows, key=lambda each: (each.language, each.file, each.line)):
        suite = suites.get((each.language, each.file))
        if suite is None:
            title = xml_text(f"{names[each.language]}: {each.file}")
            suite = suites[each.language, each.file] = ElementTree.SubElement(root, "testsuite", name=title)
        name = f"{key_words(each)}: {kind_words(each)}" if isinstance(each, ReviewFinding) else f"{each.key}: meaning"
        used[each.language, each.file, name] += 1
        count = used[each.language, each.file, name]
        _add_case(suite, each, f"{name} ({count})" if count > 1 else name, review)
    for row in review.languages:
        suite = ElementTree.SubElement(root, "testsuite", name=xml_text(names[row.language]))
        title = f"{counted(row.messages, 'message')} reviewed"
        ElementTree.SubElement(suite, "testcase", classname=xml_text(row.language or "polyjudge"), name=title)
    for suite in root:
        for kind, tag in {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}.items():
            suite.set(kind, str(sum(1 for _ in suite.iter(tag))))
    ElementTree.indent(root)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{XML_COMMENT}\n{ElementTree.tostring(root, encoding='unicode')}\n"


def _add_case(suite: ElementTree.Element, found: ReviewFinding | UnjudgedMessage, name: str, review: Review) -> None:
    given = {"classname": found.file, "name": name, "file": _normal(found.file), "line": str(found.line)}
    case = ElementTree.SubElement(suite, "testcase", {key: xml_text(value) for key, value in given.items()})
    if isinstance(found, UnjudgedMessage):
        ElementTree.SubElement(case, "skipped", message=xml_text(f"could not be judged: {found.reason}"))
        return
    said = "".join(_junit_lines(found))
    if fails_at(review, found.severity):
        kind, message = xml_text(found.kind), xml_text(found.message)
        ElementTree.SubElement(case, "failure", message=message, type=kind).text = said
    else:
        ElementTree.SubElement(case, "system-out").text = said


def _junit_lines(finding: ReviewFinding) -> Iterator[str]:
    yield f"\n{xml_text(finding_line(finding))}\n"
    parts = {"source": finding.source, "translation": finding.translation, "better": finding.suggestion}
    parts |= {"why": finding.matters, "known": finding.record, "finding": finding.fingerprint}
    yield from (f"{name}: {xml_text(text)}\n" for name, text in parts.items() if text)
