"""Code, messages, data and pages use the words of the field, not the private ones of the left column of WORDS."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from docs.messages import messages

ROOT = Path(__file__).parent.parent
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
    "src/polyjudge/pages/templates/style.css": {"aside": "an element of HTML"},
    "src/polyjudge/records/outcomes.py": {'"rung"': "a key in files that users have"},
    "src/polyjudge/store/run_file.py": {".begun": "the ending of files that users have"},
    "src/polyjudge/formats/transcripts.py": {"begun and not finished": "a text in prompts, which stays as it is"},
    "tests/calibration/test_trials.py": {'"Nobody"': "a word of a sample text"},
    "tests/checks/test_checker.py": {"Nobody waved": "a sample text"},
    "tests/checks/test_completeness.py": {"Nobody had": "a sample text", "Nobody waved": "a sample text"},
    "tests/cli/test_score.py": {".begun": "the ending of files that users have"},
    "tests/cli/test_translation.py": {".begun": "the ending of files that users have"},
    "tests/cli/test_vocabulary.py": {"dice: ": "Spanish"},
    "tests/files/test_ownership.py": {'"begun"': "the ending of files that users have"},
    "tests/formats/test_transcripts.py": {"begun and not finished": "a text in prompts, which stays as it is"},
    "tests/judges/test_reply_limits.py": {"dice lo": "Spanish"},
    "tests/judges/test_word_verdicts.py": {"spelling aside": "a reply of a model"},
    "tests/store/test_run_file.py": {".begun": "the ending of files that users have"},
    "tests/suites/test_regression.py": {"one\\told": "a tab"},
    "tests/test_earlier_files.py": {"`rung`": "a key in earlier files", '"rung"': "a key in earlier files"},
}
OTHERS_WORDS = (
    # data in the words of other people, of other languages or of models: only the comments are ours
    *("src/polyjudge/judges/statement_words.toml", "src/polyjudge/judges/words", "src/polyjudge/suites/vocabularies"),
    *("src/polyjudge/formats/travel.toml", "src/polyjudge/cli/demo_data", "tests/golden", "tests/cli/unfinished"),
    *("tests/judges/contradicted_replies.jsonl", "tests/judges/hostile_replies.toml", "tests/judges/reviews.toml"),
    *("tests/judges/hostile_reviews.toml", "tests/judges/word_replies.toml", "CHANGELOG.md", "docs/cards"),
    "tests/test_plain_words.py",
)
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", ".github", ".ci")
ENDINGS = {
    ".py",
    ".html",
    ".js",
    ".css",
    ".toml",
    ".tsv",
    ".txt",
    ".json",
    ".jsonl",
    ".csv",
    ".md",
    ".yml",
    ".yaml",
    "",
}
FILES = [
    path
    for path in [*(each for name in FOLDERS for each in (ROOT / name).rglob("*")), *ROOT.glob("*")]
    if path.is_file() and path.suffix in ENDINGS and "__pycache__" not in path.parts and path.name != "LICENSE"
]
AREAS = sorted({path.relative_to(ROOT).parts[:-1][:3] for path in FILES})
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
    """Return our own words in a file, on their lines."""
    name, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for allowed in EXCEPTIONS.get(name, ()):
        assert allowed in text, f"{allowed!r} no longer occurs: remove it from EXCEPTIONS"
        text = text.replace(allowed, "")
    if name.startswith(OTHERS_WORDS):
        return "\n".join(line if line.startswith("#") else "" for line in text.split("\n"))
    if path.suffix == ".md":
        text = QUOTED.sub(lambda quoted: "\n" * quoted[0].count("\n"), text)
    return text


def test_private_words_are_found_in_sentences_and_names():
    text = "It goes on with that.\nself._toldLater = begun_at\nIt was started at the outdoor market."

    assert [(line, words) for line, words, _ in private_words(text)] == [
        (1, "goes on with"),
        (2, "told"),
        (2, "begun"),
    ]


@pytest.mark.parametrize("area", AREAS, ids=lambda parts: "/".join(parts) or "top")
def test_files_use_plain_words(area):
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words!r}: write {instead}"
        for path in sorted(FILES)
        if path.relative_to(ROOT).parts[:-1][:3] == area
        for line, words, instead in private_words(read(path))
    ]

    assert found == []


def test_the_list_of_messages_has_those_of_errors_help_and_prints():
    found = {(message.module, message.kind, message.text) for message in messages()}

    assert {
        ("cli/options.py", "ConfigError", "--judge is empty. Give a model, for example --judge openai/gpt-5-mini."),
        ("cli/options.py", "add", "maximum number of calls per minute"),
        ("cli/__init__.py", "add_parser", "judge any items by any rubric with any judge"),
        ("extras.py", "MissingExtraError", _NOT_INSTALLED),
    } <= found


_NOT_INSTALLED = "{feature} needs the package {module}, which is not installed. Run: {install_command(extra)}"
