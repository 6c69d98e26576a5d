"""Which family a model is of, by its name: a judge may favour its own."""

from functools import lru_cache
from importlib.resources import files


def family_of(model: str) -> str:
    """Return the family of a model, such as claude; nothing where its name says none."""
    parts = [part for part in model.casefold().replace(":", "/").split("/") if part]
    for part in (parts[-1], *parts[:-1]) if parts else ():
        for family, names in _families():
            if part.startswith(names):
                return family
    return ""


@lru_cache(maxsize=1)
def _families() -> tuple[tuple[str, tuple[str, ...]], ...]:
    lines = (files("polyjudge.calibration") / "facts" / "families.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")][1:]
    return tuple((family, tuple(names.split(";"))) for family, names in rows)
