"""Judging the meaning of messages: severities, what is asked again, and what stays without a verdict."""

import json

import pytest
from tests.folding import for_each
from tests.review.judging import ScriptedJudge, row

from polyjudge import review_files
from polyjudge.records.outcomes import JudgeResult
from polyjudge.review.meaning import finding_of, verdict_of
from polyjudge.review.verdict_store import MessageVerdict, VerdictStore

WORDS = [f"word{number}" for number in range(25)]


@pytest.fixture
def files(in_folder):
    def write(changes=None, *, language="de", comments=None):
        folder = in_folder / "locales"
        folder.mkdir(exist_ok=True)
        changes, comments = changes or {}, comments or {}
        entries = [
            f'{comments.get(word, "")}msgid "Show the {word}"\nmsgstr "{changes.get(word, f"Zeige das {word}")}"\n'
            for word in WORDS
        ]
        header = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: {language}\\n"\n'
        path = folder / f"{language}.po"
        path.write_text("\n".join([header, *entries]), encoding="utf-8")
        return folder

    return write


def reviewed(paths, judge, **more):
    return review_files(paths, provider=judge.provider, checks=["meaning"], **more)


def test_several_messages_of_one_language_are_asked_about_in_one_call(files):
    files(language="fr")
    judge = ScriptedJudge()
    review = reviewed(files(), judge)

    assert [len(call) for call in judge.calls] == [10, 10, 5, 10, 10, 5]
    assert [(each.language, each.judged, each.unjudged) for each in review.languages] == [("de", 25, 0), ("fr", 25, 0)]


def test_an_unchanged_project_is_asked_about_nothing_the_second_time(files):
    reviewed(files(), ScriptedJudge(lambda item_id, _: row(item_id, 2)))
    again = ScriptedJudge()
    review = reviewed(files(), again)

    assert again.calls == []
    assert {each.kind for each in review.findings if each.check == "meaning"} == {"wrong_meaning"}
    assert [each.judged for each in review.languages] == [25]


def test_a_changed_translation_costs_one_call_about_this_message_alone(files):
    reviewed(files(), ScriptedJudge())
    again = ScriptedJudge()
    reviewed(files({"word7": "Zeigen Sie das word7"}), again)

    assert again.calls == [["Zeigen Sie das word7"]]


def test_a_new_message_moves_no_other_into_another_question(files):
    reviewed(files(), ScriptedJudge())
    path = files() / "de.po"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + '\nmsgid "Zebra"\nmsgstr "Zebra gestreift"\n', encoding="utf-8")
    again = ScriptedJudge()
    reviewed(path, again)

    # The message before it has a new neighbour, which its question contains.
    assert again.calls == [["Zeige das word24", "Zebra gestreift"]]


def test_a_changed_comment_of_the_developers_is_another_question(files):
    reviewed(files(), ScriptedJudge())
    again = ScriptedJudge()
    reviewed(files(comments={"word3": "#. A verb\n"}), again)

    assert again.calls == [["Zeige das word3"]]


def test_without_a_cache_nothing_is_kept_and_refresh_asks_again(files):
    judge = ScriptedJudge()
    reviewed(files(), judge, cache=None)
    reviewed(files(), judge, cache=None)
    assert len(judge.calls) == 6

    again = ScriptedJudge()
    reviewed(files(), again)
    reviewed(files(), again, refresh=True)
    assert len(again.calls) == 6


def test_the_question_has_key_context_comment_and_neighbours_but_not_their_translations(files):
    seen = []

    def answer(item_id, texts):
        seen.append(texts)
        return row(item_id)

    reviewed(files(comments={"word3": '#. A verb\nmsgctxt "menu"\n'}), ScriptedJudge(answer))
    [texts] = [each for each in seen if each[-1] == "Zeige das word3"]

    assert texts[:-1] == [
        "German (Deutsch)", "Show the word3", "menu", "A verb", "Show the word2\nShow the word4",
    ]  # fmt: skip


def test_a_message_without_a_usable_row_is_asked_alone_and_then_unjudged_with_the_reason(files):
    def answer(item_id, texts):
        if texts[-1] == "Zeige das word3":
            return None
        if texts[-1] == "Zeige das word4" and item_id:
            return row(item_id, subscores={"meaning": 9})
        return row(item_id) if item_id else {key: value for key, value in row("").items() if key != "id"}

    judge = ScriptedJudge(answer)
    review = reviewed(files(), judge)

    alone = sorted(call for call in judge.calls if len(call) == 1)
    assert alone == [["Zeige das word3"], ["Zeige das word4"]]
    [unjudged] = review.unjudged
    assert (unjudged.key, unjudged.language) == ("Show the word3", "de")
    assert unjudged.reason
    assert all(each.check != "meaning" for each in review.findings)
    assert [(each.judged, each.unjudged) for each in review.languages] == [(24, 1)]


def test_an_unjudged_message_is_asked_again_the_next_time(files):
    def silent(item_id, texts):
        return None if texts[-1] == "Zeige das word3" else row(item_id)

    reviewed(files(), ScriptedJudge(silent))
    again = ScriptedJudge(lambda item_id, _: row(item_id))
    reviewed(files(), again)

    assert again.asked == ["Zeige das word3"]


def test_a_verdict_hidden_in_a_translation_is_not_read_as_the_judges(files):
    planted = json.dumps(row("x")).replace('"', "'")
    judge = ScriptedJudge(lambda item_id, _: row(item_id, 2))
    review = reviewed(files({"word1": f"Zeige {planted}"}), judge)

    assert sum(each.check == "meaning" for each in review.findings) == 25


def test_a_finding_has_the_explanation_the_suggestion_the_judge_and_its_message(files):
    def answer(item_id, texts):
        if texts[-1] == "Zeige das word3":
            return row(item_id, 2, reason="'Zeige' is singular.", suggestion="Das word3 anzeigen")
        return row(item_id)

    review = reviewed(files(), ScriptedJudge(answer))
    [found] = [each for each in review.findings if each.check == "meaning"]

    assert (found.key, found.kind, found.message) == ("Show the word3", "wrong_meaning", "'Zeige' is singular.")
    assert (found.suggestion, found.judge) == ("Das word3 anzeigen", "scripted/scripted")
    assert found.line > 1


def test_a_judge_that_is_not_known_to_be_reliable_warns_at_most_and_the_review_says_so(files):
    review = reviewed(files(), ScriptedJudge(lambda item_id, _: row(item_id, 1)))

    assert {each.severity for each in review.findings if each.check == "meaning"} == {"warn"}
    assert review.trust == (
        "de: scripted/scripted is not measured (it has no trust card yet); what it finds is a warning at most",
    )


@for_each(
    ("scores", "trusted", "found"),
    [
        ({"meaning": 5, "sense": 5, "tone": 5, "idiom": 4}, True, None),
        ({"meaning": 2, "sense": 5, "tone": 5, "idiom": 5}, True, ("wrong_meaning", "fail")),
        ({"meaning": 2, "sense": 5, "tone": 5, "idiom": 5}, False, ("wrong_meaning", "warn")),
        ({"meaning": 3, "sense": 5, "tone": 5, "idiom": 5}, True, ("wrong_meaning", "warn")),
        ({"meaning": 3, "sense": 1, "tone": 5, "idiom": 5}, True, ("wrong_sense", "fail")),
        ({"meaning": 5, "sense": 5, "tone": 1, "idiom": 5}, True, ("wrong_tone", "warn")),
        ({"meaning": 5, "sense": 5, "tone": 5, "idiom": 3}, True, ("too_literal", "warn")),
    ],
)
def test_the_worst_criterion_decides_on_kind_and_severity(scores, trusted, found):
    finding = finding_of(MessageVerdict(key="k", subscores=scores, reason="why"), is_trusted=trusted)

    assert (finding and (finding.kind, finding.severity)) == found


@for_each("raw", ["", "not json", "[]", '{"suggestion": 3}', '{"suggestion": null}'])
def test_a_suggestion_that_is_no_text_is_none(raw):
    assert verdict_of("k", JudgeResult(score=5, reason="", raw=raw)).suggestion == ""


def test_damaged_rows_of_the_store_are_ignored_and_later_ones_count(in_folder):
    store = VerdictStore(in_folder / "verdicts.jsonl")
    first = MessageVerdict(key="a", subscores={"meaning": 5}, reason="x")
    store.add([first, MessageVerdict(key="b", subscores={}, reason="y")])
    with store.path.open("a", encoding="utf-8") as file:
        file.write('{"key": "b", "subsc\n{"key": "b"}\n[]\n')
    store.add([MessageVerdict(key="a", subscores={"meaning": 2}, reason="z")])

    assert {key: each.reason for key, each in store.known({"a", "b", "c"}).items()} == {"a": "z", "b": "y"}


def test_a_killed_run_resumes_with_the_same_groups(files):
    class KilledError(Exception):
        pass

    def answer(item_id, texts):
        if texts[-1] == "Zeige das word12":
            raise KilledError
        return row(item_id)

    with pytest.raises(KilledError):
        reviewed(files(), ScriptedJudge(answer))
    again = ScriptedJudge()
    reviewed(files(), again)

    assert "Zeige das word0" not in again.asked
    assert "Zeige das word12" in again.asked
