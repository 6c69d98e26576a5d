"""What the checks of a text found."""

from typing import Literal, get_args

from msgspec import Struct

from .translation import Language

ScriptState = Literal["pass", "warn", "fail", "unknown"]
LanguageState = Literal["right", "wrong", "unsure"]
Severity = Literal["fail", "warn", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The text fails; a person should look; for information."""
ProblemKind = Literal[
    "empty",
    "wrong_script",
    "mixed_script",
    "foreign_script",
    "broken_characters",
    "wrong_language",
    "source_copied",
    "untranslated",
    "repetition",
    "cut_off",
    "template_leak",
    "prompt_leak",
    "code_fence",
    "model_note",
    "refusal",
    "wrong_length",
    "number_changed",
    "number_lost",
    "placeholder_lost",
    "markup_lost",
    "url_lost",
]
"""What the built-in checks find; the checks of plugins have other kinds."""


class Finding(Struct, frozen=True, rename="camel"):
    """Something that a check has to say about a text, and where."""

    kind: str
    """A `ProblemKind`, or a kind of a plugin's check."""
    severity: Severity
    message: str
    start: int | None = None
    """Place in the text, in code points; None where it is the whole or something missing."""
    end: int | None = None


class CheckedText(Struct, frozen=True, kw_only=True):
    """A text as a plugin's check sees it."""

    text: str
    language: Language
    """The language that the text should be in."""
    source: str = ""
    """What the text is a translation of."""
    prompt: str = ""
    """What the model was told, where that is known."""
    reference: str = ""
    """A translation that is known to be good."""


class ScriptCheck(Struct, frozen=True, kw_only=True):
    """Whether a text is written in a script that its language accepts."""

    state: ScriptState
    share: float | None = None
    """Of the letters that count, those in an accepted script; None where no letter counts."""
    problems: tuple[Finding, ...] = ()


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
    problems: tuple[Finding, ...] = ()
    """Of all kinds, the script's and the language's among them."""

    @property
    def fails(self) -> bool:
        """At least one problem is more than a warning."""
        return any(problem.severity == "fail" for problem in self.problems)
