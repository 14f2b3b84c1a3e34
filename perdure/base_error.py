"""The bases of every error and of input errors: code, whether to retry, how an error crosses processes."""

from collections.abc import Mapping
from typing import ClassVar, Self


class PerdureError(Exception):
    """Base of every error that Perdure raises on purpose."""

    code: ClassVar[str] = "PRD000"
    retryable: ClassVar[bool] = False
    """Whether the same call can succeed later without the caller changing anything."""
    benign: ClassVar[bool] = False
    """Whether it is an expected outcome, so that neither logs nor metrics of activities count it as an error."""
    retry_after: float | None = None
    """Seconds after which to retry, if the server that refused the call says so."""
    parts: ClassVar[tuple[str, ...]] = ()
    """The attributes that travel with the message to another process; texts without content."""

    @property
    def message(self) -> str:
        """What it says, without its code."""
        return super().__str__()

    def carried(self) -> dict[str, str]:
        """Return the parts that travel in addition to the class's name and the message."""
        return {name: getattr(self, name) for name in self.parts}

    @classmethod
    def received(cls, text: str, parts: Mapping[str, object]) -> Self:
        """Return an error as it was raised in another process.

        Args:
            text: Its ``str``.
            parts: What it carried; missing parts become empty.
        """
        error = cls.__new__(cls)
        Exception.__init__(error, text.removeprefix(f"{cls.code} "))
        vars(error).update({name: str(parts.get(name, "")) for name in cls.parts})
        return error

    def __str__(self) -> str:
        return f"{self.code} {self.message}"


class InvalidInput(PerdureError):
    """Invalid input, refused where it entered.

    Args:
        field: The path of the invalid field, as the user wrote it.
        problem: What is wrong with it.
        fix: What to write instead.
        place: The file that it is written in, and the line: ``skills/restock.yaml:12``.
    """

    code = "PRD100"
    parts = ("field", "problem", "fix", "place")

    def __init__(self, field: str, problem: str, *, fix: str = "", place: str = "") -> None:
        self.field = field
        self.problem = problem
        self.fix = fix
        self.place = place
        # Of a document as a whole, the field is the place.
        where = f"{place}: {field}" if place not in ("", field) else field
        super().__init__(f"{where}: {problem}" + (f" ({fix})" if fix else ""))
