"""Two examples for the help of each command, shown by `--help` and run by the tests."""

_TRANSLATOR = "--command 'translate --from {source_lang} --to {target_lang}'"

EXAMPLES: dict[str, tuple[str, str]] = {
    # command, or command and action: what follows `polyjudge` and the name
    "demo": ("", "--output sample"),
    "score": (
        "items.jsonl --rubric general --judge openai/gpt-5-mini --output scores.jsonl",
        "answers.csv --rubric translation --judge offline",
    ),
    "check": (
        "'Rufen Sie bitte 112 an.' --language de --source 'Please call 112.'",
        "'Wo ist der Bahnhof?' --language de --format json",
    ),
    "translation generate": (
        "--translator openai/gpt-5-mini --languages de,th --output results.json",
        "--translator deepl --env DEEPL_API_KEY --languages de,ja --output results.json",
    ),
    "translation check": ("results.json", "results.json --output checked.json"),
    "translation quick": ("results.json --judge sonnet", "results.json --judge offline --format json"),
    "translation full": (
        "results.json --judge gemini-flash --max-cost 5",
        "results.json --judge offline --filter language=de,th --output scores.json",
    ),
    "regression run": (
        f"--fixtures cases.tsv {_TRANSLATOR}",
        "--fixtures cases.tsv --translator deepl --env DEEPL_API_KEY --junit report.xml",
    ),
    "regression capture": (
        f"--inputs inputs.tsv {_TRANSLATOR} --output cases.tsv",
        f"--inputs inputs.tsv {_TRANSLATOR} --output cases.tsv --update",
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
        "judged.jsonl --labels labels.csv --pass-from 3 --label-pass-from 3",
    ),
    "calibrate bias": (
        "--judge openai/gpt-5-mini --budget 200",
        "--judge openai/gpt-5-mini --effects position --filter language=fr --dry-run",
    ),
    "calibrate correct": ("judged.jsonl --labels labels.csv", "judged.jsonl --labels labels.csv --format markdown"),
    "calibrate card": ("", "--judge openai/gpt-5-mini"),
    "report": (
        "--results results.json --full-judge results-full-judge.json",
        "scores.jsonl --items items.jsonl --by system --format html --output report.html",
    ),
    "explain": ("results.json --full-judge results-full-judge.json --language de", "judged.jsonl"),
    "compare": (
        "compare-before.jsonl compare-after.jsonl",
        "compare-before.jsonl compare-after.jsonl --fail-on drop:1",
    ),
    "label": ("scores.jsonl --items items.jsonl", "results.json --scale pass-fail --sample 50"),
    "view": ("", "results --open"),
    "providers": ("", "--check"),
    "plugins": ("", "--format json"),
    "cache stats": ("", "--format json"),
    "cache prune": ("--older-than 30d --dry-run", "--model gpt-5-mini"),
    "cache export": ("--output replies.jsonl", "--cache postgresql://localhost/polyjudge --output replies.jsonl"),
    "cache import": ("replies.jsonl", "other/.polyjudge/cache.sqlite"),
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
