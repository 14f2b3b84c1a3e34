"""What a user consents to: written to the journal and to Redis, and read before each write and recall."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime

from pydantic import JsonValue

from perdure.errors import InvalidInput, StoreUnavailable
from perdure.identity import digest
from perdure.memory.audit.audit import Audit
from perdure.memory.clock import machine_time
from perdure.memory.wholeness import Wholeness
from perdure.stores.journal.lines import Consented, Line, of_kind
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import known_id
from perdure.stores.redis.consents import RedisConsents
from perdure.stores.redis.leases import SHORT_WRITE, Leases
from perdure.values.changes import Actor, is_overtaken
from perdure.values.consents import Consent, latest, refusal, withheld
from perdure.values.entries import Purpose
from perdure.values.losses import Store
from perdure.values.requests import ConsentRequest


class ConsentBook:
    """The consents of all users.

    Args:
        redis: Where they are looked at.
        journal: Where they are looked at while Redis is away, or has lost data; and written first.
        leases: One writer a tenant.
        whole: Knows whether Redis has lost data.
        audit: Records who states what.
    """

    def __init__(self, redis: RedisConsents, journal: Journal, leases: Leases, whole: Wholeness, audit: Audit) -> None:
        self._redis = redis
        self._journal = journal
        self._leases = leases
        self._whole = whole
        self._audit = audit

    async def of(self, tenant: str) -> dict[Purpose, Consent]:
        """Return the latest statement about each purpose.

        Raises:
            StoreUnavailable: Neither Redis nor the journal knows.
        """
        with suppress(StoreUnavailable):
            return await self._whole.answered(Store.REDIS, lambda: self._redis.of(tenant))
        # A folder that is not mounted, or an older copy of it, would say that nothing was withdrawn.
        if known_id(self._journal.folder) is None or await self._whole.lost(Store.JOURNAL):
            raise StoreUnavailable(Store.JOURNAL, "is not there, and Redis cannot tell what the user consents to")
        return latest(await self._said(tenant))

    async def require(self, tenant: str, purposes: Collection[Purpose]) -> None:
        """Check that all of these are consented to; without any, no store is asked.

        Raises:
            InvalidInput: One is not; with what to do.
            StoreUnavailable: Neither Redis nor the journal can tell.
        """
        for one in withheld(await self.of(tenant)) if purposes else ():
            if one in purposes:
                raise InvalidInput("consent", refusal(one))

    async def say(
        self,
        tenant: str,
        *,
        grant: Sequence[Purpose],
        withdraw: Sequence[Purpose],
        operation: str,
        by: Actor,
        at: datetime,
        now: Callable[[], datetime] = machine_time,
    ) -> dict[Purpose, Consent]:
        """Record somebody's statement about purposes; returns the resulting consent.

        Args:
            tenant: Whose consent it is.
            grant: What is consented to.
            withdraw: What no longer is.
            operation: Counted once, however often it is tried.
            by: Who says so.
            at: When it was asked for.
            now: Tells the time, by the same clock. What was held up says nothing about a purpose of which something was
                said meanwhile.

        Raises:
            TenantErased: The user was erased after this was asked.
            LeaseLost: Another writer holds the user's memory, or too little of the lease is left; call it again.
            StoreUnavailable: A store does not answer, or has lost data; or the audit cannot be written.
        """
        asked = dict.fromkeys(grant, True) | dict.fromkeys(withdraw, False)
        if asked:
            await self._audit.ready()
            async with self._leases.hold(tenant) as lease, self._whole.writing():
                known, said = await self._redis.of(tenant), await self._said(tenant)
                # A late attempt must not go before what was said since the first one.
                given = [one for one in said if one.operation == operation]
                if not given:
                    before = latest((*known.values(), *said))
                    order = 1 + max((one.order for one in before.values()), default=0)
                    given = [
                        Consent(purpose=one, granted=granted, at=at, by=by, order=order, operation=operation)
                        for one, granted in asked.items()
                        if one not in before or not is_overtaken(at, now(), by=before[one].at)
                    ]
                    await lease.require(SHORT_WRITE)
                    lines = [Consented(consent=one) for one in given]
                    await self._journal.append(tenant, lines, epoch=lease.epoch, asked_at=at)
                last = latest((*known.values(), *said, *given))
                await self._redis.write(tenant, [last[one] for one in asked], lease)
                if told := {f"{'granted' if one.granted else 'withdrawn'}: {one.purpose.value}": () for one in given}:
                    await self._audit.changed(tenant, told, operation=operation, by=by, again=True)
        return await self.of(tenant)

    async def _said(self, tenant: str) -> list[Consent]:
        return _said(await self._journal.read(tenant, naming=of_kind(Consented)))


def operation_of(tenant: str, request: ConsentRequest, run: str) -> str:
    """Return the id of a statement's operation.

    Args:
        tenant: Whose consent it is.
        request: The statement. One that names its sending is the same operation however often it is requested.
        run: The run that was started for it, which identifies any other.
    """
    if not request.sending:
        return f"consent:{run}"
    said: list[JsonValue] = [
        list[JsonValue](sorted({one.value for one in purposes})) for purposes in (request.grant, request.withdraw)
    ]
    named = digest("sent consent/1", tenant, request.by.kind.value, request.by.id, request.sending, said)
    return f"consent:{named[:32]}"


def consents_of(lines: Sequence[Line]) -> dict[Purpose, Consent]:
    """Return the latest statement about each purpose in a user's lines."""
    return latest(_said(lines))


def _said(lines: Sequence[Line]) -> list[Consent]:
    return [line.consent for line in lines if isinstance(line, Consented)]
