"""Messages and files to check."""

from polyjudge.checks.policy import CheckPolicy
from polyjudge.languages.table import language_table
from polyjudge.records.findings import Finding
from polyjudge.records.messages import Catalogue, CatalogueFile, Message
from polyjudge.review.message_checks import MessageChecker


def message(source: str, translation: str, **more) -> Message:
    return Message(**{"line": 7, "key": source, "source": source, "translation": translation, **more})


def catalogue(*messages: Message, language: str = "de", form: str = "gettext", **more) -> Catalogue:
    file = CatalogueFile(path=f"{language}.po", format=form, language=language, source_language="en")
    return Catalogue(file=file, messages=messages, **more)


def findings(*messages: Message, language: str = "de", form: str = "gettext", **more) -> list[Finding]:
    checker = MessageChecker(language_table(), more.pop("policy", CheckPolicy()), more.pop("glossary", None))
    found = checker.findings(catalogue(*messages, language=language, form=form, **more))
    return [each.finding for each in found]


def kinds(source: str, translation: str, language: str = "de", form: str = "gettext", **more) -> dict[str, str]:
    """Return the severities of the findings in one message, by kind."""
    return {
        each.kind: each.severity
        for each in findings(message(source, translation, **more), language=language, form=form)
    }
