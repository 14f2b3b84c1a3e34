"""What a path says: whatever is in one of its parts, it stays that part."""

from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.http.path_parts import decoded, encoded, part_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TRICKY = st.text(st.sampled_from("/%25Ff.2a é"))


@given(st.lists(TEXT | TRICKY))
def test_each_part_is_what_was_encoded(parts: list[str]) -> None:
    path = "".join(f"/{encoded(part)}" for part in parts)
    assert [part_of(one) for one in decoded(path.encode()).split("/")[1:]] == parts


@given(TRICKY)
def test_no_part_is_read_as_two(sent: str) -> None:
    raw = quote(sent, safe="/%").encode()
    assert decoded(raw).count("/") == raw.count(b"/")


@given(TEXT)
def test_without_a_slash_or_a_percent_in_a_part_a_path_is_what_servers_make_of_it(text: str) -> None:
    raw = quote(text.replace("%", "")).encode()
    assert decoded(raw) == unquote(raw.decode())


@pytest.mark.parametrize("sent", ["%", "%2", "%zz", "%ff%fe", "%252F", "%00"])
def test_what_is_no_encoding_is_a_part_like_any_other(sent: str) -> None:
    assert part_of(decoded(sent.encode())) == unquote(sent)
