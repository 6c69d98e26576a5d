"""Whatever a file has, it is read, or refused with one message, in a time that grows with its size only."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalogues.catalogue_files import read
from tests.catalogues.test_android import SOURCE as ANDROID
from tests.catalogues.test_apple import CATALOGUE, DICTIONARY, STRINGS
from tests.catalogues.test_fluent import SOURCE as FLUENT
from tests.catalogues.test_other_formats import QT, RAILS, RESX
from tests.catalogues.test_xliff import VERSION_1, VERSION_2

from polyjudge.errors import DataError

GETTEXT = """\
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2; plural=n != 1;\\n"

#, fuzzy, c-format
msgctxt "a"
msgid "One %s"
msgid_plural "%d of \\"%s\\""
msgstr[0] "Ein %s"
msgstr[1] "%d von "
"%s"
"""
SAMPLES = [
    ("gettext", GETTEXT),
    ("android", ANDROID),
    (
        "json",
        json.dumps({"a": {"b": "x {n, plural, one {1} other {#}}"}, "c_one": "1", "c_other": "2", "d": [None, 1]}),
    ),
    ("webextension", json.dumps({"a": {"message": "$A$", "description": "b"}})),
    ("arb", json.dumps({"@@locale": "en", "a": "{n, select, x {y} other {z}}", "@a": {"description": "b"}})),
    ("xcstrings", json.dumps(CATALOGUE)),
    ("strings", STRINGS),
    ("stringsdict", DICTIONARY.format(forms="<key>one</key><string>a</string>")),
    ("properties", "# c\na = b\\\n  c\nd\\u00e9 : \\ud83d\n"),
    ("fluent", FLUENT),
    ("xliff", VERSION_1),
    ("xliff", VERSION_2),
    ("qt", QT),
    ("resx", RESX.replace("{open}", "Open {0}")),
    ("rails", RAILS),
]
PIECES = [
    "\0",
    "\ufeff",
    "\r",
    "<",
    "&",
    '"',
    "'",
    "{",
    "}",
    "\\",
    "\n",
    "[",
    "\\u",
    "<<<<<<< HEAD",
    "\ud800",
    "%",
    "=",
    "*x",
    "\x85",
]


def read_or_refused(format_name, *contents):
    """Return the catalogue, or None for a content that is refused with a message that names the file."""
    try:
        return read(format_name, *contents)
    except DataError as error:
        message = str(error)
    assert message.startswith(f"target.{format_name}:")
    return None


@given(st.sampled_from(SAMPLES), st.data())
def test_a_changed_file_is_read_or_refused(sample, data):
    format_name, content = sample
    changed = content
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(changed)))
        removed = data.draw(st.sampled_from([0, 0, 1, 5, 100]))
        changed = changed[:place] + data.draw(st.sampled_from(["", *PIECES])) + changed[place + removed :]
    encoding = data.draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "latin-1"]))
    written = changed.encode(encoding, "surrogatepass" if encoding != "latin-1" else "replace")

    catalogue = read_or_refused(format_name, written, content)
    if catalogue is None:
        return
    lines = changed.count("\n") + changed.count("\r") + 1
    assert all(1 <= each.line <= lines for each in catalogue.messages)
    for each in catalogue.messages:
        each.translation.encode()  # no half of a surrogate pair is left


@given(st.sampled_from(sorted({name for name, _ in SAMPLES})), st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(format_name, content):
    read_or_refused(format_name, content)


REPEATED = [
    ("gettext", 'msgid "{}"\nmsgstr "b"\n'),
    ("gettext", '"a\\n"\n'),
    ("gettext", "#, fuzzy\n"),
    ("gettext", '"\\"'),
    ("json", '{{"a": '),
    ("json", '"\\\\"'),
    ("json", '{{"a":"b","a":"c"}},'),
    ("android", "<string name='a'>b</string>"),
    ("android", "<!-- a -->"),
    ("strings", '"{}" = "b";\n'),
    ("strings", "/* a "),
    ("strings", '"a" /* */ '),
    ("strings", "// a\n"),
    ("properties", "a\\\n"),
    ("properties", "\\\\"),
    ("fluent", "a{} = {{ $b ->\n"),
    ("fluent", "a = b\n  .c = d\n"),
    ("fluent", "{{"),
    ("xliff", "<trans-unit><source>a</source></trans-unit>"),
    ("rails", "  a{}: b\n"),
    ("rails", "[a, "),
    ("rails", "*a "),
    ("qt", "<message><source>a</source></message>"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("format_name", "part"), REPEATED)
def test_reading_takes_linear_time(format_name, part):
    starts = {"android": "<resources>", "xliff": "<xliff><file><body>", "qt": "<TS><context>", "rails": "de:\n"}

    def seconds(count):
        content = starts.get(format_name, "") + "".join(part.format(number) for number in range(count))
        started = time.process_time()
        with suppress(DataError):
            read(format_name, content)
        return time.process_time() - started

    few = min(seconds(10_000) for _ in range(2))
    assert min(seconds(40_000) for _ in range(2)) < max(0.5, 12 * few)
