"""The messages of localisation files, and what a review finds in them."""

from typing import Literal

from msgspec import Struct

from .findings import Severity

MessageState = Literal["translated", "untranslated", "fuzzy", "needs_review"]
"""What the file says: `fuzzy` and `needs_review` have a translation that someone has yet to confirm."""
PlaceholderSyntax = Literal["printf", "python", "brace", "icu", "ruby", "fluent", "apple", "i18next", "qt", "template"]
"""How placeholders are written: `%s`, `%(name)s`, `{name}`, ICU MessageFormat, `%{name}`, `{ $name }`, `%@`,
`{{name}}`, `%1` and `%n`, `$NAME$` of WebExtensions."""


FailOn = Literal["fail", "warn", "info", "never"]
"""From which severity on a finding fails a review."""


class CatalogueFile(Struct, frozen=True, kw_only=True):
    """A localisation file with translations into one language, and the file with their sources if that is another."""

    path: str
    format: str
    """The name of its format, such as `gettext`, `android` or `xliff`."""
    language: str
    """Tag of the language of the translations; empty where only the content of the file says it."""
    source_language: str = ""
    source_path: str = ""
    """The file with the source texts; empty where they are in the same file, as in gettext and XLIFF."""


class FoundCatalogues(Struct, frozen=True, kw_only=True):
    """The localisation files among the files of a project."""

    files: list[CatalogueFile]
    """By path and language."""
    skipped: list[str]
    """What was not taken, and why."""


class Message(Struct, frozen=True, kw_only=True):
    """One text of a localisation file and its translation; each plural form is a message of its own."""

    line: int
    """Where the translation starts in its file, from 1."""
    key: str
    """What names the text in its file: a msgid, a resource name, a path of keys joined by dots."""
    source: str
    """Empty where no source file has the key."""
    translation: str
    context: str = ""
    """What distinguishes texts with the same key, such as msgctxt."""
    comment: str = ""
    """What the developers tell translators."""
    plural: str = ""
    """The plural category of this form by CLDR (`one`, `few`, `other`), or the number of a gettext form whose category
    is not known; empty for a text without plural forms."""
    is_exact: bool = False
    """The form is for one number (`=0` of ICU, `two` in Arabic) or two (`one` in French), which it need not contain."""
    max_length: int | None = None
    """The largest number of characters that the developers allow."""
    state: MessageState = "translated"
    syntaxes: tuple[PlaceholderSyntax, ...] = ()
    """How its placeholders are written; empty where the format does not say, and any syntax is looked for."""
    is_raw: bool = False
    """The placeholders are not checked, because the developers say so: `no-c-format`."""


class Catalogue(Struct, frozen=True, kw_only=True):
    """The content of a localisation file."""

    file: CatalogueFile
    messages: tuple[Message, ...]
    """In the order of the file, with those that are not translated."""
    missing: tuple[Message, ...] = ()
    """Texts of the source file that this file does not have; `line` is that of the source file."""
    plural_categories: tuple[str, ...] = ()
    """The plural forms that the file itself declares, as the header of a PO file does; empty if it declares none."""
    problems: tuple[tuple[int, str], ...] = ()
    """Lines of the file with parts that could not be used, and why: a key twice, an entry of a wrong type."""


class ReviewFinding(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a review found in one message, or in a file as a whole."""

    file: str
    line: int
    key: str
    """Empty for a finding about the whole file."""
    language: str
    check: str
    """The check that found it; `meaning` for a judge."""
    kind: str
    """The kind of the finding, such as `placeholder_lost`."""
    severity: Severity
    message: str
    """What is wrong, in one sentence."""
    source: str = ""
    translation: str = ""
    fingerprint: str = ""
    """Its stable name in files of accepted findings; it does not depend on lines or on other messages."""
    start: int | None = None
    """The place in the translation, in code points."""
    end: int | None = None
    plural: str = ""
    matters: str = ""
    """Why it matters, in one sentence."""
    record: str = ""
    """How often findings of this kind are right, as far as it was measured."""
    judge: str = ""
    """The model that said it."""
    suggestion: str = ""
    """A better translation, if a judge gave one."""
    reason: str = ""
    """Why a person accepted it, for an accepted finding."""


class UnjudgedMessage(Struct, frozen=True, kw_only=True, rename="camel"):
    """A message that a judge was to judge, without a verdict."""

    file: str
    line: int
    key: str
    language: str
    reason: str


class ReviewedLanguage(Struct, frozen=True, kw_only=True, rename="camel"):
    """The counts of one language."""

    language: str
    name: str
    files: int
    messages: int
    """Messages that were reviewed."""
    untranslated: int = 0
    """Messages without a translation, and those that the file lacks."""
    fails: int = 0
    """Findings by severity."""
    warnings: int = 0
    infos: int = 0
    accepted: int = 0
    """Accepted findings, which are in no other count."""
    judged: int = 0
    unjudged: int = 0


class Review(Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of a review."""

    findings: tuple[ReviewFinding, ...]
    """Those that are not accepted, by file and line."""
    languages: tuple[ReviewedLanguage, ...]
    """By tag."""
    accepted: tuple[ReviewFinding, ...] = ()
    unjudged: tuple[UnjudgedMessage, ...] = ()
    since: str = ""
    """The revision since which messages were reviewed; empty if all were."""
    judge: str = ""
    """The judge of meaning; empty without one."""
    trust: tuple[str, ...] = ()
    """What is known of the judge's reliability, by language."""
    skipped: tuple[str, ...] = ()
    """What was not reviewed, and why: files whose language is not in the table, checks that could not run."""
    source_language: str = ""
    """Tag of the language of the sources; empty if it is not known, or not the same for all files."""
    fail_on: FailOn = "fail"
    """The mildest severity with which a finding fails the review."""
