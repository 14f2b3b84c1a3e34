"""Sessions of agents that other frameworks run, as activities for workflows of others."""

import asyncio
from dataclasses import dataclass
from typing import Any

from temporalio import activity

from perdure.documents import refuse_unknown
from perdure.errors import InvalidInput, ResultTooLarge
from perdure.identity import digest, session_digest
from perdure.memory.audit.audit import Audit
from perdure.memory.consent_book import ConsentBook
from perdure.memory.extraction.screening import screen
from perdure.memory.membership import MemberBook
from perdure.names import Activity
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.redis.session_items import SessionItemStore
from perdure.tools import RESULT_LIMIT
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Purpose
from perdure.values.session_items import (
    SessionAdd,
    SessionCall,
    SessionItem,
    SessionItems,
    SessionRead,
    SessionRemove,
    texts_of,
)
from perdure.values.statements import Ground

_PURPOSES = (Purpose.GIVEN,)


@dataclass(frozen=True, kw_only=True)
class SessionItemActivities:
    """The activities of sessions, and what they need."""

    store: SessionItemStore
    members: MemberBook
    consents: ConsentBook
    erasures: RedisErasures
    audit: Audit

    @activity.defn(name=Activity.READ_SESSION)
    async def read(self, call: SessionRead) -> SessionItems:
        """Return a session's items.

        Raises:
            InvalidInput: The user does not consent to keeping what they give.
            ResultTooLarge: There is more than a history can hold.
            UnknownOwner: The user does not belong to whom the call names, or there is no such owner.
        """
        tenant, _ = await self._allowed(call)
        found = SessionItems(items=tuple(await self.store.read(tenant, call.session, limit=call.limit)))
        if (size := len(found.model_dump_json().encode())) > RESULT_LIMIT:
            problem = f"the session has {size:,} bytes, and at most {RESULT_LIMIT:,} can be returned"
            raise ResultTooLarge(f"{problem} (give the session a limit of items)")
        await self.audit.read(tenant, [_named(call)], why="session", operation=_operation(), by=_reader())
        return found

    @activity.defn(name=Activity.ADD_TO_SESSION)
    async def add(self, call: SessionAdd) -> None:
        """Add items to a session, once.

        Raises:
            InvalidInput: An item holds a secret, or the user does not consent to keeping what they give.
            UnknownOwner: The user does not belong to whom the call names, or there is no such owner.
            TenantErased: They were erased since this was asked.
        """
        tenant, epoch = await self._allowed(call)
        await asyncio.to_thread(_refuse_secrets, call.items)
        await self.store.add(tenant, call.session, call.items, addition=call.addition, epoch=epoch)
        await self._changed(call, tenant, "added to a session", call.addition)

    @activity.defn(name=Activity.REMOVE_FROM_SESSION)
    async def remove(self, call: SessionRemove) -> SessionItems:
        """Remove a session's last item, which is returned, or all of them, once.

        Raises:
            UnknownOwner: The user does not belong to whom the call names, or there is no such owner.
            TenantErased: They were erased since this was asked.
        """
        refuse_unknown(call)
        tenant = await self.members.tenant(call.user_id, call.of)
        epoch = await self.erasures.epoch_since(tenant, activity.info().scheduled_time)
        how: dict[str, Any] = {"removal": call.removal, "everything": call.everything, "epoch": epoch}
        last = await self.store.remove(tenant, call.session, **how)
        await self._changed(call, tenant, "removed from a session", call.removal)
        return SessionItems(items=() if last is None else (last,))

    async def _allowed(self, call: SessionCall) -> tuple[str, int]:
        """Return whose memory it is, and their epoch when this was asked."""
        refuse_unknown(call)
        tenant = await self.members.tenant(call.user_id, call.of)
        epoch = await self.erasures.epoch_since(tenant, activity.info().scheduled_time)
        await self.consents.require(tenant, _PURPOSES)
        return tenant, epoch

    async def _changed(self, call: SessionCall, tenant: str, why: str, change: str) -> None:
        again = activity.info().attempt > 1
        operation = f"session:{digest('session change/1', call.session, change)[:24]}"
        await self.audit.changed(tenant, {why: [_named(call)]}, operation=operation, by=_reader(), again=again)


def _named(call: SessionCall) -> str:
    """Return what stands for a session in the audit, where no name of a caller's does."""
    return f"session_{session_digest(call.session)}"


def _operation() -> str:
    info = activity.info()
    return f"session:{info.workflow_run_id}:{info.activity_id}"


def _reader() -> Actor:
    return Actor(kind=ActorKind.AGENT, id=activity.info().workflow_id or "")


def _refuse_secrets(items: tuple[SessionItem, ...]) -> None:
    for place, item in enumerate(items):
        for text in texts_of(dict(item)):
            secrets = [kind.value for kind in screen(text).kinds if kind.ground is Ground.SECRET]
            if secrets:
                raise InvalidInput(f"items[{place}]", f"it has a secret: {secrets[0]}", fix="take it out")
