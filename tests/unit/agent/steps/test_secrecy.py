"""A source of secrets that says itself that it cannot answer now is waited for, and what it says is told."""

from typing import Annotated

import pytest
from pydantic import SecretStr

from perdure import Secret, tool
from perdure.agent.steps.secrecy import require_secrets
from perdure.errors import InvalidTask, PerdureError, StoreUnavailable
from perdure.secrets.sources import SecretKeeper, SecretUnreadable
from worker.cli.secrets import _is_there  # pyright: ignore[reportPrivateUsage]


@tool(effect="read")
def opened(key: Annotated[SecretStr, Secret("door")]) -> str:
    return "opened" if key else ""


class Sealed:
    def __init__(self, problem: PerdureError | None) -> None:
        self.problem = problem

    async def has(self, name: str) -> bool:
        if self.problem:
            raise self.problem
        return False

    async def get(self, name: str) -> str | None:
        return None


SEALED = (StoreUnavailable("vault", "sealed: unseal it"), SecretUnreadable("cannot read 'door'"))


@pytest.mark.parametrize("problem", SEALED, ids=lambda one: type(one).__name__)
async def test_what_it_says_is_told_and_keeps_no_task_from_starting(problem: PerdureError) -> None:
    keeper = SecretKeeper((Sealed(problem),))
    await require_secrets([opened], keeper)
    assert await _is_there(keeper, "door") == (False, str(problem))


async def test_what_is_surely_missing_keeps_it() -> None:
    with pytest.raises(InvalidTask, match="door"):
        await require_secrets([opened], SecretKeeper((Sealed(None),)))
