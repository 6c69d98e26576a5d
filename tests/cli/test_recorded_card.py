"""`polyjudge calibrate card --from` makes a card of any judge's recorded results, which reports and gates then find."""

import csv
import json
import os
import tarfile
from pathlib import Path

import pytest

from polyjudge.cli import main
from polyjudge.cli.examples import example_files

DATA = Path(os.environ.get("POLYJUDGE_DATA", ""))
FRAMEWORKS = Path(__file__).parents[1] / "golden" / "frameworks"
LANGUAGES = ("de", "sw")


@pytest.fixture
def folder(in_folder):
    for file in example_files():
        Path(file.name).write_bytes(file.read_bytes())
    return in_folder


def write_rows(name, rows):
    with Path(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)


def card_of(capsys, *arguments):
    given = list(map(str, arguments))
    card = [given.pop(given.index("--card") + 1)] if "--card" in given else []
    given = [each for each in given if each != "--card"]
    assert main(["calibrate", "card", *card, "--from", *given, "--resamples", "100", "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    assert main(["calibrate", "card", *map(str, arguments)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def of_tool(count=60, *, judge="gpt-5", swaps=("sw",)):
    """Write results of another tool, in which the judge is wrong about some languages; return their name."""
    rows = []
    for item in range(count):
        language = LANGUAGES[item % 2]
        score = 5 - item // 2 % 5 if language in swaps else item // 2 % 5 + 1
        row = {"schemaVersion": 1, "id": f"q{item}", "outcome": "result", "score": score, "reason": "", "model": judge}
        rows.append(
            {**row, "passed": score > 1, "language": language, "candidate": f"نص {item}", "label": item // 2 % 5 + 1}
        )
    Path("results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return "results.jsonl"


# what other commands do with it


def test_the_card_of_another_tools_results_is_found_by_reports_and_their_gate(in_folder, capsys):
    name = of_tool()
    assert main(["report", name, "--require-calibrated"]) == 1
    assert "no trust card" in capsys.readouterr().out
    card = card_of(capsys, name)
    assert card["judge"]["provider"] == "recorded"
    assert {tag: each["verdict"] for tag, each in card["languages"].items()} == {"de": "reliable", "sw": "unreliable"}

    assert main(["report", name, "--format", "json"]) == 0
    languages = {each["value"]: each for each in json.loads(capsys.readouterr().out)["groups"]}
    assert languages["sw"]["status"] == "UNRELIABLE"
    assert main(["report", name, "--format", "text"]) == 0
    assert "better item first, by people's labels" in capsys.readouterr().out
    assert main(["report", name, "--require-calibrated", "--filter", "language=de"]) == 0
    assert main(["report", name, "--require-calibrated"]) == 1


def test_a_card_of_a_judge_without_a_name_counts_where_it_is_given(folder, capsys):
    card_of(capsys, "judged.jsonl", "--labels", "labels.csv", "--judge", "openai/gpt-5", "--card", "card.json")
    assert main(["report", "judged.jsonl", "--card", "card.json"]) == 0
    assert "openai/gpt-5" in capsys.readouterr().out


def test_agreement_and_the_card_are_those_of_one_judge(in_folder, capsys):
    name = of_tool()
    card_of(capsys, name)
    assert main(["calibrate", "agreement", name, "--resamples", "100"]) == 0
    assert "recorded-gpt-5-recorded-recorded.json" in capsys.readouterr().err
    assert len(list(Path(".polyjudge/cards").iterdir())) == 1


@pytest.mark.parametrize("format_name", ["text", "markdown", "html"])
def test_every_format_says_what_was_measured_and_what_was_not(format_name, in_folder, capsys):
    assert main(["calibrate", "card", "--from", of_tool(), "--resamples", "100", "--format", format_name]) == 0
    shown = capsys.readouterr().out
    for text in (
        "reliable in 1, unreliable in 1 of 2 languages",
        "Better item first",
        "Not measured",
        "no perturbed texts",
    ):
        assert text in shown


def test_what_another_command_measures_is_no_longer_missing(folder, capsys):
    card_of(capsys, "judged.jsonl", "--judge", "openai/gpt-5", "--card", "card.json")
    before = main(["calibrate", "card", "card.json"]), capsys.readouterr().out
    card_of(capsys, "judged.jsonl", "--labels", "labels.csv", "--judge", "openai/gpt-5", "--card", "card.json")
    after = main(["calibrate", "card", "card.json"]), capsys.readouterr().out
    assert ("agreement with people:" in before[1], "agreement with people:" in after[1]) == (True, False)


# every kind of results


def test_recorded_orders_and_several_annotators_are_on_the_card(folder, capsys):
    card = card_of(capsys, "both-orders.jsonl")
    assert card["judge"]["model"] == "example-judge"
    assert card["recorded"]["orders"]["items"]["value"] == 16
    assert card["recorded"]["sources"] == ["JudgeBench output"]
    card = card_of(capsys, "pair-verdicts.json", "--labels", "pair-labels.json")
    assert card["recorded"]["failures"] == {"unreadable": 2}
    assert set(card["recorded"]["ceiling"]) == {"accuracy", "kappa", "krippendorff_alpha"}


def test_a_judge_among_annotators_has_a_card(in_folder, capsys):
    rows = [
        {"item": f"i{item}", "annotator": name, "kind": kind, "label": (item + (item % step == 0)) % 3}
        for item in range(30)
        for name, kind, step in (("a", "human", 5), ("b", "human", 7), ("m", "llm", 9))
    ]
    write_rows("labels.tsv", rows)
    Path("labels.tsv").write_text(Path("labels.tsv").read_text(encoding="utf-8").replace(",", "\t"), encoding="utf-8")
    card = card_of(capsys, "labels.tsv", "--judge", "openai/m", "--language", "Swahili")
    assert (card["judge"]["provider"], card["languages"]["sw"]["labels"]) == ("openai", 21)
    assert card["recorded"]["people"].keys() == {"a and b", "judge and a", "judge and b"}


def test_error_spans_alone_make_a_card(folder, capsys):
    card = card_of(capsys, "spans.jsonl", "--judge", "openai/model-a")
    assert card["spans"]
    assert card["recorded"]["notMeasured"]["scores"] == "the rows have error spans and no scores"


@pytest.mark.parametrize("name", ["inspect.json", "promptfoo.json", "deepeval.json", "pydantic-evals.json"])
def test_results_of_evaluation_frameworks_make_a_card(name, in_folder, capsys):
    named = name in ("promptfoo.json", "deepeval.json")
    card = card_of(capsys, FRAMEWORKS / name, *(() if named else ("--judge", "openai/gpt-5")))
    assert card["recorded"]["items"] > 0
    assert 0 < card["recorded"]["verdicts"]["value"] <= 1


def test_words_without_an_order_are_compared_but_decide_nothing(folder, capsys):
    card = card_of(capsys, "annotators.csv", "--judge", "openai/gpt-5-mini")
    assert card["agreement"].keys() == {"accuracy", "kappa", "alpha_nominal", "macro_f1"}
    assert {each["verdict"] for each in card["languages"].values()} == {"not enough data"}
    assert card["recorded"]["notMeasured"]["own_family_recorded"] == "the labels are categories without an order"


def test_rows_of_the_same_text_are_repeats(in_folder, capsys):
    rows = [
        {"id": f"q{item}", "language": "de", "score": 3 + (repeat if item < 4 else 0)}
        for item in range(8)
        for repeat in (0, 1)
    ]
    write_rows("twice.csv", rows)
    card = card_of(capsys, "twice.csv", "--judge", "openai/gpt-5")
    assert card["recorded"]["items"] == 8
    assert card["effects"]["repeats_recorded"]["size"]["value"] == 0.5


def test_two_tasks_of_a_judge_are_kept_apart_by_their_rubrics(folder, capsys):
    common = ("--judge", "openai/gpt-5")
    card_of(capsys, "judged.jsonl", *common, "--rubric", "answers")
    card_of(capsys, "compare-after.jsonl", *common, "--rubric", "summaries")
    assert len(list(Path(".polyjudge/cards").iterdir())) == 2
    assert main(["calibrate", "card", "--from", "judged.jsonl", *common]) == 0
    assert main(["calibrate", "card", "--from", "judged.jsonl", *common]) == 0
    assert "For another task, name its rubric" in capsys.readouterr().err


# wrong input


def test_a_judge_without_a_name_is_asked_for_and_never_taken_from_the_project(folder, capsys):
    Path("polyjudge.toml").write_text('judge = "openai/gpt-5-mini"\n', encoding="utf-8")
    assert "Name it with --judge NAME/MODEL" in refused(capsys, "--from", "judged.jsonl", "--labels", "labels.csv")
    assert not Path(".polyjudge/cards").exists()


def test_results_of_another_judge_are_not_renamed(in_folder, capsys):
    message = refused(capsys, "--from", of_tool(), "--judge", "anthropic/claude-opus")
    assert "--judge 'anthropic/claude-opus' is not the judge of these results, which is recorded/gpt-5" in message


def test_wrong_files_are_refused_with_what_is_wrong(folder, capsys):
    write_rows("other.csv", [{"id": "x1", "label": "3"}])
    common = ("--judge", "openai/gpt-5")
    assert "have no items in common" in refused(capsys, "--from", "judged.jsonl", "--labels", "other.csv", *common)
    assert "All annotators seem to be people" in refused(capsys, "--from", "labels.csv", *common)
    write_rows("own.csv", [{"id": "x1", "label": "3"}, {"id": "x2", "label": "4"}])
    assert "labels found, but no verdicts" in refused(capsys, "--from", "own.csv", *common)
    assert "Judge the texts first" in refused(capsys, "--from", "answers.csv", *common)
    assert "no such" in refused(capsys, "--from", "missing.jsonl", *common).casefold()
    for option, value in {"--labels": "labels.csv", "--pass-from": "0", "--cluster": "doc", "--leave-out": "x"}.items():
        assert f"{option} needs --from RESULTS" in refused(capsys, option, value)
    Path("empty.jsonl").write_text("", encoding="utf-8")
    assert refused(capsys, "--from", "empty.jsonl", *common)


def test_one_item_makes_a_card_without_a_claim(in_folder, capsys):
    card = card_of(capsys, of_tool(1))
    assert card["recorded"]["items"] == 1
    assert card["languages"]["de"]["verdict"] == "not enough data"


# published files


def of_set(name, capsys):
    """Return the figures of a set as they are on the cards, by the names of the table."""
    folder = DATA / "judges_recorded_dev" / name
    return {"pandalm": of_panda, "llmbar": of_llm_bar, "judgebench": of_judge_bench, "cje": of_cje}[name](
        folder, capsys
    )


def of_panda(folder, capsys):
    figures = {}
    for name in ("gpt-3.5-turbo", "pandalm-7b"):
        [verdicts], [labels] = folder.glob(f"{name}-testset*.json"), folder.glob("testset*.json")
        card = card_of(capsys, verdicts, "--labels", labels)
        found, people, readable = card["agreement"], card["recorded"]["people"], "readable verdicts"
        every = f"accuracy {name} against the majority"
        figures |= {
            f"replies of {name} that are no verdict": card["recorded"].get("failures", {}).get("unreadable", 0),
            f"{every}, {readable}": found["accuracy"]["value"],
            f"{every}, no verdict counted as wrong": found.get("accuracy_every_item", found["accuracy"])["value"],
            f"{every}, no verdict counted as a tie": found.get("accuracy_missing_as_tie", found["accuracy"])["value"],
            f"Cohen kappa {name} against the majority, {readable}": found["kappa"]["value"],
            f"macro F1 {name}, {readable}": found["macro_f1"]["value"],
        }
        for pair, measures in people.items():
            first, _, second = pair.partition(" and ")
            ours = f"Cohen kappa {name} {second}, {readable}"
            figures[ours if first == "judge" else f"Cohen kappa {first} {second}"] = measures["kappa"]["value"]
    return figures


def of_llm_bar(folder, capsys):
    orders = card_of(capsys, *folder.glob("*.result.json"), "--judge", "openai/gpt-3.5-turbo")["recorded"]["orders"]
    names = {
        "accuracy, first order": "accuracy_given",
        "accuracy, swapped order": "accuracy_swapped",
        "average accuracy": "accuracy_average",
        "right in both orders": "right_in_both",
        "same verdict in both orders (positional agreement)": "same_in_both",
        "Cohen kappa between the orders": "kappa",
        "share of first-shown among verdicts that change": "first_shown_of_changed",
    }
    return {name: orders[key]["value"] for name, key in names.items()}


def of_judge_bench(folder, capsys):
    card = card_of(capsys, *folder.glob("*.jsonl"))
    return {
        "accuracy over both orders, percent": 100 * card["agreement"]["accuracy"]["value"],
        "verdicts that differ between the orders": card["recorded"]["orders"]["changed"]["value"],
        "pairs with a missing verdict": card["recorded"]["orders"]["missing"]["value"],
    }


def of_cje(folder, capsys):
    figures = {}
    for path in folder.rglob("*.jsonl"):
        name = path.stem.removesuffix("_responses").removesuffix("_probe")
        card = card_of(capsys, path, "--judge", f"openai/{name}")
        means, found = card["recorded"]["means"], card["agreement"]
        figures |= {
            f"{name}: mean judge score, labelled rows": means["judge"]["value"],
            f"{name}: mean oracle label": means["people"]["value"],
            f"{name}: standard error of the oracle mean": means["people_standard_error"]["value"],
            f"{name}: Spearman judge, oracle": found["spearman"]["value"],
            f"{name}: Pearson judge, oracle": found["pearson"]["value"],
            f"{name}: Kendall tau-b": found["kendall_tau_b"]["value"],
            f"{name}: mean judge score, all rows": means["judge_all_items"]["value"],
        }
    return figures


@pytest.mark.skipif(not (DATA / "judges_recorded_dev").is_dir(), reason="POLYJUDGE_DATA lacks judges_recorded_dev")
@pytest.mark.parametrize(("name", "count"), [("pandalm", 18), ("llmbar", 7), ("judgebench", 3), ("cje", 25)])
def test_the_published_figures_are_on_the_card(name, count, in_folder, capsys):
    with (DATA / "judges_recorded_dev" / "figures.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    published = {row["figure"]: float(row["value"]) for row in rows if row["set"] == name}
    reached = {figure: value for figure, value in of_set(name, capsys).items() if figure in published}
    assert reached == {figure: pytest.approx(published[figure], abs=1e-4) for figure in reached}
    assert len(reached) >= count


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "wmt23_mqm_meta.tar.gz").is_file(), reason="POLYJUDGE_DATA lacks wmt23_mqm_meta")
def test_scores_of_the_metrics_task_make_a_card_by_language_pair(in_folder, capsys):
    with tarfile.open(DATA / "wmt23_mqm_meta.tar.gz") as archive:
        archive.extractall(in_folder, filter="data")
    labels = [part for pair in ("en-de", "he-en") for part in ("--labels", f"human-scores/{pair}.mqm.seg.score")]
    names = [f"metric-scores/{pair}/GEMBA-MQM-src.seg.score" for pair in ("en-de", "he-en")]
    card = card_of(capsys, *names, *labels, "--judge", "openai/gpt-4", "--leave-out", "refA")
    assert {tag: each["verdict"] for tag, each in card["languages"].items()} == {
        "en-de": "reliable",
        "he-en": "reliable",
    }
    assert card["effects"]["own_family_recorded"]["count"] > 1000


# the card of a recorded judge by its name


def test_a_recorded_judges_card_is_found_by_its_name_and_its_rubric(in_folder, capsys):
    name = of_tool(judge="pandalm")
    card_of(capsys, name)
    for given in (["recorded/pandalm"], ["pandalm"], ["recorded/pandalm", "--rubric", "recorded"]):
        assert main(["calibrate", "card", "--judge", *given, "--format", "json"]) == 0, given
        assert json.loads(capsys.readouterr().out)["judge"]["model"] == "pandalm"
    assert "There is no valid trust card of recorded/other" in refused(capsys, "--judge", "recorded/other")

    card_of(capsys, name, "--rubric", "helpful")
    several = refused(capsys, "--judge", "recorded/pandalm")
    assert "several rubrics: helpful (" in several
    assert ".json), recorded (" in several
    assert main(["calibrate", "card", "--judge", "recorded/pandalm", "--rubric", "helpful", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["judge"]["rubric"] == "helpful"


# the gate on results without languages


def gate(capsys, *arguments):
    code = main(["report", *arguments, "--require-calibrated"])
    return code, capsys.readouterr().err


def without_languages(name, *keys, swapped=False):
    rows = [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]
    rows = [{key: value for key, value in row.items() if key not in ("language", *keys)} for row in rows]
    if swapped:
        rows = [{**row, "label": 6 - row["label"]} for row in rows]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_results_without_languages_are_calibrated_by_the_verdict_on_the_cards_languages(in_folder, capsys):
    name = of_tool(swaps=())
    without_languages(name)
    card_of(capsys, name)
    code, why = gate(capsys, name)
    assert code == 1
    assert "no row names a language" in why
    assert "(not measured)" in why

    card_of(capsys, name, "--language", "en")
    assert gate(capsys, name) == (0, "")
    without_languages(name, swapped=True)
    card_of(capsys, name, "--language", "de")  # now reliable in one language of two
    assert gate(capsys, name)[0] == 1


def test_a_gate_on_results_without_a_judge_asks_for_a_card(in_folder, capsys):
    name = of_tool(swaps=())
    without_languages(name, "model")
    code, why = gate(capsys, name)
    assert (code, why) == (1, "polyjudge: --require-calibrated: The results name no judge. Give --card FILE.\n")
    card_of(capsys, name, "--language", "en", "--judge", "mine", "--card", "card.json")
    assert gate(capsys, name, "--card", "card.json") == (0, "")


# labels that are empty or fewer


def test_empty_files_are_refused_and_kept_figures_are_said_to_be_earlier_ones(folder, capsys):
    Path("empty.csv").write_text("id,label\n", encoding="utf-8")
    Path("nothing.jsonl").write_text("", encoding="utf-8")
    judge = ("--judge", "openai/gpt-5", "--card", "card.json")
    for labels in ("empty.csv", "nothing.jsonl"):
        shown = refused(capsys, "--from", "judged.jsonl", "--labels", labels, "--judge", "openai/gpt-5")
        assert f"{labels}: no labels of people found. Name their column with --label." in shown
    assert "no verdicts of a judge found" in refused(capsys, "--from", "nothing.jsonl", "--judge", "openai/gpt-5")
    assert not Path(".polyjudge/cards").exists()

    whole = card_of(capsys, "judged.jsonl", "--labels", "labels.csv", *judge)
    first = Path("labels.csv").read_text(encoding="utf-8").splitlines()[:15]
    Path("few.csv").write_text("\n".join(first) + "\n", encoding="utf-8")
    assert main(["calibrate", "card", "card.json", "--from", "judged.jsonl", "--labels", "few.csv", *judge[:2]]) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert f"earlier agreement with {whole['labels']} labels is kept, because these results have only 8" in shown


@pytest.mark.parametrize("command", [["calibrate", "card", "--from"], ["calibrate", "correct"]])
def test_a_misspelt_column_of_labels_is_named_with_the_one_that_was_meant(command, in_folder, capsys):
    assert main([*command, of_tool(), "--label", "labl"]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "results.jsonl: no column 'labl'" in shown
    assert "Did you mean 'label'?" in shown


def test_a_language_that_is_not_known_is_refused_and_a_known_one_gets_its_tag(in_folder, capsys):
    name = of_tool(swaps=())
    without_languages(name)
    assert "unknown language 'klingon'" in refused(capsys, "--from", name, "--language", "klingon")
    assert "Did you mean German (de)?" in refused(capsys, "--from", name, "--language", "germn")
    assert not Path(".polyjudge/cards").exists()
    for given, tag in (("German", "de"), ("العربية", "ar"), ("TH", "th"), ("ckb", "ckb"), ("de-AT", "de-AT")):
        card = card_of(capsys, name, "--language", given, "--card", f"{tag}.json")
        assert list(card["languages"]) == [tag]


def test_intervals_of_shares_end_at_0_and_1_and_those_of_scores_do_not(in_folder, capsys):
    rows = [{"id": f"p{item}", "score": int(item != 0), "label": "pass" if item else "fail"} for item in range(8)]
    write_rows("shares.csv", rows)
    means = card_of(capsys, "shares.csv", "--judge", "one/shares")["recorded"]["means"]
    assert {name: (round(means[name]["value"], 4), means[name]["high"]) for name in ("judge", "people")} == {
        "judge": (0.875, 1.0),
        "people": (0.875, 1.0),
    }
    assert 0 < means["judge"]["low"] < 0.875

    scores = [{"id": f"p{item}", "score": 5 if item else 1, "label": 5 if item else 1} for item in range(8)]
    write_rows("scores.csv", scores)
    assert card_of(capsys, "scores.csv", "--judge", "one/scores")["recorded"]["means"]["judge"]["high"] > 5


def test_people_of_a_table_of_labels_are_those_that_are_named_without_a_word_on_spans(in_folder, capsys):
    names = ("anna", "eva", "scorer-x")
    rows = [
        {"id": f"q{item}", "annotator": name, "label": item % 5, "language": "de"}
        for item in range(14)
        for name in names
    ]
    write_rows("labelled.csv", rows)
    assert main(["calibrate", "card", "--from", "labelled.csv", "--people", "anna,eva", "--resamples", "100"]) == 0
    shown = capsys.readouterr()
    assert "spans" not in shown.err
    assert "Trust card of recorded/scorer-x" in shown.out
    assert "needs at least 20 labelled items per language" in shown.out

    assert "several judges: eva, scorer-x" in refused(capsys, "--from", "labelled.csv", "--people", "anna")
    assert main(["calibrate", "card", "--from", "labelled.csv", "--people", "anna", "--judge", "scorer-x"]) == 0
    assert "list of spans" not in capsys.readouterr().err
