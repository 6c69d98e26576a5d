"""Findings of a review: their names, their order, and their counts by language."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from polyjudge.checks.accepted import AcceptedFindings, fingerprint_of
from polyjudge.checks.catalogue import known_finding, track_record
from polyjudge.records.findings import Finding
from polyjudge.records.messages import FailOn, Message, Review, ReviewedLanguage, ReviewFinding, UnjudgedMessage

_CONTEXT = "\4"
"""What parts context and key in compiled catalogues of gettext."""


def review_finding(finding: Finding, message: Message | None, file: str, language: str, line: int) -> ReviewFinding:
    """Return a finding with its message, or about a file as a whole."""
    known = known_finding(finding.kind)
    text = message.translation if message else ""
    part = "" if finding.start is None else text[finding.start : finding.end]
    return ReviewFinding(
        file=file,
        line=message.line if message else line,
        key=message.key if message else "",
        language=language,
        check=known.check if known else finding.kind,
        kind=finding.kind,
        severity=finding.severity,
        message=finding.message,
        source=message.source if message else "",
        translation=text,
        fingerprint=_fingerprint(finding.kind, message, file, language, part),
        start=finding.start,
        end=finding.end,
        plural=message.plural if message else "",
        matters=known.matters if known else "",
        record=track_record(finding),
    )


def _fingerprint(kind: str, message: Message | None, file: str, language: str, part: str) -> str:
    if message is None:
        return fingerprint_of(kind, language, file)
    key = f"{message.context}{_CONTEXT}{message.key}" if message.context else message.key
    return fingerprint_of(kind, language, key, message.source, message.translation, part)


def made_review(
    findings: Iterable[ReviewFinding],
    languages: Iterable[ReviewedLanguage],
    accepted: AcceptedFindings,
    *,
    since: str = "",
    skipped: Sequence[str] = (),
    source_language: str = "",
    fail_on: FailOn = "fail",
) -> Review:
    """Return a review of findings in the order of files and lines, those that are accepted apart."""
    shown, hidden = list[ReviewFinding](), list[ReviewFinding]()
    for each in sorted(findings, key=_place):
        reason = accepted.reason_for(each.fingerprint) if len(accepted) else None
        if reason is None:
            shown.append(each)
        else:
            hidden.append(replace(each, reason=reason))
    review = Review(
        findings=tuple(shown),
        accepted=tuple(hidden),
        languages=tuple(languages),
        since=since,
        skipped=tuple(skipped),
        source_language=source_language,
        fail_on=fail_on,
    )
    return with_counts(review)


def with_judgements(
    review: Review,
    findings: Iterable[ReviewFinding],
    unjudged: Sequence[UnjudgedMessage],
    judged: Counter[str],
    accepted: AcceptedFindings,
) -> Review:
    """Return a review with the findings of a judge, and the number of messages that it judged by language."""
    more = made_review([*review.findings, *findings], review.languages, accepted)
    languages = [replace(each, judged=judged[each.language]) for each in review.languages]
    joined = replace(
        review,
        findings=more.findings,
        accepted=tuple(sorted((*review.accepted, *more.accepted), key=_place)),
        languages=tuple(languages),
        unjudged=tuple(unjudged),
    )
    return with_counts(joined)


def with_counts(review: Review) -> Review:
    """Return a review whose languages have the counts of its findings."""
    severities, accepted = defaultdict[str, Counter[str]](Counter), Counter[str]()
    for each in review.findings:
        severities[each.language][each.severity] += 1
    for each in review.accepted:
        accepted[each.language] += 1
    unjudged = Counter(each.language for each in review.unjudged)
    languages = [
        replace(
            each,
            fails=severities[each.language]["fail"],
            warnings=severities[each.language]["warn"],
            infos=severities[each.language]["info"],
            accepted=accepted[each.language],
            unjudged=unjudged[each.language],
        )
        for each in review.languages
    ]
    return replace(review, languages=tuple(sorted(languages, key=lambda each: each.language)))


def _place(finding: ReviewFinding) -> tuple[str, int, str, str, int]:
    return finding.file, finding.line, finding.key, finding.kind, finding.start or 0
