"""JSON in pieces is the JSON of the whole."""

from hypothesis import given
from hypothesis import strategies as st

from polyjudge.files.json_lines import readable_json
from polyjudge.files.json_pieces import readable_pieces

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    row=st.dictionaries(st.text(max_size=5), VALUES, max_size=4),
    items=st.lists(VALUES, max_size=4),
    key=st.text(max_size=5),
    indent=st.sampled_from([None, 0, 1, 3]),
)
def test_the_pieces_together_are_the_json_of_the_object(row, items, key, indent):
    whole = {**row, key: items}

    pieces = list(readable_pieces({**row, key: iter(items)}, indent=indent))

    assert "".join(pieces) == readable_json(whole, indent=indent)
