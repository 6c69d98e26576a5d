"""What the checks of a text found."""

from typing import Literal

from msgspec import Struct

ScriptState = Literal["pass", "warn", "fail", "unknown"]
LanguageState = Literal["right", "wrong", "unsure"]
Severity = Literal["fail", "warn"]
ProblemKind = Literal[
    "empty",
    "wrong_script",
    "mixed_script",
    "broken_characters",
    "wrong_language",
    "source_copied",
    "untranslated",
    "repetition",
    "cut_off",
    "template_leak",
    "prompt_leak",
    "refusal",
    "wrong_length",
    "number_lost",
    "placeholder_lost",
    "markup_lost",
    "url_lost",
]


class Problem(Struct, frozen=True, rename="camel"):
    """Something wrong with a text, and where."""

    kind: ProblemKind
    message: str
    severity: Severity = "fail"
    start: int | None = None
    """Place in the text, in code points; None where it is the whole or something missing."""
    end: int | None = None


class ScriptCheck(Struct, frozen=True, kw_only=True):
    """Whether a text is written in a script that its language accepts."""

    state: ScriptState
    share: float | None = None
    """Of the letters that count, those in an accepted script; None where no letter counts."""
    problems: tuple[Problem, ...] = ()


class LanguageCheck(Struct, frozen=True, kw_only=True):
    """Whether a text is in the language asked for; on short text and between close neighbours that is often unsure."""

    state: LanguageState
    found: str = ""
    """Tag of the language that it most looks like."""
    confidence: float = 0.0
    """How likely `found` is, 0 to 1, among the languages of the table."""


class TextCheck(Struct, frozen=True, kw_only=True):
    """All that the checks say of one text."""

    script: ScriptCheck
    language: LanguageCheck
    problems: tuple[Problem, ...] = ()
    """Of all kinds, the script's and the language's among them."""

    @property
    def fails(self) -> bool:
        """At least one problem is more than a warning."""
        return any(problem.severity == "fail" for problem in self.problems)
