"""Law: decode(encode(x)) is x."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property.strategies import actions
from truckee.protocol.actions import Action, decode_actions, encode_actions

pytestmark = pytest.mark.property


# Invariant 6.
@given(st.lists(actions, max_size=5))
@settings(deadline=None)
def test_actions_survive_the_way_to_a_file_and_back(written: list[Action]) -> None:
    assert decode_actions(encode_actions(written)) == written


@given(st.lists(actions, min_size=1, max_size=5))
@settings(deadline=None)
def test_each_action_is_one_line(written: list[Action]) -> None:
    data = encode_actions(written)

    assert data.endswith(b"\n")
    assert data.count(b"\n") == len(written)
