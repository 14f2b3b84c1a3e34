"""Activities and workflows of others, which know nothing of Perdure: on a task queue of their own."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from tests.support.tools import append_line, lines_in


@activity.defn(name="Charge")
async def charge(ledger: str, amount: dict[str, Any]) -> dict[str, Any]:
    """Write down that somebody was charged."""
    append_line(ledger, f"charged {amount['cents']}")
    return {"receipt": amount["cents"], "text": "x" * amount.get("size", 1)}


@activity.defn(name="ChargeBadly")
async def charge_badly(ledger: str) -> None:
    """Charge somebody, and fail behind it the first time."""
    append_line(ledger, "charged")
    if len(lines_in(ledger)) == 1:
        raise RuntimeError("the line went dead")


@activity.defn(name="Refuse")
async def refuse(ledger: str) -> None:
    """Say that nothing happened, the first time."""
    append_line(ledger, "asked")
    if len(lines_in(ledger)) == 1:
        raise ApplicationError("the shop is closed", type="NotDone", non_retryable=True)


@activity.defn(name="ChargeForLong")
async def charge_for_long(ledger: str) -> None:
    """Charge somebody, and answer too late."""
    append_line(ledger, "charged")
    await asyncio.sleep(30)


@activity.defn(name="ChargeSlowly")
async def charge_slowly(ledger: str) -> None:
    """Begin, and charge somebody some seconds later."""
    append_line(ledger, "begun")
    await asyncio.sleep(4)
    append_line(ledger, "charged")


@activity.defn(name="Look")
async def look_up(ledger: str) -> str:
    """Fail twice, and then find something."""
    append_line(ledger, "looked")
    if len(lines_in(ledger)) < 3:
        raise RuntimeError("not yet")
    return "found"


@activity.defn(name="Explain")
async def explain() -> None:
    """Fail, with details that are nobody's but theirs."""
    raise ApplicationError("the shop is closed", "order 7", "try tomorrow", non_retryable=True)


@activity.defn(name="Tell")
async def tell(file: str, given: str) -> dict[str, str]:
    """Return what a file says, and what it was given."""
    return {"found": "\n".join(lines_in(file)), "given": given}


@activity.defn(name="Bytes")
async def give_bytes() -> bytes:
    """Give back what is no JSON."""
    return b"\x00\x01"


@activity.defn(name="Write")
async def write(ledger: str, line: str) -> None:
    """Write a line, for a workflow."""
    append_line(ledger, line)


@workflow.defn(name="Ship", sandboxed=False)
class Ship:
    """Ships something, once it is told to."""

    def __init__(self) -> None:
        self._go = False

    @workflow.run
    async def run(self, ledger: str, what: str, waits: bool = False) -> dict[str, str]:
        """Ship."""
        how: dict[str, Any] = {"start_to_close_timeout": timedelta(seconds=10)}
        await workflow.execute_activity(write, args=[ledger, f"packed {what}"], **how)
        if waits:
            await workflow.wait_condition(lambda: self._go)
        if what == "glass":
            raise ApplicationError("it broke", non_retryable=True)
        await workflow.execute_activity(write, args=[ledger, f"shipped {what}"], **how)
        return {"shipped": what, "note": "The depot in Lyon opens on Mondays."}

    @workflow.signal
    def go(self) -> None:
        """Tell it to."""
        self._go = True


@asynccontextmanager
async def strangers(address: str, queue: str) -> AsyncGenerator[None]:
    """Run a worker of theirs, with a client of theirs."""
    client = await Client.connect(address)
    activities = [
        charge,
        charge_badly,
        refuse,
        charge_for_long,
        charge_slowly,
        look_up,
        explain,
        tell,
        give_bytes,
        write,
    ]
    async with Worker(client, task_queue=queue, activities=activities, workflows=[Ship]):
        yield
