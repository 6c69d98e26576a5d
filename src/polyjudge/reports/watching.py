"""Report what a watch of a judge found, with its history, as blocks, JSON and JUnit XML."""

from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

from polyjudge.files.ownership import XML_COMMENT, own_fields
from polyjudge.records.codec import to_json
from polyjudge.records.watches import Watch

from .blocks import Block, Heading, Lines, Table
from .escaping import xml_text
from .wording import counted

_SHOWN_WATCHES = 10
_HALF = 0.5


def watch_blocks(watch: Watch, earlier: Sequence[Watch]) -> Iterator[Block]:
    """Yield the answer, the evidence, the rewordings and the history."""
    yield Heading(1, f"Watch {watch.name}: {_title(watch)}")
    yield Lines(tuple(_sentences(watch)))
    if watch.rewordings:
        yield Heading(2, "The same questions in other words")
        rows = tuple(
            (str(each.number), f"{each.asked:,}", *_share(each.flips, each.asked)) for each in watch.rewordings
        )
        yield Table(("Wording", "Asked", "Other answers", "Share"), rows, (1, 2, 3))
        yield Lines((_control(watch),))
    if earlier:
        yield Heading(2, "Watches so far")
        every = [*earlier, watch][-_SHOWN_WATCHES:]
        header = ("Date", "Model that answered", "Asked", "Other answers", "Evidence", "Found")
        yield Table(header, tuple(map(_row, every)), (2, 3, 4))


def _title(watch: Watch) -> str:
    if watch.verdict == "changed":
        return "the judge has changed"
    return "another model answers, and no change is shown" if watch.model_changed else "no change shown"


def _sentences(watch: Watch) -> Iterator[str]:
    judge = f"{watch.judge.provider}/{watch.judge.model}"
    what = "decided it" if watch.in_flight else "were asked"
    asked = f"{watch.asked + watch.unjudged:,} of {counted(watch.questions, 'question')} {what}"
    pinned = f"pinned on {watch.pinned_at[:10]}, asked on {watch.at[:10]}"
    yield f"{judge} by the rubric {watch.judge.rubric}, {pinned}: {asked}."
    if watch.in_flight:
        beyond = (
            f"{watch.in_flight:,} more {'was' if watch.in_flight == 1 else 'were'} already in flight when the "
            "watch was decided"
        )
        paid = f"all {watch.calls:,} calls are paid, and these answers do not count"
        yield f"{beyond}: {paid}."
    if watch.model_changed:
        yield (
            f"The provider reports the model {watch.model_answered}. The pinned answers are from "
            f"{watch.judge.model_answered}."
        )
    yield _evidence(watch)
    yield _flips(watch)
    if watch.shift.value is not None:
        yield f"Mean score, new minus pinned: {watch.shift.value:+.3g}{_between(watch)}."
    if watch.unjudged:
        yield f"{counted(watch.unjudged, 'question')} got no verdict and do not count."


def _evidence(watch: Watch) -> str:
    value, needed = f"{watch.e_value:.3g}", f"{watch.needed:.3g}"
    if watch.verdict == "changed":
        rare = f"{_share_of_watches(watch.false_alarms)} would reach {needed}"
        return f"The evidence is {value}. For an unchanged judge, at most {rare}."
    seen = "Even a change of all answers could not have been shown by so few questions."
    if watch.noticeable is not None:
        points = f"{100 * watch.noticeable:.0f} points"
        seen = f"A change of {points} or more of the answers would have been noticed with 80% probability."
    rare = f"{_share_of_watches(watch.false_alarms)} of an unchanged judge"
    return f"No change is shown: the evidence is {value} of the {needed} needed, which at most {rare} reach. {seen}"


def _share_of_watches(share: float) -> str:
    """Return a share such as 0.05 as "1 of 20 watches"."""
    return f"{share:.0%} of watches" if share > _HALF else f"1 of {int(1 / share + 1e-9):,} watches"


def _flips(watch: Watch) -> str:
    count, share = _share(watch.flips, watch.asked)
    found = f"{count} answers ({share}) differ from the pinned answers."
    if not watch.asked_twice:
        return found
    third = f"{watch.confirmed:,} confirmed the new answer, {watch.reverted:,} returned to the pinned one"
    return f"{found} {counted(watch.asked_twice, 'question')} were asked again: {third}."


def _between(watch: Watch) -> str:
    if watch.verdict == "changed":
        return " on these questions. On others the difference may be smaller, because a watch ends when it is large"
    if watch.shift.low is None or watch.shift.high is None:
        return ""
    return f" (95% interval {watch.shift.low:+.3g} to {watch.shift.high:+.3g})"


def _control(watch: Watch) -> str:
    """Say whether other words move as many verdicts as time did."""
    asked = sum(each.asked for each in watch.rewordings)
    by_words = sum(each.flips for each in watch.rewordings) / asked if asked else 0.0
    by_time = watch.flips / watch.asked if watch.asked else 0.0
    words = f"Other words for the same rubric change {by_words:.1%} of the answers"
    shares = f"{words}, and since then {by_time:.1%} have changed"
    if not watch.flips or by_words < by_time:
        return f"{shares}."
    return f"{shares}: no more than the words do. These verdicts depend on wording, and are weak evidence in any case."


def _share(count: int, total: int) -> tuple[str, str]:
    return f"{count:,}", f"{count / total:.1%}" if total else ""


def _row(watch: Watch) -> tuple[str, ...]:
    model = watch.model_answered or "unknown"
    counts = f"{watch.asked:,}", _share(watch.flips, watch.asked)[0]
    return watch.at[:16].replace("T", " "), model, *counts, f"{watch.e_value:.3g}", watch.verdict


def watch_json(watch: Watch) -> dict[str, Any]:
    """Return a watch as it is in the history."""
    return {**own_fields(), **to_json(watch)}


def watch_junit(watch: Watch, *, fails: bool) -> Iterator[str]:
    """Render one test case; a change is a failure if it fails the command."""
    sentences = [xml_text(each) for each in _sentences(watch)]
    if fails and watch.verdict == "changed":
        return _junit(watch.name, "failure", " ".join(sentences))
    return _junit(watch.name, "system-out", "\n".join(sentences))


def skipped_blocks(name: str, reason: str) -> Iterator[Block]:
    """Yield that nothing was checked, and why."""
    yield Heading(1, f"Watch {name}: nothing was checked")
    yield Lines((reason,))


def skipped_json(name: str, reason: str) -> dict[str, Any]:
    """Return the report of a watch that asked nothing; it is in no history."""
    return {**own_fields(), "name": name, "verdict": "not checked", "reason": reason}


def skipped_junit(name: str, reason: str) -> Iterator[str]:
    """Render a skipped test case."""
    return _junit(name, "skipped", f"Nothing was checked: {reason}")


def _junit(name: str, kind: str, text: str) -> Iterator[str]:
    counts = {
        "tests": "1",
        "failures": str(int(kind == "failure")),
        "errors": "0",
        "skipped": str(int(kind == "skipped")),
    }
    root = ElementTree.Element("testsuites", name="polyjudge calibrate watch")
    suite = ElementTree.SubElement(root, "testsuite", {"name": "polyjudge calibrate watch", **counts})
    case = ElementTree.SubElement(suite, "testcase", classname="polyjudge.watch", name=xml_text(name))
    found = ElementTree.SubElement(case, kind)
    if kind == "system-out":
        found.text = text
    else:
        found.set("message", xml_text(text))
    ElementTree.indent(root)
    yield f"<?xml version='1.0' encoding='UTF-8'?>\n{XML_COMMENT}\n{ElementTree.tostring(root, encoding='unicode')}\n"
