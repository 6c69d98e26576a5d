"""What a judge is asked about one language in particular."""

import tomllib
from functools import lru_cache
from importlib.resources import files


def language_question(tag: str) -> str:
    """Return the question for a language, or nothing."""
    return _questions().get(tag, "")


@lru_cache(maxsize=1)
def _questions() -> dict[str, str]:
    return tomllib.loads((files("polyjudge.rubrics") / "language_questions.toml").read_text(encoding="utf-8"))
