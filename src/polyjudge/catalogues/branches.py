"""Split messages that choose among texts, by number or by anything else, into a message for each text."""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from polyjudge.records.messages import Catalogue, Message

from .entries import is_exact
from .message_format import HAS_CHOICE, Branch, MessageFormatError, branches, parse_message
from .plurals import exact_numbers, is_category_of_one

ReadBranches = Callable[[str], Sequence[Branch]]


def with_branches(catalogue: Catalogue) -> Catalogue:
    """Return a catalogue in which each text that an ICU message can give is a message of its own.

    The plural form is that of its first choice by number; other cases are part of its context. A message that is
    invalid stays as it is.
    """
    has_quotes = catalogue.file.format != "arb"
    messages, is_changed = list[Message](), False
    for message in catalogue.messages:
        if "{" in message.translation and (HAS_CHOICE.search(message.translation) or HAS_CHOICE.search(message.source)):
            messages += _split(message, catalogue.file.language, quotes=has_quotes)
            is_changed = True
        else:
            messages.append(message)
    return replace(catalogue, messages=tuple(messages)) if is_changed else catalogue


def _split(message: Message, language: str, *, quotes: bool) -> Iterator[Message]:
    try:
        targets = branches(parse_message(message.translation, quotes=quotes))
    except MessageFormatError:
        targets = None
    if targets is None:
        yield replace(message, syntaxes=("icu",))
        return
    try:
        sources = branches(parse_message(message.source, quotes=quotes))
    except MessageFormatError:
        sources = None
    base = replace(message, syntaxes=("icu",) if quotes else ("brace",))
    yield from of_branches(base, targets, sources or [Branch((), message.source)], language)


def of_branches(
    message: Message, targets: Sequence[Branch], sources: Sequence[Branch], language: str
) -> Iterator[Message]:
    """Yield a message for each text of the translation, with the text of the source for the same cases."""
    given = {(name, kind, selector) for branch in targets for name, kind, selector in branch.cases}
    known = {(name, kind, selector) for branch in sources for name, kind, selector in branch.cases}
    for branch in targets:
        cases = {(name, kind): selector for name, kind, selector in branch.cases}
        number = next((case for case in branch.cases if case[1] == "plural"), None)
        plural = _category(number, given, language) if number else message.plural
        others = (f"{name}={selector}" for name, kind, selector in branch.cases if (name, kind) != (number or ())[:2])
        yield replace(
            message,
            translation=branch.text,
            source=_source(cases, sources, known, language),
            plural=plural,
            is_exact=message.is_exact or is_exact(plural, language),
            context=", ".join(filter(None, (message.context, *others))),
        )


def _category(number: tuple[str, str, str], given: set[tuple[str, str, str]], language: str) -> str:
    """Return the plural form of a case; `=1` is the form for one where no other is needed for it."""
    name, kind, selector = number
    if selector != "=1" or (name, kind, "one") in given:
        return selector
    numbers = exact_numbers(language, "one")
    return "one" if numbers and all((name, kind, f"={n}") in given for n in numbers) else selector


def _source(
    cases: dict[tuple[str, str], str], sources: Sequence[Branch], known: set[tuple[str, str, str]], language: str
) -> str:
    """Return the source for some cases: the same selection, or for a number the form that it has in the source."""

    def is_wanted(name: str, kind: str, selector: str) -> bool:
        chosen = cases.get((name, kind), "other")
        if kind != "select" and (chosen == "=1" or is_category_of_one(language, chosen)):
            one = next((each for each in ("one", "=1") if (name, kind, each) in known), "other")
            return selector == one
        same = chosen if (name, kind, chosen) in known and (kind == "select" or is_exact(chosen, language)) else "other"
        return selector == same

    fitting = (branch.text for branch in sources if all(is_wanted(*case) for case in branch.cases))
    return next(fitting, sources[-1].text)
