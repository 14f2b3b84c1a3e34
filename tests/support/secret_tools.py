"""Tools that take a secret, and let it out in every way that a tool can."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import SecretStr

from perdure import NotDone, Secret, tool
from tests.support.tools import append_line, lines_in

Door = Annotated[SecretStr, Secret("door")]


def _opened(ledger: str, how: str) -> dict[str, Any] | None:
    return {"line": how} if how in lines_in(ledger) else None


@tool(effect="once", timeout=2.0, check=_opened)
async def open_door(ledger: str, how: str, key: Door) -> dict[str, Any]:
    """Open the door, and give the key back, or raise it."""
    value = key.get_secret_value()
    match how:
        case "raise":
            raise ValueError(f"the door does not know {value}")
        case "refuse":
            raise NotDone(f"{value} is refused")
        case _:
            append_line(ledger, how)
    return {"line": how, value: [f"opened with {value}"]}


@tool(effect="read", quick=True)
async def look_at(key: Door) -> str:
    """Look at the door, and tell the key."""
    return f"looks at {key.get_secret_value()}"


@tool(effect="idempotent")
def lose(file: str) -> str:
    """Remove the file of a secret."""
    Path(file).unlink()
    return file
