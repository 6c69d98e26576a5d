"""The options of token probabilities and cascades, and what they ask for."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from polyjudge.errors import ConfigError
from polyjudge.records.cascades import CascadePlan
from polyjudge.records.requests import ModelName
from polyjudge.store.cascade_plans import read_plan

from .options import Several, finite, level, positive


def add_token_option(add: Callable[..., object]) -> None:
    """Add the option of commands whose judges can give the probabilities of tokens."""
    wanted = (
        "request token probabilities, which give expected scores and confidence; cached replies without them are not "
        "used"
    )
    add("--token-probabilities", action="store_true", help=wanted)


def add_cascade_options(add: Callable[..., object]) -> None:
    """Add the options of commands that can ask judges as a cascade."""
    what = (
        "ask the judges one after the other, until one is confident enough: SHARE is the target agreement with people, "
    )
    add(
        "--cascade",
        metavar="SHARE|FILE",
        help=f"{what}for thresholds learnt from --labels; FILE is a plan of calibrate cascade",
    )
    labels = "people's labels of a random sample of the items, for --cascade SHARE"
    add("--labels", type=Path, action=Several, default=[], metavar="FILE", help=labels)
    passing = "for --cascade SHARE: lowest {} that passes"
    add("--pass-from", type=finite, metavar="X", help=passing.format("score of a judge"))
    add("--label-pass-from", type=finite, metavar="X", help=passing.format("label"))
    add_guarantee_options(add)


def add_guarantee_options(add: Callable[..., object]) -> None:
    """Add the options of what a cascade guarantees."""
    risk = "probability with which the guarantee may fail; default: %(default)s"
    add("--delta", type=level, default=0.1, metavar="SHARE", help=risk)
    close = "for labels that are scores: a score agrees with a label if they differ by at most X"
    add("--tolerance", type=positive, metavar="X", help=close)
    alone = "learn separate thresholds for each language with enough labels"
    add("--by-language", action="store_true", help=alone)


def target_share(text: str) -> float:
    """Read a target of agreement."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"must be a share between 0 and 1, such as 0.85, not {text!r}")
    return number


CascadeRequest = float | CascadePlan
"""What `--cascade` asks for: an agreement that is to be guaranteed by labels, or a plan that was learnt before."""


def requested_cascade(options: argparse.Namespace, judges: Sequence[ModelName]) -> CascadeRequest | None:
    """Return the cascade that the options ask for, and settle how the judges are asked; None without one."""
    if options.cascade is None:
        _refuse_options_of_learning(options)
        return None
    if not judges:
        raise ConfigError(
            "--cascade needs models as judges; the judge 'offline' makes no calls. Leave it out of --judge."
        )
    if getattr(options, "engine", "local") != "local":
        raise ConfigError(f"--cascade works on one machine only. Leave out --engine {options.engine}.")
    path = Path(options.cascade)
    if path.is_file():
        return _settled(options, read_plan(path))
    try:
        target = target_share(options.cascade)
    except argparse.ArgumentTypeError as error:
        raise ConfigError(f"--cascade {error}, or an existing plan file.") from None
    _refuse_unlearnable(options)
    return target


def _refuse_options_of_learning(options: argparse.Namespace, why: str = "") -> None:
    for name in ("labels", "tolerance", "by_language", "pass_from", "label_pass_from"):
        given = getattr(options, name)
        if given is not None and given is not False and given != []:  # 0 is a value that may pass
            raise ConfigError(f"--{name.replace('_', '-')} is for --cascade SHARE.{why}")


def _settled(options: argparse.Namespace, plan: CascadePlan) -> CascadePlan:
    """Let the judges be asked as the plan was learnt."""
    _refuse_options_of_learning(options, " A plan has its thresholds already.")
    options.repeats = plan.repeats if options.repeats == 1 else options.repeats
    options.token_probabilities = plan.token_probabilities
    return plan


def _refuse_unlearnable(options: argparse.Namespace) -> None:
    if not options.labels:
        raise ConfigError("--cascade SHARE learns from people's labels. Give --labels, or the file of a plan.")
    if options.output is None:
        raise ConfigError("--cascade SHARE needs --output FILE, because the plan is written beside the results.")
    if options.cache == "none":
        raise ConfigError(
            "--cascade SHARE needs a cache for the replies about the labelled items. Leave out --cache none."
        )
    for name in ("refresh", "retry_failures"):
        if getattr(options, name, False):
            raise ConfigError(f"--{name.replace('_', '-')} works with a plan only: --cascade FILE.")
    if options.repeats == 1 and not options.token_probabilities:
        options.token_probabilities = True
        note = "the judges are asked for token probabilities, which say how sure they are (or give --repeats)"
        print(f"polyjudge: {note}", file=sys.stderr)
