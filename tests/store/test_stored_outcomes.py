"""Outcomes on disk behave like a dictionary."""

from hypothesis import given
from hypothesis import strategies as st

from polyjudge.records.outcomes import Failure, JudgeResult
from polyjudge.store.run_file import StoredOutcomes

ANY_TEXT = st.text(alphabet=st.characters(), max_size=6)  # lone surrogates and NUL included
OUTCOMES = st.builds(JudgeResult, st.floats(0, 100), ANY_TEXT) | st.builds(Failure, ANY_TEXT)


@given(st.lists(st.tuples(ANY_TEXT, OUTCOMES), max_size=20), st.sets(ANY_TEXT), st.data())
def test_a_later_outcome_replaces_an_earlier_one_and_dropped_ones_are_missing(given, others, data):
    stored, known = StoredOutcomes(), {}
    for item_id, outcome in given:
        stored.add(item_id, outcome)
        known[item_id] = outcome
    wanted = data.draw(st.sets(st.sampled_from(sorted(known)))) if known else set()
    for item_id in wanted | others:
        stored.want(item_id)

    assert dict(stored) == known
    assert list(stored.unwanted()) == sorted(known.keys() - wanted - others)
    for item_id in wanted:
        stored.drop(item_id)
    assert (set(stored), len(stored)) == (known.keys() - wanted, len(known) - len(wanted))
    assert [stored.get(item_id) for item_id in wanted] == [None] * len(wanted)
