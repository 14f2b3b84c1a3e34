"""What the elements of a list are called, for people."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.agent.element_names import LONGEST, name_of


@pytest.mark.parametrize(
    ("element", "name"),
    [
        ("North", "North"),
        ({"name": "North", "id": 7}, "North"),
        ({"name": "", "id": 7}, "7"),
        ({"open": True, "key": "n"}, "n"),
        ({"name": {"first": "N"}}, "3"),
        ({"id": True}, "3"),
        (12.5, "12.5"),
        (None, "3"),
        (["North"], "3"),
        ("  ", "3"),
        ("a\nb\x1b[1m`c`", "a b 1m c"),
        ("x" * 300, "x" * (LONGEST - 1) + "…"),
    ],
)
def test_an_element_is_called_by_what_names_it(element: Any, name: str) -> None:
    assert name_of(element, 3) == name


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda one: st.dictionaries(st.text(), one)))
def test_a_name_is_one_short_line_that_ends_no_path(element: Any) -> None:
    name = name_of(element, 0)
    assert 0 < len(name) <= LONGEST
    assert name.isprintable()
    assert not set(name) & set("[]`")
