"""The reference of the public names, from their docstrings."""

from collections.abc import Iterator
from inspect import isclass, isfunction, ismodule

from rst_text import heading

import polyjudge

# In the order in which a reader needs them; a package that is not named comes last, under its own name.
TITLES = {
    "runs": "Runs",
    "records": "Records",
    "formats": "Reading files",
    "judges": "Judges and their replies",
    "rubrics": "Rubrics",
    "providers": "Providers",
    "cache": "Cache",
    "checks": "Checks",
    "languages": "Languages",
    "calibration": "Calibration",
    "register": "Plugins",
    "plugins": "Plugins",
    "reports": "Reports",
    "errors": "Errors",
}


def page() -> str:
    """Return the page of the public names, those of each package together."""
    groups: dict[str, list[str]] = {title: [] for title in TITLES.values()}
    for name in polyjudge.__all__:
        found = getattr(polyjudge, name)
        module = found.__name__ if ismodule(found) else getattr(found, "__module__", "")
        home = module.removeprefix("polyjudge.").partition(".")[0]
        if not name.startswith("__"):
            groups.setdefault(TITLES.get(home, home.capitalize() or "Values"), []).append(name)
    return "\n".join(_lines({title: names for title, names in groups.items() if names}))


def _lines(groups: dict[str, list[str]]) -> Iterator[str]:
    yield ".. _python-reference:\n"
    yield heading("All public names", "=")
    yield "From their docstrings. :doc:`Python <python>` shows them at work.\n"
    yield ".. module:: polyjudge\n"
    for title, names in groups.items():
        yield heading(title, "-")
        for name in names:
            yield from _entry(name)


def _entry(name: str) -> Iterator[str]:
    found = getattr(polyjudge, name)
    if ismodule(found):
        yield f".. automodule:: {found.__name__}\n   :members:\n\n.. currentmodule:: polyjudge\n"
        return
    kind = "autoclass" if isclass(found) else "autofunction" if isfunction(found) else "autodata"
    yield f".. {kind}:: {name}"
    if isclass(found):
        yield "   :members:\n   :undoc-members:"
        if issubclass(found, BaseException):
            yield "   :show-inheritance:"
    yield ""
