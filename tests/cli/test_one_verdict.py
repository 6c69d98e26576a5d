"""Every command and format gives each language the same status, and counts that add up."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import polyjudge
from polyjudge.checks.checker import TextChecker
from polyjudge.cli import main
from polyjudge.formats.translation_results import TranslationResults
from polyjudge.formats.translation_scores import TranslationScores
from polyjudge.languages.table import language_table
from polyjudge.pages.runs import find_run, report_of, summary_of
from polyjudge.records.calibration import Figure, JudgeIdentity, LanguageTrust, TrustCard
from polyjudge.records.translation import DIMENSIONS
from polyjudge.reports.translation_formats import FORMATS
from polyjudge.store.trust_cards import card_path, identity_in, write_card
from polyjudge.verdicts.items import STATUSES

TABLE = language_table()
CHECKER = TextChecker(TABLE)
SOURCE = "Excuse me, where is the nearest train station?"
GOOD = {
    "th": "ขอโทษครับ สถานีรถไฟที่ใกล้ที่สุดอยู่ที่ไหนครับ",
    "hi": "माफ़ कीजिए, सबसे नज़दीकी रेलवे स्टेशन कहाँ है?",
    "mr": "माफ करा, सर्वात जवळचे रेल्वे स्थानक कुठे आहे?",
    "ru": "Извините, где находится ближайшая железнодорожная станция?",
    "es-419": "Disculpe, ¿dónde está la estación de tren más cercana?",
    "tlh": "nuqDaq 'oH tebwI'e'?",
}
BAD = ["", SOURCE, GOOD["hi"], GOOD["ru"], "station " * 80, "[INST] I'm sorry, but I can't help with that. [/INST]"]
JUDGE = JudgeIdentity(provider="p", model="m", rubric="translation", rubric_fingerprint="0" * 16)
ORIGIN = {
    "provider": "p",
    "model": "m",
    "rubric": "translation",
    "rubricFingerprint": "0" * 16,
    "promptSha256": "0" * 64,
}
NAMES = {
    "passed": "PASS",
    "checked": "CHECKED",
    "failed": "FAIL",
    "conflict": "CONFLICT",
    "unreliable": "UNRELIABLE",
    "unjudged": "UNJUDGED",
    "skipped": "SKIPPED",
}

POINTS = st.sampled_from([1, 2, 2.9, 3, 4, 5, 5, 5, None])
SCORE = st.fixed_dictionaries(
    {
        "scriptScore": POINTS,
        "grammarScore": POINTS,
        "coherenceScore": POINTS,
        "isCorrectLanguage": st.sampled_from([True, True, True, False, None]),
        "error": st.sampled_from(["", "", "", "refused: no"]),
        "judge": st.sampled_from(["p/m", "p/m", "offline"]),
    }
)
GOOD_SCORE = {
    "scriptScore": 5,
    "grammarScore": 4,
    "coherenceScore": 3,
    "isCorrectLanguage": True,
    "error": "",
    "judge": "p/m",
}


@st.composite
def languages(draw):
    """Draw a results file: languages with good and bad outputs, and values of scriptValidationPassed."""
    rows = []
    for tag in draw(st.lists(st.sampled_from(sorted(GOOD)), min_size=1, unique=True)):
        bad = draw(st.lists(st.sampled_from(BAD), max_size=3))
        outputs = draw(st.permutations(bad + [GOOD[tag]] * draw(st.integers(0, 8))))
        known = TABLE.find(tag)
        flags = draw(st.sampled_from([(None,), (None,), (True,), (True, True, True, True, False), (None, False)]))
        prompts = [
            {"sourceText": SOURCE, "generatedOutput": output, "scriptValidationPassed": flags[place % len(flags)]}
            for place, output in enumerate(outputs)
        ]
        priority = draw(st.sampled_from(["must-have", "standard"]))
        name = known.name if known else tag
        rows.append({"languageName": name, "languageCode": tag, "priority": priority, "prompts": prompts})
    return rows


TRUST = st.dictionaries(
    st.sampled_from(sorted(GOOD)), st.sampled_from(["reliable", "unreliable", "not enough data"]), max_size=6
)
SCORES = st.dictionaries(st.sampled_from(sorted(GOOD)), SCORE | st.just(GOOD_SCORE))


def expected(row, score, trust):
    """Return the status by the specification, implemented a second time."""
    language = next(iter_languages([row]))
    if not row["prompts"]:
        return "SKIPPED"
    checked, failing, by_language = 0, 0, 0
    for prompt, check in zip(language.prompts, CHECKER.check_outputs(language), strict=True):
        kinds = {each.kind for each in check.problems if each.severity == "fail"} if check else set()
        kinds |= {"wrong_script"} if prompt.script_validation_passed is False else set()
        checked += check is not None or prompt.script_validation_passed is not None
        failing += bool(kinds)
        by_language += kinds == {"wrong_language"}
    wrong = sum(check is not None and check.language.state == "wrong" for check in CHECKER.check_outputs(language))
    verdict = judged(score)
    if 5 * (checked - failing) < 4 * checked:
        others_few = 5 * (checked - failing + by_language) >= 4 * checked
        return "CONFLICT" if verdict == "PASS" and others_few and 5 * wrong > len(language.prompts) else "FAIL"
    if verdict in ("PASS", "FAIL"):
        return "UNRELIABLE" if trust == "unreliable" else verdict
    return verdict or ("CHECKED" if checked else "UNJUDGED")


def judged(score):
    """Return a judge's status of a language; empty if it was not asked, or is `offline`."""
    if score is None or score["judge"] == "offline":
        return ""
    values = [score[name] for name in ("scriptScore", "grammarScore", "coherenceScore")]
    if score["error"]:
        return "UNJUDGED"
    if any(value is not None and value < 3 for value in values) or score["isCorrectLanguage"] is False:
        return "FAIL"
    return "UNJUDGED" if None in values or score["isCorrectLanguage"] is None else "PASS"


def iter_languages(rows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.json")
        path.write_text(json.dumps(rows), encoding="utf-8")
        yield from list(TranslationResults(path))


@contextlib.contextmanager
def folder_with(rows, scores=None, trust=None):
    """Work in a folder with results and, if given, the scores of the quick judge and its card."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("results.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        if scores is not None:
            by_tag = {row["languageCode"]: row["languageName"] for row in rows}
            found = [
                {
                    "languageName": by_tag.get(tag, tag),
                    "languageCode": tag,
                    **score,
                    "prompts": [{"index": 0, "error": "x", "provenance": ORIGIN}],
                }
                for tag, score in scores.items()
            ]
            Path("results-quick-judge.json").write_text(json.dumps(found), encoding="utf-8")
        if trust is not None:
            write_card(Path("card.json"), card(JUDGE, trust))
        yield Path(folder)


def card(judge, trust):
    known = {
        tag: LanguageTrust(verdict=verdict, discrimination=Figure(0.7, 0.6, 0.8), comparisons=40)
        for tag, verdict in trust.items()
    }
    return TrustCard(judge=judge, updated_at="2026-01-01", languages=known)


def run(*arguments):
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
        code = main(list(arguments))
    return code, shown.getvalue()


# What each format says, as the status of each language and how many languages have which


def said_by_json_report(text):
    made = json.loads(text)
    assert made["passedLanguages"] == made["statuses"]["PASS"] + made["statuses"]["CHECKED"]
    parts = ["passed", "failed", "conflict", "unreliable", "unjudged", "skipped"]
    assert sum(made[f"{part}Languages"] for part in parts) == made["totalLanguages"]
    for row in made["scriptFamilies"]:
        assert row["passed"] + row["failed"] + row["other"] == row["languages"] == sum(row["statuses"].values())
    families = Counter()
    for row in made["scriptFamilies"]:
        families.update(row["statuses"])
    statuses = {row["languageName"]: row["status"] for row in made["verdicts"]}
    for row in made["verdicts"]:
        check_label(row["label"], row["status"])
    return statuses, made["statuses"], dict(families)


def said_by_markdown(text):
    statuses = dict(re.findall(r"^### (.+) — (.+)$", text, re.MULTILINE))
    table = text.split("### By Script Family\n\n")[1].split("\n\n")[0].splitlines()
    return headings(statuses), totals_in(text), family_counts([line.strip("| ").split(" | ") for line in table])


def said_by_text(text):
    statuses = dict(re.findall(r"^(\S.*) — (.+)$", text, re.MULTILINE))
    table = text.split("By Script Family\n")[1].split("\n\n")[0].splitlines()
    return headings(statuses), totals_in(text), family_counts([re.split(r" {2,}", line.strip()) for line in table])


def headings(labels):
    return {name: check_label(label) for name, label in labels.items()}


def totals_in(text):
    lines = re.findall(r"^([A-Z][a-z]+): (\d+)\b", text.split("Expanded Details")[0], re.MULTILINE)
    return dict.fromkeys(STATUSES, 0) | {NAMES[name.lower()]: int(n) for name, n in lines if name.lower() in NAMES}


def family_counts(table):
    header, _, *rows = table
    columns = {NAMES[name.lower()]: place for place, name in enumerate(header) if name.lower() in NAMES}
    for row in rows:
        assert sum(int(row[place]) for place in columns.values()) == int(row[1])
    return {status: sum(int(row[columns[status]]) for row in rows) if status in columns else 0 for status in STATUSES}


def said_by_page(text):
    row = re.compile(
        r'<tr role="row" id="lang-[^>]*data-status="(\w+)".*?<bdi>(.*?)</bdi>.*?<td class="s"[^>]*>(.*?)</td>',
        re.DOTALL,
    )
    statuses = {}
    for status, name, cell in row.findall(text):
        label = unescape(re.sub(r"<[^>]*>", "", cell)).replace("CHECKED (", "CHECKED (script-only; ")
        statuses[unescape(name)] = check_label(label, status)
    key = text.partition('<ul class="key">')[2].partition("</ul>")[0]
    counts = {status: int(n) for n, status in re.findall(r"<b>(\d+)</b><span>(\w+)</span>", key)}
    drawn = {status: int(n) for n, status in re.findall(r'aria-label="(\d+) (\w+): show in the map"', text)}
    assert drawn == counts
    found = dict.fromkeys(STATUSES, 0) | counts
    return statuses, found, found


def check_label(label, status=None):
    """Return the status in a label, and check that the label names its limitation."""
    status = status or label.split(" ")[0]
    if status == "CHECKED":
        assert re.fullmatch(r"CHECKED \(script-only; (language, )?grammar, meaning not judged\)", label)
    elif status == "PASS":
        assert label in ("PASS", "PASS (judge not calibrated)")
    else:
        assert label == status
    return status


READERS = {
    "json": said_by_json_report,
    "markdown": said_by_markdown,
    "text": said_by_text,
    "html": said_by_page,
}


def said_by_check(form):
    code, text = run("translation", "check", "results.json", "--format", form)
    if form == "json":
        statuses = {row["languageName"]: check_label(row["label"], row["status"]) for row in json.loads(text)}
        counts = dict.fromkeys(STATUSES, 0) | Counter(statuses.values())
    else:
        statuses, counts = rows_and_counts(text)
    return code, statuses, counts


def said_by_judging(*arguments, form):
    code, text = run("translation", *arguments, "--format", form, "--cache", "none", "--force")
    if form == "json":
        made = json.loads(text)
        statuses = {row["languageName"]: check_label(row["label"], row["status"]) for row in made["languages"]}
        return code, statuses, made["statuses"]
    return code, *rows_and_counts(text)


def rows_and_counts(text):
    """Return the statuses and the totals in a printed table and the line below it."""
    words = "|".join(STATUSES)
    line = re.compile(rf"^ (\S.*?) {{2,}}.*? ({words})( \(script-only;| \(judge not|)(?: .*)?$", re.MULTILINE)
    statuses = {}
    for name, status, mark in line.findall(text):  # a long label is continued on the next line
        assert (status == "CHECKED") == ("script-only" in mark)
        statuses[name] = status
    total = re.search(r"^(\d+) languages?: (.*)$", text, re.MULTILINE)
    counts = {status: int(n) for n, status in re.findall(r"(\d+) ([A-Z]+)", total[2])}
    assert int(total[1]) == sum(counts.values())
    return statuses, dict.fromkeys(STATUSES, 0) | counts


def counted(statuses):
    return dict.fromkeys(STATUSES, 0) | Counter(statuses.values())


def all_reports(wanted, *options):
    """Check that every format of the report has the expected statuses and totals."""
    for form, reader in READERS.items():
        code, text = run("report", "--results", "results.json", "--format", form, *options)
        assert (code, *reader(text)) == (0, wanted, counted(wanted), counted(wanted)), form


def the_view(wanted):
    """Check that the pages of `view` have the expected statuses and totals, in the list and in the report."""
    if "generatedOutput" not in Path("results.json").read_text(encoding="utf-8"):
        return  # no output, so the page does not take the file for a run
    entry = find_run(Path.cwd(), "results.json")
    assert said_by_page("".join(FORMATS["html"](report_of(entry, TABLE)))) == (wanted, counted(wanted), counted(wanted))
    summary = summary_of(entry, TABLE)
    assert {status: summary[status.lower()] for status in STATUSES} == counted(wanted)
    assert summary["languages"] == len(wanted)


def without_scores(rows):
    wanted = {row["languageName"]: expected(row, None, None) for row in rows}
    fails = int("FAIL" in wanted.values())
    with folder_with(rows):
        for form in ("text", "json"):
            assert said_by_check(form) == (fails, wanted, counted(wanted))
        run("translation", "check", "results.json", "--output", "checked.json")
        all_reports(wanted)
        the_view(wanted)
        assert run("translation", "check", "checked.json")[0] == fails
        if any(row["prompts"] for row in rows):
            by_offline(wanted, fails)


def by_offline(wanted, fails):
    for form in ("text", "json"):
        full = said_by_judging("full", "results.json", "--judge", "offline", "--max-unjudged", "1", form=form)
        assert full[1:] == (wanted, counted(wanted))
        assert full[0] in (fails, 3)  # 3: the checks had nothing to say of any output
        quick = said_by_judging("quick", "results.json", "--judge", "offline", "--max-unjudged", "1", form=form)
        some = {name: status for name, status in wanted.items() if name in quick[1]}
        assert quick[1:] == (some, counted(some))
    if Path("results-full-judge.json").exists() and TranslationScores(Path("results-full-judge.json")).holds_scores:
        all_reports(wanted, "--full-judge", "results-full-judge.json")
        the_view(wanted)


def with_scores(rows, scores, trust):
    wanted = {
        row["languageName"]: expected(row, scores.get(row["languageCode"]), trust.get(row["languageCode"]))
        for row in rows
    }
    with folder_with(rows, scores, trust):
        if TranslationScores(Path("results-quick-judge.json")).holds_scores:
            all_reports(wanted, "--quick-judge", "results-quick-judge.json", "--card", "card.json")
            the_view(wanted)


def with_a_judge(rows, reply, trust):
    """Run a recorded judge; its printed statuses, with and without a card, equal those of the report."""
    with folder_with(rows):
        Path("judge.jsonl").write_text(json.dumps({"text": reply}) + "\n", encoding="utf-8")
        asked = ("quick", "results.json", "--judge", "scripted/judge.jsonl", "--max-unjudged", "1")
        for _ in range(2):
            code, wanted, counts = said_by_judging(*asked, form="json")
            assert counts == counted(wanted)
            assert said_by_judging(*asked, form="text") == (code, wanted, counts)
            assert code in (3, int(any(counts[status] for status in ("FAIL", "CONFLICT", "UNRELIABLE"))))
            _, text = run("report", "--results", "results.json", "--quick-judge", "results-quick-judge.json", *JSON)
            statuses, *_ = said_by_json_report(text)
            assert {name: statuses[name] for name in wanted} == wanted
            judge = identity_in(TranslationScores(Path("results-quick-judge.json")))
            write_card(card_path(judge), card(judge, trust)) if judge else None


JSON = ("--format", "json")
REPLIES = st.builds(
    lambda points, right: json.dumps(
        {"reason": "so", "subscores": dict.fromkeys(DIMENSIONS, points), "isCorrectLanguage": right}
    ),
    st.integers(1, 5),
    st.booleans(),
) | st.just("I cannot say.")
SOME_OUTPUT = languages().filter(lambda rows: any(row["prompts"] for row in rows))
FEW, MANY = settings(max_examples=20), settings(max_examples=250)


@pytest.mark.slow
@FEW
@given(languages())
def test_without_scores_all_commands_and_formats_agree(rows):
    without_scores(rows)


def outputs(tag, *texts, **more):
    prompts = [{"sourceText": SOURCE, "generatedOutput": text, "scriptValidationPassed": None} for text in texts]
    known = TABLE.find(tag)
    return {"languageName": known.name if known else tag, "languageCode": tag, "prompts": prompts, **more}


ONE_OF_EACH = [
    outputs("th", *[GOOD["th"]] * 4, priority="must-have"),
    outputs("es-419", *[GOOD["es-419"]] * 4, priority="must-have"),
    outputs("ru", *[GOOD["th"]] * 4),
    outputs("mr", *[GOOD["hi"]] * 4),
    outputs("hi", *[GOOD["hi"]] * 4),
    outputs("tlh", GOOD["tlh"]),
    outputs("uk"),
]
THEIR_SCORES = dict.fromkeys(("th", "mr", "hi"), GOOD_SCORE)
THEIR_TRUST = {"th": "reliable", "hi": "unreliable"}


def test_the_example_has_a_language_of_each_status():
    tags = [row["languageCode"] for row in ONE_OF_EACH]
    found = [
        expected(row, THEIR_SCORES.get(tag), THEIR_TRUST.get(tag)) for tag, row in zip(tags, ONE_OF_EACH, strict=True)
    ]

    assert found == list(STATUSES)


@FEW
@given(languages(), SCORES, TRUST)
@example(ONE_OF_EACH, THEIR_SCORES, THEIR_TRUST)
def test_with_scores_and_trust_all_formats_agree(rows, scores, trust):
    with_scores(rows, scores, trust)


@pytest.mark.slow
@settings(max_examples=15)
@given(SOME_OUTPUT, REPLIES, TRUST)
def test_a_judging_command_says_what_the_report_on_its_scores_says(rows, reply, trust):
    with_a_judge(rows, reply, trust)


@pytest.mark.slow
@MANY
@given(languages(), SCORES, TRUST)
def test_all_agree_on_many_more(rows, scores, trust):
    without_scores(rows)
    with_scores(rows, scores, trust)


@pytest.mark.slow
@settings(max_examples=100)
@given(SOME_OUTPUT, REPLIES, TRUST)
def test_judging_commands_agree_with_the_report_on_many_more(rows, reply, trust):
    with_a_judge(rows, reply, trust)


def test_the_list_of_runs_counts_every_status():
    page = Path(polyjudge.__file__).parent / "pages" / "templates" / "view.js"
    order = re.search(r"^const ORDER = (\[.*\]);$", page.read_text(encoding="utf-8"), re.MULTILINE)

    assert json.loads(order[1]) == [status.lower() for status in STATUSES]


# One module holds the share


def clean_and_empty(clean, empty):
    prompts = [{"sourceText": SOURCE, "generatedOutput": GOOD["th"]}] * clean
    prompts += [{"sourceText": SOURCE, "generatedOutput": ""}] * empty
    return [{"languageName": "Thai", "languageCode": "th", "prompts": prompts}]


PROBE = """
import json, sys
from polyjudge.cli import main
main(["translation", "check", "results.json", "--format", "json"])
main(["translation", "full", "results.json", "--judge", "offline", "--format", "json", "--force"])
main(["report", "--results", "results.json", "--format", "json"])
print(json.dumps([json.load(open("results-full-judge.json"))[0]["scriptScore"]]))
"""


@pytest.mark.parametrize(("share", "status", "score"), [("0.8", "FAIL", 1), ("0.6", "CHECKED", 5)])
def test_the_needed_share_is_changed_in_one_module(tmp_path, share, status, score):
    """Change the number in a copy of the package, so that seven of ten outputs are enough."""
    copied = tmp_path / "src" / "polyjudge"
    shutil.copytree(Path(polyjudge.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    rule = copied / "verdicts" / "translation.py"
    text = rule.read_text(encoding="utf-8")
    assert text.count("NEEDED_SHARE = 0.8\n") == 1
    rule.write_text(text.replace("NEEDED_SHARE = 0.8\n", f"NEEDED_SHARE = {share}\n"), encoding="utf-8")
    (tmp_path / "results.json").write_text(json.dumps(clean_and_empty(7, 3)), encoding="utf-8")

    environment = {**os.environ, "PYTHONPATH": str(copied.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    found = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )

    decoder, rest, made = json.JSONDecoder(), found.stdout.strip(), []
    while rest:
        value, end = decoder.raw_decode(rest)
        made.append(value)
        rest = rest[end:].strip()
    check, full, report, scores = made
    assert {check[0]["status"], full["languages"][0]["status"], report["verdicts"][0]["status"]} == {status}
    assert scores == [score]


_SHARE = r"(?<!probability of )\b80 ?%(?! probability)|a fifth|four fifths|NEEDED_SHARE\s*=|PASSING_SCORE\s*="
"""The share and the score, in words or as constants; a power of 80% is something else."""


def test_no_other_module_names_the_share_or_the_passing_score():
    source = Path(polyjudge.__file__).parent
    for path in source.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path != source / "verdicts" / "translation.py":
            assert not re.search(_SHARE, text), path
