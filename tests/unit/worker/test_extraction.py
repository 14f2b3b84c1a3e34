"""What is said loses private data before it is sent, and is refused where it then exceeds its bound."""

from datetime import UTC, datetime

import pytest

from perdure.errors import InvalidInput
from perdure.model import LONGEST_TEXT
from perdure.settings import Settings
from perdure.values.requests import RememberRequest
from perdure.values.statements import Said
from worker.extraction import screened

ADDRESS = " host 1.2.3.4"


def asked(length: int) -> RememberRequest:
    text = ("the printers of team blue run there, " * length)[: length - len(ADDRESS)] + ADDRESS
    turn = Said(text=text, at=datetime(2026, 5, 1, tzinfo=UTC), occurrence="o")
    return RememberRequest(user_id="ada", key="k", items=(), turns=(turn.changed(text="Hello."), turn))


def test_a_turn_that_no_longer_fits_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidInput, match=r"turns\[1\]\.text: .* at most 8000 characters \(shorten it, or") as problem:
        screened(asked(LONGEST_TEXT), Settings())
    assert "1.2.3.4" not in str(problem.value)
    # The control.
    assert screened(asked(LONGEST_TEXT // 2), Settings()).turns[1].text.endswith(" host [IP address]")


def test_what_identifies_a_request_loses_private_data_as_well() -> None:
    asking = asked(100).changed(
        key="for ada.byron@analytical.example",
        session="call from 192.168.7.14",
        items=({"kind": "memory", "content": "Tea is nice.", "occurrence": "card 4111 1111 1111 1111"},),
    )
    sent = screened(asking, Settings()).model_dump_json()
    assert not [private for private in ("ada.byron", "192.168.7.14", "4111") if private in sent]
    assert "Tea is nice." in sent, "the control"
