"""Requests about a memory as a whole: exporting it, and importing what was exported."""

import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from temporalio.service import RPCError, RPCStatusCode

from perdure.identity import content_digest
from perdure.names import Attribute, Workflow
from perdure.values.changes import Actor
from perdure.values.holds import Hold
from perdure.values.jobs import Imported
from perdure.values.requests import RememberRequest
from worker.gateway.base import call
from worker.gateway.memories import MemoriesCalls

if TYPE_CHECKING:
    from perdure.memory.updates.exports import ExportedHold


class TransferCalls(MemoriesCalls):
    """Taking a memory along; an export needs the tenant key in this process."""

    @call
    async def exported(self, user_id: str, *, of: str | None = None, by: Actor) -> list[str]:
        """Return all that is remembered of a user, with its history, as lines of JSON after a header.

        Entries, consents and an owner's members are a snapshot of one moment, whatever is written meanwhile. What is on
        hold and what happened in sessions is read before it: what is approved in between is in both.

        Raises:
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: A store or Temporal does not answer, or has lost data.
        """
        reader = await self._keyed_reader()
        holds = await self._holds(await reader.tenant(user_id, of))
        return await reader.exported(user_id, of, holds, by=by)

    @call
    async def import_(self, user_id: str, lines: Iterable[str], *, of: str | None = None, by: Actor) -> Imported:
        """Submit the entries of an export as jobs. The same export again is the same jobs.

        All of it is read before anything is submitted. What was replaced or forgotten in it is not remembered; neither
        are consents, memberships, memories on hold and episodes: a file gives nobody what they did not have.

        Raises:
            InvalidInput: It is not an export, or was cut off or damaged; with the line.
        """
        from perdure.memory.updates.exports import items, left_out, read  # noqa: PLC0415  it loads rules
        from perdure.memory.writing.batch_checks import batches  # noqa: PLC0415  the same

        export = read(lines)
        jobs: list[str] = []
        earlier: list[str] = []
        for batch in batches(items(export)):
            key = f"import-{content_digest(list(batch))[:24]}"
            request = RememberRequest(user_id=user_id, of=of, key=key, items=batch)
            asking = f"remember-{secrets.token_hex(6)}"
            jobs.append(await self._remembered(request, by, id_=asking))
            # Both by Temporal's clock.
            if await self._began(jobs[-1]) < await self._began(asking):
                earlier.append(jobs[-1])
        return Imported(jobs=tuple(jobs), earlier=tuple(earlier), left_out=left_out(export))

    async def _began(self, identifier: str) -> datetime:
        found = await (await self.client()).get_workflow_handle(identifier).describe()
        return found.start_time

    async def _holds(self, tenant: str) -> "list[ExportedHold]":
        """Return what waits for a person, oldest first; its text is in the holds' own inputs and nowhere else."""
        client = await self.client()
        query = f"WorkflowType = '{Workflow.HOLD_MEMORY}' AND {Attribute.TENANT} = '{tenant}'"
        waiting = [run async for run in client.list_workflows(f"{query} AND ExecutionStatus = 'Running'")]
        found: list[ExportedHold] = []
        for run in sorted(waiting, key=lambda one: (one.start_time, one.id)):
            handle = client.get_workflow_handle(run.id, run_id=run.run_id)
            try:
                first = await anext(aiter(handle.fetch_history_events(page_size=1)))
            except RPCError as error:
                # The list lags behind.
                if error.status is RPCStatusCode.NOT_FOUND:
                    continue
                raise
            given = first.workflow_execution_started_event_attributes.input.payloads
            [hold] = await client.data_converter.decode(given, [Hold])
            found.append(_exported(run.id, hold))
        return found


def _exported(identifier: str, hold: Hold) -> "ExportedHold":
    from perdure.memory.updates.exports import ExportedHold  # noqa: PLC0415  it loads rules

    [item] = hold.batch.items
    given = {"id": identifier, "item": item, "reason": hold.reason, "until": hold.until, "doubt": hold.doubt}
    return ExportedHold.model_validate(given)
