"""Messages of one language compared with each other."""

from tests.folding import for_each
from tests.review.messages import message

from polyjudge.review.consistency import Consistency, are_opposite


def pairs(*messages, wanted=()):
    gathered = Consistency()
    for place, each in enumerate(messages):
        gathered.add("a.po" if place % 2 else "b.po", each, is_wanted=not wanted or place in wanted)
    return [(pair.place.message.translation, pair.finding.kind, pair.finding.severity) for pair in gathered.findings()]


SAVE = "Save the file"


def test_the_rarer_translation_of_a_source_is_reported_and_names_the_usual_one():
    usual, rare = message(SAVE, "Datei sichern"), message(SAVE, "Die Datei speichern")

    assert pairs(usual, usual, rare) == [("Die Datei speichern", "inconsistent", "warn")]


def test_one_or_two_words_may_be_translated_by_their_place():
    assert pairs(message("Open", "Öffnen"), message("Open", "Offen")) == [("Offen", "inconsistent", "info")]


def test_case_marks_and_shortcuts_make_no_other_translation_and_an_ellipsis_makes_another_source():
    assert pairs(message("_Save it now", "Jetzt _sichern"), message("_Save it now", "_Jetzt sichern…")) == []
    assert pairs(message("Save it now…", "Sichern…"), message("Save it now", "Jetzt sichern")) == []


def test_another_context_may_need_another_translation():
    found = pairs(message(SAVE, "Datei sichern"), message(SAVE, "Sichern", context="menu"))

    assert found == [("Sichern", "inconsistent", "info")]


def test_only_messages_that_changed_are_reported_and_the_usual_one_if_it_is_the_change():
    first, second = message(SAVE, "Datei sichern"), message(SAVE, "Die Datei speichern")

    assert pairs(first, first, second, wanted={1}) == [("Datei sichern", "inconsistent", "warn")]
    assert pairs(first, first, second, wanted={2}) == [("Die Datei speichern", "inconsistent", "warn")]


def test_opposite_sources_with_one_translation_are_suspicious():
    found = pairs(
        message("Enable the service", "Dienst einschalten"), message("Disable the service", "Dienst einschalten")
    )

    assert found == [("Dienst einschalten", "same_translation", "warn")] * 2


def test_synonyms_may_share_a_translation():
    assert pairs(message("Delete the file", "Datei löschen"), message("Erase the file", "Datei löschen")) == []


@for_each(
    ("first", "second", "opposite"),
    [
        ("show hidden files", "hide hidden files", True),
        ("do not ask again", "do ask again", True),
        ("file found", "no file found", True),
        ("left", "right", True),
        ("open file", "open folder", False),
        ("not", "", False),
        ("a b c", "a", False),
    ],
)
def test_sources_are_opposite_if_they_differ_by_words_that_are(first, second, opposite):
    assert are_opposite(first, second) is opposite
    assert are_opposite(second, first) is opposite
