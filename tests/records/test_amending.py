"""A record amended is what `dataclasses.replace` makes of it."""

from dataclasses import FrozenInstanceError, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyjudge import JudgeResult, Reply
from polyjudge.records import amended

RECORDS = [Reply(text="yes", model="m"), JudgeResult(80.0, "good")]


@given(record=st.sampled_from(RECORDS), values=st.lists(st.integers(), min_size=3, max_size=3), data=st.data())
def test_any_fields_are_changed_and_no_others(record, values, data):
    names = st.lists(st.sampled_from([field.name for field in fields(record)]), unique=True, max_size=3)
    changes = dict(zip(data.draw(names), values, strict=False))

    made = amended(record, **changes)

    assert made == replace(record, **changes)
    assert type(made) is type(record)
    assert repr(made) == repr(replace(record, **changes))


def test_the_record_itself_stays_and_so_does_what_was_made():
    reply = RECORDS[0]
    made = amended(reply, text="no")

    assert reply.text == "yes"
    with pytest.raises(FrozenInstanceError):
        made.text = "maybe"


def test_what_is_no_field_is_refused():
    with pytest.raises(ValueError, match="longer|shorter"):
        amended(RECORDS[0], colour="red")
