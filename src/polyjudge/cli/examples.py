"""Two examples for the help of each command, shown by `--help` and run by the tests, and the files that they read."""

from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable

HEADING = "Examples:"
HEADING_OF_FILES = "Examples, whose files `polyjudge demo` writes into polyjudge-demo:"
DEMO_FILES = ("results.json", "results-full-judge.json", "card.json")
"""Files that the demo makes itself."""

EXAMPLES: dict[str, tuple[str, str]] = {
    # command, or command and action: what follows `polyjudge` and the name
    "demo": ("", "--output sample"),
    "score": (
        "items.jsonl --rubric general --judge openai/gpt-5-mini --output results.jsonl",
        "answers.csv --rubric translation --judge offline",
    ),
    "check": (
        "'Rufen Sie bitte 112 an.' --language de --source 'Please call 112.'",
        "'Wo ist der Bahnhof?' --language de --format json",
    ),
    "translation generate": (
        "--translator openai/gpt-5-mini --languages de,th --output translated.json",
        "--translator deepl --env DEEPL_API_KEY --languages de,ja --output translated.json",
    ),
    "translation check": ("results.json", "results.json --output checked.json"),
    "translation quick": ("results.json --judge sonnet", "results.json --judge offline --format json"),
    "translation full": (
        "results.json --judge gemini-flash --max-cost 5",
        "results.json --judge offline --filter language=de,th --output scores.json",
    ),
    "review": (
        "app.de.po app.ar.po --glossary terms.csv",
        "app.de.po --judge openai/gpt-5-mini --dry-run",
    ),
    "regression run": (
        "--fixtures cases.tsv --command ./phrasebook",
        "--fixtures cases.tsv --translator deepl --env DEEPL_API_KEY --junit report.xml",
    ),
    "regression capture": (
        "--inputs inputs.tsv --command ./phrasebook --output captured.tsv",
        "--inputs inputs.tsv --translator deepl --env DEEPL_API_KEY --output deepl.tsv",
    ),
    "regression audit": ("cases.tsv", "cases.tsv --judge openai/gpt-5-mini --dry-run"),
    "vocabulary run": (
        "--suite spanish --models models.txt",
        "--suite spanish --models models.txt --limit 10 --dry-run",
    ),
    "vocabulary generate": ("--suite spanish --models models.txt", "--suite spanish --limit 10 --refresh"),
    "vocabulary judge": ("--suite spanish --judge openai/gpt-5", "--suite spanish --show-prompt ardilla"),
    "vocabulary summary": ("--output .", "--output . --format markdown"),
    "transcript judge": ("session.jsonl --judge=claude", "session.jsonl --show-prompt"),
    "calibrate perturb": (
        "--judge openai/gpt-5-mini --budget 200",
        "--judge offline --filter language=fr --types echo_source,loop --severities 1",
    ),
    "calibrate agreement": (
        "judged.jsonl --labels labels.csv",
        "spans.jsonl --people human/1,human/2",
    ),
    "calibrate consensus": (
        "spans.jsonl --save consensus.json --spans combined.jsonl",
        "spans.jsonl --at-least 2 --spans voted.jsonl",
    ),
    "calibrate replace": (
        "annotators.csv --judge openai/gpt-5-mini --epsilon skilled",
        "annotators.csv --judge gpt-5-mini --filter language=fr --epsilon experts --fail-unless passes",
    ),
    "calibrate bias": (
        "--judge openai/gpt-5-mini --budget 200",
        "--judge openai/gpt-5-mini --effects position --filter language=fr --dry-run",
    ),
    "calibrate cascade": (
        "cascade-small.csv cascade-large.csv --labels cascade-labels.csv --confidence confidence --target 0.85",
        "cascade-small.csv cascade-large.csv --labels cascade-labels.csv --confidence confidence --target 0.8 "
        "--output plan.json",
    ),
    "calibrate correct": ("judged.jsonl --labels labels.csv", "systems.csv --margin 0.5"),
    "calibrate card": ("--from pair-verdicts.json --labels pair-labels.json", "card.json"),
    "calibrate watch": (
        "--from watch-then.jsonl support",
        "support --questions 50 --rewordings 2 --dry-run",
    ),
    "report": (
        "--results results.json --full-judge results-full-judge.json",
        "judged.jsonl --by language --format html --output judged.html",
    ),
    "explain": ("results.json --full-judge results-full-judge.json --language de", "judged.jsonl"),
    "compare": (
        "compare-before.jsonl compare-after.jsonl",
        "compare-before.jsonl compare-after.jsonl --fail-on drop:1",
    ),
    "rank": (
        "rank.csv",
        "rank.csv --systems ours,theirs --by none --format markdown",
    ),
    "pairwise": (
        "pairs-a.csv pairs-b.csv --judge scripted/pair-replies.jsonl --output pairs.jsonl",
        "pairs-a.csv pairs-b.csv --judge openai/gpt-5-mini --limit 20 --dry-run",
    ),
    "convert": (
        "mqm-ende.tsv ratings.jsonl",
        "mqm-ende.tsv metrics-folder --to mt-metrics-eval",
    ),
    "label": ("answers.csv", "results.json --sample informative --size 50"),
    "view": ("", "--open"),
    "providers": ("", "--check"),
    "plugins": ("", "--format json"),
    "cache stats": ("", "--format json"),
    "cache prune": ("--older-than 30d --dry-run", "--model gpt-5-mini"),
    "cache export": ("--output replies.jsonl", "--cache postgresql://localhost/polyjudge --output replies.jsonl"),
    "cache import": ("replies.jsonl", "replies.jsonl --cache shared.sqlite"),
    "cache verify": ("", "--cache postgresql://localhost/polyjudge"),
    "batch list": ("", "--format json"),
    "batch status": ("", "batch_123"),
    "batch cancel": ("batch_123", "--all"),
    "trust": ("", "--list"),
}


def examples_of(command: str) -> list[str]:
    """Return the command lines to show for a command; for one with actions, the first of its first two actions."""
    if command in EXAMPLES:
        return [f"polyjudge {command} {rest}".rstrip() for rest in EXAMPLES[command]]
    actions = [name for name in EXAMPLES if name.startswith(f"{command} ")]
    shown = [examples_of(name) for name in actions[:2]]
    return shown[0] if len(shown) == 1 else [first for first, _ in shown]


def heading_of(command: str) -> str:
    """Return the line above the examples of a command; it says where their files are, if there are any."""
    names = {*DEMO_FILES, *(file.name for file in example_files())}
    uses_files = any(names.intersection(example.split()) for example in examples_of(command))
    return HEADING_OF_FILES if uses_files else HEADING


def example_files() -> Sequence[Traversable]:
    """Return the packaged files that examples read, in the help and in the documentation."""
    return sorted((files("polyjudge.cli") / "demo_data" / "files").iterdir(), key=lambda file: file.name)
