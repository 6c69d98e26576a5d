"""The penalties of error spans: what each error takes from the score of a text."""

import re
from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import cast, get_args

from polyjudge.errors import ConfigError, DataError
from polyjudge.files.text_files import read_toml
from polyjudge.records.spans import SpanSeverity

from .loading import load_rubric, rubric_names

SEVERITIES: tuple[SpanSeverity, ...] = get_args(SpanSeverity)


def penalty_of(category: str, severity: str, penalties: Mapping[str, float]) -> float:
    """Return the penalty of an error; one for its category and severity counts before one for either.

    A category is meant by its whole name (`fluency/punctuation`), by its start (`fluency`) or by its end
    (`punctuation`), in either; hyphens and underscores count as spaces. An error of a severity that is not in the
    table, such as `neutral`, has none.
    """
    degree, name = severity.strip().casefold(), _spaced(category)
    if degree not in SEVERITIES:
        return 0.0
    fitting = [
        (bool(wanted), len(wanted), bool(only), value)
        for (only, wanted), value in ((_parts(key), value) for key, value in penalties.items())
        if only in ("", degree) and (not wanted or _means(name, wanted))
    ]
    return float(max(fitting)[-1]) if fitting else 0.0


def _spaced(category: str) -> str:
    return re.sub(r"[-_]", " ", category.strip().casefold())


def _means(name: str, wanted: str) -> bool:
    return name.startswith(wanted) or name.endswith(f"/{wanted}") or (name != "" and wanted.endswith(f"/{name}"))


@lru_cache(maxsize=1)
def wmt_penalties() -> Mapping[str, float]:
    """Return the penalties of MQM as WMT counts it: those of the rubric `mqm`."""
    rules = load_rubric("mqm").spans
    return rules.penalties if rules is not None else {}


def read_penalties(name: str) -> Mapping[str, float]:
    """Return the penalties of a rubric by its name, or those in a TOML file: of a rubric, or a table of its own."""
    if name in rubric_names():
        rules = load_rubric(name).spans
        if rules is None or not rules.penalties:
            raise ConfigError(f"The rubric {name!r} has no penalties of error spans. Give mqm, or a TOML file.")
        return rules.penalties
    path = Path(name)
    if not path.suffix and not path.exists():
        raise ConfigError(f"Unknown penalties {name!r}. Give mqm, or a TOML file such as penalties.toml.")
    data: Mapping[str, object] = read_toml(path, path=path)
    rules_of = data.get("spans")
    holder = cast(Mapping[str, object], rules_of) if isinstance(rules_of, Mapping) else data
    given = holder.get("penalties", None if "instruction" in data else holder)
    if not isinstance(given, Mapping) or not given:
        raise DataError("no table of penalties found; expected lines such as minor = 1 and major = 5", path=path)
    table = cast(Mapping[str, object], given)
    for key, value in table.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
            raise DataError(f"the penalty {key!r} must be a number of at least 0, not {str(value)[:40]!r}", path=path)
    if not any(_parts(key) in ((severity, "") for severity in SEVERITIES) for key in table):
        raise DataError(f"no penalty for any severity; give at least one of {', '.join(SEVERITIES)}", path=path)
    return cast(Mapping[str, float], table)


@lru_cache(maxsize=256)
def _parts(key: str) -> tuple[str, str]:
    """Return the severity and the category that a key of the table means; each may be empty."""
    first, _, rest = key.strip().casefold().partition(" ")
    return (first, _spaced(rest)) if first in SEVERITIES else ("", _spaced(key))
