"""Read the PO files of gettext."""

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from polyjudge.errors import DataError
from polyjudge.records.messages import Catalogue, CatalogueFile, Message, MessageState, PlaceholderSyntax

from .content import line_at, text_of
from .entries import Problems, repeated
from .language_names import language_tag
from .plurals import PluralForm, plural_forms

_CHARSET = re.compile(rb'"Content-Type:[^"\n]*charset=([^\s\\";]+)', re.IGNORECASE)
_HEADER_BYTES = 16_384
_FIELD = re.compile(r"(?:previous\s+)?(msgctxt|msgid_plural|msgid|msgstr|domain)\s*(?:\[\s*(\d{1,3})\s*\])?\s*(?=\")")
_FIRST = ("msgctxt", "msgid", "domain")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*+)"')
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_MAX_LENGTH = re.compile(r"(?<!\w)max-?length\s*[:=]\s*(\d{1,6})\b", re.IGNORECASE)
_SYNTAXES: dict[str, tuple[PlaceholderSyntax, ...]] = {
    **dict.fromkeys(("c", "java-printf", "php", "perl", "javascript", "lua", "awk", "object-pascal"), ("printf",)),
    "c++": ("brace",),
    "objc": ("apple",),
    "python": ("python",),
    **dict.fromkeys(("python-brace", "java", "csharp", "perl-brace", "rust"), ("brace",)),
    "ruby": ("ruby", "printf"),
    **dict.fromkeys(("qt", "qt-plural", "kde", "kde-kuit", "ycp"), ("qt",)),
    "icu": ("icu",),
}
"""The syntaxes of the flags, such as `c-format`."""


class _Entry:
    """An entry while it is read."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.flags: list[str] = []
        self.comments: list[str] = []
        self.texts: dict[str, list[str]] = {}
        """The parts of its texts by field: `msgid`, `msgstr`, `msgstr[1]`."""
        self.lines: dict[str, int] = {}

    def text(self, field: str) -> str:
        return "".join(self.texts.get(field, ()))

    @property
    def is_finished(self) -> bool:
        """Whether a further comment or msgid starts the next entry."""
        return "msgstr" in self.texts or "msgstr[0]" in self.texts


def read_gettext(file: CatalogueFile, content: bytes) -> Catalogue:
    """Return the messages of a PO file, without the obsolete ones; each plural form is a message."""
    charset = _CHARSET.search(content[:_HEADER_BYTES])
    name = charset[1].decode("ascii", "replace") if charset else ""
    text = text_of(content, file.path, declared="" if name in ("CHARSET", "") else name)
    problems, messages = Problems(), list[Message]()
    forms: tuple[PluralForm, ...] = ()
    seen: dict[tuple[str, str], int] = {}
    for entry in _entries(text, file.path):
        key, context = entry.text("msgid"), entry.text("msgctxt")
        if not key and "msgctxt" not in entry.texts:
            file, forms = _with_header(file, entry, text, problems)
            continue
        if (key, context) in seen:
            problems.add(entry.lines["msgid"], repeated(key, seen[key, context]))
            continue
        seen[key, context] = entry.lines["msgid"]
        messages += _messages(entry, forms, problems)
    if not seen and not text.strip():
        problems.add(1, "is empty")
    categories = tuple(form.category for form in forms)
    return Catalogue(file=file, messages=tuple(messages), plural_categories=categories, problems=problems.all())


def _entries(text: str, path: str) -> Iterator[_Entry]:
    reader = _Lines(path)
    for number, line in enumerate(text.split("\n"), start=1):
        if line[:1] == '"' and reader.field:
            _add(reader.entry.texts[reader.field], line, number, path)
        elif (stripped := line.strip()) and (finished := reader.take(stripped, number)):
            yield finished
    if reader.entry.is_finished:
        yield reader.entry
    elif "msgid" in reader.entry.texts:
        line = reader.entry.lines["msgid"]
        raise DataError("the file ends within an entry: a msgid without a msgstr", path=path, line=line)


class _Lines:
    """The entry that is read, and its field to which the next text in quotation marks belongs."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.entry, self.field = _Entry(1), ""

    def take(self, line: str, number: int) -> _Entry | None:
        """Read a line; return the entry before it if the line starts another."""
        if line[0] == '"':
            if not self.field:
                raise DataError("text that belongs to no msgid or msgstr", path=self._path, line=number)
            _add(self.entry.texts[self.field], line, number, self._path)
            return None
        if line.startswith("#~"):  # an obsolete entry, which ends the last one
            self.field = ""
            return None
        started = _FIELD.match(line)
        if started is None and line[0] != "#":
            raise DataError(f"not a PO file: unexpected {line[:40]!r}", path=self._path, line=number)
        finished = None
        if self.entry.is_finished and (started is None or started[1] in _FIRST):
            finished, self.entry, self.field = self.entry, _Entry(number), ""
        if started is None:
            _note(self.entry, line)
        else:
            self.field = _field(self.entry, started, number, self._path)
            _add(self.entry.texts[self.field], line[started.end() :], number, self._path)
        return finished


def _field(entry: _Entry, started: re.Match[str], number: int, path: str) -> str:
    field = started[1] if started[2] is None else f"{started[1]}[{int(started[2])}]"
    if field in entry.texts:
        raise DataError(f"{field} occurs twice in one entry", path=path, line=number)
    if field.startswith("msgstr") and "msgid" not in entry.texts:
        raise DataError("msgstr without a msgid", path=path, line=number)
    entry.texts[field] = []
    entry.lines[field] = number
    return field


def _add(parts: list[str], line: str, number: int, path: str) -> None:
    """Add the text of a line in quotation marks."""
    inner = line[1:-1]
    if len(line) > 1 and line[-1] == '"' and '"' not in inner and "\\" not in inner:
        parts.append(inner)
        return
    quoted = _TEXT.match(line)
    if quoted is None:
        raise DataError("quotation mark is not closed", path=path, line=number)
    if line[quoted.end() :].strip():
        raise DataError('unescaped quotation mark in a text; write \\"', path=path, line=number)
    parts.append(_ESCAPE.sub(_unescaped, quoted[1]))


def _unescaped(match: re.Match[str]) -> str:
    if match[3] is not None:
        return _ESCAPED.get(match[3], match[3])
    return chr(int(match[1], 8) if match[1] else int(match[2], 16))


def _note(entry: _Entry, line: str) -> None:
    """Note the flags and the developers' comments."""
    if line.startswith("#."):
        entry.comments.append(line[2:].strip())
    elif line.startswith(("#,", "#=")):
        entry.flags += (flag.strip() for flag in line[2:].split(","))


def _with_header(
    file: CatalogueFile, entry: _Entry, text: str, problems: Problems
) -> tuple[CatalogueFile, tuple[PluralForm, ...]]:
    """Return the file with the languages of the header, and the plural forms that it declares."""
    names = (line.partition(":") for line in entry.text("msgstr").split("\n"))
    header = {name.strip().casefold(): value.strip() for name, _, value in names}
    language = file.language or language_tag(header.get("language", "") or header.get("x-language", ""))
    source = language_tag(header.get("x-source-language", "")) or file.source_language
    file = replace(file, language=language, source_language=source)
    declared = header.get("plural-forms", "")
    if not declared:
        return file, ()
    try:
        return file, plural_forms(declared, language)
    except ValueError as error:
        place = text.find('"Plural-Forms')
        line = line_at(text, place) if place >= 0 else entry.lines["msgid"]
        problems.add(line, f"has a header Plural-Forms that cannot be used ({error})")
        return file, ()


def _messages(entry: _Entry, forms: Sequence[PluralForm], problems: Problems) -> Iterator[Message]:
    """Yield the message of an entry, or those of its plural forms."""
    base = _base(entry)
    if "msgid_plural" not in entry.texts:
        yield _translated(base, entry, "msgstr")
        return
    given = sorted(int(field[7:-1]) for field in entry.texts if field.startswith("msgstr["))
    if forms and given != list(range(len(forms))):
        found = ", ".join(f"msgstr[{place}]" for place in given) or "none"
        problems.add(entry.lines["msgid"], f"has other plural forms than the {len(forms)} of the header: {found}")
    for place in given:
        form = forms[place] if place < len(forms) else PluralForm(str(place), is_exact=False, is_for_one=not place)
        source = base.source if form.is_for_one else entry.text("msgid_plural")
        form_base = replace(base, source=source, plural=form.category, is_exact=form.is_exact)
        yield _translated(form_base, entry, f"msgstr[{place}]")


def _base(entry: _Entry) -> Message:
    comment = "\n".join(entry.comments)
    length = _MAX_LENGTH.search(",".join(entry.flags)) or (_MAX_LENGTH.search(comment) if comment else None)
    syntaxes, is_raw = _syntaxes(entry.flags) if entry.flags else ((), False)
    key = entry.text("msgid")
    return Message(
        line=entry.line,
        key=key,
        source=key,
        translation="",
        context=entry.text("msgctxt"),
        comment=comment,
        max_length=int(length[1]) if length else None,
        syntaxes=syntaxes,
        is_raw=is_raw,
    )


def _syntaxes(flags: Sequence[str]) -> tuple[tuple[PlaceholderSyntax, ...], bool]:
    names = [flag.removesuffix("-format") for flag in flags if flag.endswith("-format")]
    found: dict[PlaceholderSyntax, None] = dict.fromkeys(each for name in names for each in _SYNTAXES.get(name, ()))
    return tuple(found), not found and any(name.startswith("no-") for name in names)


def _translated(base: Message, entry: _Entry, field: str) -> Message:
    text = entry.text(field)
    state: MessageState = "untranslated" if not text else "fuzzy" if "fuzzy" in entry.flags else "translated"
    return replace(base, line=entry.lines.get(field, base.line), translation=text, state=state)
