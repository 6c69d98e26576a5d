"""Agreement with references, by the real sacreBLEU."""

import json

import pytest

from polyjudge.checks.reference import agreement, chrf
from polyjudge.cli import main
from polyjudge.judges.offline import OfflineJudge
from polyjudge.languages.table import language_table
from polyjudge.rubrics.loading import load_rubric

pytest.importorskip("sacrebleu", reason="sacrebleu is not installed")
SOURCE = "My friend had an accident on the road. Please call 112 quickly!"
GOOD = "Mein Freund hatte einen Unfall auf der Straße. Bitte rufen Sie schnell die 112 an!"


def judged(candidate, **context):
    [outcome] = OfflineJudge(load_rubric("translation")).score_batch_sync(
        [(candidate, {"language": "de", "source": SOURCE, **context})]
    )
    return outcome


def test_agreement_with_a_reference_gives_a_coherence_score_and_little_agreement_gives_none():
    same = judged(GOOD, reference=GOOD)
    near = judged(GOOD, reference="Mein Freund hatte gerade einen Unfall. Rufen Sie doch bitte rasch die Nummer 112!")
    far = judged(GOOD, reference="Hilfe, wählt doch endlich den Notruf, er blutet ja!")

    assert same.subscores["coherence"] == 5
    assert "chrF++ 100 against the reference" in same.reason
    assert same.provenance.parameters["chrf"].startswith("nrefs:1|case:mixed|")
    assert near.subscores["coherence"] == 4
    assert "coherence" not in far.subscores
    assert "chrF++" in far.reason


def test_a_failing_check_outweighs_agreement_with_a_reference():
    perturbed = GOOD.replace("112", "211")

    assert judged(perturbed, reference=perturbed).subscores["coherence"] == 2
    assert judged("", reference=GOOD).subscores["coherence"] == 1


@pytest.mark.parametrize(
    ("tag", "text", "reference", "tokenizer"),
    [
        ("zh-Hans", "请问最近的火车站在哪里？", "请问，最近的火车站在哪儿？", "zh"),
        ("yue", "請問最近嘅火車站喺邊度呀？", "請問最近嘅火車站喺邊？", "zh"),
        ("ja", "一番近い駅はどこですか？", "最も近い駅はどこですか？", "char"),
        ("th", "สถานีรถไฟที่ใกล้ที่สุดอยู่ที่ไหน", "สถานีรถไฟใกล้ที่สุดอยู่ที่ไหนครับ", "char"),
        ("de", "Wo ist der nächste Bahnhof, bitte?", "Wo ist der nächste Bahnhof?", "13a"),
        ("hi", "सबसे नज़दीकी रेलवे स्टेशन कहाँ है?", "सबसे नज़दीकी स्टेशन कहाँ है?", "intl"),
    ],
)
def test_words_are_split_by_the_rules_of_the_language(tag, text, reference, tokenizer):
    """If split at spaces, good Chinese and Thai texts have no words in common with their reference."""
    measured = agreement([text], [reference], language_table().find(tag))

    assert f"tok:{tokenizer}|" in measured.bleu_signature
    assert measured.bleu > 25
    assert 30 < measured.chrf < 100
    assert "nw:2" in measured.chrf_signature


def test_the_figures_equal_those_of_its_command_line():
    """chrF++ and BLEU of two sentences, by sacrebleu's own command line (2.6.0, `-m chrf bleu --chrf-word-order 2`)."""
    texts = ["The dog bit the man.", "It was not unexpected."]
    references = ["The dog had bit the man.", "No one was surprised."]
    measured = agreement(texts, references, language_table().find("en"))

    assert (round(measured.chrf, 1), round(measured.bleu, 1)) == (45.4, 33.7)
    assert chrf("same", "same") == 100


def test_the_command_measures_what_has_references(in_folder, capsys):
    prompts = [{"sourceText": SOURCE, "generatedOutput": GOOD, "reference": GOOD}]
    rows = [{"languageName": "German", "languageCode": "de", "prompts": prompts}]
    (in_folder / "results.json").write_text(json.dumps(rows), encoding="utf-8")

    assert main(["translation", "check", "results.json", "--format", "json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["agreement"]["chrf"], row["agreement"]["count"]) == (100, 1)
    assert main(["translation", "check", "results.json"]) == 0
    assert "chrF++" in capsys.readouterr().out
