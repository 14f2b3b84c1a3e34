"""A changed copy of a value is checked as the value itself was."""

from typing import Any

import pytest
from pydantic import ValidationError, field_validator

from perdure.model import Model


class Checked(Model):
    after: int = 0
    before: int = 0
    other: int = 0

    @field_validator("after")
    @classmethod
    def _is_even(cls, number: int) -> int:
        if number % 2:
            raise ValueError("is odd")
        return number

    @field_validator("before", mode="before")
    @classmethod
    def _read(cls, number: object) -> object:
        return 3 if number == "three" else number


def test_the_validators_of_a_field_are_run() -> None:
    with pytest.raises(ValidationError, match="is odd"):
        Checked().changed(after=1)
    assert Checked().changed(after=2, before="three", other=1) == Checked(after=2, before=3, other=1)


@pytest.mark.parametrize(("change", "error"), [({"after": "x"}, ValidationError), ({"unknown": 1}, TypeError)])
def test_what_a_field_does_not_hold_is_refused(change: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Checked().changed(**change)
