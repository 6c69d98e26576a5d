"""Informative against random samples of the segments to label, on the recorded scores of WMT23 in POLYJUDGE_DATA.

Segments are drawn 1,000 times; all systems are labelled (people's MQM scores) on those of a sample. Its ranking is the
share of pairs of systems in the order of all labels. An interval covers if it has the mean of all labels of a system.
What is informative is known from recorded scores alone: those of GEMBA-MQM, of another metric, or of several.
"""

import math
import os
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from polyjudge.calibration.correction import usual_scale
from polyjudge.statistics.estimates import corrected_mean
from polyjudge.statistics.informative import (
    denser_end,
    distance_to_ends,
    inclusion_probabilities,
    sizes,
    systematic_sample,
)

PATH = Path(os.environ.get("POLYJUDGE_DATA", "")) / "wmt23_mqm_meta.tar.gz"
DRAWS, SIZES, COVERED = 1_000, (50, 100), 100
JUDGES = ("GEMBA-MQM", "CometKiwi", "COMET", "MetricX-23", "MaTESe", "BLEU", "chrF")
"""Each as the only judge: a language model, learnt metrics, and two that say little."""
SEVERAL = ("GEMBA-MQM", "COMET", "MetricX-23")


class Pair(NamedTuple):
    """The scores of a language pair: rows are systems, columns the segments that people scored."""

    people: np.ndarray
    judges: dict[str, np.ndarray]


def run() -> None:
    if not PATH.is_file():
        print("POLYJUDGE_DATA is not set or lacks wmt23_mqm_meta.tar.gz")
        return
    print(f"ranking accuracy of {DRAWS:,} samples, informative less random, and its Monte-Carlo error (1.96 s.e.)")
    for name, pair in sorted(read(PATH).items()):
        systems, segments = pair.people.shape
        print(f"{name}: {systems} systems, {segments:,} segments")
        chosen = {each: [each] for each in JUDGES if each in pair.judges}
        if several := [each for each in SEVERAL if each in pair.judges]:
            chosen["+".join(several)] = several
        for count in (each for each in SIZES if each < segments):
            plain = _draws(pair, np.ones(segments), count)
            print(f"  {count} segments, random: ranking {plain.mean():.4f}")
            if "GEMBA-MQM" in pair.judges:
                print(f"    largest spread of GEMBA-MQM  {_of_largest_spread(pair, count):.4f}, without weights")
            for title, judges in chosen.items():
                found = _draws(pair, informative_sizes([pair.judges[each] for each in judges]), count)
                error = 1.96 * math.hypot(*(each.std() / math.sqrt(DRAWS) for each in (plain, found)))
                print(f"    {title:28} {found.mean():.4f}  {found.mean() - plain.mean():+.4f} ± {error:.4f}")
        _coverage(pair)


def read(path: Path) -> dict[str, Pair]:
    """Return the scores by language pair, without human references and segments that people did not score."""
    people, judges = dict[str, dict[str, list[float]]](), defaultdict[str, dict[str, dict[str, list[float]]]](dict)
    with tarfile.open(path) as archive:
        for member in archive:
            kind, _, rest = member.name.partition("/")
            if not rest.endswith(".seg.score") or (file := archive.extractfile(member)) is None:
                continue
            scores = defaultdict[str, list[float]](list)
            for line in file.read().decode().splitlines():
                system, value = line.split("\t")
                scores[system].append(math.nan if value == "None" else float(value))
            if kind == "human-scores" and rest.endswith(".mqm.seg.score"):
                people[rest.partition(".")[0]] = scores
            elif kind == "metric-scores":
                pair, _, metric = rest.partition("/")
                judges[pair][metric.removesuffix(".seg.score").rsplit("-", 1)[0]] = scores
    return {pair: _pair(scores, judges[pair]) for pair, scores in people.items()}


def _pair(people: dict[str, list[float]], judges: dict[str, dict[str, list[float]]]) -> Pair:
    systems = [name for name in people if not name.startswith("ref") and not np.isnan(people[name]).all()]
    labels = np.array([people[name] for name in systems])
    scored = ~np.isnan(labels).any(axis=0)
    complete = {name: scores for name, scores in judges.items() if set(systems) <= set(scores)}
    found = {name: np.array([scores[each] for each in systems])[:, scored] for name, scores in complete.items()}
    return Pair(labels[:, scored], {name: each for name, each in found.items() if not np.isnan(each).any()})


def informative_sizes(judges: list[np.ndarray]) -> np.ndarray:
    """Return the sizes of segments by two signals: scores far from the ends of their scale, and a spread of systems."""
    signals: dict[str, np.ndarray] = {}
    for place, scores in enumerate(judges):
        ends = usual_scale([float(scores.min()), float(scores.max())]) or (denser_end(scores.ravel()),)
        signals[f"ends {place}"] = distance_to_ends(scores.ravel(), ends).reshape(scores.shape).mean(axis=0)
        signals[f"spread {place}"] = scores.std(axis=0)
    return sizes(signals, judges[0].shape[1])


def _draws(pair: Pair, wanted: np.ndarray, count: int) -> np.ndarray:
    """Return the ranking accuracy of each sample."""
    random, chances = np.random.default_rng(1), inclusion_probabilities(wanted, count)
    one, other = np.triu_indices(len(pair.people), 1)
    means = pair.people.mean(axis=1)
    right = np.sign(means[one] - means[other])
    accuracies = np.empty(DRAWS)
    for draw in range(DRAWS):
        drawn = systematic_sample(chances, random)
        found = np.average(pair.people[:, drawn], axis=1, weights=1 / chances[drawn])
        accuracies[draw] = (np.sign(found[one] - found[other]) == right).mean()
    return accuracies


def _of_largest_spread(pair: Pair, count: int) -> float:
    """Return the ranking accuracy of the segments on which the scores of one judge differ most between systems."""
    drawn = np.argsort(-pair.judges["GEMBA-MQM"].std(axis=0), kind="stable")[:count]
    one, other = np.triu_indices(len(pair.people), 1)
    means, found = pair.people.mean(axis=1), pair.people[:, drawn].mean(axis=1)
    return float((np.sign(found[one] - found[other]) == np.sign(means[one] - means[other])).mean())


def _coverage(pair: Pair) -> None:
    """Print how often the intervals of the labels alone and of the corrected mean have the mean of all labels."""
    judge, segments = pair.judges["GEMBA-MQM"], pair.people.shape[1]
    truth, bounds = pair.people.mean(axis=1), (float(pair.people.min()), 0.0)
    for title, wanted in (("random", np.ones(segments)), ("informative", informative_sizes([judge]))):
        random, chances = np.random.default_rng(2), inclusion_probabilities(wanted, COVERED)
        covered, widths = np.zeros(2), np.zeros(2)
        for _ in range(DRAWS):
            drawn = systematic_sample(chances, random)
            for system, labels in enumerate(pair.people):
                scores = judge[system], judge[system, drawn], labels[drawn]
                found = corrected_mean(*scores, bounds=bounds, probabilities=chances[drawn])
                for place, figure in enumerate((found.labels_only, found.figure)):
                    covered[place] += figure.low <= truth[system] <= figure.high
                    widths[place] += figure.high - figure.low
        covered, widths = covered / DRAWS / len(truth), widths / DRAWS / len(truth)
        alone, corrected = (f"{cover:.3f} (width {width:.2f})" for cover, width in zip(covered, widths, strict=True))
        print(f"  {COVERED} segments, {title}: intervals cover {alone} by labels alone, {corrected} corrected")


if __name__ == "__main__":
    run()
