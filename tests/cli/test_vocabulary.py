"""`polyjudge vocabulary` against a server on loopback: files, figures, resuming, and calls that are never made."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import jsonschema
import pytest
import referencing

from polyjudge.cli import main
from polyjudge.records.codec import schema, schema_names

WORDS = {"ardilla": "Roedor que trepa a los árboles.", "corbata": "Prenda que se anuda al cuello.", "niño": "Persona."}
PROMPT_A = "Dime la definición de la palabra '{word}'."
JUDGING = "Eres un evaluador."


def write_suite(words=WORDS, models=("m1", "m2"), folder="suite", **prompts):
    Path(folder).mkdir(exist_ok=True)
    rows = [{"word": word, "answer": answer} for word, answer in words.items()]
    Path(folder, "vocabulary_short.json").write_text(json.dumps(rows), encoding="utf-8")
    Path(folder, "prompts.json").write_text(json.dumps({"prompt_a": PROMPT_A, **prompts}), encoding="utf-8")
    if models is not None:
        Path(folder, "models_list.txt").write_text("# active\n\n" + "\n".join(models) + "\n", encoding="utf-8")


def speaking(*, model=None, judge="correcto"):
    """Return a server's answer: as a model by the word, as a judge by the whole prompt."""

    def speak(name, prompt):
        if JUDGING in prompt:
            return judge(prompt) if callable(judge) else judge
        word = re.search(r"'(.*)'", prompt, re.DOTALL)[1]
        return model(word) if model else f"{name} dice: {word}"

    return speak


@pytest.fixture
def local(server, monkeypatch, in_folder):
    """The loopback server as the local one, which also judges as `local/judge`."""
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", f"{server.url}/v1")
    server.speak = speaking()
    write_suite()
    return server


def vocabulary(*arguments):
    return main(["vocabulary", *arguments])


def run(*arguments):
    return vocabulary("run", "--judge", "local/judge", *arguments)


def record(model, word):
    return json.loads(Path("output", model, f"{word}.json").read_text(encoding="utf-8"))


def summary():
    return json.loads(Path("output/summary.json").read_text(encoding="utf-8"))


def judgements():
    return [json.loads(line) for line in Path("output/judgements.jsonl").read_text(encoding="utf-8").splitlines()]


def asked(server):
    """Count the questions by model."""
    return Counter(body["model"] for body in server.bodies)


# --- the founding files and figures ------------------------------------------------------------------------------


def test_a_run_leaves_the_founding_files_and_prints_the_founding_table(local, capsys):
    assert run() == 0

    kept = record("m1", "ardilla")
    assert kept["model"] == "m1"
    assert kept["word"] == "ardilla"
    assert kept["prompt"] == "Dime la definición de la palabra 'ardilla'."
    assert kept["response"] == "m1 dice: ardilla"
    assert kept["reference_definition"] == WORDS["ardilla"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", kept["timestamp"])
    assert summary()["judge_model"] == "judge"
    assert {name: (row["correct"], row["total"]) for name, row in summary()["models"].items()} == {
        "m1": (3, 3),
        "m2": (3, 3),
    }
    printed = capsys.readouterr().out
    assert re.search(r"Model +% Correct \(Prompt A\) +% Correct \(Prompt B\)", printed)
    assert re.search(r"^ m1 +100\.0$", printed, re.MULTILINE)


def test_files_fit_their_schemas(local):
    run()

    fits("word-record", record("m1", "niño"))
    fits("vocabulary-summary", summary())
    for row in judgements():
        fits("judgement", row)


def fits(name, value):
    resources = [(f"{each}.schema.json", referencing.Resource.from_contents(schema(each))) for each in schema_names()]
    registry = referencing.Registry().with_resources(resources)
    jsonschema.Draft202012Validator(schema(name), registry=registry).validate(value)


def test_models_are_asked_in_order_at_the_default_temperature_without_the_reference(local):
    run("--concurrency", "1")

    asking = [body for body in local.bodies if body["model"] != "judge"]
    assert [body["model"] for body in asking] == ["m1"] * 3 + ["m2"] * 3
    assert {body["temperature"] for body in asking} == {0.2}
    assert not any(answer in json.dumps(body, ensure_ascii=False) for body in asking for answer in WORDS.values())


@pytest.mark.parametrize(
    ("environment", "arguments", "temperature"),
    [("0.7", (), 0.7), ("0.7", ("--temperature", "0"), 0.0), ("", (), 0.2)],
)
def test_the_temperature_comes_from_the_command_line_or_the_environment(
    environment, arguments, temperature, local, monkeypatch
):
    monkeypatch.setenv("POLYJUDGE_TEMPERATURE", environment)

    assert vocabulary("generate", *arguments) == 0

    assert {body["temperature"] for body in local.bodies} == {temperature}


def test_the_judge_is_asked_in_the_founding_words_with_the_answer_fenced_off(local):
    run()

    prompt = next(body for body in local.bodies if body["model"] == "judge")["messages"][0]["content"]
    assert (
        f"Palabra: 'ardilla'. Definición de referencia: '{WORDS['ardilla']}'. Respuesta del modelo: '<text-" in prompt
    )
    assert (
        "¿La respuesta captura correctamente la esencia del significado? Responde SOLO con 'correcto' o 'incorrecto' "
        "y nada más. Sé indulgente si el núcleo semántico es adecuado." in prompt
    )


def test_percentages_are_of_those_judged_and_the_rest_is_in_view(local, capsys):
    said = {"ardilla": "correcto", "corbata": "Tal vez", "niño": "incorrecto"}
    local.speak = speaking(judge=lambda prompt: next(v for k, v in said.items() if f"Palabra: '{k}'" in prompt))

    assert run("--max-unjudged", "0.5") == 0

    row = summary()["models"]["m1"]
    assert (row["correct"], row["judged"], row["undetermined"], row["errors"], row["total"]) == (1, 2, 1, 0, 3)
    assert row["percent"] == 50.0
    printed = capsys.readouterr().out
    assert re.search(r"^ m1 +50\.0$", printed, re.MULTILINE)
    assert "Not judged: m1, prompt A: 1 of 3 (1 undetermined)" in printed


def test_prompt_b_fills_the_third_column(local, capsys):
    write_suite(prompt_b="Escribe dos oraciones con '{word}'.")
    local.speak = speaking(judge=lambda prompt: "incorrecto" if "dos oraciones" in prompt else "correcto")

    assert run() == 0

    assert Path("output/m1/ardilla.prompt_b.json").is_file()
    assert summary()["models"]["m1"]["prompt_b"]["correct"] == 0
    assert re.search(r"^ m1 +100\.0 +0\.0$", capsys.readouterr().out, re.MULTILINE)
    judged = [body["messages"][0]["content"] for body in local.bodies if body["model"] == "judge"]
    assert any("¿Cumplen las dos oraciones la tarea" in text and "Escribe dos oraciones con" in text for text in judged)


def test_the_suite_may_word_the_judging_itself(local):
    verdicts = {"judge_correct": ["oikein"], "judge_incorrect": "väärin"}
    write_suite(judge_prompt_a="Sana {word}: {reference_definition}? {model_response}", **verdicts)
    local.speak = lambda _, prompt: "Oikein!" if "Sana " in prompt else "vastaus"

    assert run() == 0

    assert summary()["models"]["m1"]["correct"] == 3


def test_markdown_and_json_say_the_same(local, capsys):
    run()
    capsys.readouterr()

    assert vocabulary("summary", "--format", "json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert vocabulary("summary", "--format", "markdown") == 0

    assert printed["models"] == summary()["models"]
    assert "| m1 | 100.0 |  |" in capsys.readouterr().out


def test_two_judges_stand_side_by_side_with_their_agreement(local, capsys):
    local.speak = speaking(judge=lambda prompt: "correcto" if "ardilla" in prompt else "incorrecto")

    assert vocabulary("run", "--judge", "local/judge,local/other") == 0

    printed = summary()
    assert list(printed["judges"]) == ["local/judge", "local/other"]
    assert printed["agreement"][0]["exact"] == 1.0
    assert printed["agreement"][0]["kappa"] == 1.0
    assert "Do the judges agree?" in capsys.readouterr().out


# --- what goes wrong ---------------------------------------------------------------------------------------------


def test_a_missing_server_is_one_line_before_the_first_call(local, monkeypatch, capsys):
    monkeypatch.setenv("LOCAL_OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    assert run() == 3

    printed = capsys.readouterr().err.splitlines()
    assert len(printed) == 1
    assert "http://127.0.0.1:9/v1" in printed[0]
    assert "ollama serve" in printed[0]
    assert not Path("output/m1").exists()


def test_a_server_that_is_loading_is_waited_for(local):
    local.loading = 1

    assert vocabulary("generate") == 0


@pytest.mark.slow
def test_three_tries_then_an_error_record_and_the_rest_continues(local, capsys):
    local.faults.server_error = 1.0

    assert vocabulary("generate", "--filter", "model=m1", "--filter", "word=ardilla,niño", "--concurrency", "2") == 3

    kept = record("m1", "ardilla")
    assert kept["response"] is None
    assert "500" in kept["error"]
    assert kept["attempts"] == 3
    assert local.asked == 6
    assert "m1: 0 of 2 answered, 2 failed" in capsys.readouterr().err


def test_an_unknown_model_fails_alone_and_at_once(local):
    local.faults.models = ("m2", "judge")

    assert run("--max-unjudged", "0.6") == 0

    assert asked(local)["m1"] <= 3  # those in flight when the first answer came
    assert all(record("m1", word)["response"] is None for word in WORDS)
    assert summary()["models"]["m1"]["generation_errors"] == 3
    assert summary()["models"]["m2"]["correct"] == 3


@pytest.mark.slow
def test_a_server_that_dies_leaves_error_records_and_the_next_run_fills_exactly_those(local):
    def dying(word):
        local.faults.dropped = float(word == "corbata")
        return "Una respuesta."

    local.speak = speaking(model=dying)
    assert vocabulary("generate", "--concurrency", "1") == 3
    assert [record("m1", word)["response"] is None for word in WORDS] == [False, False, True]
    assert [record("m2", word)["response"] is None for word in WORDS] == [True, True, True]
    local.faults.dropped, local.speak, before = 0.0, speaking(), asked(local)

    assert run() == 0

    assert asked(local) - before == {"m1": 1, "m2": 3, "judge": 6}


def test_an_empty_answer_is_wrong_and_no_judge_is_paid_for_it(local):
    local.speak = speaking(model=lambda word: "  " if word == "ardilla" else f"Es {word}")

    assert run() == 0

    assert record("m1", "ardilla")["response"] == ""
    assert summary()["models"]["m1"]["correct"] == 2
    assert summary()["models"]["m1"]["incorrect"] == 1
    assert asked(local)["judge"] == 2  # both models say the same, and the same question is asked once


def test_reasoning_is_stored_separately(local):
    replies = {
        "ardilla": "<think>Un roedor…</think>\nUn roedor.",
        "corbata": ("Una prenda.", "stop", "Pienso en cuellos."),
        "niño": ("", "length", "Pienso y pienso"),
    }
    local.speak = speaking(model=replies.get)

    assert run("--max-unjudged", "0.5") == 0

    assert (record("m1", "ardilla")["response"], record("m1", "ardilla")["reasoning"]) == ("Un roedor.", "Un roedor…")
    assert (record("m1", "corbata")["response"], record("m1", "corbata")["reasoning"]) == (
        "Una prenda.",
        "Pienso en cuellos.",
    )
    cut = record("m1", "niño")
    assert cut["response"] is None
    assert "cut off" in cut["error"]
    assert cut["reasoning"] == "Pienso y pienso"
    assert not any("roedor…" in body["messages"][0]["content"] for body in local.bodies if body["model"] == "judge")


def test_a_judge_that_fails_is_an_error_that_is_counted(local, capsys):
    local.speak = speaking(judge=lambda prompt: ("", "refusal") if "'ardilla'" in prompt else "correcto")

    assert run("--max-unjudged", "0.5") == 0

    assert summary()["models"]["m1"]["judging_errors"] == 1
    assert "1 judge failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("vocabulary_short.json", None, "cannot be read"),
        ("vocabulary_short.json", "{", "not JSON"),
        ("vocabulary_short.json", "{}", "expected a list"),
        ("vocabulary_short.json", "[]", "expected a list"),
        ("vocabulary_short.json", '[{"word": "a"}]', "entry 1: the key 'answer' is missing"),
        ("vocabulary_short.json", '[{"word": " ", "answer": "b"}]', "entry 1: word is empty"),
        ("vocabulary_short.json", '[{"word": "a", "answer": 3}]', "entry 1: answer: expected text"),
        ("vocabulary_short.json", '[{"word": "a", "answer": "b"}, {"word": "a", "answer": "c"}]', "duplicate word 'a'"),
        ("prompts.json", None, "cannot be read"),
        ("prompts.json", "[]", "expected an object with prompt_a"),
        ("prompts.json", "{}", "prompt_a is missing"),
        ("prompts.json", '{"prompt_a": "Di algo."}', "prompt_a must contain {word}"),
        ("prompts.json", '{"prompt_a": "{word}", "judge_prompt_a": "x"}', "must contain {model_response}"),
        ("prompts.json", '{"prompt_a": "{word}", "language": "xx"}', "Available: en, es, hi"),
        ("models_list.txt", None, "models_list.txt: file not found"),
        ("models_list.txt", "# none\n", "no models found"),
        ("models_list.txt", b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_suite_that_cannot_be_used_is_one_message_and_exit_2(file, content, message, local, capsys):
    path = Path("suite", file)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    assert run() == 2

    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1
    assert message in errors[0]
    assert file in errors[0] or "language" in message or "Available" in message
    assert local.asked == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--judge", "offline"), "offline"),
        (("--judge", "local/a,local/a"), "twice"),
        (("--suite", "nowhere"), "hindi, spanish"),
        (("--temperature", "hot"), "--temperature must be between 0 and 2"),
        (("--filter", "colour=red"), "known are model, word, category, prompt"),
        (("--filter", "word=nada"), "no word of the suite"),
        (("--filter", "model=nosuch"), "no model matches"),
        (("--models", "missing.txt"), "missing.txt: cannot be read"),
    ],
)
def test_wrong_usage_is_one_message_and_exit_2(arguments, message, local, capsys):
    judge = () if "--judge" in arguments else ("--judge", "local/judge")

    assert vocabulary("run", *judge, *arguments) == 2

    assert message in capsys.readouterr().err
    assert local.asked == 0


def test_judging_before_generating_is_reported(local, capsys):
    assert vocabulary("judge", "--judge", "local/judge") == 2
    assert "vocabulary generate" in capsys.readouterr().err
    assert vocabulary("summary") == 2
    assert "vocabulary judge" in capsys.readouterr().err


# --- keys and addresses ------------------------------------------------------------------------------------------


def test_without_a_key_the_models_still_answer_and_the_next_run_only_judges(local, monkeypatch, capsys):
    assert vocabulary("run") == 0
    printed = capsys.readouterr().err
    assert "OPENAI_API_KEY not set — skipping judging." in printed
    assert asked(local) == {"m1": 3, "m2": 3}

    assert run() == 0
    assert asked(local) == {"m1": 3, "m2": 3, "judge": 6}


def test_a_judge_that_is_required_stops_the_run_before_the_models_are_asked(local):
    assert vocabulary("run", "--require-judge") == 3
    assert local.asked == 0


def test_the_env_file_is_read_and_its_secrets_are_written_nowhere(local, monkeypatch):
    monkeypatch.delenv("LOCAL_OPENAI_BASE_URL")
    secret = "sk-very-secret-0123456789"
    Path(".env").write_text(
        f"LOCAL_OPENAI_BASE_URL={local.url}/v1\nLOCAL_OPENAI_API_KEY={secret}\nOPENAI_API_KEY={secret}-openai\n"
        "JUDGE_MODEL=local/judge\n"
    )
    for name in ("LOCAL_OPENAI_BASE_URL", "LOCAL_OPENAI_API_KEY", "OPENAI_API_KEY", "JUDGE_MODEL"):
        monkeypatch.setenv(name, "x")  # so that what .env sets is taken back after the test
        monkeypatch.delenv(name)

    assert vocabulary("run") == 0

    assert {headers["Authorization"] for headers in local.headers} == {f"Bearer {secret}"}
    written = [path.read_bytes() for path in Path().rglob("*") if path.is_file() and path.name != ".env"]
    assert not any(secret.encode() in content for content in written)


# --- again -------------------------------------------------------------------------------------------------------


def test_a_finished_run_is_done_again_and_an_unfinished_one_filled(local):
    run()
    run()
    assert asked(local)["m1"] == 6
    Path("output/m1/niño.json").unlink()
    run()
    assert asked(local)["m1"] == 7
    assert asked(local)["m2"] == 6
    assert asked(local)["judge"] == 6  # the answers are the same each time, so the judge's replies are at hand


def test_a_damaged_record_is_missing(local):
    run()
    Path("output/m2/niño.json").write_text('{"model": "m2", "wo')
    before = asked(local)

    assert run() == 2  # it may be anyone's
    assert run("--force") == 0

    assert asked(local) - before == {"m2": 1}


def test_a_corrected_definition_is_judged_again_without_asking_models(local):
    run()
    before = asked(local)
    write_suite({**WORDS, "niño": "Persona que está en la niñez."})

    assert run() == 0

    assert asked(local) - before == {"judge": 2}
    assert record("m1", "niño")["reference_definition"] == "Persona que está en la niñez."


def test_refresh_asks_all_models_again(local):
    run()
    run("--refresh")

    assert asked(local) == {"m1": 6, "m2": 6, "judge": 12}


def test_without_a_cache_what_was_judged_is_not_paid_again(local):
    run("--cache", "none")
    Path("output/m1/niño.json").unlink()
    write_suite(models=("m1", "m2", "m3"))
    before = asked(local)

    run("--cache", "none")

    assert asked(local) - before == {"m1": 1, "m3": 3, "judge": 3}


def test_retry_failures_asks_again_about_items_without_a_verdict(local):
    local.speak = speaking(judge=lambda prompt: "quizá" if "ardilla" in prompt else "correcto")
    run("--max-unjudged", "0.5")
    local.speak = speaking()
    before = asked(local)

    assert vocabulary("judge", "--judge", "local/judge", "--retry-failures") == 0

    assert asked(local) - before == {"judge": 2}
    assert summary()["models"]["m1"]["correct"] == 3


def test_a_refusal_of_a_judge_is_asked_again_only_if_failures_are_retried(local):
    """As in run files: a resumed run asks again what failed for a temporary reason."""
    local.speak = speaking(judge=lambda prompt: ("no", "refusal") if "ardilla" in prompt else "correcto")
    run("--max-unjudged", "0.5")
    refused = [row for row in judgements() if row["verdict"] == "error"]
    assert [row["failure"] for row in refused] == ["refused", "refused"]
    local.speak, before = speaking(), asked(local)

    vocabulary("judge", "--judge", "local/judge", "--max-unjudged", "0.5")
    assert asked(local) == before
    assert [row for row in judgements() if row["verdict"] == "error"] == refused

    assert vocabulary("judge", "--judge", "local/judge", "--retry-failures") == 0
    assert asked(local) - before == {"judge": 2}


def test_a_failure_that_an_earlier_version_stored_without_its_kind_is_asked_again(local):
    local.speak = speaking(judge=lambda prompt: ("no", "refusal") if "ardilla" in prompt else "correcto")
    run("--max-unjudged", "0.5")
    rows = [{key: value for key, value in row.items() if key != "failure"} for row in judgements()]
    Path("output/judgements.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    local.speak, before = speaking(), asked(local)

    assert vocabulary("judge", "--judge", "local/judge") == 0
    assert asked(local) - before == {"judge": 2}


def test_a_part_of_the_suite_leaves_the_judgements_of_the_rest(local):
    run()
    run("--filter", "word=niño", "--refresh")

    assert len(judgements()) == 6
    assert summary()["models"]["m1"]["total"] == 3


def test_models_that_are_no_longer_listed_leave_the_table(local):
    run()
    write_suite(models=("m2",))

    run()

    assert list(summary()["models"]) == ["m2"]
    assert Path("output/m1/niño.json").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_leaves_complete_records_and_resumes(number, local):
    words = {f"palabra{n}": "algo" for n in range(30)}
    write_suite(words, models=("m1",))
    local.faults.latency_s = 0.02
    command = [sys.executable, "-m", "polyjudge", "vocabulary", "run", "--judge", "local/judge", "--cache", "none"]
    for _ in range(4):
        process = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen = local.asked
        while process.poll() is None and local.asked < seen + 9:
            time.sleep(0.01)
        process.send_signal(number)
        process.wait()
        for path in Path("output").glob("*/*.json"):
            assert json.loads(path.read_text(encoding="utf-8"))["response"]

    assert run("--cache", "none") == 0

    counts = Counter(body["messages"][0]["content"] for body in local.bodies)
    assert len(judgements()) == 30
    assert sum(counts.values()) <= 60 + 4 * 20  # what was in flight at each stop may be asked twice
    assert not list(Path("output").rglob("*.part"))


def test_a_dry_run_counts_and_writes_nothing(local, capsys):
    assert run("--dry-run") == 0

    printed = capsys.readouterr().out
    assert "model calls: 6" in printed
    assert "calls:    6" in printed
    assert not Path("output").exists()
    assert local.asked == 0


# --- names -------------------------------------------------------------------------------------------------------


def test_odd_names_stay_in_the_folder_and_apart(local):
    words = [
        "../../etc",
        "a/b",
        "CON",
        "niño",
        "nin\u0303o",
        "x" * 300,
        "Polo",
        "polo",
        "x",
        "x.prompt_b",
        "/",
        "..",
        ".",
    ]
    models = ["../../up", "a/b:latest", "CON", "summary.json", "judgements.jsonl", "M", "m", "..", "y" * 300]
    write_suite(dict.fromkeys(words, "algo"), models, prompt_b="Usa '{word}'.")

    assert run() == 0

    files = [path for path in Path("output").rglob("*.json") if path.parent != Path("output")]
    assert len(files) == len(words) * len(models) * 2
    assert {path.parent.parent for path in files} == {Path("output")}
    kept = {(row["model"], row["word"], row["prompt"]) for row in map(_json, files)}
    assert {(model, word) for model, word, _ in kept} == {(model, word) for model in models for word in words}
    assert sorted(path.name for path in Path().iterdir()) == [".polyjudge", "output", "suite"]
    assert len(summary()["models"]) == len(models)


def _json(path):
    return json.loads(path.read_text(encoding="utf-8"))


# --- shipped suites ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["spanish", "hindi"])
def test_a_shipped_suite_asks_the_models_that_the_server_has(name, local, capsys):
    local.faults.models = ("gemma3:12b", "judge")
    local.speak = lambda _, prompt: "correct" if "<text-" in prompt else "x"

    assert run("--suite", name, "--filter", "model=gemma3:12b", "--filter", "prompt=a") == 0

    assert "models of the local server: gemma3:12b, judge" in capsys.readouterr().err
    assert summary()["models"]["gemma3:12b"]["percent"] == 100.0
    assert summary()["models"]["gemma3:12b"]["total"] >= (60 if name == "spanish" else 40)


def test_verbose_prints_a_line_for_each_item(local, monkeypatch, capsys):
    monkeypatch.setenv("VERBOSE", "1")

    run()

    printed = capsys.readouterr().err
    assert "m1 · ardilla · A: ok" in printed
    assert "m2 · niño · A · local/judge: correct" in printed


def test_a_bar_that_is_missed_is_exit_1(local):
    local.speak = speaking(judge=lambda prompt: "incorrecto" if "ardilla" in prompt else "correcto")

    assert run("--fail-under", "60") == 0
    assert vocabulary("summary", "--fail-under", "70") == 1


def test_a_deadline_reports_the_number_of_unfinished_items(local, capsys):
    write_suite({"ardilla": "Roedor."}, models=["m1"])
    local.faults.latency_s = 0.8

    assert run("--deadline", "0.3") == 3
    assert (
        "the deadline of 0.3 seconds is reached; none of 1 answers was judged. "
        "Progress saved. Run the same command again to resume." in capsys.readouterr().err
    )
    assert vocabulary("judge", "--judge", "local/judge", "--deadline", "0.3") == 0
    assert "not judged" not in capsys.readouterr().err
    assert summary()["models"]["m1"]["correct"] == 1


@pytest.mark.slow
def test_answers_that_the_model_did_not_give_are_not_blamed_on_the_judge(local, capsys):
    def speak(name, prompt):
        if JUDGING in prompt:
            return "correcto"
        if name == "m2":
            raise ConnectionError
        return "una respuesta"

    local.speak = speak

    assert run("--max-unjudged", "0.1", "--judge", "local/judge,local/second") == 3

    printed = capsys.readouterr().err
    assert "3 of 6 answers are missing because the model gave none (m2: 3); this is more than --max-unjudged" in printed
    assert "could not be judged by" not in printed
    assert printed.count("answers are missing") == 1


def test_answers_that_the_judge_left_undecided_are_blamed_on_the_judge(local, capsys):
    local.speak = speaking(judge="quizás")

    assert run() == 3

    printed = capsys.readouterr().err
    assert "6 of 6 answers could not be judged by local/judge; this is more than --max-unjudged allows" in printed
    assert "missing" not in printed


@pytest.mark.parametrize("content", [b"\xff\xfe", b"# none\n", None])
def test_the_list_of_the_suite_is_not_read_if_another_is_given(local, capsys, content):
    listed = Path("suite/models_list.txt")
    listed.unlink() if content is None else listed.write_bytes(content)
    Path("m.txt").write_text("m9\n", encoding="utf-8")

    assert vocabulary("generate", "--models", "m.txt") == 0
    assert vocabulary("judge", "--models", "m.txt", "--judge", "local/judge") == 0
    assert vocabulary("summary") == 0
    assert run("--models", "m.txt") == 0
    assert list(summary()["models"]) == ["m9"]
