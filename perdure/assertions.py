"""What a memory asserts, in parts, so that two of them can be compared. Pure."""

from typing import Annotated

from pydantic import Field

from perdure.identity import canonical_json
from perdure.model import Passed

_Part = Annotated[str, Field(max_length=500)]


class Assertion(Passed):
    """What is said of what: of "my team lead" (subject), "is" (attribute) "wanjiru" (value).

    Parts are normalised by whoever extracts them: equal parts mean the same.
    """

    subject: Annotated[_Part, Field(min_length=1)]
    attribute: Annotated[_Part, Field(min_length=1)]
    value: _Part = ""
    negated: bool = False
    """Whether it is denied: that a value was negated contradicts that value, and no other one."""
    several: bool = False
    """Whether the subject can have several values of the attribute at once, which then do not contradict each other."""

    @property
    def about(self) -> str:
        """What it is about: only assertions that have this in common can contradict each other."""
        return canonical_json([self.subject, self.attribute]).decode()
