"""Split messages that choose among texts, by number or by anything else, into a message for each text."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from polyjudge.records.messages import Catalogue, Message, PlaceholderSyntax

from .entries import is_exact
from .fluent import parse_fluent
from .message_format import HAS_CHOICE, Branch, MessageFormatError, Node, branches, parse_message
from .plurals import exact_numbers, integer_categories, is_category_of_one, plural_categories

Parse = Callable[[str], Sequence[Node]]
_SELECTS = re.compile(r"\{[^{}]*->")


def with_branches(catalogue: Catalogue) -> Catalogue:
    """Return a catalogue in which each text that an ICU or Fluent message can give is a message of its own.

    The plural form is that of its first choice by number; other cases are part of its context. A message that is
    invalid stays as it is.
    """
    has_choice, parse, syntaxes = _of_format(catalogue.file.format)
    messages, is_changed = list[Message](), False
    for message in catalogue.messages:
        is_translated = bool(message.translation.strip())
        if is_translated and (has_choice.search(message.translation) or has_choice.search(message.source)):
            messages += _split(message, catalogue.file.language, parse, syntaxes)
            is_changed = True
        else:
            messages.append(message)
    return replace(catalogue, messages=tuple(messages)) if is_changed else catalogue


def _of_format(name: str) -> tuple[re.Pattern[str], Parse, tuple[PlaceholderSyntax, ...]]:
    """Return what shows that a message has choices, how they are read, and the syntax of the texts in them."""
    if name == "fluent":
        return _SELECTS, parse_fluent, ("fluent",)
    if name == "arb":
        return HAS_CHOICE, partial(parse_message, quotes=False), ("brace",)
    return HAS_CHOICE, parse_message, ("icu",)


def _split(message: Message, language: str, parse: Parse, syntaxes: tuple[PlaceholderSyntax, ...]) -> Iterator[Message]:
    targets = _branches(message.translation, parse)
    if targets is not None and parse is parse_fluent:
        targets = _with_category_of_default(targets, language)
    if targets is None:
        yield replace(message, syntaxes=message.syntaxes if parse is parse_fluent else ("icu",))
        return
    sources = _branches(message.source, parse) or [Branch((), message.source)]
    yield from of_branches(replace(message, syntaxes=syntaxes), targets, sources, language)


def _branches(text: str, parse: Parse) -> Sequence[Branch] | None:
    try:
        return branches(parse(text))
    except MessageFormatError:
        return None


def _with_category_of_default(targets: Sequence[Branch], language: str) -> Sequence[Branch]:
    """Return texts of Fluent with the default `other` as the one category that the language needs and they lack."""
    needed = integer_categories(language)
    named = {(name, kind) for branch in targets for name, kind, _ in branch.cases if kind == "plural"}
    for number in named if "other" not in needed else ():
        given = {selector for branch in targets for *names, selector in branch.cases if tuple(names) == number}
        lacking = [category for category in needed if category not in given]
        if len(lacking) == 1:
            old, new = (*number, "other"), (*number, lacking[0])
            targets = [
                branch._replace(cases=tuple(new if case == old else case for case in branch.cases))
                for branch in targets
            ]
    return targets


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
    numbers = exact_numbers(language, "one") if "one" in plural_categories(language) else ()
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
