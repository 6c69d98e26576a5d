"""How often corrected intervals hold, what the check of the correction notices, and the cost of a million rows.

On WMT23 (through POLYJUDGE_DATA) people's scores of all segments are known: of each system some segments are drawn as
labels, many times, and it is counted how often the interval includes the mean over all segments. The judge:
GEMBA-MQM.
"""

import json
import os
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measuring import cost_of, show
from polyjudge.calibration.system_correction import SystemOptions, correct_systems
from polyjudge.formats.labelled_systems import LabelledSystems
from polyjudge.records.system_correction import SystemCorrection
from polyjudge.statistics.estimates import corrected_mean
from polyjudge.statistics.resampling import Floats
from polyjudge.statistics.skewed import student
from polyjudge.statistics.system_correction import SystemSample

COUNT, SYSTEMS = 1_000_000, 20
DRAWS, LABELS = 60, (25, 50, 100, 200)
ARCHIVE = "wmt23_mqm_meta.tar.gz"
REFERENCES = {"en-de": "refA", "he-en": "refB", "zh-en": "refA"}
Draw = Callable[[np.random.Generator, int], Floats]
Population = tuple[Floats, Floats]
"""The scores of the judge and of people for all items of a system."""


def run() -> None:
    simulated()
    checked()
    if data := os.environ.get("POLYJUDGE_DATA"):
        on_wmt23(Path(data) / ARCHIVE)
    else:
        print("corrections: POLYJUDGE_DATA is not set; WMT23 is skipped")
    cost()


def simulated(runs: int = 4000) -> None:
    """Show the coverage of the interval of a mean for scores of several kinds, beside that of Student's t."""
    kinds: Mapping[str, tuple[Draw, float]] = {
        "normal": (lambda random, count: random.normal(size=count), 0.0),
        "beta(8, 2)": (lambda random, count: random.beta(8, 2, count), 0.8),
        "exponential": (lambda random, count: random.exponential(size=count), 1.0),
        "log-normal": (lambda random, count: np.exp(random.normal(size=count)), float(np.exp(0.5))),
        "30% exponential, else 0": (partial(_penalties, 0.3), 0.3),
        "10% exponential, else 0": (partial(_penalties, 0.1), 0.1),
    }
    print("Coverage of the interval of a mean of labels: Student's t alone / as it is now")
    for name, (draw, truth) in kinds.items():
        shown = list[str]()
        for labels in LABELS:
            random, plain, own = np.random.default_rng(labels), 0, 0
            for _ in range(runs):
                scores = draw(random, labels)
                half = student(labels - 1) * float(scores.std(ddof=1)) / labels**0.5
                plain += abs(float(scores.mean()) - truth) <= half
                found = corrected_mean(np.zeros(2), np.zeros(labels), scores, bounds=(-1e9, 1e9)).labels_only
                own += found.low is not None and found.high is not None and found.low <= truth <= found.high
            shown.append(f"{labels}: {plain / runs:.3f} / {own / runs:.3f}")
        print(f"  {name:24} {', '.join(shown)}", flush=True)


def _penalties(share: float, random: np.random.Generator, count: int) -> Floats:
    return random.exponential(size=count) * (random.random(count) < share)


def checked(runs: int = 400) -> None:
    """Show how often a correction that holds is refused, and one that is shifted by as much as is stated."""
    print(
        "Eight systems, 25 labels each: runs in which the correction is refused for any system, or for the shifted one"
    )
    for name, shift in (("the same for all", 0.0), ("one shifted by 0.5", 0.5), ("one shifted by 1", 1.0)):
        wrong, right, stated = 0, 0, list[float]()
        for seed in range(runs):
            random = np.random.default_rng(seed)
            found = correct_systems(
                _systems({str(at): _simulated(random, shift * (not at)) for at in range(8)}, 25, seed)
            )
            refused = [name for name, check in found.checks.items() if check.verdict == "does not carry over"]
            right += "0" in refused
            wrong += bool({*refused} - {"0"} if shift else refused)
            stated.append(found.checks["0"].noticeable)
        share = f"noticed {right / runs:.3f}, another one refused" if shift else "refused"
        print(f"  {name:20} {share} {wrong / runs:.3f}; stated as noticeable: {np.mean(stated):.2f}", flush=True)


def _simulated(random: np.random.Generator, shift: float) -> Population:
    judge = random.normal(3.5, 0.8, 400)
    return judge, judge - 0.5 - shift + random.normal(0, 0.6, 400)


def _systems(populations: Mapping[str, Population], labels: int, seed: int) -> LabelledSystems:
    """Draw labels for each system at random."""
    random, samples = np.random.default_rng(seed), list[SystemSample]()
    for judge, people in populations.values():
        size = len(judge)
        places = np.sort(random.choice(size, labels, replace=False))
        tags, drawn = np.zeros(size, dtype=np.int64), np.full(labels, labels / size)
        own = SystemSample(
            judged=judge, strata=tags, places=places, people=people[places], clusters=np.arange(size), drawn=drawn
        )
        samples.append(own)
    return LabelledSystems(estimate="mean", systems=tuple(populations), languages=("",), samples=tuple(samples))


def on_wmt23(archive: Path) -> None:
    """Show how often the intervals include people's mean over all segments, by the size of the sample."""
    with tarfile.open(archive) as found:
        texts = {member.name: found.extractfile(member) for member in found if member.isfile()}
        scores = {name: _scores(file.read().decode()) for name, file in texts.items() if file and ".seg." in name}
    kinds = {"MQM means": ("mqm", None), "rates of MQM from -1": ("mqm", -1.0), "DA means": ("da-sqm", None)}
    for only_these in (True, False):
        print(
            f"WMT23, mean over {'the judged items (--only-these-items)' if only_these else 'all such items'}: coverage"
        )
        for title, (people, passes) in kinds.items():
            for pair in REFERENCES:
                if f"human-scores/{pair}.{people}.seg.score" in scores:
                    populations = _populations(scores, pair, people, passes)
                    shown = [_coverage(populations, labels, only_these=only_these) for labels in LABELS]
                    print(f"  {title:22} {pair}  {'; '.join(filter(None, shown))}", flush=True)


def _scores(text: str) -> dict[str, Floats]:
    scores = dict[str, list[float]]()
    for line in text.splitlines():
        system, score = line.split("\t")
        scores.setdefault(system, []).append(float("nan" if score == "None" else score))
    return {system: np.array(values) for system, values in scores.items()}


def _populations(
    scores: Mapping[str, Mapping[str, Floats]], pair: str, people: str, passes: float | None
) -> dict[str, Population]:
    judge, human = (
        scores[f"metric-scores/{pair}/GEMBA-MQM-src.seg.score"],
        scores[f"human-scores/{pair}.{people}.seg.score"],
    )
    found = dict[str, Population]()
    for system, own in human.items():
        known = ~np.isnan(own) & ~np.isnan(judge[system])
        if system != REFERENCES[pair] and known.sum() > 2 * max(LABELS):
            both = judge[system][known], own[known]
            found[system] = both if passes is None else ((both[0] >= passes) * 1.0, (both[1] >= passes) * 1.0)
    return found


def _coverage(populations: Mapping[str, Population], labels: int, *, only_these: bool) -> str:
    """Return the coverage over all systems and draws, and the share of estimates that are said not to be reliable."""
    if not populations:
        return ""
    covered, status = list[bool](), Counter[str]()
    for seed in range(DRAWS):
        found: SystemCorrection = correct_systems(
            _systems(populations, labels, seed), SystemOptions(only_these=only_these)
        )
        for each in found.overall.systems:
            status[each.status] += 1
            low, high = each.figure.low, each.figure.high
            if low is not None and high is not None:
                covered.append(low <= populations[each.system][1].mean() <= high)
    total = status.total()
    parts = [f"{status[name] / total:.0%} {name}" for name in ("own labels only", "not reliable here") if status[name]]
    return f"{labels}: {np.mean(covered):.3f}" + (f" ({', '.join(parts)})" if parts else "")


def cost() -> None:
    """Measure a million rows of twenty systems, with 200 labels each."""
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder, each = Path(name), COUNT // SYSTEMS
        with (
            (folder / "judged.jsonl").open("w", encoding="utf-8") as file,
            (folder / "labels.jsonl").open("w") as labels,
        ):
            for system in range(SYSTEMS):
                judge = np.clip(random.normal(3.5, 0.8, each), 1, 5).round(1)
                for place, score in enumerate(judge.tolist()):
                    row = {"id": f"i{place}", "system": f"s{system}", "language": ("de", "fr", "th")[place % 3]}
                    file.write(json.dumps({**row, "score": score}) + "\n")
                for place in random.choice(each, 200, replace=False).tolist():
                    label = float(judge[place] - 0.3 + random.normal(0, 0.4))
                    labels.write(json.dumps({"id": f"i{place}", "system": f"s{system}", "label": label}) + "\n")
        command = [
            sys.executable,
            "-m",
            "polyjudge",
            "calibrate",
            "correct",
            "judged.jsonl",
            "--labels",
            "labels.jsonl",
        ]
        show(f"correct {SYSTEMS} systems", cost_of(command, {}, folder), COUNT)
