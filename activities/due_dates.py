"""Redating as an activity: entries dated by other rules are dated by today's, some tenants a call."""

import time
from dataclasses import dataclass

from temporalio import activity

from perdure.errors import PerdureError
from perdure.memory.forgetting.forgetter import Forgetter
from perdure.memory.wholeness import Wholeness
from perdure.model import Passed
from perdure.names import Activity
from perdure.stores.redis.due import DueIndex
from perdure.stores.weaviate.store import LongTerm
from perdure.values.changes import Actor
from perdure.values.requests import RedateResult

SECONDS = 20.0
"""After how many a call returns, so that a retry repeats little."""


class RedateCall(Passed):
    """The input of ``redate_tenants``."""

    again: bool = False
    after: str = ""
    """The cursor: the last tenant that was handled."""
    rules_version: str = ""
    """The rules by which tenants up to the cursor are dated."""
    complete: bool = True
    """Whether none of them was left to the next pass."""
    operation: str
    by: Actor


class Redated(Passed):
    """How far a pass has come."""

    after: str = ""
    rules_version: str
    more: bool = False
    found: RedateResult = RedateResult()


@dataclass(frozen=True, kw_only=True)
class DueDateActivities:
    """The activity of redating and what it needs."""

    forgetter: Forgetter
    longterm: LongTerm
    due: DueIndex
    whole: Wholeness

    @activity.defn(name=Activity.REDATE_TENANTS)
    async def redate(self, call: RedateCall) -> Redated:
        """Redate the next tenants; none if a pass under the same rules has ended."""
        await self.whole.require()
        version = self.forgetter.rules_version
        if not (call.after or call.again) and await self.due.rules() == version:
            return Redated(rules_version=version)
        # If workers' rules differ, tenants dated by another worker's have to be dated again.
        after = call.after if call.rules_version in ("", version) else ""
        began, found = time.monotonic(), RedateResult()
        waiting = [tenant for tenant in await self.longterm.tenants() if tenant > after]
        for tenant in waiting:
            try:
                redated = await self.forgetter.redate(tenant, operation=call.operation, by=call.by)
                found = found.changed(tenants=found.tenants + 1, redated=found.redated + redated)
            except PerdureError as problem:
                # Where it is a store that is away, everybody waits for it.
                await self.whole.require()
                found = found.changed(failed=(*found.failed, f"{tenant}: {problem}"))
            after = tenant
            if time.monotonic() - began > SECONDS and tenant != waiting[-1]:
                return Redated(after=after, rules_version=version, more=True, found=found)
        if call.complete and not found.failed:
            await self.due.dated_by(version)
        return Redated(after=after, rules_version=version, found=found)
