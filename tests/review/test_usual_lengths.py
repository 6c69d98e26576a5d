"""Translations that are far shorter than the others of their file."""

from tests.folding import for_each
from tests.review.messages import findings, message

PAIRS = {
    "Click to add a color to the palette": "Klicken, um der Palette eine Farbe hinzuzufügen",
    "The printer could not be found on the network": "Der Drucker wurde im Netzwerk nicht gefunden",
    "Choose the folder for the pictures": "Wählen Sie den Ordner für die Bilder",
    "Show the names of hidden files in the list": "Die Namen versteckter Dateien in der Liste zeigen",
}
SOURCE = "Copy the current selection to the other pane in the window"


@for_each(
    ("translation", "severity"),
    [
        ("Die aktuelle Auswahl in den anderen Bereich des Fensters kopieren", ""),
        ("Die Auswahl in den anderen Bereich kopieren", ""),
        ("Die aktuelle Auswahl in den", "info"),
        ("Die aktuelle Auswahl", "warn"),
    ],
)
def test_a_text_that_ends_early_is_found(translation, severity):
    found = findings(*(message(*pair) for pair in PAIRS.items()), message(SOURCE, translation))

    assert [each.severity for each in found if each.kind == "wrong_length"] == ([severity] if severity else [])


def test_what_is_usual_is_that_of_the_file():
    dense = {f"{source} {place}": text[:18] for place in range(8) for source, text in PAIRS.items()}

    found = findings(*(message(*pair) for pair in dense.items()), message(SOURCE, "Die aktuelle Auswahl"))

    assert [each for each in found if each.kind == "wrong_length"] == []


def test_a_short_label_may_be_much_shorter():
    assert findings(message("Show all the files", "Alle")) == []
