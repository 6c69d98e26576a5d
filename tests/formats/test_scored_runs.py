"""Scores on disk behave like a sorted dictionary."""

from hypothesis import example, given
from hypothesis import strategies as st

from polyjudge.files.spill import Names
from polyjudge.formats.scored_items import ScoredItem, ScoredItems

ANY_TEXT = st.text(alphabet=st.characters(), max_size=6)  # lone surrogates and NUL included
SCORES = st.none() | st.floats(-1e12, 1e12)
ITEMS = st.lists(st.builds(ScoredItem, ANY_TEXT, ANY_TEXT, SCORES, ANY_TEXT, place=st.just(-1)), max_size=30)


@given(ITEMS)
@example([ScoredItem("", "\ud800"), ScoredItem("", "\ue000"), ScoredItem("", "\U0001f600"), ScoredItem("", "\uffff")])
def test_items_are_sorted_by_language_and_id_and_the_first_duplicate_is_kept(items):
    scored = ScoredItems()
    known = {}
    for item in items:
        assert scored.add(item) == (item.key not in known)
        known.setdefault(item.key, item._replace(place=len(known)))

    assert list(scored) == [known[key] for key in sorted(known)]
    assert len(scored) == len(known)
    assert scored.names_languages == any(item.language for item in items)


def test_items_are_found_by_their_places_which_a_copy_keeps():
    read = ScoredItems([ScoredItem("th", "b"), ScoredItem("fr", "a"), ScoredItem("fr", "c")])
    copied = ScoredItems(item._replace(language="de") for item in read)

    assert read.at([2, 0, 2]) == {0: ("th", "b"), 2: ("fr", "c")}
    assert copied.at(range(3)) == {0: ("de", "b"), 1: ("de", "a"), 2: ("de", "c")}


def test_items_with_the_same_content_are_a_cluster_only_if_wanted():
    scored = ScoredItems()
    for place, content in enumerate(["x", "y", "x", ""]):
        scored.add(ScoredItem("", str(place), 1.0, "named"), content=content)

    assert [item.cluster for item in scored] == ["named"] * 4
    scored.joins_content = True
    first, second, third, last = (item.cluster for item in scored)
    assert first == third != second
    assert last == ""
    assert scored.get("", "2") == ScoredItem("", "2", 1.0, first)


@given(ITEMS, ANY_TEXT)
def test_only_language_is_empty_for_an_id_in_several_languages(items, wanted):
    scored = ScoredItems(items)

    for item_id in {wanted, *(item.id for item in items)}:
        languages = {item.language for item in items if item.id == item_id}
        assert scored.only_language(item_id) == (languages.pop() if len(languages) == 1 else "")


@given(st.lists(ANY_TEXT, max_size=30))
def test_names_are_numbered_in_order_of_appearance_and_yielded_sorted(given):
    names = Names()
    distinct = list(dict.fromkeys(given))

    assert [names.number(name) for name in given] == [distinct.index(name) for name in given]
    assert [distinct[number] for number in names.in_order()] == sorted(distinct)
