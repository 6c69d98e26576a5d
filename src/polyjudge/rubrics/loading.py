"""Find a rubric by its name, or read one from a file."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from polyjudge.errors import ConfigError, DataError, UnknownNameError
from polyjudge.files import from_json, read_toml
from polyjudge.records import Rubric

from .checking import check_rubric

_NOT_RUBRICS = {"language_questions.toml"}


def rubric_names() -> list[str]:
    """Return the names of the rubrics that ship with polyjudge."""
    entries = [entry.name for entry in files("polyjudge.rubrics").iterdir()]
    return sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml") and name not in _NOT_RUBRICS)


def load_rubric(name: str | Path) -> Rubric:
    """Return a rubric that ships with polyjudge by its name, or one from a TOML file by its path."""
    if str(name) in rubric_names():
        return _read(files("polyjudge.rubrics") / f"{name}.toml", Path(f"{name}.toml"))
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return _read(path, path)
    raise UnknownNameError("rubric", str(name), rubric_names())


def _read(source: Path | Traversable, path: Path) -> Rubric:
    data = read_toml(source, path=path)
    try:
        rubric = from_json(Rubric, data, strict=True)
        check_rubric(rubric)
    except (DataError, ConfigError) as error:
        raise DataError(f"is no rubric: {error}", path=path) from None
    return rubric
