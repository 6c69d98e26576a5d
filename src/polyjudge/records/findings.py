"""The findings of the checks of a text."""

from typing import Literal, get_args

from msgspec import Struct

from .translation import Language

ScriptState = Literal["pass", "warn", "fail", "unknown"]
LanguageState = Literal["right", "wrong", "unsure"]
Severity = Literal["fail", "warn", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The text fails, a person should look at it, or for information."""
ProblemKind = Literal[
    "empty",
    "wrong_script",
    "mixed_script",
    "foreign_script",
    "broken_characters",
    "wrong_language",
    "unclear_language",
    "source_copied",
    "untranslated",
    "untranslated_word",
    "repetition",
    "cut_off",
    "missing_sentences",
    "template_leak",
    "prompt_leak",
    "code_fence",
    "model_note",
    "extra_lines",
    "refusal",
    "wrong_length",
    "number_changed",
    "number_lost",
    "placeholder_lost",
    "markup_lost",
    "url_lost",
    "url_added",
    "mention_lost",
    "doubled_punctuation",
    "question_lost",
    "ellipsis_lost",
    "markup_added",
    "emoji_lost",
]
"""The kinds of findings of the built-in checks; checks of plugins have others."""


class Finding(Struct, frozen=True, rename="camel"):
    """One finding of a check about a text."""

    kind: str
    """A `ProblemKind`, or a kind of a plugin's check."""
    severity: Severity
    message: str
    start: int | None = None
    """Position in the text, in code points; None for the whole text or something missing."""
    end: int | None = None


class CheckedText(Struct, frozen=True, kw_only=True):
    """The input of a plugin's check."""

    text: str
    language: Language
    """The language that the text should be in."""
    source: str = ""
    """The text that it translates."""
    prompt: str = ""
    """The prompt of the model, if known."""
    reference: str = ""
    """A reference translation."""


class ScriptCheck(Struct, frozen=True, kw_only=True):
    """Whether a text is written in a script that its language accepts."""

    state: ScriptState
    share: float | None = None
    """The share of the counted letters in an accepted script; None without counted letters."""
    problems: tuple[Finding, ...] = ()


class LanguageCheck(Struct, frozen=True, kw_only=True):
    """Whether a text is in the expected language; often unsure for short texts and closely related languages."""

    state: LanguageState
    found: str = ""
    """Tag of the most likely language."""
    confidence: float = 0.0
    """The probability of `found` among the languages of the table, 0 to 1."""
    strange_share: float = 0.0
    """The share of the parts of a long text that look like no part of a text in its language."""


class TextCheck(Struct, frozen=True, kw_only=True):
    """The results of all checks of one text."""

    script: ScriptCheck
    language: LanguageCheck
    problems: tuple[Finding, ...] = ()
    """All findings, including those of script and language."""
    accepted: tuple[Finding, ...] = ()
    """Findings that the project has accepted; they are not among the problems."""

    @property
    def fails(self) -> bool:
        """Whether any finding has the severity fail."""
        return any(problem.severity == "fail" for problem in self.problems)
