"""Generated translations become a results file: every prompt in every language, or its failure."""

import sys

import pytest

from polyjudge.errors import RefusedError, TransientError
from polyjudge.formats.prompt_sets import PromptSet, SourcePrompt
from polyjudge.languages.table import language_table
from polyjudge.providers.scripted import ScriptedProvider
from polyjudge.records.outcomes import Failure, Generated, Provenance
from polyjudge.records.requests import Reply
from polyjudge.runs.run import Run
from polyjudge.suites.translation_generation import (
    CommandTranslator,
    ModelTranslator,
    assembled,
    items_for,
    translation_row,
)

TABLE = language_table()
THAI, GREEK, YUE = (TABLE.find(tag) for tag in ("th", "el", "yue"))
PROMPTS = PromptSet(
    "two", (SourcePrompt("Where is {name}?", "directions"), SourcePrompt("$(touch made)\n'\"", "basics", "ref"))
)
SAY = "import sys; sys.stdout.write(' '.join(sys.argv[1:]) + ' ' + sys.stdin.read() + '\\n')"


def made(translator, languages=(THAI, GREEK)):
    summary = Run(items_for(languages, PROMPTS), translator, cache=None).execute()
    return {item.id: outcome for item, outcome in summary.outcomes()}


def model(answer, **options):
    return ModelTranslator("m", PROMPTS, provider=ScriptedProvider(answer), **options)


def written(text, duration_ms=0, tokens=None):
    origin = Provenance(
        provider="p", model="m", rubric="two", rubric_fingerprint="", prompt_sha256="", output_tokens=tokens
    )
    return Generated(text, duration_ms=duration_ms, provenance=origin)


def test_every_prompt_is_an_item_in_every_language():
    assert [item.id for item in items_for([THAI, GREEK], PROMPTS)] == ["th:0", "th:1", "el:0", "el:1"]


def test_a_model_gets_language_and_text_and_its_answer_is_stored_with_its_cost():
    asked = []

    def answer(request):
        asked.append(request)
        return Reply(text="  คำแปล\n", model="m", output_tokens=7)

    found = made(model(answer, max_tokens=99), [THAI])

    assert [(each.text, each.provenance.output_tokens) for each in found.values()] == [("คำแปล", 7)] * 2
    assert asked[0].prompt == PROMPTS.instruction("Thai", "Where is {name}?")
    assert (asked[0].model, asked[0].max_tokens) == ("m", 99)


@pytest.mark.parametrize(("error", "kind"), [(RefusedError("no"), "refused"), (TransientError("later"), "transient")])
def test_a_failed_translation_is_reported_and_the_others_are_written(error, kind):
    def answer(request):
        if "Greek" in request.prompt:
            raise error
        return "คำแปล"

    found = made(model(answer))

    assert [type(each) for each in found.values()] == [Generated, Generated, Failure, Failure]
    assert [(each.kind, each.reason) for each in found.values() if isinstance(each, Failure)] == [
        (kind, str(error))
    ] * 2


def test_a_program_reads_the_text_and_gets_the_language_as_an_argument():
    command = [sys.executable, "-c", SAY, "--to={tag}", "{language}", "{unknown}", "$HOME"]

    found = made(CommandTranslator(command, timeout_s=60), [YUE])

    assert found["yue:0"].text == "--to=yue Cantonese {unknown} $HOME Where is {name}?"
    assert found["yue:1"].text == "--to=yue Cantonese {unknown} $HOME $(touch made)\n'\""
    assert found["yue:0"].provenance is None


def test_a_program_can_read_the_whole_instruction():
    found = made(CommandTranslator([sys.executable, "-c", SAY], timeout_s=60, sends_instruction=True), [THAI])

    assert found["th:0"].text.strip() == PROMPTS.instruction("Thai", "Where is {name}?")


def test_a_program_that_fails_for_one_language_fails_only_there():
    code = "import sys; sys.exit('no Greek') if sys.argv[1] == 'el' else print('ok')"

    found = made(CommandTranslator([sys.executable, "-c", code, "{tag}"], timeout_s=60))

    assert [str(found[name].text) for name in ("th:0", "th:1")] == ["ok", "ok"]
    assert "no Greek" in found["el:0"].reason


def test_a_row_has_timing_and_rate_if_they_are_known():
    assert translation_row(written("x", 500, 20)) == {
        "generatedOutput": "x", "tokenCount": 20, "tokensPerSecond": 40.0, "durationMs": 500,
    }  # fmt: skip
    assert translation_row(written("x", 0, 20))["tokensPerSecond"] is None
    assert translation_row(Generated("x", duration_ms=500))["tokenCount"] is None


def test_results_have_the_script_check_and_omit_missing_prompts():
    rows = {
        "th:0": translation_row(written("{name} อยู่ที่ไหน", 10, 5)),
        "el:1": translation_row(written("สวัสดี", 10, 5)),
        "yue:0": translation_row(written("", 10, 5)),
    }

    thai, greek, yue = assembled([THAI, GREEK, YUE], PROMPTS, rows, TABLE)

    assert (thai.language_name, thai.language_code, thai.script_family, thai.priority) == (
        "Thai", "th", THAI.family, "standard",
    )  # fmt: skip
    assert yue.priority == "must-have"
    [first] = thai.prompts
    assert (first.category, first.source_text, first.script_validation_passed) == (
        "directions",
        "Where is {name}?",
        True,
    )
    assert (first.token_count, first.duration_ms, first.tokens_per_second) == (5, 10, 500.0)
    assert first.prompt == PROMPTS.instruction("Thai", "Where is {name}?")
    assert (greek.prompts[0].script_validation_passed, greek.prompts[0].reference) == (False, "ref")
    assert yue.prompts[0].script_validation_passed is False
