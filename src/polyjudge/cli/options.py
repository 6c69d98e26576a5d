"""The options that several commands share, and the checks of their values."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TypedDict

from polyjudge.concurrency.sync import run_sync
from polyjudge.errors import ConfigError, DataError, PolyjudgeError, UnknownNameError
from polyjudge.files.kinds import FileKind
from polyjudge.files.ownership import refuse_foreign
from polyjudge.folder_trust import BATCHES_FOLDER, DEFAULT_CACHE, private_path
from polyjudge.providers.models import model_table, parse_price, resolve_model
from polyjudge.providers.registry import is_judge_plugin, is_provider, provider_names
from polyjudge.providers.services import address_of, is_own_server, services
from polyjudge.records.requests import ModelName
from polyjudge.records.runs import ROWS_IN_SHARD, Limits
from polyjudge.text.display import harmless, one_line

from .output import print_warning


def add_judging_options(parser: argparse.ArgumentParser, *, default_judge: str) -> None:
    """Add the options of every command with judges by a rubric."""
    add = parser.add_argument_group("judge").add_argument
    judges = "model that judges, several as a jury, or offline for the checks alone"
    add_judge_options(add, default=default_judge, help=f"{judges}; default: {default_judge or 'none'}")
    add("--repeats", type=at_least(1), default=1, metavar="K", help="ask each question K times; default: 1")
    add_call_options(parser.add_argument_group("calls").add_argument)
    add_cache_options(parser.add_argument_group("cache").add_argument)


def add_judge_options(
    add: Callable[..., object], *, default: str, help: str, metavar: str = "NAME[/MODEL][,…]"
) -> None:
    """Add the options that name judges and decide what their failures mean."""
    add("--judge", default=default, metavar=metavar, help=help)
    add("--judge-model", metavar="MODEL", help="use this model of the judge's provider")
    add("--require-judge", action="store_true", help="exit 3 instead of skipping when a judge cannot be used")
    too_many = "exit 3 when a larger share of items could not be judged; default: %(default)s"
    add("--max-unjudged", type=share, default=0.2, metavar="SHARE", help=too_many)


def add_call_options(add: Callable[..., object]) -> None:
    """Add the options of every command that makes calls."""
    in_flight = "maximum number of calls in flight; default: %(default)s"
    add("--concurrency", type=at_least(1), default=16, metavar="N", help=in_flight)
    add("--rpm", type=positive, metavar="N", help="maximum number of calls per minute")
    add("--tpm", type=positive, metavar="N", help="approximate maximum number of tokens per minute")
    add_timing_options(add)
    add("--max-calls", type=at_least(1), metavar="N", help="stop after N calls")
    add("--max-tokens", type=at_least(1), metavar="N", help="stop before using more than N tokens")
    add("--max-cost", type=positive, metavar="USD", help="stop before spending more than USD")
    add("--price", metavar="IN,OUT", help="price in USD per million tokens, for a model whose price is not known")
    add("--dry-run", action="store_true", help="print the number of calls and their estimated cost, and stop")


def add_timing_options(add: Callable[..., object], *, timeout_s: float | None = None) -> None:
    """Add the time limits of a call and of a run."""
    one_call = f"time limit of one call in seconds; default: {timeout_s or '120, and 300 for agents'}"
    add("--timeout", type=positive, default=timeout_s, metavar="S", help=one_call)
    whole_run = "time limit of the whole run in seconds; calls in flight get five seconds more"
    add("--deadline", type=positive, metavar="S", help=whole_run)


def add_cache_options(add: Callable[..., object]) -> None:
    """Add the options of every command that stores replies."""
    # Not %(default)s: a project file may set a URL with a password as the default.
    place = f"where replies are stored; default: {DEFAULT_CACHE}"
    add("--cache", default=DEFAULT_CACHE, metavar="PATH|URL|none", help=place)
    fallback = "cache file to use if PostgreSQL cannot be reached at the start; default: the run stops"
    add("--local-cache", type=Path, metavar="PATH", help=fallback)
    add("--refresh", action="store_true", help="ask again even if the reply is in the cache")
    add("--reread", action="store_true", help="parse stored replies again, without making calls")


def judge_names(options: argparse.Namespace) -> list[ModelName]:
    """Return the models that `--judge` and `--judge-model` name; none for the judge `offline`, which makes no calls."""
    given = [name.strip() for name in options.judge.split(",") if name.strip()]
    if not given:
        raise ConfigError("--judge is empty. Give a model, for example --judge openai/gpt-5-mini.")
    if "offline" in given:
        if given != ["offline"] or options.judge_model is not None:
            raise ConfigError("The judge 'offline' cannot be combined with other judges or with --judge-model.")
        return []
    if options.judge_model is None:
        names = [_named(name) for name in given]
        if len(names) > 1:
            _refuse_twice(names)
        return names
    if len(given) > 1:
        raise ConfigError("--judge-model needs a single judge. Write NAME/MODEL for each of several judges.")
    own_name = is_provider(given[0]) or is_judge_plugin(given[0])
    provider = given[0] if own_name else resolve_model(given[0]).provider
    return [ModelName(provider, options.judge_model)]


def _refuse_twice(names: Sequence[ModelName]) -> None:
    """Refuse the same judge twice, also under two names of one server: `local/m,ollama/m`."""
    seen: dict[tuple[str, str], ModelName] = {}
    for name in names:
        key = address_of(name.provider) if is_own_server(name.provider) else name.provider, name.model
        if key in seen:
            also = f" (also as {seen[key]})" if seen[key] != name else ""
            raise ConfigError(f"--judge names {name} twice{also}. Name each judge once.")
        seen[key] = name


def _named(name: str) -> ModelName:
    try:
        return resolve_model(name)
    except UnknownNameError as error:
        if is_judge_plugin(name):
            from polyjudge.judges.plugin import judge_plugin_name  # here, because few runs name one

            return judge_plugin_name(name)
        provider, slash, _ = name.partition("/")
        if is_provider(provider):
            raise ConfigError(f"--judge {name} has no model. {how_to_name_a_model(provider)}") from None
        known = provider_names() if slash else [*provider_names(), *model_table().aliases]
        raise UnknownNameError("judge provider", provider if slash else error.name, [*known, "offline"]) from None


def how_to_name_a_model(provider: str) -> str:
    """Return what to write for a model of a provider; for the user's own server, with the models that it has."""
    example = services()[provider].model_example if provider in services() else ""
    write = f"Write {provider}/MODEL{f', for example {provider}/{example}' if example else ''}."
    if not is_own_server(provider):
        return write
    from polyjudge.providers.local import listed_for_choice, local_models  # here: only this message needs the client

    try:
        models = run_sync(local_models(provider, timeout_s=10.0))
    except PolyjudgeError as error:
        return f"{write} {str(error)[:1].upper()}{str(error)[1:]}"
    listed = listed_for_choice(models, provider)
    first = f" Choose one, for example {provider}/{one_line(models[0], 80)}." if models else ""
    return f"The server at {address_of(provider)} answers. {listed}{first}"


def add_filter_option(add: Callable[..., object], what: str = "use only rows") -> None:
    """Add the option that selects rows."""
    chosen = f"{what} with one of these values, such as system=ours or language=sw,th"
    add("--filter", action=Several, default=[], metavar="COLUMN=VALUE,…", help=chosen)


def filters_of(given: list[str]) -> Mapping[str, frozenset[str]]:
    """Return the values that `--filter COLUMN=VALUE,…` allows in each column."""
    filters: dict[str, frozenset[str]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or not name:
            raise ConfigError(f"Invalid --filter {text!r}. Write COLUMN=VALUE.")
        filters[name] = filters.get(name, frozenset()) | frozenset(values.split(","))
    return filters


class RunOptions(TypedDict):
    """The arguments of a `Run` that all judging commands read from the same options."""

    cache: str | None
    fallback_cache: Path | None
    limits: Limits
    batch: bool
    refresh: bool
    reread: bool
    force: bool


def run_options(options: argparse.Namespace) -> RunOptions:
    """Return the arguments of a `Run` from the options of a judging command."""
    return {
        "cache": None if options.cache == "none" else options.cache,
        "fallback_cache": options.local_cache,
        "limits": limits_of(options),
        "batch": options.batch,
        "refresh": options.refresh,
        "reread": options.reread,
        "force": options.force,
    }


def limits_of(options: argparse.Namespace) -> Limits:
    """Return the limits from the options of a judging command."""
    return Limits(
        concurrency=options.concurrency,
        rpm=options.rpm,
        tpm=options.tpm,
        max_calls=options.max_calls,
        max_tokens=options.max_tokens,
        max_cost_usd=options.max_cost,
        price=parse_price(options.price) if options.price else None,
        timeout_s=options.timeout,
        deadline_s=options.deadline,
        max_unjudged=options.max_unjudged,
    )


class Several(argparse.Action):
    """Collects the values of a repeated option; values on the command line replace those of the project file."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add one value."""
        del parser, option_string
        given: set[str] = namespace.__dict__.setdefault("given_several_times", set())
        if self.dest not in given:
            given.add(self.dest)
            setattr(namespace, self.dest, [])
        getattr(namespace, self.dest).append(values)


def at_least(least: int) -> Callable[[str], int]:
    """Return an argparse type for whole numbers from `least` on."""

    def number(text: str) -> int:
        if not text.lstrip("+-").isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, not {text!r}")
        return int(text)

    return number


def whole(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, not {text!r}") from None


def positive(text: str) -> float:
    """Read a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {text!r}")
    return number


def finite(text: str) -> float:
    """Read a finite number."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise argparse.ArgumentTypeError(f"must be a number, not {text!r}")
    return number


def add_force_option(add: Callable[..., object]) -> None:
    """Add the option of every command that writes files."""
    add("--force", action="store_true", help="replace files that polyjudge did not write")


class UsualFormat(str):
    """The format of a report that the user did not choose: its file may have the ending of another one."""

    choices: tuple[str, ...] = ()


_OF_ENDINGS = {
    ".htm": "html",
    ".html": "html",
    ".json": "json",
    ".markdown": "markdown",
    ".md": "markdown",
    ".txt": "text",
    ".xml": "junit",
}


def add_report_options(
    add: Callable[..., object], formats: Iterable[str], usual: str = "text", what: str = "report", *, force: bool = True
) -> None:
    """Add the options of a report's file and format; `force` unless another function adds that option."""
    default = UsualFormat(usual)
    default.choices = tuple(formats)
    add("--output", type=Path, metavar="FILE", help=f"file for the {what}; default: stdout")
    if force:
        add_force_option(add)
    chosen = "output format; default: by the suffix of --output, such as .html, else %(default)s"
    add("--format", choices=list(default.choices), default=default, help=chosen)


def settle_format(options: argparse.Namespace) -> None:
    """Take the format of a report from the ending of its file, unless it was chosen."""
    usual, output = getattr(options, "format", None), getattr(options, "output", None)
    if isinstance(usual, UsualFormat):
        found = _OF_ENDINGS.get(output.suffix.lower(), "") if output is not None else ""
        options.format = found if found in usual.choices else str(usual)


def check_output(
    output: Path | None, inputs: Iterable[Path | None], *, kind: FileKind = FileKind.REPORT, force: bool
) -> None:
    """Refuse an output that would replace an input, a file of another program, or data of another kind."""
    if output is None:
        return
    for path in inputs:
        if path is not None and path.resolve() == output.resolve():
            raise ConfigError(f"{str(output)!r} is an input file. Give another output file.")
    refuse_foreign(output, kind=kind, force=force)


def share(text: str) -> float:
    """Read a share between 0 and 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"must be a share between 0 and 1, not {text!r}")
    return number


def add_engine_options(add: Callable[..., object]) -> None:
    """Add the options of the engine that judges."""
    engines = (
        "local; or ray, which judges in shards on many machines and writes a folder of Parquet files; default: "
        "%(default)s"
    )
    add("--engine", choices=["local", "ray"], default="local", help=engines)
    workers = "number of shards that ray judges at the same time; default: one per CPU"
    add("--workers", type=at_least(1), metavar="N", help=workers)
    rows = f"maximum number of rows in a shard, with ray; default: {ROWS_IN_SHARD}"
    add("--shard-rows", type=at_least(1), metavar="N", help=rows)


def refuse_without_ray(options: argparse.Namespace) -> None:
    """Refuse options of the engine `ray` with another engine."""
    for name, value in (("--workers", options.workers), ("--shard-rows", options.shard_rows)):
        if value is not None and options.engine != "ray":
            raise ConfigError(f"{name} is only for --engine ray. On one machine, use --concurrency.")


def refuse_unfit(options: argparse.Namespace, *, asks: bool) -> None:
    """Refuse options that `--engine ray` does not support, before anything is read; `asks` if models are asked."""
    if options.output is None:
        raise ConfigError("--engine ray needs --output FOLDER")
    if options.output.exists() and not options.output.is_dir():
        raise DataError("this is a file, but --engine ray writes a folder. Give a folder.", path=options.output)
    if asks and options.cache == "none":
        raise ConfigError("--engine ray needs a cache that the workers share. Give --cache PATH or postgresql://…")


def add_batch_option(add: Callable[..., object]) -> None:
    """Add the option of commands that can use batch APIs."""
    batches = "use batch APIs at half the price: results arrive within a day, and the same command resumes the wait"
    add("--batch", action="store_true", help=batches)


def refuse_batch(options: argparse.Namespace, judges: Sequence[ModelName]) -> None:
    """Refuse options that batches do not support; without `--batch`, warn of unfinished batches."""
    if not options.batch:
        if private_path(BATCHES_FOLDER).is_dir():
            _warn_of_batches(judges)
        return
    if not judges:
        raise ConfigError("--batch has no effect with the judge 'offline', which makes no calls. Leave out --batch.")
    from polyjudge.batches.client import need_batches  # here, because most runs need none of it

    for name in judges:
        need_batches(name)
    if options.cache == "none":
        raise ConfigError("--batch needs a cache for its replies. Leave out --cache none.")
    if options.reread:
        raise ConfigError("--batch has no effect with --reread, which makes no calls. Leave out --batch.")


def _warn_of_batches(judges: Sequence[ModelName]) -> None:
    """Warn that a run without `--batch` does not use the unfinished batches of its judges."""
    from polyjudge.batches.journal import BatchJournal  # here, because most folders have no batches

    asked = {(name.provider, name.model, address_of(name.provider)) for name in judges}
    for job in BatchJournal().readable_jobs([]):
        intent = job.intent
        is_unfinished = not job.stored_in and not job.is_abandoned
        if is_unfinished and (intent.provider, intent.model, intent.base_url) in asked:
            name = harmless(f"{job.id or intent.tag} of {intent.provider}/{intent.model}")
            paid = "Without --batch, its requests are sent and paid for again."
            print_warning(f"batch {name} is unfinished. {paid}")


def level(text: str) -> float:
    """Read a significance level."""
    number = share(text)
    if not 0 < number <= 0.5:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 0.5, not {text!r}")
    return number
