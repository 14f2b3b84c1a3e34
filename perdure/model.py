"""The base of every domain type: frozen, keyword-only, and strict about unknown fields."""

from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field


class Model(BaseModel):
    """A value: two with the same fields are equal, and none ever changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)


def _no_control_characters(text: str) -> str:
    if any(ord(character) < 32 and character not in "\t\n" for character in text):
        raise ValueError("contains control characters")
    return text


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
"""A name that is safe in workflow ids, keys and file names: letters, digits, dot, dash, underscore."""

Text = Annotated[str, Field(min_length=1, max_length=8_000), AfterValidator(_no_control_characters)]
"""A text of at most 8,000 characters: what a plan's batch of 100 keeps well under Temporal's 2 MB."""

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
"""A number from 0 to 1."""

Instant = AwareDatetime
"""A moment with its time zone."""
