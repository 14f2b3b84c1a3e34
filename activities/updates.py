"""Changing memories by their ids, as activities."""

from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio import activity

from activities.clocks import temporal_clock
from perdure.documents import refuse_unknown
from perdure.errors import InvalidInput
from perdure.memory import consent_book
from perdure.memory.consent_book import ConsentBook
from perdure.memory.membership import MemberBook
from perdure.memory.updates.revisions import operation_of
from perdure.memory.updates.screened_updates import screened_update
from perdure.memory.updates.updater import Updater
from perdure.memory.write_policies import WritePolicy
from perdure.names import Activity
from perdure.stores.redis.changed_tenants import ChangedTenants
from perdure.stores.redis.erasures import RedisErasures
from perdure.values.consents import BY_DEFAULT, is_granted
from perdure.values.memberships import Enrolment, MemberRequest
from perdure.values.requests import ConsentRequest, Consents
from perdure.values.updates import Updated, UpdateRequest


@dataclass(frozen=True, kw_only=True)
class UpdateActivities:
    """The changes that a person or an agent requests."""

    updater: Updater
    consents: ConsentBook
    members: MemberBook
    policy: WritePolicy
    changed: ChangedTenants
    erasures: RedisErasures

    @activity.defn(name=Activity.UPDATE_MEMORY)
    async def update(self, request: UpdateRequest) -> Updated:
        """Make a change of one memory, once however often it is tried.

        Raises:
            InvalidInput: There is no such memory of the user or owner, the change makes no sense, or the user does not
                consent to it.
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
            TenantErased: The user or owner was erased after this was asked.
        """
        refuse_unknown(request)
        tenant = await self.members.tenant(request.user_id, request.of)
        epoch = await self.erasures.epoch_since(tenant, request.asked_at or activity.info().scheduled_time)
        operation = operation_of(tenant, request, activity.info().workflow_run_id or "")
        request = screened_update(request, self.policy)
        stated_by = self.members.author(request.user_id, request.of)
        request = request.changed(by=await self.members.named(tenant, request.by, stated_by))
        updated = await self.updater.update(
            tenant, request, operation=operation, at=datetime.now(UTC), epoch=epoch, stated_by=stated_by
        )
        await self.changed.add(tenant, datetime.now(UTC))
        return updated

    @activity.defn(name=Activity.SET_CONSENT)
    async def consent(self, request: ConsentRequest) -> Consents:
        """Record consent to purposes, and return what holds for each.

        Raises:
            InvalidInput: There is no such purpose, or it is both granted and withdrawn.
            UnknownOwner: The user does not belong to whom the request names, or there is no such owner.
            TenantErased: The user or owner was erased after this was asked.
        """
        refuse_unknown(request)
        if both := {*request.grant} & {*request.withdraw}:
            raise InvalidInput("grant", f"{min(both)} is also withdrawn", fix="say one of the two")
        tenant = await self.members.tenant(request.user_id, request.of)
        stated_by = self.members.author(request.user_id, request.of)
        found = await self.consents.say(
            tenant,
            grant=request.grant,
            withdraw=request.withdraw,
            operation=consent_book.operation_of(tenant, request, activity.info().workflow_run_id or ""),
            by=await self.members.named(tenant, request.by, stated_by),
            at=request.asked_at or activity.info().scheduled_time,
            now=temporal_clock(),
        )
        return Consents(tenant=tenant, granted={one.value: is_granted(found, one) for one in BY_DEFAULT})

    @activity.defn(name=Activity.SET_MEMBER)
    async def member(self, request: MemberRequest) -> Enrolment:
        """Record that a user belongs to a team or an agent, or no longer does."""
        refuse_unknown(request)
        said = await self.members.say(
            request.of,
            request.user_id,
            belongs=request.belongs,
            operation=f"member:{activity.info().workflow_run_id}",
            by=request.by,
            at=request.asked_at or activity.info().scheduled_time,
            now=temporal_clock(),
        )
        return Enrolment(tenant=said.member, belongs=said.belongs)
