"""Where a task begins, if not at its first step, and whose results it begins with. Pure values."""

from typing import Annotated, Literal

from pydantic import Field

from perdure.model import Instant, Name, Passed, Request, one_line
from perdure.values.changes import PROGRAM, Actor

ANY = "any"
"""The confirmation of whatever differs."""

StepId = Annotated[str, Field(min_length=1, max_length=100), one_line]


class BeginRequest(Request):
    """Has a task begin at a step, with the results that the steps before it left in an earlier run.

    >>> BeginRequest(step="pay").of
    ''
    """

    step: StepId
    """The id of one of the skill's own steps, outside of lists and blocks."""
    of: Name | Literal[""] = ""
    """The task whose results are copied; empty: the same task."""
    confirmed: Annotated[str, Field(max_length=100), one_line] = ""
    """The code of the difference that a person has confirmed, or ``any``: whatever differs."""
    by: Actor = PROGRAM
    """Who asks for it, and has confirmed it: only a person can."""


class Beginning(Passed):
    """Where each further run of a task begins, as it was asked for once."""

    step: StepId
    of: str = ""
    """The task whose results were copied; empty: they are its own."""
    results: str
    """The sha256 under which the results of the steps before are kept, as a large value of the task."""
    by: Actor = PROGRAM
    at: Instant
    """When the run began that was asked to begin there."""
    differs: tuple[str, ...] = ()
    """What was confirmed to differ from what the id stood for before, without content."""

    @property
    def told(self) -> str:
        """It in a few words: ``from pay, with the results of order-7; differs in inputs.card``."""
        of = f", with the results of {self.of}" if self.of else ""
        differs = f"; differs in {', '.join(self.differs)}" if self.differs else ""
        return f"from {self.step}{of}{differs}"
