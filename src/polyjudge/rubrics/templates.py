"""Prompt templates with named places, checked when they are given and not when they are first used."""

from collections.abc import Iterable, Mapping
from string import Formatter

from polyjudge.errors import ConfigError

RUBRIC_PLACES = ("criteria", "candidate", "context", "subscores_schema")


def check_template(template: str, places: Iterable[str] = RUBRIC_PLACES) -> None:
    """Raise an error that says which place is unknown, missing or badly written."""
    known = tuple(places)
    try:
        pieces = list(Formatter().parse(template))
    except ValueError as error:
        raise ConfigError(f"the prompt template is broken: {error}; write {{{{ and }}}} for literal braces") from None
    used: set[str] = set()
    for _, place, form, conversion in pieces:
        if place is None:
            continue
        if place not in known or form or conversion:
            raise ConfigError(_unknown_place(place, form or "", conversion or "", known))
        used.add(place)
    missing = [place for place in known if place not in used]
    if missing:
        raise ConfigError(f"the prompt template lacks {_listed(missing)}; it must hold {_listed(known)}")


def fill_template(template: str, **values: str) -> str:
    """Put values in their places; braces inside a value are left alone."""
    return template.format(**values)


def pieces_of(template: str, told: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Return the texts of a template, each with the place that follows it; what is `told` already stands in them."""
    pieces: list[tuple[str, str | None]] = []
    text = ""
    for literal, place, _, _ in Formatter().parse(template):
        text += literal
        if place is not None and place in told:
            text += told[place]
        elif place is not None:
            pieces.append((text, place))
            text = ""
    return [*pieces, (text, None)]


def _unknown_place(place: str, form: str, conversion: str, known: Iterable[str]) -> str:
    written = place + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
    return (
        f"the prompt template has an unknown place {{{written}}}; it may hold {_listed(known)}, "
        "and a literal brace is written twice: {{ or }}"
    )


def _listed(places: Iterable[str]) -> str:
    return " ".join(f"{{{place}}}" for place in places)
