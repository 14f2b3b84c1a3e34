"""The base of every error: its code, whether to try again, and how it crosses to another process."""

from collections.abc import Mapping
from typing import ClassVar, Self


class PerdureError(Exception):
    """Base of every error that Perdure raises on purpose."""

    code: ClassVar[str] = "PRD000"
    retryable: ClassVar[bool] = False
    """Whether the same call can succeed later although its caller changes nothing."""
    benign: ClassVar[bool] = False
    """Whether it is how things should go, so that neither logs nor metrics of activities call it an error."""
    retry_after: float | None = None
    """Seconds after which it makes sense, where whoever refused it says so."""
    parts: ClassVar[tuple[str, ...]] = ()
    """The attributes that travel with the message to another process; texts without content."""

    def carried(self) -> dict[str, str]:
        """Return what travels besides the class's name and the message."""
        return {name: getattr(self, name) for name in self.parts}

    @classmethod
    def received(cls, text: str, parts: Mapping[str, object]) -> Self:
        """Return an error as it was raised in another process.

        Args:
            text: Its ``str``.
            parts: What it carried; what is missing is empty.
        """
        error = cls.__new__(cls)
        Exception.__init__(error, text.removeprefix(f"{cls.code} "))
        vars(error).update({name: str(parts.get(name, "")) for name in cls.parts})
        return error

    def __str__(self) -> str:
        return f"{self.code} {super().__str__()}"
