"""Code, messages and pages use the words of the field, not the private ones of the left column of WORDS."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from docs.messages import messages

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "polyjudge"
WORDS: Mapping[str, str] = {
    # what is not written: what is written instead
    r"g(?:o|oes|oing|one) on (?:with|from)": "resume, continue",
    r"(?:un)?begun": "started, start marker",
    r"under ?way": "in flight, running, unfinished",
    r"wish(?:es|ed|er)?": "request, lookup",
    r"whoever|nobody|somebody|everybody|one's": "name the actor",
    r"asides?": "fallback, quarantined, reasoning",
    r"homeward|brings? (?:it|them) home": "import command",
    r"waking": "cross-thread future",
    r"glances?": "snapshot read",
    r"look(?:s|ing|ed)? after": "maintain",
    r"spoil(?:s|ed|ing|t)?": "perturb",
    r"good texts?": "reference text",
    r"rungs?|ladders?|climb(?:s|ed)?": "parse strategy",
    r"complaints?|complains?": "error message",
    r"odd answers?": "malformed response",
    r"patience": "polling policy, timeout",
    r"sought": "query, wanted",
    r"narrowing": "running estimate",
    r"dice": "seeded random",
    r"surroundings": "context",
    r"moments?": "timestamp, time",
    r"told": "message, text",
    r"doors?": "entry point",
    r"com(?:es?|ing) to\b(?! an end)": "summary, total",
    r"(?:drawn|made) by hand": "without a charting library",
    r"tells? good from|not known to tell": "not calibrated for",
    r"in vain": "without effect",
    r"mend(?:s|ed|ing)?": "fix, correct, repair",
    r"heed(?:s|ed)?": "handle",
    r"anew": "again",
    r"holds? (?:no|neither|none)": "no X found",
    r"(?:names?|asks?) no one|names anybody": "is empty, makes no calls",
    r"stands? (?:already|there|twice)": "duplicate, is",
    r"lies (?:in|at|beside|among)": "is in, is stored at",
}
EXCEPTIONS: Mapping[str, Mapping[str, str]] = {
    # file: what may occur in it: the reason
    "src/polyjudge/pages/templates/label.html": {"<aside": "an element of HTML", "</aside": "an element of HTML"},
    "src/polyjudge/records/outcomes.py": {'"rung"': "a key in files that users have"},
    "src/polyjudge/store/run_file.py": {".begun": "the ending of files that users have"},
    "src/polyjudge/formats/transcripts.py": {"begun and not finished": "a text in prompts, which stays as it is"},
}
PACKAGES = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "cards"),  # written by a command
]
QUOTED = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
"""Output of commands, and names in files."""
_ANY = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
_PARTS_OF_NAMES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


def private_words(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the words and what to write instead for each of WORDS in a text, also as a part of a name."""
    text = _PARTS_OF_NAMES.sub(" ", text)
    for match in _ANY.finditer(text):
        instead = next(plain for words, plain in WORDS.items() if re.match(words, text[match.start() :], re.IGNORECASE))
        yield text.count("\n", 0, match.start()) + 1, match[0], instead


def read(path: Path) -> str:
    """Return the text of a file without its exceptions."""
    text = path.read_text(encoding="utf-8")
    for allowed in EXCEPTIONS.get(str(path.relative_to(ROOT)), ()):
        assert allowed in text, f"{allowed!r} no longer occurs: remove it from EXCEPTIONS"
        text = text.replace(allowed, "")
    return text


def test_private_words_are_found_in_sentences_and_names():
    text = "It goes on with that.\nself._toldLater = begun_at\nIt was started at the outdoor market."

    assert [(line, words) for line, words, _ in private_words(text)] == [
        (1, "goes on with"),
        (2, "told"),
        (2, "begun"),
    ]


@pytest.mark.parametrize("package", sorted({"", *PACKAGES}))
def test_the_code_of_a_package_uses_plain_words(package):
    files = [path for path in SOURCE.joinpath(package).rglob("*") if path.suffix in (".py", ".html", ".js")]
    if not package:
        files = [path for path in files if path.parent == SOURCE]

    found = [
        f"{path.relative_to(SOURCE)}:{line}: {words!r}: write {instead}"
        for path in sorted(files)
        for line, words, instead in private_words(read(path))
    ]

    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_plain_words(page):
    text = QUOTED.sub(lambda quoted: "\n" * quoted[0].count("\n"), read(page))

    assert list(private_words(text)) == []


def test_the_list_of_messages_has_those_of_errors_help_and_prints():
    found = {(message.module, message.kind, message.text) for message in messages()}

    assert {
        ("cli/options.py", "ConfigError", "--judge is empty. Give a model, for example --judge openai/gpt-5-mini."),
        ("cli/options.py", "add", "maximum number of calls per minute"),
        ("cli/__init__.py", "add_parser", "judge any items by any rubric with any judge"),
        ("extras.py", "MissingExtraError", _NOT_INSTALLED),
    } <= found


_NOT_INSTALLED = "{feature} needs the package {module}, which is not installed. Run: {install_command(extra)}"
