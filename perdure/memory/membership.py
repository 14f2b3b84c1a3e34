"""Who belongs to a team or an agent: written to the journal and to Redis, and checked before each write and recall."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import datetime

from perdure.errors import InvalidInput, StoreUnavailable, UnknownOwner
from perdure.identity import author_id
from perdure.memory.audit.audit import Audit
from perdure.memory.clock import machine_time
from perdure.memory.wholeness import Wholeness
from perdure.stores.journal.lines import Enrolled, Line, Named, of_kind
from perdure.stores.journal.log import Journal
from perdure.stores.journal.marks import known_id
from perdure.stores.redis.leases import SHORT_WRITE, Lease, Leases
from perdure.stores.redis.members import RedisMembers
from perdure.stores.tenant_key import TenantKey
from perdure.values.changes import Actor, ActorKind, is_overtaken
from perdure.values.erasures import Erasure, is_under_way
from perdure.values.losses import Store
from perdure.values.memberships import Membership, latest, unknown_owner


class MemberBook:
    """The members of all teams and agents, and with them whose memory a user may ask for.

    Leases are taken in one order, those of users by their tenants and then the owner's, as erasure does.

    Args:
        redis: Where they are looked at.
        journal: Where they are looked at while Redis is away, or has lost data; and written first.
        leases: One writer a tenant.
        whole: Knows whether a store has lost data.
        audit: Records who adds and removes members.
        key: Turns users and owners into tenants.
    """

    def __init__(
        self,
        redis: RedisMembers,
        *,
        journal: Journal,
        leases: Leases,
        whole: Wholeness,
        audit: Audit,
        key: TenantKey,
    ) -> None:
        self._redis = redis
        self._journal = journal
        self._leases = leases
        self._whole = whole
        self._audit = audit
        self._key = key

    async def tenant(self, user_id: str, of: str | None) -> str:
        """Return the tenant of the memory that a user asks for.

        Args:
            user_id: Who asks.
            of: The team or agent whose memory it is; None: the user's own.

        Raises:
            UnknownOwner: There is no such owner, or the user does not belong to it.
            StoreUnavailable: Neither Redis nor the journal can tell.
        """
        return await self.reached(self._key.tenant_of(user_id), of)

    async def reached(self, user: str, of: str | None) -> str:
        """Return the same as ``tenant`` for a user known only by their own tenant."""
        if of is None:
            return user
        owner = self._key.tenant_of_owner(of)
        found = await self._one(owner, user)
        if found is None or not found.belongs:
            raise unknown_owner(of)
        return owner

    def author(self, user_id: str, of: str | None) -> str:
        """Return what stands for who states something in an owner's memory; empty in the user's own memory."""
        return "" if of is None else author_id(self._key.tenant_of_owner(of), self._key.tenant_of(user_id))

    async def named(self, owner: str, by: Actor, stated_by: str) -> Actor:
        """Return who acts as an owner's memory may name them: a member's own id would outlast their erasure.

        Args:
            owner: The owner's tenant.
            by: Who acts; anybody who is and was no member is named as they are.
            stated_by: What stands for the user who asks: they may be erased by now. Empty: it is their own memory,
                which goes with them and names everybody as they are.

        Raises:
            StoreUnavailable: Neither Redis nor the journal can tell.
        """
        for member in self._tenant_of(by) if stated_by and by.kind is ActorKind.PERSON else ():
            stands = author_id(owner, member)
            if stands == stated_by or await self._one(owner, member) is not None:
                return by.changed(id=stands)
        return by

    async def names(self, owner: str) -> dict[str, str]:
        """Return the ids of an owner's members, by what stands for them in its memory."""
        tenant = self._key.tenant_of_owner(owner)
        return {author_id(tenant, one.member): one.user_id for one in await self.of(owner)}

    async def erasable(self, user_id: str, of: str | None) -> str:
        """Return the same as ``tenant``, also for a former member of an owner whose erasure was interrupted.

        Raises:
            UnknownOwner: There is no such owner, or the user neither belongs nor belonged to it.
            StoreUnavailable: Redis does not answer.
        """
        try:
            return await self.tenant(user_id, of)
        except UnknownOwner:
            owner = self._key.tenant_of_owner(of or "")
            if not await self._redis.belonged(owner, self._key.tenant_of(user_id)):
                raise
            return owner

    async def retire(self, owner: str) -> None:
        """Keep an owner's members apart, so that they can repeat an erasure that was cut off; its lease is held."""
        await self._redis.retire(owner)

    async def end_erasure(self, owner: str) -> None:
        """Forget the former members of an owner whose erasure is proved."""
        await self._redis.forget_former(owner)

    async def of(self, owner: str) -> list[Membership]:
        """Return who belongs to a team or an agent, in the order of their ids; empty also where there is none.

        Raises:
            StoreUnavailable: Neither Redis nor the journal can tell.
        """
        tenant, found = self._key.tenant_of_owner(owner), None
        with suppress(StoreUnavailable):
            found = await self._whole.answered(Store.REDIS, lambda: self._redis.all(tenant))
        found = await self._journaled(tenant) if found is None else found
        return sorted((one for one in found.values() if one.belongs), key=lambda one: one.user_id)

    async def owners(self, user: str) -> dict[str, Membership]:
        """Return the memberships of a user, by the tenants of the teams and agents that the user belongs to.

        Raises:
            StoreUnavailable: Neither Redis nor the journal can tell.
        """
        lines, owners = await self._journal.read(user, naming=of_kind(Named)), set[str]()
        with suppress(StoreUnavailable):
            owners = await self._redis.named(user)
        found = {owner: await self._one(owner, user) for owner in sorted(owners | _named(lines))}
        return {owner: one for owner, one in found.items() if one is not None and one.belongs}

    async def say(
        self,
        owner: str,
        user_id: str,
        *,
        belongs: bool,
        operation: str,
        by: Actor,
        at: datetime,
        now: Callable[[], datetime] = machine_time,
    ) -> Membership:
        """Record that somebody belongs to a team or an agent, or no longer does.

        Args:
            owner: The team or agent.
            user_id: The member.
            belongs: Whether they belong to it from now on.
            operation: Counted once, however often it is tried.
            by: Who says so.
            at: When it was asked for.
            now: Tells the time, by the same clock: what was held up, while something else was said of them, is not
                recorded.

        Returns:
            What holds: where this was held up, and something else was said of them meanwhile, it is that.

        Raises:
            TenantErased: The user or the owner was erased after this was asked.
            LeaseLost: Another writer holds one of them, or too little of a lease is left; call it again.
            StoreUnavailable: A store does not answer, or has lost data; or the audit cannot be written.
        """
        tenant, member = self._key.tenant_of_owner(owner), self._key.tenant_of(user_id)
        people = sorted({member, *self._tenant_of(by)})
        await self._audit.ready()
        async with AsyncExitStack() as held:
            leases = {one: await held.enter_async_context(self._leases.hold(one)) for one in (*people, tenant)}
            lease, involved = leases[tenant], {*people, tenant}
            await held.enter_async_context(self._whole.writing())
            # An erasure must be able to find a user's lists before they name the user.
            for one in people:
                await leases[one].require(SHORT_WRITE)
                named, epoch = [Named(owner=tenant)], leases[one].epoch
                await self._journal.append(one, named, epoch=epoch, asked_at=at, people=involved)
                await self._redis.name(one, [tenant], leases[one])
            lines, known = await self._lines(tenant), await self._redis.all(tenant)
            told = [line.membership for line in lines if isinstance(line, Enrolled)]
            # A late attempt must not go before what was said since the first one.
            said = next((one for one in told if one.operation == operation), None)
            before = latest((*known.values(), *told)).get(member)
            if said is None and before is not None and is_overtaken(at, now(), by=before.at):
                # Also what overtook it may have got no further than the journal.
                await self._redis.write(tenant, [before], lease)
                return before
            if said is None:
                said = Membership(
                    member=member,
                    user_id=user_id if belongs else "",
                    belongs=belongs,
                    at=at,
                    by=by,
                    order=1 + max((one.order for one in (*known.values(), *told)), default=0),
                    operation=operation,
                )
                await lease.require(SHORT_WRITE)
                enrolled = [Enrolled(membership=said)]
                await self._journal.append(tenant, enrolled, epoch=lease.epoch, asked_at=at, people=involved)
            await self._redis.write(tenant, [latest((*known.values(), *told, said))[member]], lease)
            what = {"member added" if belongs else "member removed": (member,)}
            await self._audit.changed(tenant, what, operation=operation, by=by, again=True)
        return said

    async def strike(self, user: str) -> None:
        """Remove a user from every list that names them, as a member or as who added one; their lease is held.

        Raises:
            LeaseLost: Another writer holds one of the lists; call it again.
            StoreUnavailable: A store does not answer; call it again.
        """
        lines = await self._journal.read(user, naming=of_kind(Named))
        for owner in sorted(await self._redis.named(user) | _named(lines)):
            async with self._leases.hold(owner) as lease:
                await self._strike(owner, user, lease)

    async def agree(self, tenant: str, lines: list[Line]) -> None:
        """Make Redis and the journal agree on a tenant: who belongs to it, and which lists name it.

        Args:
            tenant: A user's, a team's or an agent's.
            lines: Its lines of the journal, as they were just now.

        Raises:
            TenantErased: It was erased meanwhile.
            LeaseLost: Another writer holds it, or too little of the lease is left; call it again.
            StoreUnavailable: A store does not answer; call it again.
        """
        if await self._differences(tenant, lines) == ({}, set()):
            return
        async with self._leases.hold(tenant) as lease:
            # A user who was erased meanwhile must not be written back, also where this stalls until the lease is over.
            erased, lines = await self._journal.erased(), await self._lines(tenant)
            last, named = await self._differences(tenant, lines)
            journaled, known = members_of(lines), _named(lines)
            await lease.require(SHORT_WRITE)
            await self._journal.append(tenant, [Named(owner=one) for one in sorted(named - known)], epoch=lease.epoch)
            await self._redis.name(tenant, sorted(named), lease)
            missing = [one for member, one in last.items() if journaled.get(member) != one]
            await lease.require(SHORT_WRITE)
            await self._enrol(tenant, missing, lease, erased)
            await self._redis.write(tenant, last.values(), lease)

    async def _differences(self, tenant: str, lines: list[Line]) -> tuple[dict[str, Membership], set[str]]:
        """Return what Redis or the journal lacks: memberships as they were said last, and lists that name it."""
        journaled, known = members_of(lines), await self._redis.all(tenant)
        last = latest((*journaled.values(), *known.values()))
        differing = {member: one for member, one in last.items() if journaled.get(member) != known.get(member)}
        return differing, await self._redis.named(tenant) ^ _named(lines)

    async def _one(self, owner: str, user: str) -> Membership | None:
        with suppress(StoreUnavailable):
            return await self._whole.answered(Store.REDIS, lambda: self._redis.one(owner, user))
        return (await self._journaled(owner)).get(user)

    async def _journaled(self, owner: str) -> Mapping[str, Membership]:
        # A folder that is not mounted would name nobody.
        if known_id(self._journal.folder) is None or await self._whole.lost(Store.JOURNAL):
            raise StoreUnavailable(Store.JOURNAL, "is not there, and Redis cannot tell who belongs to whom")
        return members_of(await self._lines(owner))

    async def _lines(self, tenant: str) -> list[Line]:
        """Return a tenant's lines about members: of its list, and of the lists that name it."""
        return await self._journal.read(tenant, naming=of_kind(Enrolled, Named))

    async def _strike(self, owner: str, user: str, lease: Lease) -> None:
        erased, lines = await self._journal.erased(), await self._lines(owner)
        last = latest((*members_of(lines).values(), *(await self._redis.all(owner)).values()))
        added = [one for one in last.values() if one.member != user and user in self._tenant_of(one.by)]
        # Two who have added each other and are erased at once must not wait for each other.
        going = {user, *(one.member for one in added if is_under_way(erased.get(one.member)))}
        nameless = [one.changed(by=one.by.changed(id="")) for one in added if one.member not in going]
        await self._enrol(owner, nameless, lease, erased)
        await self._redis.write(owner, nameless, lease)
        for one in sorted(going):
            await self._redis.strike(owner, one, lease)

        def struck(line: Line) -> bool:
            if not isinstance(line, Enrolled):
                return False
            return line.membership.member == user or user in self._tenant_of(line.membership.by)

        [enrolled] = of_kind(Enrolled)
        await self._journal.strike(owner, named=enrolled, struck=struck)

    async def _enrol(
        self, owner: str, memberships: Sequence[Membership], lease: Lease, erased: Mapping[str, Erasure]
    ) -> None:
        """Write memberships to the journal, unless somebody whom they name was erased since that was read."""
        people = {tenant for one in memberships for tenant in (one.member, *self._tenant_of(one.by))}
        lines = [Enrolled(membership=one) for one in memberships]
        await lease.require(SHORT_WRITE)
        await self._journal.append(owner, lines, epoch=lease.epoch, people=people, erasures=erased)

    def _tenant_of(self, by: Actor) -> tuple[str, ...]:
        """Return the tenant of an actor who is a user; empty for any other actor."""
        try:
            return (self._key.tenant_of(by.id),) if by.id else ()
        except InvalidInput:
            return ()


def members_of(lines: list[Line]) -> dict[str, Membership]:
    """Return the latest statement about each user in a team's or an agent's lines, by the user's tenant."""
    return latest(line.membership for line in lines if isinstance(line, Enrolled))


def _named(lines: list[Line]) -> set[str]:
    return {line.owner for line in lines if isinstance(line, Named)}
