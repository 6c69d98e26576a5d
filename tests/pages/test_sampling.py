"""Which items are sampled: every language, equally likely items, and the same ones each time."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyjudge.pages.sampling import Candidate, draw, order_for, status

CANDIDATES = st.lists(
    st.tuples(st.sampled_from(["th", "fr", "ar", ""]), st.one_of(st.none(), st.floats(0, 100)), st.booleans()),
    min_size=1,
    max_size=60,
).map(lambda rows: [Candidate(f"i{n}", *row) for n, row in enumerate(rows)])


@given(CANDIDATES, st.integers(1, 80), st.integers(0, 5))
@settings(max_examples=60)
def test_a_sample_has_as_many_items_as_asked_none_twice_and_is_the_same_each_time(candidates, count, seed):
    drawn = draw(candidates, count, seed)
    ids = [each.candidate.id for each in drawn]

    assert len(ids) == len(set(ids)) == min(count, len(candidates))
    assert drawn == draw(candidates, count, seed)
    languages = {each.language for each in candidates}
    assert len({each.candidate.language for each in drawn}) == min(len(languages), count)


@given(CANDIDATES, st.integers(4, 60))
@settings(max_examples=40)
def test_the_weights_of_a_language_add_up_to_its_items(candidates, count):
    totals = Counter()
    for each in draw(candidates, count, 1):
        totals[each.candidate.language] += each.weight
    sizes = Counter(each.language for each in candidates)

    for language, total in totals.items():
        assert total == pytest.approx(sizes[language])


def test_within_a_language_every_item_is_equally_likely():
    candidates = [Candidate(f"i{n}", "th", 5.0 if n % 3 else 1.0, flagged=n % 7 == 0) for n in range(30)]
    counts = Counter(each.candidate.id for seed in range(3000) for each in draw(candidates, 7, seed))

    assert set(counts) == {each.id for each in candidates}
    assert all(abs(count / 3000 - 7 / 30) < 0.04 for count in counts.values())


def test_every_status_has_its_share():
    candidates = [Candidate(f"i{n}", "th", [None, 1.0, 9.0, 9.0][n % 4], flagged=n % 8 == 2) for n in range(80)]
    for seed in range(20):
        found = Counter(status(each.candidate, 9.0) for each in draw(candidates, 16, seed))
        assert found == {"unjudged": 4, "low": 4, "flagged": 2, "high": 6}


def test_more_is_asked_where_the_scores_differ_more():
    alike = [Candidate(f"a{n}", "fr", 5.0) for n in range(100)]
    unlike = [Candidate(f"b{n}", "th", float(n % 5)) for n in range(100)]
    counts = Counter(each.candidate.language for each in draw([*alike, *unlike], 50, 0))

    assert counts["th"] > 2 * counts["fr"] > 0


def test_people_get_the_same_items_in_orders_of_their_own():
    ids = [f"i{n}" for n in range(30)]
    ada, ben = order_for("Ada", ids, 0), order_for("Ben", ids, 0)

    assert sorted(ada) == sorted(ben) == sorted(ids)
    assert ada != ben
    assert ada == order_for("Ada", list(reversed(ids)), 0)
