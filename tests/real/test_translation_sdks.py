"""Quick and full through the vendors' own SDKs, against a loopback server that answers as models should not."""

import json
import re
from pathlib import Path

import pytest

from polyjudge.cli import main

SECRET = "sk-very-secret-key-0123456789"
IDS = re.compile(r"^## Candidate ([0-9a-f]{8})$", re.MULTILINE)
SOURCE = "Excuse me, where is the nearest train station?"
OUTPUTS = {
    "th": "ขอโทษครับ สถานีรถไฟที่ใกล้ที่สุดอยู่ที่ไหนครับ",
    "ru": "Извините, где находится ближайшая железнодорожная станция?",
    "hi": "माफ़ कीजिए, सबसे नज़दीकी रेलवे स्टेशन कहाँ है?",
    "yue": "唔好意思，請問最近嘅火車站喺邊度呀？",
    "es-419": "Disculpe, ¿dónde está la estación de tren más cercana?",
    "ko": "실례합니다, 가장 가까운 기차역이 어디에 있나요?",
}
NAMES = {
    "th": "Thai",
    "ru": "Russian",
    "hi": "Hindi",
    "yue": "Cantonese",
    "es-419": "Spanish (Latin American)",
    "ko": "Korean",
}


@pytest.fixture
def results(in_folder):
    rows = [
        {
            "languageName": NAMES[tag],
            "languageCode": tag,
            "prompts": [{"sourceText": SOURCE, "generatedOutput": output, "category": "directions"}],
        }
        for tag, output in OUTPUTS.items()
    ]
    Path("results.json").write_text(json.dumps({"bindingUsed": "b", "results": rows}), encoding="utf-8")


@pytest.fixture
def anthropic(server, monkeypatch, results):
    pytest.importorskip("anthropic", reason="the SDK anthropic is not installed")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    return server


@pytest.fixture
def google(server, monkeypatch, results):
    pytest.importorskip("google.genai", reason="the SDK google-genai is not installed")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    monkeypatch.setenv("GOOGLE_GENAI_API_KEY", SECRET)
    return server


def row(score=4):
    scores = {"script": score, "grammar": score, "coherence": score}
    return {"reason": "well said", "subscores": scores, "isCorrectLanguage": True}


def scores(tier):
    text = Path(f"results-{tier}-judge.json").read_text(encoding="utf-8")
    assert SECRET not in text
    return {each["languageCode"]: each for each in json.loads(text)}


def batched(change):
    """Answer a batch with a change to its rows, which have fives, and a single question with a three."""

    def verdict(prompt):
        ids = IDS.findall(prompt)
        return change([{"id": item_id, **row(5)} for item_id in ids]) if ids else json.dumps(row(3))

    return verdict


def test_quick_asks_sonnet_for_at_most_512_tokens(anthropic, capsys):
    anthropic.verdict = lambda _: json.dumps(row())

    assert main(["translation", "quick", "results.json"]) == 0

    shown = capsys.readouterr()
    assert "6 languages: 6 PASS" in shown.out
    assert {body["model"] for body in anthropic.bodies} == {"claude-sonnet-4-6"}
    assert {body["max_tokens"] for body in anthropic.bodies} == {512}
    asked = [body["messages"][0]["content"] for body in anthropic.bodies]
    assert [OUTPUTS["yue"] in prompt for prompt in asked] == ["Is this Cantonese" in prompt for prompt in asked]
    found = scores("quick")["th"]["prompts"][0]["provenance"]
    assert (found["provider"], found["model"], found["parameters"]["max_tokens"]) == (
        "anthropic", "claude-sonnet-4-6", 512,
    )  # fmt: skip
    assert found["inputTokens"] == 100
    assert found["costUsd"] > 0


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (("", "refusal"), "refused"),
        (("I will not.", "refusal"), "refused"),
        (('{"reason": "it is', "length"), "unreadable"),
        ("I would give it a good mark.", "unreadable"),
        ("", "unreadable"),
    ],
)
def test_quick_leaves_unjudged_what_the_model_does_not_judge(answer, kind, anthropic, capsys):
    anthropic.verdict = lambda prompt: answer if OUTPUTS["ru"] in prompt else json.dumps(row())

    assert main(["translation", "quick", "results.json"]) == 0
    assert "5 PASS, 1 UNJUDGED" in capsys.readouterr().out
    russian = scores("quick")["ru"]
    assert russian["error"].startswith(f"{kind}: ")
    assert (russian["scriptScore"], russian["isCorrectLanguage"]) == (None, None)
    assert main(["translation", "quick", "results.json", "--max-unjudged", "0.1"]) == 3


def test_full_asks_gemini_flash_about_all_languages_at_once(google, capsys):
    google.verdict = batched(lambda rows: json.dumps({"rows": rows}))

    assert main(["translation", "full", "results.json", "--drift-tolerance", "9"]) == 0

    shown = capsys.readouterr()
    assert "6 languages: 6 PASS" in shown.out
    assert "6 languages in a call move scores by 2.00 on average (1 compared, 0 flipped)" in shown.out
    assert google.asked == 2
    found = [each["prompts"][0] for each in scores("full").values()]
    assert sorted(each["grammarScore"] for each in found) == [3, 5, 5, 5, 5, 5]
    assert {each["provenance"]["model"] for each in found} == {"gemini-3.6-flash"}
    config = next(body for body in google.bodies if IDS.search(json.dumps(body).replace("\\n", "\n")))
    assert config["generationConfig"]["responseMimeType"] == "application/json"


@pytest.mark.parametrize(
    ("change", "alone"),
    [
        pytest.param(lambda rows: json.dumps({"rows": rows[1:]}), 1, id="missing"),
        pytest.param(lambda rows: json.dumps({"rows": [{**rows[0], "id": "beefbeef"}, *rows[1:]]}), 1, id="renamed"),
        pytest.param(lambda rows: json.dumps({"rows": [*rows, {**rows[0], **row(1)}]}), 1, id="doubled"),
        pytest.param(lambda rows: json.dumps({"rows": rows[::-1]}), 0, id="another order"),
        pytest.param(lambda rows: json.dumps({"rows": [*rows[3:], *rows[:3]]}), 0, id="turned round"),
        pytest.param(json.dumps, 0, id="bare list"),
        pytest.param(lambda _: ("", "refusal"), 6, id="refusal"),
        pytest.param(lambda rows: (json.dumps({"rows": rows})[:40], "length"), 6, id="cut off early"),
        pytest.param(lambda _: "They are all fine.", 6, id="prose"),
    ],
)  # fmt: skip
def test_full_matches_rows_by_their_ids_and_asks_alone_for_those_amiss(change, alone, google, capsys):
    google.verdict = batched(change)

    assert main(["translation", "full", "results.json", "--drift-tolerance", "9"]) == 0

    assert "6 languages: 6 PASS" in capsys.readouterr().out
    marks = sorted(each["grammarScore"] for each in scores("full").values())
    assert marks.count(3) in ({alone, alone + 1} if alone < 6 else {6})  # the one that is compared is judged alone too
    assert set(marks) <= {3, 5}
    assert all(each["judged"] == 1 for each in scores("full").values())
    # One batch, one to compare, and those that came back amiss, of which the cache may know the one compared.
    assert 1 + alone <= google.asked <= 2 + alone
    assert set(google.delivered.values()) == {1}


def test_full_takes_from_a_reply_that_is_cut_off_nothing_that_is_not_whole(google, capsys):
    def cut(rows):
        whole = json.dumps({"rows": rows})
        return whole[: whole.index(rows[4]["id"]) + 60], "length"

    google.verdict = batched(cut)

    assert main(["translation", "full", "results.json", "--drift-tolerance", "9"]) == 0
    found = scores("full")
    assert all(each["judged"] == 1 for each in found.values())
    assert [found[tag]["grammarScore"] for tag in list(OUTPUTS)[4:]] == [3, 3]


def test_full_is_halved_until_it_says_what_single_questions_do(google, capsys):
    def change(rows):
        return json.dumps({"rows": [{**each, **row(1 if len(rows) > 3 else 3)} for each in rows]})

    google.verdict = batched(change)

    assert main(["translation", "full", "results.json"]) == 0
    assert "3 languages in a call move scores by 0.00 on average (1 compared, 0 flipped, 6 moved them 2.00)" in (
        capsys.readouterr().out
    )
    assert {each["grammarScore"] for each in scores("full").values()} == {3}


def test_no_key_is_written_anywhere(anthropic, in_folder, capsys):
    anthropic.verdict = lambda _: json.dumps(row())

    assert main(["translation", "quick", "results.json"]) == 0
    shown = capsys.readouterr()
    assert SECRET not in shown.out + shown.err
    for file in in_folder.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes()
