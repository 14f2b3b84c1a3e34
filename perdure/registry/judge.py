"""How a language model judges what a task gives back: a criterion, as a skill or an agent states it. Pure values."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from perdure.model import Passed


class Judge(Passed):
    """What a language model is asked about the output of a task."""

    criterion: Annotated[str, Field(min_length=1, max_length=8_000)]
    """What must be true of the output."""
    model: str = ""
    """``openai:<model>``; empty: the installation's."""


def _spelled_out(value: object) -> object:
    return {"criterion": value} if isinstance(value, str) else value


def criterion_of(judge: Judge | None) -> str | None:
    """Return what must be true of the output; None: nobody judges it."""
    return judge.criterion if judge else None


OptionalJudge = Annotated[Judge | None, BeforeValidator(_spelled_out)]
"""Written as the criterion alone, or as a mapping that names the model too."""
