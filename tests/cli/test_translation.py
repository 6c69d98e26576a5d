"""`polyjudge translation` against a server on loopback: verdicts, messages, and no call paid for twice."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.folder_trust import trust
from polyjudge.languages.table import language_table

IDS = re.compile(r"^## Candidate ([0-9a-f]{8})$", re.MULTILINE)
SOURCE = "Excuse me, where is the nearest train station?"
GOOD = {
    "th": "ขอโทษครับ สถานีรถไฟที่ใกล้ที่สุดอยู่ที่ไหนครับ",
    "ru": "Извините, где находится ближайшая железнодорожная станция?",
    "uk": "Вибачте, де знаходиться найближча залізнична станція?",
    "hi": "माफ़ कीजिए, सबसे नज़दीकी रेलवे स्टेशन कहाँ है?",
    "yue": "唔好意思，請問最近嘅火車站喺邊度呀？",
    "zh-Hans": "不好意思，请问最近的火车站在哪里？",
    "es-419": "Disculpe, ¿dónde está la estación de tren más cercana?",
    "en": "Excuse me, where is the nearest train station?",
}
NAMES = {"zh-Hans": "Mandarin Chinese", "es-419": "Spanish (Latin American)"}
ALL = tuple(GOOD)


def language(tag, outputs=None, prompts=1, **fields):
    known = language_table().find(tag)
    outputs = outputs or [GOOD[tag]] * prompts
    return {
        "languageName": NAMES.get(tag, known.name if known else tag),
        "languageCode": tag,
        "scriptFamily": known.family if known else "",
        "priority": "standard",
        "prompts": [
            {"category": "directions", "sourceText": f"{SOURCE}{' ' * number}", "generatedOutput": output}
            for number, output in enumerate(outputs)
        ],
        **fields,
    }


def write(rows, name="results.json"):
    Path(name).write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return name


def row(score=4, right=True):
    scores = {"script": score, "grammar": score, "coherence": score}
    return {"reason": "as it should be", "subscores": scores, "isCorrectLanguage": right}


def judge_by(single):
    """Return a server's answer, in rows if it is asked about several outputs, from its answer to each."""

    def verdict(prompt):
        ids = IDS.findall(prompt)
        if not ids:
            return json.dumps(single(prompt))
        parts = re.split(IDS, prompt)[1:]
        rows = [{"id": item_id, **single(text)} for item_id, text in zip(parts[::2], parts[1::2], strict=True)]
        return json.dumps({"rows": rows})

    return verdict


@pytest.fixture
def local(server, monkeypatch, in_folder):
    """The loopback server as the judge `local/m`, which passes everything."""
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.verdict = judge_by(lambda _: row())
    return server


def translation(*arguments, judge="local/m"):
    return main(["translation", *arguments, *(["--judge", judge] if judge else [])])


def scores(name="results-quick-judge.json"):
    return {each["languageCode"]: each for each in json.loads(Path(name).read_text(encoding="utf-8"))}


def start(*arguments, **options):
    command = [sys.executable, "-m", "polyjudge", "translation", *arguments]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **quiet, **options)


def wait_for(condition, process):
    """Wait for an effect of a process; fail if the process has ended."""
    while not (found := condition()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    return found


def prompts_of(server):
    return [body["messages"][-1]["content"] for body in server.bodies]


# Usage and help


@pytest.mark.parametrize("arguments", [[], ["generate"], ["check"], ["quick"], ["full"]])
def test_without_arguments_the_usage_is_shown_and_the_exit_code_is_two(arguments, in_folder, capsys):
    with pytest.raises(SystemExit) as exited:
        main(["translation", *arguments])

    assert exited.value.code == 2
    assert capsys.readouterr().err.startswith(
        f"usage: polyjudge translation{''.join(f' {each}' for each in arguments)}"
    )


@pytest.mark.parametrize("arguments", [[], ["generate"], ["check"], ["quick"], ["full"]])
def test_every_command_has_help(arguments, capsys):
    with pytest.raises(SystemExit) as exited:
        main(["translation", *arguments, "--help"])

    assert exited.value.code == 0
    assert capsys.readouterr().out.startswith("usage: polyjudge translation")


@pytest.mark.parametrize(
    ("action", "extra", "package", "export"),
    [
        ("quick", "anthropic", "anthropic", "ANTHROPIC_API_KEY=sk-ant-..."),
        ("full", "google", "google.genai", "GOOGLE_GENAI_API_KEY=..."),
    ],
)
def test_without_a_key_the_skip_message_is_printed_and_no_file_is_left(
    action, extra, package, export, in_folder, capsys, enabling
):
    write([language(tag) for tag in ALL])
    message = (
        f"{export.partition('=')[0]} not set — skipping {action} coherence check.\n"
        f"{enabling(extra, export, package=package)}Or without a key: --judge offline\n"
    )

    for options, code in (([], 0), (["--require-judge"], 3), (["--cache", "none"], 0)):
        assert translation(action, "results.json", *options, judge="") == code
        shown = capsys.readouterr()
        assert (shown.out, shown.err) == ("", message)
    assert [path.name for path in in_folder.iterdir() if path.name != ".polyjudge"] == ["results.json"]


@pytest.mark.parametrize("action", ["quick", "full"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["none.json"], "none.json"),
        (["results.json", "--filter", "language=xx"], "no outputs in xx"),
        (["results.json", "--filter", "category=food"], "--filter category"),
        (["results.json", "--filter", "th"], "Write COLUMN=VALUE"),
        (["results.json", "--judge", "nosuch/m"], "Unknown provider or judge: nosuch"),
        (["results.json", "--judge", " "], "--judge is empty"),
        (["results.json", "--price", "cheap"], "price"),
        (["results.json", "--output", "."], "is a folder"),
        (["results.json", "--output", "results.json"], "is the results file"),
        (["results.json", "--show-prompt", "th:99"], "no output 'th:99'"),
    ],
)
def test_errors_of_the_input_are_reported_before_a_missing_key(action, options, message, in_folder, capsys):
    before = write([language("th")])
    content = Path(before).read_bytes()

    assert translation(action, *options, judge="") == 2

    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("polyjudge: ")
    assert message in error
    assert Path(before).read_bytes() == content


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--batch-size", "0"], "--batch-size must be 1 to 10"),
        (["--batch-size", "11"], "--batch-size must be 1 to 10"),
        (["--control-share", "2"], "--control-share must be between 0 and 1"),
        (["--drift-tolerance", "-1"], "--drift-tolerance at least 0"),
        (["--repeats", "2"], "--batch-size 1"),
        (["--judge", "sonnet,opus"], "--batch-size 1"),
    ],
)
def test_batches_that_make_no_sense_are_refused(options, message, in_folder, capsys):
    write([language("th")])

    assert translation("full", "results.json", *options, judge="") == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "{}", "[]", "nonsense", '[{"languageName": "Thai", "prompts": []}]', "[7]"])
@pytest.mark.parametrize("action", ["quick", "full", "check"])
def test_a_file_without_anything_to_judge_is_one_message(content, action, in_folder, capsys):
    Path("r.json").write_text(content, encoding="utf-8")

    code = translation(action, "r.json", judge="")

    if action == "check" and "Thai" in content:
        assert code == 0
    else:
        assert code == 2
        assert capsys.readouterr().err.splitlines()[-1].startswith("polyjudge: r.json")
    assert not list(in_folder.glob("*judge*"))


# Quick


def test_quick_judges_the_must_have_languages_and_one_of_each_family_and_writes_beside_the_input(local, capsys):
    write([language(tag) for tag in ALL], "my.results.json")

    assert translation("quick", "my.results.json") == 0

    shown = capsys.readouterr()
    rows = scores("my.results-quick-judge.json")
    assert list(rows) == ["zh-Hans", "yue", "es-419", "en", "th", "ru", "hi"]
    assert local.asked == 7
    for name in ("Mandarin Chinese", "Cantonese", "Spanish (Latin American)", "English", "Thai", "Russian", "Hindi"):
        assert re.search(rf"^ *{re.escape(name)} .* PASS", shown.out, re.MULTILINE)
    assert "7 languages: 7 PASS" in shown.out
    assert "missing" not in shown.err
    assert rows["th"]["scriptScore"] == rows["th"]["grammarScore"] == rows["th"]["coherenceScore"] == 4
    assert rows["th"]["isCorrectLanguage"] is True
    assert rows["th"]["notes"] == "as it should be"
    assert rows["th"]["prompts"][0]["provenance"]["provider"] == "local"
    assert rows["th"]["schemaVersion"] == 1


def test_quick_asks_for_at_most_512_tokens_and_puts_the_cantonese_question_to_cantonese_alone(local, capsys):
    write([language(tag, prompts=2) for tag in ALL])

    assert translation("quick", "results.json") == 0

    assert {body["max_tokens"] for body in local.bodies} == {512}
    question = "Is this Cantonese (Yue) or Mandarin? Look for Cantonese-specific particles (㗎, 囉, 喇, 嘅, 咁, 咋)."
    assert [question in prompt for prompt in prompts_of(local)] == [
        GOOD["yue"] in prompt for prompt in prompts_of(local)
    ]
    assert sum(question in prompt for prompt in prompts_of(local)) == 2


def test_must_have_languages_that_are_absent_are_named_after_the_result(local, capsys):
    write([language("th"), language("en")])

    assert translation("quick", "results.json") == 0
    printed = capsys.readouterr().err
    missing, asked = printed.splitlines()[-3:-1]
    start = "missing: must-have languages not in the file: Chinese (Mandarin, Simplified), Cantonese, Spanish"
    assert missing.startswith(start)
    assert asked.startswith("asked: ")
    assert "English" not in printed


def test_a_filter_leaves_out_languages_that_are_not_called_absent(local, capsys):
    write([language(tag) for tag in ALL])

    assert translation("quick", "results.json", "--filter", "language=th") == 0

    assert "missing" not in capsys.readouterr().err


def test_the_help_of_quick_lists_the_must_have_languages(capsys):
    with pytest.raises(SystemExit):
        translation("quick", "--help")

    assert "The must-have languages are zh-Hans, yue, es-419, en." in capsys.readouterr().out


@pytest.mark.parametrize("action", ["quick", "full"])
def test_a_language_that_fails_is_exit_one_with_the_reason(action, local, capsys):
    local.verdict = judge_by(lambda prompt: row(2) if GOOD["ru"] in prompt else row())
    write([language("th"), language("ru"), language("hi")])

    assert translation(action, "results.json") == 1

    shown = capsys.readouterr().out
    assert re.search(r"^ *Russian .* FAIL .*2/5", shown, re.MULTILINE)
    assert "3 languages: 2 PASS, 1 FAIL" in shown


@pytest.mark.parametrize("action", ["quick", "full"])
def test_a_language_that_is_not_the_right_one_fails(action, local, capsys):
    local.verdict = judge_by(lambda prompt: row(5, right=GOOD["ru"] not in prompt))
    write([language("th"), language("ru")])

    assert translation(action, "results.json") == 1
    assert re.search(r"^ *Russian .* no .* FAIL .*wrong language", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("action", ["quick", "full"])
def test_a_judge_that_passes_another_language_is_in_conflict_with_the_check(action, local, capsys):
    hindi = "मेरे दोस्त का सड़क पर हादसा हो गया है। कृपया जल्दी से किसी को फ़ोन करें!"
    write([language("mr", [hindi] * 3), language("th")])

    assert translation(action, "results.json") == 1

    shown = capsys.readouterr().out
    assert re.search(r"^ *Marathi .* CONFLICT .*identifies Hindi", shown, re.MULTILINE)
    assert "1 PASS, 1 CONFLICT" in shown


@pytest.mark.parametrize("action", ["quick", "full"])
def test_a_judge_without_usable_replies_is_exit_three_and_gives_no_score(action, local, capsys):
    local.verdict = lambda _: "I would rather not."
    write([language("th"), language("ru")])

    assert translation(action, "results.json") == 3

    shown = capsys.readouterr()
    assert "2 languages: 2 UNJUDGED" in shown.out
    assert "100.0% of the items could not be judged" in shown.err
    rows = scores(f"results-{action}-judge.json")
    assert rows["th"]["scriptScore"] is None
    assert "unreadable" in rows["th"]["error"]
    assert rows["th"]["unjudged"] == 1


def test_a_share_without_a_verdict_is_borne_up_to_the_limit(local, capsys):
    local.verdict = judge_by(lambda prompt: row() if GOOD["ru"] not in prompt else {"reason": "no idea"})
    write([language(tag) for tag in ALL])

    assert translation("quick", "results.json") == 0
    assert "6 PASS, 1 UNJUDGED" in capsys.readouterr().out
    assert translation("quick", "results.json", "--max-unjudged", "0.1") == 3


def test_a_rejected_key_stops_the_run_at_once(local, capsys):
    local.faults.keys = ("another",)
    write([language(tag, prompts=5) for tag in ALL])

    assert translation("quick", "results.json", "--concurrency", "2") == 3

    assert "answered 401" in capsys.readouterr().err
    assert local.asked <= 4
    assert not Path("results-quick-judge.json").exists()


def test_a_sample_is_seeded_and_can_be_asked_for_again(local, capsys):
    write([language(tag, prompts=20) for tag in ("th", "ru")])

    def sampled(seed):
        assert translation("quick", "results.json", "--samples", "3", "--seed", seed, "--cache", "none") == 0
        return {tag: [each["index"] for each in row["prompts"]] for tag, row in scores().items()}

    first = sampled("1")
    assert {tag: len(places) for tag, places in first.items()} == {"th": 3, "ru": 3}
    assert sampled("1") == first
    assert sampled("2") != first


@pytest.mark.parametrize(
    ("options", "judged"),
    [
        (["--limit", "2"], ["zh-Hans", "yue"]),
        (["--filter", "language=th"], ["th"]),
        (["--filter", "language=Thai,russian"], ["th", "ru"]),
        (["--filter", "language=zh"], ["zh-Hans"]),
        (["--filter", "language=th", "--filter", "language=hi"], ["th", "hi"]),
    ],
)
def test_languages_can_be_chosen(options, judged, local, capsys):
    write([language(tag) for tag in ALL])

    assert translation("quick", "results.json", *options) == 0
    assert list(scores()) == judged


@pytest.mark.parametrize("action", ["quick", "full"])
def test_a_prompt_can_be_shown_without_a_judge(action, in_folder, capsys):
    write([language("yue", [f"\x1b[31m{GOOD['yue']}\u202e", GOOD["yue"]]), language("th")])

    assert translation(action, "results.json", "--show-prompt", "yue:0", judge="") == 0

    shown = capsys.readouterr().out
    assert GOOD["yue"] in shown
    assert "Is this Cantonese" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert [path.name for path in in_folder.iterdir()] == ["results.json"]


@pytest.mark.parametrize("options", [[], ["--cache", "none"], ["--format", "json"]])
@pytest.mark.parametrize("action", ["quick", "full"])
def test_a_dry_run_asks_nothing_and_writes_nothing(action, options, local, in_folder, capsys):
    write([language(tag) for tag in ALL])

    assert translation(action, "results.json", "--dry-run", *options) == 0

    shown = capsys.readouterr().out
    calls = json.loads(shown)["calls"] if "json" in options else int(re.search(r"calls: +(\d+)", shown)[1])
    assert calls == (7 if action == "quick" else 2)  # one batch of eight, and one of them alone
    assert local.asked == 0
    assert [path.name for path in in_folder.iterdir()] == ["results.json"]


def test_the_summary_can_be_read_by_programs(local, capsys):
    local.verdict = judge_by(lambda prompt: row(2) if GOOD["ru"] in prompt else row())
    write([language("th"), language("ru")])

    assert translation("quick", "results.json", "--format", "json") == 1

    shown = json.loads(capsys.readouterr().out)
    assert [(each["languageName"], each["status"]) for each in shown["languages"]] == [
        ("Thai", "PASS"), ("Russian", "FAIL"),
    ]  # fmt: skip


def test_nothing_in_a_file_reaches_the_terminal_raw(local, capsys):
    hostile = "\x1b[31mTh\u202eai\x07"
    reason = "\x1b]0;owned\x07 \u202e bad"
    local.verdict = judge_by(lambda _: {**row(1), "reason": reason})
    write([language("th", languageName=hostile), language("ru", [f"\x1b[2J{GOOD['ru']}"])])

    for action in ("quick", "full", "check"):
        translation(action, "results.json", judge="" if action == "check" else "local/m")
        shown = capsys.readouterr()
        assert not re.search("[\x1b\x07\u202e]", shown.out + shown.err)


def test_two_languages_of_one_name_have_scores_of_their_own(local, capsys):
    local.verdict = judge_by(lambda prompt: row(2) if "Brazilian" in prompt else row())
    outputs = ["Com licença, onde fica a estação de comboios mais próxima?"]
    write([language(tag, outputs, languageName="Portuguese") for tag in ("pt", "pt-BR")])

    assert translation("full", "results.json", "--drift-tolerance", "9") == 1

    rows = scores("results-full-judge.json")
    assert (rows["pt"]["grammarScore"], rows["pt-BR"]["grammarScore"]) == (4, 2)
    assert (rows["pt"]["judged"], rows["pt-BR"]["judged"]) == (1, 1)


def test_malformed_parts_are_named_by_place_and_the_rest_is_judged(local, capsys):
    rows = [language("th"), 7, {"prompts": []}, language("ru")]
    rows[0]["prompts"].append({"generatedOutput": 3})
    write(rows)

    assert translation("quick", "results.json") == 0
    printed = capsys.readouterr().err
    assert printed.count("polyjudge: warning: results.json:") == 3
    assert list(scores()) == ["th", "ru"]


def test_a_file_as_the_founding_app_writes_it_is_judged_by_family(local, capsys):
    rows = [
        language("zh-Hans", priority="mustHave", scriptFamily="cjk"),
        language("yue", priority="mustHave", scriptFamily="cjk"),
        language("th", scriptFamily="southeastAsian"),
    ]
    write({"results": rows})

    assert translation("quick", "results.json") == 0
    assert list(scores()) == ["zh-Hans", "yue", "th"]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_rows_of_other_formats_are_judged_too(suffix, local, capsys):
    if suffix == ".jsonl":
        content = "".join(json.dumps(language(tag), ensure_ascii=False) + "\n" for tag in ("th", "ru"))
    else:
        content = "languageCode,languageName,sourceText,generatedOutput\n" + "".join(
            f'{tag},{name},"{SOURCE}","{GOOD[tag]}"\n' for tag, name in (("th", "Thai"), ("ru", "Russian"))
        )
    Path(f"r{suffix}").write_text(content, encoding="utf-8")

    assert translation("full", f"r{suffix}") == 0
    assert set(scores("r-full-judge.json")) == {"th", "ru"}


# Offline, recordings, settings


@pytest.mark.parametrize("action", ["quick", "full"])
def test_the_checks_can_judge_alone(action, in_folder, capsys):
    write([language("th"), language("ru", [GOOD["th"]]), language("hi", ["112"])])
    Path("results.json").write_text(
        Path("results.json")
        .read_text(encoding="utf-8")
        .replace(f'"{SOURCE}", "generatedOutput": "112"', '"112", "generatedOutput": "112"'),
        encoding="utf-8",
    )

    assert translation(action, "results.json", "--max-unjudged", "0.5", judge="offline") == 1

    shown = capsys.readouterr()
    assert "3 languages: 2 CHECKED, 1 FAIL" in shown.out
    assert "CHECKED (script-only; grammar, meaning not judged)" in shown.out
    rows = scores(f"results-{action}-judge.json")
    assert (rows["th"]["scriptScore"], rows["th"]["grammarScore"]) == (5, None)
    assert rows["ru"]["scriptScore"] == 1
    assert rows["th"]["judge"] == "offline"
    assert not (in_folder / ".polyjudge").exists()


def test_a_language_that_the_table_does_not_have_is_unjudged_by_the_checks_and_judged_by_a_model(local, capsys):
    write([language("th"), language("tlh", ["nuqDaq 'oH tebwI'e'?"])])

    assert translation("full", "results.json", "--max-unjudged", "0.5", judge="offline") == 0
    assert "1 CHECKED, 1 UNJUDGED" in capsys.readouterr().out
    assert translation("full", "results.json") == 0
    assert "2 PASS" in capsys.readouterr().out


def test_a_recording_can_judge(in_folder, capsys):
    Path("judge.jsonl").write_text(json.dumps({"text": json.dumps(row(5))}) + "\n", encoding="utf-8")
    write([language("th")])

    assert translation("quick", "results.json", judge="scripted/judge.jsonl") == 0
    assert scores()["th"]["grammarScore"] == 5


@pytest.mark.filterwarnings("default::UserWarning")  # shown as a person sees them
def test_the_project_file_sets_options_that_the_command_line_does_not(local, capsys):
    Path("polyjudge.toml").write_text(
        'judge = "nosuch/m"\n[translation]\njudge = "local/m"\nsamples = 2\nbatch-size = 5\n'
        '[translation.quick]\nsamples = 3\n[translation.full]\noutput = "f.json"\n',
        encoding="utf-8",
    )
    write([language("th", prompts=9), language("ru", prompts=9)])

    assert translation("quick", "results.json", judge="") == 0
    assert len(scores()["th"]["prompts"]) == 3
    assert "polyjudge.toml: 'batch-size' is not an option of translation quick" in capsys.readouterr().err
    assert translation("full", "results.json", judge="") == 0
    assert len(scores("f.json")["th"]["prompts"]) == 2
    assert translation("quick", "results.json", "--samples", "1", judge="") == 0
    assert len(scores()["th"]["prompts"]) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[translation.quick]\nsample = 3\n", "[translation.quick]: unknown key 'sample'"),
        ("[translation]\nquick = 3\n", "quick must be a table"),
        ("translation = 3\n", "translation must be a table"),
        ('[translation.quick]\nsamples = "many"\n', "samples"),
        ('[translation.quick]\nformat = "html"\n', "'html' is not one of text, json"),
    ],
)
def test_a_mistake_in_the_project_file_is_named(content, message, local, capsys):
    Path("polyjudge.toml").write_text(content, encoding="utf-8")
    write([language("th")])

    assert translation("quick", "results.json") == 2
    assert message in capsys.readouterr().err


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_key_that_no_action_knows_is_warned_about(local, capsys):
    Path("polyjudge.toml").write_text("[translation]\nsample = 3\n", encoding="utf-8")
    write([language("th")])

    assert translation("quick", "results.json") == 0
    assert "'sample' is not an option of translation quick" in capsys.readouterr().err


def test_the_project_file_can_name_the_translator_and_the_output(in_folder, capsys):
    Path("polyjudge.toml").write_text(
        f'[translation.generate]\ncommand = "{sys.executable} -c pass"\noutput = "o.json"\nlanguages = "th"\n',
        encoding="utf-8",
    )
    assert main(["translation", "generate"]) == 2
    trust(in_folder)

    assert main(["translation", "generate"]) == 0
    assert Path("o.json").exists()
    assert main(["translation", "generate", "--translator", "local/m"]) == 2
    assert "both set" in capsys.readouterr().err


# Full


def test_full_judges_all_languages_several_in_a_call_and_reports_the_drift(local, capsys):
    write([language(tag, prompts=3) for tag in ALL])

    assert translation("full", "results.json") == 0

    shown = capsys.readouterr().out
    rows = scores("results-full-judge.json")
    assert list(rows) == list(ALL)
    assert "8 languages: 8 PASS" in shown
    assert "batches: 8 languages in a call move scores by 0.00 on average (1 compared, 0 flipped)" in shown
    assert sorted(len(IDS.findall(prompt)) for prompt in prompts_of(local)) == [0, 8, 8, 8]
    assert rows["th"]["batching"]["batchSize"] == 8
    assert all(row["judged"] == 3 for row in rows.values())
    assert "max_tokens" not in local.bodies[0] or local.bodies[0]["max_tokens"] != 512
    batch = next(prompt for prompt in prompts_of(local) if IDS.search(prompt))
    assert batch.count("Is this Cantonese (Yue) or Mandarin?") == 1


def test_full_halves_batches_that_move_the_scores_and_says_so(local, capsys):
    def verdict(prompt):
        ids = IDS.findall(prompt)
        given = row(1 if len(ids) > 2 else 4)
        return json.dumps({"rows": [{"id": item_id, **given} for item_id in ids]} if ids else given)

    local.verdict = verdict
    write([language(tag) for tag in ALL])

    assert translation("full", "results.json") == 0

    shown = capsys.readouterr().out
    printed = "2 languages in a call move scores by 0.00 on average (1 compared, 0 flipped, 8 moved them 3.00, 4 moved"
    assert printed in shown
    rows = scores("results-full-judge.json")
    assert {each["grammarScore"] for each in rows.values()} == {4}
    assert [each["batchSize"] for each in rows["th"]["batching"]["tried"]] == [8, 4]


def test_full_with_batches_of_one_asks_each_alone_and_may_ask_several_judges(local, capsys):
    write([language(tag) for tag in ALL])

    assert translation("full", "results.json", "--batch-size", "1") == 0
    assert not any(IDS.search(prompt) for prompt in prompts_of(local))
    assert "batches" not in capsys.readouterr().out
    assert translation("full", "results.json", "--batch-size", "1", judge="local/m,local/n") == 0
    assert local.asked == 16


def test_a_reply_that_is_amiss_costs_only_the_rows_that_are(local, capsys):
    def verdict(prompt):
        ids = IDS.findall(prompt)
        rows = [{"id": item_id, **row()} for item_id in ids]
        return json.dumps({"rows": [*rows[3:], rows[1], rows[1], {**rows[2], "id": "beef"}]} if ids else row(3))

    local.verdict = verdict
    write([language(tag) for tag in ALL])

    assert translation("full", "results.json", "--drift-tolerance", "9", "--seed", "1") == 0

    rows = scores("results-full-judge.json")
    alone = [tag for tag, each in rows.items() if each["grammarScore"] == 3]
    assert set(ALL[:3]) <= set(alone)
    assert len(alone) <= 4
    assert local.asked == 1 + len(alone)


def unknown_ids(prompt):
    ids = IDS.findall(prompt)
    return json.dumps({"rows": [{"id": f"item {place}", **row()} for place, _ in enumerate(ids)]} if ids else row())


def calls_of_a_dry_run(capsys):
    capsys.readouterr()
    assert translation("full", "results.json", "--dry-run", "--format", "json") == 0
    return json.loads(capsys.readouterr().out)["calls"]


def test_a_judge_that_cannot_keep_to_the_ids_stops_the_run_before_each_output_is_asked_alone(local, capsys):
    local.verdict = unknown_ids
    write([language(tag, prompts=25) for tag in ALL])
    planned = calls_of_a_dry_run(capsys)

    assert translation("full", "results.json", "--concurrency", "1") == 3

    printed = capsys.readouterr().err
    assert "m gave 2 unusable replies about several items" in printed
    assert "Use another judge, or ask about each output alone with --batch-size 1." in printed
    assert "give --allow-single" in printed
    assert local.asked <= planned
    assert not Path("results-full-judge.json").exists()
    asked = local.asked
    assert translation("full", "results.json", "--concurrency", "1") == 3
    assert local.asked == asked  # what was paid is kept


@pytest.mark.parametrize("by_file", [False, True], ids=["option", "polyjudge.toml"])
def test_a_run_continues_with_single_calls_if_allowed_and_reports_no_drift(local, capsys, by_file):
    local.verdict = unknown_ids
    write([language(tag, prompts=3) for tag in ALL])
    if by_file:
        Path("polyjudge.toml").write_text("[translation.full]\nallow-single = true\n", encoding="utf-8")

    assert translation("full", "results.json", *([] if by_file else ["--allow-single"])) == 0

    shown = capsys.readouterr().out
    assert (
        "batches: drift not measured: no row is from a batch of several languages; 3 batches had no usable row" in shown
    )
    assert "move scores" not in shown
    rows = scores("results-full-judge.json")
    assert all(each["judged"] == 3 for each in rows.values())
    assert rows["th"]["batching"]["rowsFromBatches"] == 0
    assert "meanDistance" not in rows["th"]["batching"]


def test_a_single_batch_without_a_usable_row_is_asked_alone_and_not_called_a_batch(local, capsys):
    local.verdict = unknown_ids
    write([language(tag) for tag in ALL])

    assert translation("full", "results.json") == 0

    assert "drift not measured: no row is from a batch of several languages" in capsys.readouterr().out


def test_batches_that_always_move_the_scores_are_reported_as_abandoned(local, capsys):
    def verdict(prompt):
        ids = IDS.findall(prompt)
        return json.dumps({"rows": [{"id": item_id, **row(1)} for item_id in ids]} if ids else row())

    local.verdict = verdict
    write([language(tag) for tag in ALL])

    assert translation("full", "results.json") == 0

    printed = "none: each output was judged alone, because languages in one call moved scores"
    assert f"{printed}: 8 by 3.00, 4 by 3.00, 2 by 3.00" in capsys.readouterr().out


# What was paid for


@pytest.mark.parametrize("action", ["quick", "full"])
def test_the_same_command_again_asks_nothing(action, local, capsys):
    write([language(tag, prompts=2) for tag in ALL])

    assert translation(action, "results.json") == 0
    asked, first = local.asked, scores(f"results-{action}-judge.json")
    assert translation(action, "results.json") == 0
    assert local.asked == asked
    second = scores(f"results-{action}-judge.json")
    assert [each["grammarScore"] for each in first.values()] == [each["grammarScore"] for each in second.values()]
    assert translation(action, "results.json", "--refresh") == 0
    assert local.asked == 2 * asked
    assert not list(Path().glob("*.begun"))


@pytest.mark.parametrize("action", ["quick", "full"])
def test_a_deadline_that_leaves_nothing_undone_does_not_fail_the_run(action, local, capsys):
    write([language("th")])
    local.faults.latency_s = 0.8

    assert translation(action, "results.json", "--deadline", "0.3") == 0

    assert "not reached" not in capsys.readouterr().err
    assert scores(f"results-{action}-judge.json")["th"]["judged"] == 1


@pytest.mark.parametrize("options", [[], ["--cache", "none"]], ids=["cache", "none"])
@pytest.mark.parametrize("action", ["quick", "full"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_an_ended_run_resumes(action, number, options, local, capsys):
    write([language(tag, prompts=20) for tag in ALL])
    local.faults.latency_s = 0.02
    arguments = [action, "results.json", "--judge", "local/m", "--concurrency", "2", *options]
    process = start(*arguments)
    wait_for(lambda: sum(local.delivered.values()) >= 6, process)
    process.send_signal(number)
    _, printed = process.communicate()

    output = Path(f"results-{action}-judge.json")
    assert process.returncode == (130 if number == signal.SIGINT else -9)
    assert not output.exists()
    if number == signal.SIGINT:
        assert "polyjudge: interrupted;" in printed
        assert "Run the same command again to resume." in printed
    assert Path(f"{output}.replies.sqlite").exists() == bool(options)
    local.faults.latency_s = 0
    assert main(["translation", *arguments]) == 0
    assert set(scores(output)) == (set(ALL) - {"uk"} if action == "quick" else set(ALL))
    doubled = sum(count - 1 for count in local.delivered.values())
    assert doubled <= (0 if number == signal.SIGINT else 2)  # what was in flight at a kill is asked for again
    left = {path.name for path in Path().iterdir()} - {".polyjudge"}
    assert left == {"results.json", output.name}


def test_an_interrupted_run_loses_no_reply_although_there_are_older_scores(local, capsys):
    write([language(tag, prompts=10) for tag in ALL])
    Path("results-quick-judge.json").write_text("[]", encoding="utf-8")

    assert translation("quick", "results.json", "--cache", "none", "--max-calls", "30") == 3
    assert Path("results-quick-judge.json").read_text(encoding="utf-8") == "[]"
    assert translation("quick", "results.json", "--cache", "none") == 0
    assert local.asked == 70
    assert not list(Path().glob("*.sqlite*"))


def test_a_missing_key_does_not_lose_the_results_of_an_earlier_run(local, capsys, monkeypatch):
    write([language(tag, prompts=2) for tag in ALL])
    assert translation("quick", "results.json", "--cache", "none", "--max-calls", "5") == 3

    assert translation("quick", "results.json", "--cache", "none", judge="") == 0
    assert translation("quick", "results.json", "--cache", "none") == 0
    assert local.asked == 14


def test_replies_of_an_interrupted_refresh_are_not_asked_for_again(local, capsys):
    write([language(tag, prompts=2) for tag in ALL])
    assert translation("quick", "results.json") == 0
    local.delivered.clear()

    assert translation("quick", "results.json", "--refresh", "--max-calls", "5") == 3
    assert translation("quick", "results.json", "--refresh") == 0
    assert set(local.delivered.values()) == {1}
    assert len(local.delivered) == 14
    assert not list(Path().glob("*.begun"))


def test_the_cap_on_calls_holds_and_full_can_be_finished_in_pieces(local, capsys):
    write([language(tag, prompts=6) for tag in ALL])

    codes = [translation("full", "results.json", "--max-calls", "3", "--concurrency", "1") for _ in range(3)]

    assert codes == [3, 3, 0]
    assert set(local.delivered.values()) == {1}


def test_a_private_file_with_a_strange_name_is_removed_too(local, capsys):
    write([language("th")], "re[s]*.json")

    assert translation("quick", "re[s]*.json", "--cache", "none") == 0
    assert sorted(path.name for path in Path().iterdir()) == ["re[s]*-quick-judge.json", "re[s]*.json"]


# Check


def check(*arguments):
    return main(["translation", "check", "results.json", *arguments])


def test_check_says_what_it_finds_and_is_exit_one_where_a_language_fails(in_folder, capsys):
    write([language("th"), language("ru", [GOOD["th"]] * 2), language("tlh", ["nuqneH"])])

    assert check() == 1

    shown = capsys.readouterr().out
    assert re.search(r"^ *Thai .* 1/1 .* CHECKED \(script-only; grammar, meaning not judged\)$", shown, re.MULTILINE)
    assert re.search(r"^ *Russian .* 0/2 .* wrong script 2 .* FAIL$", shown, re.MULTILINE)
    assert re.search(r"^ *tlh .* UNJUDGED$", shown, re.MULTILINE)
    assert "3 languages: 1 CHECKED, 1 FAIL, 1 UNJUDGED" in shown
    assert "Russian: 2 of 2 outputs fail the checks (wrong script 2)" in shown
    assert "Unknown languages, not checked:\n  tlh" in shown
    assert [path.name for path in in_folder.iterdir()] == ["results.json"]


def test_check_finds_nothing_in_reference_texts(in_folder, capsys):
    write([language(tag) for tag in ALL])

    assert check() == 0
    assert "Problems:" not in capsys.readouterr().out


def test_check_can_be_read_by_programs(in_folder, capsys):
    write([language("th"), language("mr", [GOOD["hi"]] * 3)])

    assert check("--format", "json") == 1

    thai, marathi = json.loads(capsys.readouterr().out)
    assert (thai["passed"], thai["problems"], thai["prompts"]) == (True, {}, 1)
    assert (thai["status"], thai["notJudged"], marathi["status"]) == ("CHECKED", ["grammar", "meaning"], "FAIL")
    assert (marathi["passed"], marathi["wrongLanguage"], marathi["looksLike"]) == (False, 3, "hi")
    assert marathi["scriptPassed"] == 3


def flagged(tag, outputs, flag):
    made = language(tag, outputs)
    for prompt in made["prompts"]:
        if flag is not None:
            prompt["scriptValidationPassed"] = flag
    return made


@pytest.mark.parametrize("correct", [False, True])
def test_check_fills_in_what_is_missing_and_corrects_only_when_asked(correct, in_folder, capsys):
    rows = [
        flagged("th", [GOOD["th"]], None), flagged("ru", [GOOD["th"]], True), flagged("hi", [GOOD["hi"]], False),
        flagged("uk", [GOOD["uk"]], True),
    ]  # fmt: skip
    rows[0]["prompts"][0]["own"] = {"kept": [1, "২"]}
    write({"bindingUsed": "b", "results": rows, "deviceInfo": "d"})

    assert check("--output", "checked.json", *(["--correct"] if correct else [])) == 1

    shown = capsys.readouterr().out
    assert "Disagreements with scriptValidationPassed:" in shown
    assert "Russian, output ru:0: True in the file, False by the check" in shown
    assert "Hindi, output hi:0: False in the file, True by the check" in shown
    written = json.loads(Path("checked.json").read_text(encoding="utf-8"))
    assert (written["bindingUsed"], written["deviceInfo"]) == ("b", "d")
    prompts = {each["languageCode"]: each["prompts"][0] for each in written["results"]}
    passed = {tag: prompt["scriptValidationPassed"] for tag, prompt in prompts.items()}
    assert passed == {"th": True, "ru": not correct, "hi": correct, "uk": True}
    assert prompts["th"]["own"] == {"kept": [1, "২"]}
    assert prompts["ru"]["checks"]["script"] == "fail"
    assert prompts["ru"]["checks"]["problems"][0]["kind"] == "wrong_script"


def test_check_can_write_over_its_own_input(in_folder, capsys):
    write([language("th"), language("ru")])

    assert check("--output", "results.json") == 2
    assert "was not written by polyjudge" in capsys.readouterr().err
    assert check("--output", "results.json", "--force") == 0
    assert check("--output", "results.json") == 0
    written = json.loads(Path("results.json").read_text(encoding="utf-8"))["results"]
    assert [each["prompts"][0]["scriptValidationPassed"] for each in written] == [True, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--correct"], "--correct needs --output"),
        (["--output", "x.csv"], "Give a .json file"),
        (["--output", "x.jsonl"], "Give a .json file"),
        (["--output", "."], "is a folder"),
    ],
)
def test_check_refuses_unsupported_options(options, message, in_folder, capsys):
    write([language("th")])

    assert check(*options) == 2
    assert message in capsys.readouterr().err


# Generate

UPPER = "import sys; sys.stdout.write(sys.argv[1] + ' ' + sys.stdin.read().upper())"


def command_of(code, *arguments):
    return shlex.join([sys.executable, "-c", code, *arguments])


def generate(*arguments):
    return main(["translation", "generate", "--output", "o.json", "--languages", "th,el", *arguments])


@pytest.fixture
def two_prompts(in_folder):
    Path("p.toml").write_text(
        'name = "p"\n[[prompts]]\ntext = "Hello {name}"\ncategory = "greetings"\n[[prompts]]\ntext = "$(touch made)"\n',
        encoding="utf-8",
    )
    return ["--prompts", "p.toml"]


def outputs():
    written = json.loads(Path("o.json").read_text(encoding="utf-8"))
    return {
        each["languageCode"]: [prompt["generatedOutput"] for prompt in each["prompts"]] for each in written["results"]
    }


def test_a_program_translates_every_prompt_into_every_language(two_prompts, in_folder, capsys):
    assert generate("--command", command_of(UPPER, "<{tag}|{language}>"), *two_prompts) == 0

    assert outputs() == {
        "th": ["<th|Thai> HELLO {NAME}", "<th|Thai> $(TOUCH MADE)"],
        "el": ["<el|Greek> HELLO {NAME}", "<el|Greek> $(TOUCH MADE)"],
    }
    assert "4 of 4 translations in 2 languages: o.json" in capsys.readouterr().out
    assert sorted(path.name for path in in_folder.iterdir()) == ["o.json", "p.toml"]
    assert main(["translation", "check", "o.json"]) == 1


@pytest.mark.slow
def test_the_packaged_prompts_go_into_all_languages_by_default(in_folder, capsys):
    assert main(["translation", "generate", "--output", "o.json", "--command", "cat"]) == 0

    assert len(outputs()) == len(language_table()) >= 73
    assert outputs()["en"] == outputs()["th"]


@pytest.mark.parametrize(
    "hostile",
    ["; touch made", "$(touch made)", "`touch made`", "| touch made", "&& touch made", "> made", "\n touch made"],
)
def test_a_command_is_no_shell(hostile, two_prompts, in_folder, capsys):
    code = "import sys; print(sys.argv[1:])"

    assert generate("--command", command_of(code) + f" {hostile}", *two_prompts) == 0
    assert not Path("made").exists()
    assert "touch" in outputs()["th"][0] or "made" in outputs()["th"][0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--command", "no-such-program-anywhere"], "cannot be run"),
        (["--command", "'unclosed"], "The command cannot be parsed: No closing quotation (--command)"),
        (["--command", ""], "is empty. Give a model, a service or a program"),
        (["--command", "   "], "The command is empty. Give a program (--command)"),
        (["--translator", ""], "is empty. Give a model, a service or a program"),
        (["--translator", "nosuch/m"], "Unknown translator: nosuch. Available: "),
        (["--command", "cat", "--languages", "th,xx-nope"], "unknown xx-nope"),
        (["--command", "cat", "--languages", ","], "--languages is empty"),
        (["--command", "cat", "--prompts", "none.toml"], "none.toml: cannot be read"),
        (["--command", "cat", "--prompts", "nothing"], "Unknown prompt set: nothing"),
        (["--command", "cat", "--output", "o.csv"], "Give a .json file"),
        (["--command", "cat", "--output", "."], "is a folder"),
        (["--command", "cat", "--dry-run"], "--dry-run works only with a model or a service"),
    ],
)
def test_an_impossible_generation_is_refused_and_leaves_no_files(options, message, in_folder, capsys):
    assert generate(*options) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in in_folder.iterdir() if path.name != ".polyjudge"] == []


def test_a_model_translates_and_its_cost_is_printed(local, two_prompts, capsys):
    local.verdict = lambda prompt: GOOD["th"] if "Thai" in prompt else "Γεια σου"

    assert generate("--translator", "local/m", "--max-answer-tokens", "77", *two_prompts) == 0

    assert outputs() == {"th": [GOOD["th"]] * 2, "el": ["Γεια σου"] * 2}
    written = json.loads(Path("o.json").read_text(encoding="utf-8"))
    first = written["results"][0]["prompts"][0]
    assert written["model"] == "local/m"
    assert (first["category"], first["sourceText"], first["tokenCount"]) == ("greetings", "Hello {name}", 20)
    assert first["scriptValidationPassed"] is True
    assert "durationMs" in first
    assert {body["max_tokens"] for body in local.bodies} == {77}
    assert "4 calls" in capsys.readouterr().err


def test_generation_without_a_key_is_a_soft_skip(in_folder, capsys, enabling):
    assert generate("--translator", "sonnet") == 0
    assert capsys.readouterr().err == (
        f"ANTHROPIC_API_KEY not set — skipping generation.\n{enabling('anthropic', 'ANTHROPIC_API_KEY=sk-ant-...')}"
    )
    assert not Path("o.json").exists()


def test_a_dry_run_of_a_model_asks_nothing(local, two_prompts, capsys):
    assert generate("--translator", "local/m", "--dry-run", *two_prompts) == 0
    assert "calls:    4" in capsys.readouterr().out
    assert local.asked == 0
    assert not list(Path().glob("o.json*"))


def test_failures_are_counted_and_retried_by_the_same_command(two_prompts, capsys):
    code = (
        "import pathlib, sys; text = sys.stdin.read(); pathlib.Path('asked').open('a').write(sys.argv[1] + '\\n');"
        "sys.exit('\\x1b[31mno Greek') if sys.argv[1] == 'el' and not pathlib.Path('fixed').exists() else print(text)"
    )
    arguments = ["--command", command_of(code, "{tag}"), *two_prompts]

    assert generate(*arguments, "--max-failed", "0.5") == 0
    printed = capsys.readouterr().err
    assert "failed: el:0" in printed
    assert "no Greek" in printed
    assert "\x1b" not in printed
    assert "2 failed. Run the same command again to retry them." in printed
    assert (len(outputs()["th"]), len(outputs()["el"])) == (2, 0)
    assert generate(*arguments) == 3
    Path("fixed").touch()
    assert generate(*arguments) == 0
    assert (len(outputs()["th"]), len(outputs()["el"])) == (2, 2)
    asked = Path("asked").read_text(encoding="utf-8").split()
    assert (asked.count("th"), asked.count("el")) == (2, 6)
    assert not list(Path().glob("*.partial"))


@pytest.mark.slow
def test_a_killed_generation_resumes(in_folder, capsys):
    code = (
        "import pathlib, sys, time; time.sleep(0.02);"
        "pathlib.Path('asked').open('a').write(sys.argv[1] + '\\n'); print(sys.stdin.read())"
    )
    arguments = ["generate", "--output", "o.json", "--languages", "th,el,ru", "--command", command_of(code, "{tag}")]
    process = start(*arguments, "--concurrency", "2")
    wait_for(lambda: sum(path.read_text("utf-8").count("\n") for path in Path().glob("*.partial")) > 3, process)
    process.kill()
    process.communicate()
    [partial_file] = Path().glob("*.partial")
    with partial_file.open("a", encoding="utf-8") as file:
        file.write('{"id": "el:0", "generatedOut')

    assert not Path("o.json").exists()
    assert main(["translation", *arguments, "--concurrency", "2"]) == 0
    total = sum(map(len, outputs().values()))
    asked = len(Path("asked").read_text(encoding="utf-8").split())
    assert total <= asked <= total + 4
    assert not list(Path().glob("*.partial"))


def test_another_translator_does_not_resume_the_rows_of_the_first(two_prompts, capsys):
    failing = command_of("import sys; sys.exit('no') if sys.argv[1] == 'el' else print('first')", "{tag}")

    assert generate("--command", failing, *two_prompts) == 3
    assert generate("--command", command_of("print('second')"), *two_prompts) == 0
    assert outputs() == {"th": ["second"] * 2, "el": ["second"] * 2}
