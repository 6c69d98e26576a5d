"""Explain why a language or an output of a translator has its status: what decided, in order, with the evidence."""

from collections.abc import Iterator, Mapping, Sequence

from polyjudge.errors import DataError
from polyjudge.records.findings import Finding
from polyjudge.records.outcomes import Provenance
from polyjudge.records.translation import LanguageScore, PromptResult, PromptScore
from polyjudge.text.display import one_line
from polyjudge.verdicts.items import OFFLINE
from polyjudge.verdicts.translation import (
    NEEDED_SHARE,
    PASSING_SCORE,
    Verdict,
    has_scores,
    scores_pass,
    status_label,
)

from .blocks import Block, Heading, Lines, Table
from .translation import Findings, Report, fails_checks
from .translation_blocks import judge_name
from .translation_details import score_text
from .translation_figures import LanguageFigures, OutputScores, cause_of, named_scores, rules_of
from .translation_summary import by_cause, cause_steps, failing, quoted_reason, report_headline, report_limits
from .wording import Commands, counted, human_time, plain, share_rule

_LONGEST_TEXT = 600
_LONGEST_NAME = 100
_LONGEST_WHY = 200
MOST_SHOWN = 10
"""Outputs shown as evidence."""
_SEVERITY_WORDS = {"fail": "fails it", "warn": "a person should look", "info": "for information"}


def explain_report(report: Report) -> Iterator[Block]:
    """Yield why the report says what it says: the languages that do not pass, by cause."""
    yield Heading(1, plain(report_headline(report)))
    rows = [
        (cause, _name(verdict), verdict.status, quoted_reason(verdict, _LONGEST_WHY))
        for cause, group in by_cause(report).items()
        for verdict in group
    ]
    if rows:
        yield Heading(2, "What fails, by cause")
        yield Table(("Cause", "Language", "Status", "Why"), tuple(rows))
    others = [
        (status_label(verdict), _name(verdict), quoted_reason(verdict, _LONGEST_WHY))
        for verdict in report.verdicts
        if verdict.status in ("UNRELIABLE", "UNJUDGED")
    ]
    if others:
        yield Heading(2, "What is not known")
        yield Table(("Status", "Language", "Why"), tuple(others))
    limits = tuple(report_limits(report))
    if limits:
        yield Lines(limits)
    if failing(report):
        yield Lines(("Give a language to see its evidence.",))


def explain_language(report: Report, wanted: str, commands: Commands) -> Iterator[Block]:
    """Yield what decided the status of one language, in order, with the outputs that show it."""
    place = place_of(report, wanted)
    verdict, figures = report.verdicts[place], report.figures[place]
    found = report.details_at(place)
    language, scores = found.language, found.scores
    yield Heading(1, f"{_titled(verdict)}: {status_label(verdict)}")
    yield Heading(2, "What decided, in order")
    yield Lines(tuple(f"{number}. {step}" for number, step in enumerate(_decisions(verdict, figures), start=1)))
    if verdict.status in ("FAIL", "CONFLICT"):
        yield Heading(2, "Evidence")
    total = len(language.prompts)
    by_index = OutputScores(scores, total)
    failed = [index for index in range(total) if _fails(verdict, found.findings[index], by_index.of(index))]
    for index in failed[:MOST_SHOWN]:
        yield Heading(3, f"{_tag(verdict)}:{index}, output {index + 1} of {total}{_category(language.prompts[index])}")
        prompt, given = language.prompts[index], by_index.of(index)
        yield Lines(tuple(_evidence(verdict, prompt, found.findings[index], given)))
    if len(failed) > MOST_SHOWN:
        yield Lines((f"and {counted(len(failed) - MOST_SHOWN, 'output')} more that fail",))
    notes = tuple(
        f"{judge_name(name, score)}: {one_line(score.notes, _LONGEST_TEXT)}" for name, score in scores.items()
    )
    if notes and not failed:
        yield Heading(2, "What the judges say")
        yield Lines(notes)
    if verdict.status in ("FAIL", "CONFLICT"):
        steps = cause_steps(verdict, cause_of(verdict, figures), Commands(judge_again=commands.judge_again))
        yield Heading(2, "What to do next")
        yield Lines(tuple(f"{step.text} {step.command}".strip() for step in steps))


def explain_output(report: Report, item: str) -> Iterator[Block]:
    """Yield what is known about one output, whose id is the tag and the place: `de:1`."""
    tag, _, number = item.rpartition(":")
    place = place_of(report, tag or item)
    verdict, figures = report.verdicts[place], report.figures[place]
    found = report.details_at(place)
    language, scores = found.language, found.scores
    if not number.isdecimal() or int(number) >= len(language.prompts):
        ids = f"{_tag(verdict)}:0 to {_tag(verdict)}:{len(language.prompts) - 1}"
        raise DataError(f"no output {item!r}. The ids of {_name(verdict)} are {ids}.", path=report.path)
    index = int(number)
    given = {name: each for name, score in scores.items() for each in score.prompts if each.index == index}
    prompt, fails = language.prompts[index], _fails(verdict, found.findings[index], given)
    status = "fails" if fails else "passes" if any(map(scores_pass, given.values())) else "no finding, not judged"
    yield Heading(1, f"{_tag(verdict)}:{index}, {_name(verdict)}{_category(prompt)}: {status}")
    yield Lines(tuple(_evidence(verdict, prompt, found.findings[index], given)))
    for name, score in given.items():
        if score.provenance is not None:
            yield Lines((f"{name}: {provenance_text(score.provenance)}",))
    yield Heading(2, "What it means for the language")
    rule = share_rule(figures.failed, verdict.prompts)
    yield Lines((f"{_titled(verdict)}: {status_label(verdict)}. Outputs: {rule}.",))


def place_of(report: Report, wanted: str) -> int:
    """Return the place of a language by its tag or name; raise DataError if the report does not have it."""
    known = report.table.find(wanted)
    places = list(enumerate(report.verdicts))
    named = [place for place, each in places if wanted.casefold() in (each.language.casefold(), each.name.casefold())]
    alike = [place for place, each in places if known and report.table.find(each.language, each.name) == known]
    if named or alike:
        return (named or alike)[0]
    names = ", ".join(_tag(verdict) for verdict in report.verdicts)
    close = report.table.suggestion(wanted)
    raise DataError(f"no language {wanted!r}.{close} Found: {one_line(names, _LONGEST_TEXT)}.", path=report.path)


def _decisions(verdict: Verdict, figures: LanguageFigures) -> Iterator[str]:
    """Yield the rule, the counts in the order in which they decide, the trust in the judges, and the result."""
    yield (
        f"The rule: at least {NEEDED_SHARE:.0%} of the outputs have no finding that fails them; then, where a judge "
        f"scored, at least {NEEDED_SHARE:.0%} reach {PASSING_SCORE:g} in script, grammar and meaning, in the right "
        "language."
    )
    yield from rules_of(verdict, figures)
    for name, score in verdict.scores.items():
        if score.judge == OFFLINE:
            continue
        if not has_scores(score):
            yield f"{name}: no verdict: {one_line(score.error or 'no score', _LONGEST_WHY)}."
        elif name not in figures.scores:
            yield f"{judge_name(name, score)}: {_language_points(score)}."
    yield from (f"Trust, {note}." for note in verdict.trust)
    if verdict.status == "PASS" and not verdict.is_calibrated:
        yield "Trust: no judge that scored it has a trust card for this language, so the PASS is not calibrated."
    yield f"Result: {status_label(verdict)}{f', because {quoted_reason(verdict)}' if verdict.reason else ''}."


def _language_points(score: LanguageScore) -> str:
    wrong = ["wrong language"] if score.is_correct_language is False else []
    return f"{', '.join([*named_scores(score), *wrong])}; each must be at least {PASSING_SCORE:g}"


def _fails(verdict: Verdict, findings: Findings, given: Mapping[str, PromptScore]) -> bool:
    by_judge = (scores_pass(score) is False for name, score in given.items() if verdict.scores[name].judge != OFFLINE)
    return fails_checks(findings) or any(by_judge)


def _evidence(
    verdict: Verdict, prompt: PromptResult, findings: Findings, given: Mapping[str, PromptScore]
) -> Iterator[str]:
    """Yield the texts of an output, the findings in it, and what the judges say."""
    texts = {"Source": prompt.source_text, "Output": prompt.generated_output, "Reference": prompt.reference}
    for name, text in texts.items():
        if text or name == "Output":
            yield f"{name}: {one_line(text, _LONGEST_TEXT) or '(empty)'}"
    yield from finding_lines(prompt.generated_output, findings or ())
    if findings == ():
        yield "Checks: no finding"
    for name, score in given.items():
        yield f"{judge_name(name, verdict.scores[name])}: {one_line(score_text(score), _LONGEST_TEXT)}"
        if score.raw:
            yield f"Raw reply: {one_line(score.raw, _LONGEST_TEXT)}"


def finding_lines(text: str, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield each finding with its severity and the words that it is about."""
    for each in findings:
        quoted = text[each.start : each.end] if each.start is not None and each.end is not None else ""
        shown = f' in "{one_line(quoted, _LONGEST_NAME)}"' if quoted.strip() and quoted not in each.message else ""
        kind = one_line(each.kind.replace("_", " "), _LONGEST_NAME)
        yield f"Check, {kind} ({_SEVERITY_WORDS[each.severity]}): {one_line(each.message, _LONGEST_WHY)}{shown}"


def provenance_text(origin: Provenance) -> str:
    """Return who gave a score, when, and by which rubric and prompt."""
    parts = [f"{origin.provider}/{origin.model}", f"rubric {origin.rubric} {origin.rubric_fingerprint[:8]}"]
    parts += [f"answered by {origin.model_answered}"] if origin.model_answered not in ("", origin.model) else []
    parts += [human_time(origin.answered_at)] if origin.answered_at else []
    parts += ["from the cache"] if origin.cached else []
    parts += [f"${origin.cost_usd:.4f}"] if origin.cost_usd else []
    return one_line(", ".join(parts), _LONGEST_TEXT)


def _category(prompt: PromptResult) -> str:
    return f", {one_line(prompt.category, _LONGEST_NAME)}" if prompt.category else ""


def _titled(verdict: Verdict) -> str:
    tag = f" ({one_line(verdict.language, _LONGEST_NAME)})" if verdict.language else ""
    return f"{_name(verdict)}{tag}"


def _tag(verdict: Verdict) -> str:
    return one_line(verdict.language or verdict.name, _LONGEST_NAME)


def _name(verdict: Verdict) -> str:
    return one_line(verdict.name, _LONGEST_NAME)
