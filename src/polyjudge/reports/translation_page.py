"""Build the page of the report on translations."""

from collections.abc import Iterator, Sequence
from typing import Any

from polyjudge.records.findings import Finding
from polyjudge.records.rubrics import Scale
from polyjudge.statistics.intervals import wilson_interval
from polyjudge.text.display import harmless, one_line
from polyjudge.verdicts.items import OFFLINE, STATUSES
from polyjudge.verdicts.translation import (
    NEEDED_SHARE,
    PASSING_SCORE,
    Verdict,
    scores_pass,
)

from .blocks import Block
from .charts import axis, score_dots
from .judges_compared import judges_compared
from .page import (
    Attention,
    Chart,
    MapRow,
    Named,
    Page,
    Text,
    anchor,
    render_page,
)
from .page_items import marked
from .translation import Report
from .translation_blocks import family_table, warnings_shown
from .translation_details import language_cells, outputs_of_a_language, score_text, translation_details
from .translation_figures import DIMENSION_NAMES, LanguageFigures, cause_of, rules_of
from .translation_summary import (
    MOST_IN_FULL,
    allowed_failures,
    by_cause,
    cause_steps,
    failing,
    failing_words,
    provenance,
    quoted_reason,
    report_headline,
    report_limits,
    report_steps,
    trust_rows,
    with_figures,
)
from .wording import STATUS_MEANINGS, UNCALIBRATED, Commands, Span, language_rule, listed, percent_range, share_rule

_LONGEST_NAME = 100
_LONGEST_NOTE = 600
_LONGEST_WHY = 160
_SCALE = Scale(1, 5)
_COLUMNS = (
    ("Script", "Script"),
    ("Language", "Lang."),
    ("Grammar", "Gramm."),
    ("Meaning", "Mean."),
    ("Checks", "Checks"),
)
_MAP_NOTE = (
    f"Script, grammar and meaning are the score that at least {NEEDED_SHARE:.0%} of the outputs reach; the bar is "
    f"{PASSING_SCORE:g}. The other columns count the outputs in which the checks found nothing. Solid cells with ✕ "
    "are below the bar. Scores of different languages are not comparable."
)
_TERMS = (
    (f"The {NEEDED_SHARE:.0%} rule", f"{share_rule(1, 5)}. {share_rule(1, 4)}."),
    ("4.0 [2.2 to 5.0], n = 5", "Mean, 95% interval and the number of scores: where the mean of many such outputs is."),
    ("reliable", "By its trust card, the judge prefers a reference text to a perturbed one in this language."),
    (
        "not calibrated",
        "No trust card: what the judge misses is not known. To measure it: polyjudge calibrate perturb.",
    ),
    ("must-have", "A language that has to pass before a release."),
    ("Checks", "Script, language, numbers, placeholders, repetition, leaks: found without a model."),
    ("Meaning", "Whether the output says what the source says: coherence in the files."),
    ("Reference", "A translation by a person, for comparison only."),
)


def translation_page(report: Report, commands: Commands | None = None, /) -> Iterator[str]:
    """Render the page; texts are read one language at a time."""
    commands = commands or Commands()
    pairs = with_figures(report)
    bad, counts = failing(report), report.totals.counts
    in_full = _in_full(report) if len(bad) > MOST_IN_FULL else bad
    names = {verdict.language or verdict.name for verdict, _ in in_full}
    found = Page(
        title=_title(report),
        question="Is it good enough to ship?",
        sentence=report_headline(report),
        advice=list(report_steps(report, commands)),
        facts=list(provenance(report)),
        counts=counts,
        unit="languages",
        sum_note=_sum_note(report),
        trust=list(trust_rows(report)),
        must=[(each.status, _name(each), _allowed_note(each, own)) for each, own in pairs if each.is_priority],
        causes=[(cause, [_link(report, each, names) for each in group]) for cause, group in by_cause(report).items()],
        attention_note=f"{len(bad):,} of {report.totals.languages:,} languages do not pass. Each row shows the finding "
        f"that decided, in the text itself. At least {NEEDED_SHARE:.0%} of the outputs of a language must pass.",
        attention=[_attention(report, *pair, commands) for pair in in_full],
        more=[(_name(each), _anchor(report, each)) for each, _ in bad if (each.language or each.name) not in names],
        unknown=list(_unknown(report, commands)),
        allowed=[
            (_name(each), _anchor(report, each), _found_in(figures), rule)
            for each, figures, rule in allowed_failures(report)
        ],
        limits=list(report_limits(report)),
        map_note=_MAP_NOTE,
        columns=_COLUMNS,
        filters=_filters(report),
        rows=[_row(report, *pair) for pair in pairs if report.lists(pair[0])],
        chart=_chart(report),
        sections=list(_sections(report)),
        warnings=warnings_shown(report),
        terms=_TERMS,
        meanings=STATUS_MEANINGS if all(each.is_calibrated for each in report.verdicts) else UNCALIBRATED,
    )
    return render_page(found, translation_details(report))


def _title(report: Report) -> str:
    model = report.about.get("model")
    named = f"{one_line(model, _LONGEST_NAME)}, " if isinstance(model, str) else ""
    return f"{named}translation report"


def _in_full(report: Report) -> list[tuple[Verdict, LanguageFigures]]:
    """Return the languages to show in full if many fail: must-have ones, then the first of each cause, then others."""
    bad = failing(report)
    first = {id(group[0]) for group in by_cause(report).values()}
    ranked = sorted(bad, key=lambda pair: (not pair[0].is_priority, id(pair[0]) not in first))
    chosen = {id(verdict) for verdict, _ in ranked[:MOST_IN_FULL]}
    return [pair for pair in bad if id(pair[0]) in chosen]


def _sum_note(report: Report) -> str:
    counts = [(status, report.totals.counts[status]) for status in STATUSES if report.totals.counts[status]]
    total = report.totals
    interval = wilson_interval(total.counts["PASS"], total.decided)
    has_judge = interval is not None and total.decided > total.counts["CHECKED"] + total.counts["FAIL"]
    known = (
        f" {total.counts['PASS'] / total.decided:.0%} of {total.decided:,} with a verdict pass " if has_judge else ""
    )
    range_text = f"{percent_range(interval)}, 95% interval." if has_judge else ""
    added = " + ".join(f"{count:,}" for _, count in counts)
    rule = f" {language_rule('output')}" if total.decided else ""
    return f"{added} = {total.languages:,} languages.{known}{range_text}{rule} Select a status to see its languages."


def _allowed_note(verdict: Verdict, figures: LanguageFigures) -> str:
    is_fine = verdict.status in ("PASS", "CHECKED")
    return f"{figures.failed} of {verdict.prompts} outputs failed" if is_fine and figures.failed else ""


def _link(report: Report, verdict: Verdict, in_full: set[str]) -> tuple[str, str]:
    place = "a" if (verdict.language or verdict.name) in in_full else "lang"
    return _name(verdict), f"{place}-{_anchor(report, verdict)}"


def _anchor(report: Report, verdict: Verdict) -> str:
    place = next(place for place, each in enumerate(report.verdicts) if each is verdict)
    return anchor(verdict.language or verdict.name, place)


def _name(verdict: Verdict) -> str:
    return one_line(verdict.name, _LONGEST_NAME)


def _named(report: Report, verdict: Verdict) -> Named:
    known = report.table.find(verdict.language, verdict.name)
    return Named(
        name=_name(verdict),
        native=known.native_name if known and known.native_name != verdict.name else "",
        tag=known.tag if known else "",
        direction=known.direction if known else "auto",
        anchor=_anchor(report, verdict),
    )


def _attention(report: Report, verdict: Verdict, figures: LanguageFigures, commands: Commands) -> Attention:
    named, cause, example = _named(report, verdict), cause_of(verdict, figures), figures.example
    texts: list[Text] = []
    notes: list[Span] = []
    if example is not None:
        prompt = example.prompt
        texts += [Text(label="Source", pieces=[[harmless(prompt.source_text)]])] if prompt.source_text else []
        pieces = marked(prompt.generated_output, example.findings) if prompt.generated_output.strip() else []
        texts.append(Text(label="Output", pieces=pieces, tag=named.tag, direction=named.direction))
        numbers = {piece[2] for piece in pieces if len(piece) > 1}
        notes += list(_finding_notes(example.findings, numbers, _find(verdict, figures, cause.name)))
        notes += [
            (f"{name}:", one_line(score_text(score), _LONGEST_NOTE))
            for name, score in example.scores.items()
            if verdict.scores[name].judge != OFFLINE
        ]
    elif words := failing_words(verdict):
        notes.append(("Judge:", one_line(words, _LONGEST_NOTE)))
    rules = list(rules_of(verdict, figures))
    return Attention(
        named=named,
        status=verdict.status,
        find=_find(verdict, figures, cause.name),
        rule=" ".join(rules) or verdict.reason,
        pips=figures.pips,
        texts=texts,
        notes=notes,
        steps=cause_steps(verdict, cause, commands),
        count=f"{'All ' if verdict.prompts <= outputs_of_a_language(report) else ''}{verdict.prompts:,} outputs",
    )


def _found_in(figures: LanguageFigures) -> str:
    """Return what is wrong with the worst output of a language: its finding, or what a judge says."""
    example = figures.example
    if example is None:
        return ""
    found = [each.message for each in example.findings if each.severity == "fail"]
    said = [f"{name}: {score_text(score)}" for name, score in example.scores.items() if scores_pass(score) is False]
    return one_line("; ".join(found or said), _LONGEST_WHY)


def _finding_notes(findings: Sequence[Finding], marked: set[int], title: str) -> Iterator[Span]:
    """Yield the findings, with their numbers where they are marked; without the one that the title says."""
    for number, each in enumerate(findings, start=1):
        if each.severity != "info" and (number in marked or each.message.rstrip(".") != title):
            yield str(number) if number in marked else "•", one_line(each.message, _LONGEST_NOTE)


def _find(verdict: Verdict, figures: LanguageFigures, cause: str) -> str:
    """Return what was found, in one line: the finding that decided, else the judge's scores."""
    example = figures.example
    if verdict.status == "CONFLICT":
        return f"A judge passes it, but the language check identifies {verdict.looks_like}"
    decisive = [each for each in example.findings if each.severity == "fail"] if example else []
    if decisive:
        return one_line(decisive[0].message.rstrip("."), _LONGEST_WHY)
    return one_line(f"{cause[:1].upper()}{cause[1:]}: {verdict.reason}", _LONGEST_WHY)


def _unknown(report: Report, commands: Commands) -> Iterator[tuple[Any, str, str, str]]:
    named = {
        "CHECKED": commands.judge,
        "UNJUDGED": "judge_again",
        "UNRELIABLE": "",
    }
    for status, command in named.items():
        members = [verdict for verdict in report.verdicts if verdict.status == status]
        if members:
            tags = [verdict.language or verdict.name for verdict in members]
            filled = commands.filled("judge_again", tags) if command == "judge_again" else command
            unseen = f"; {' and '.join(members[0].not_judged)} not judged" if status == "CHECKED" else ""
            why = f": {members[0].reason}" if status != "CHECKED" and members[0].reason else unseen
            yield status, f"{len(members):,}", listed([_name(each) for each in members]) + one_line(why, 200), filled


def _filters(report: Report) -> list[tuple[str, str, list[str]]]:
    problems = sorted({kind for verdict in report.verdicts for kind in verdict.problems})
    families = sorted({one_line(verdict.family, _LONGEST_NAME) for verdict in report.verdicts if verdict.family})
    return [
        ("family", "Script", families),
        ("priority", "Priority", ["must-have", "standard"]),
        ("problems", "Finding", problems),
    ]


def _row(report: Report, verdict: Verdict, figures: LanguageFigures) -> MapRow:
    return MapRow(
        named=_named(report, verdict),
        status=verdict.status,
        note=_limit(verdict),
        cells=language_cells(verdict, figures),
        why=_why(verdict, figures),
        filters={
            "family": one_line(verdict.family, _LONGEST_NAME),
            "priority": "must-have" if verdict.is_priority else "standard",
            "problems": " ".join(verdict.problems),
        },
        is_must=verdict.is_priority,
        is_fine=verdict.status in ("PASS", "CHECKED") and not figures.failed,
    )


def _limit(verdict: Verdict) -> str:
    """Return the limit of a status: what was not judged, or that the judge is not calibrated."""
    if verdict.status == "CHECKED":
        return f"{', '.join(verdict.not_judged)} not judged"
    return "judge not calibrated" if verdict.status == "PASS" and not verdict.is_calibrated else ""


def _why(verdict: Verdict, figures: LanguageFigures) -> str:
    if verdict.status in ("PASS", "CHECKED"):
        if figures.failed:
            found = _found_in(figures)
            return f"{share_rule(figures.failed, verdict.prompts)}{f'. {found}' if found else ''}"
        found = "passed" if verdict.status == "PASS" else "have no finding that fails them"
        return f"all {verdict.prompts:,} outputs {found}"
    found = _find(verdict, figures, cause_of(verdict, figures).name) if verdict.status == "FAIL" else ""
    return one_line(found, _LONGEST_WHY) if figures.example and found else quoted_reason(verdict, _LONGEST_WHY)


def _chart(report: Report) -> Chart | None:
    judges = [name for name in report.judges if any(name in figures.scores for figures in report.figures)]
    if not judges:
        return None
    judge = judges[-1]
    pairs = [(verdict, figures.scores[judge]) for verdict, figures in with_figures(report) if judge in figures.scores]
    pairs.sort(key=lambda pair: _BY_STATUS.index(pair[0].status))
    names = ("coherence", "grammar")
    return Chart(
        dimensions=[f"{DIMENSION_NAMES[name].capitalize()}" for name in names],
        axis=axis(_SCALE, PASSING_SCORE),
        rows=[
            (
                f"{_name(verdict)} (n = {max((each.count for each in scores.values()), default=0):,})",
                verdict.status,
                [score_dots(DIMENSION_NAMES[name], scores.get(name), _SCALE, PASSING_SCORE) for name in names],
            )
            for verdict, scores in pairs
        ],
        note=f"Judge: {judge}. A dot is a score, larger where more outputs have it; ✕ is below {PASSING_SCORE:g}. The "
        "tick is the mean, the band its 95% interval, n the number of outputs. A mean of 4 can fail: one bad output in "
        "four is too many.",
    )


_BY_STATUS = ("FAIL", "CONFLICT", "UNRELIABLE", "UNJUDGED", "CHECKED", "PASS", "SKIPPED")


def _sections(report: Report) -> Iterator[tuple[str, str, list[Block]]]:
    yield "families", "Script families", [family_table(report)]
    compared = list(judges_compared(report))
    if compared:
        yield "compared", "Judges compared", compared
