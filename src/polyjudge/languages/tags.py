"""Tags of languages that users name by a tag or by a name."""

import re

from .table import language_table

_TAG = re.compile(r"[A-Za-z]{2}([-_][A-Za-z0-9]{1,8})*")
"""A tag whose language has two letters; no name is so short."""
_MOST_KNOWN = 10_000


class LanguageTags(dict[str, str]):
    """The tags of languages: `fr` of `French` and `français`; what is not known as a name is returned as it is."""

    def __missing__(self, given: str) -> str:
        """Look a language up, once; the table is read only if one is given that is no plain tag."""
        tag = given if not given or _TAG.fullmatch(given) else _of_word(given)
        if len(self) < _MOST_KNOWN:
            self[given] = tag
        return tag


def _of_word(given: str) -> str:
    table = language_table()
    found = table.find("", given)
    # Some tags of three letters are names too, such as that of Lao.
    is_name = found is not None and (not table.has(given) or found.name.casefold() == given.casefold())
    return found.tag if found is not None and is_name else given
