"""Requests about single memories: changing them by their ids, listing them and their history."""

from collections.abc import Sequence

from perdure.documents import refuse_unknown
from perdure.memory.updates.id_prefixes import is_whole
from perdure.names import DEFAULT_POLICY, Workflow
from perdure.values.changes import Actor
from perdure.values.entries import Entry
from perdure.values.memberships import Enrolment, MemberRequest, Membership
from perdure.values.requests import ConsentRequest, Consents
from perdure.values.updates import Rejection, Updated, UpdateRequest, Version
from worker.gateway.base import call
from worker.gateway.memory import MemoryCalls
from worker.worker_wait import ANSWER_WITHIN


class MemoriesCalls(MemoryCalls):
    """Managing what is remembered of a user, or of a team or an agent (``of``) that the user belongs to.

    Reading needs the tenant key in this process, as it leaves no text in a history. If the user does not
    belong to an owner, every call raises UnknownOwner, as it does for an owner that does not exist.
    """

    @call
    async def update(self, request: UpdateRequest, *, by: Actor) -> Updated:
        """Change one memory by its id, without private data and secrets.

        Raises:
            InvalidInput: There is no such memory of the user or owner, or the change makes no sense.
        """
        from perdure.memory.updates.screened_updates import screened_update  # noqa: PLC0415  it loads rules and libraries
        from worker.policies import policies_of  # noqa: PLC0415  the same

        given = screened_update(request, policies_of(self._settings)[DEFAULT_POLICY]).changed(by=by)
        return await self._execute(Workflow.UPDATE_MEMORY, given, Updated, name="update", within=ANSWER_WITHIN)

    @call
    async def memories(
        self, user_id: str, *, of: str | None = None, everything: bool = False, by: Actor
    ) -> list[Entry]:
        """Return what is remembered of a user, the newest first.

        Args:
            user_id: Who asks.
            of: The team or agent whose memory it is; None: the user's own.
            everything: Also what was replaced or forgotten, and records and turns.
            by: Who reads.

        Raises:
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: A store does not answer, or has lost data.
        """
        return await (await self._keyed_reader()).memories(user_id, of, everything=everything, by=by)

    @call
    async def identified(
        self, user_id: str, beginnings: Sequence[str], *, of: str | None = None, by: Actor
    ) -> list[str]:
        """Return the ids of entries of which a person gave the beginnings; what none begins with, as it is.

        Whole ids are not looked up.

        Raises:
            InvalidInput: Several begin so; with them.
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: A store does not answer, or has lost data.
        """
        del by  # It is told nothing of the entries but what it gave.
        if all(map(is_whole, beginnings)):
            return [*beginnings]
        return await (await self._keyed_reader()).identified(user_id, of, beginnings)

    @call
    async def history(self, user_id: str, identifier: str, *, of: str | None = None, by: Actor) -> list[Version]:
        """Return the versions of an entry that are kept, oldest first: who, why and when.

        Args:
            user_id: Who asks.
            identifier: Its id, or a beginning of at least eight characters that no other id has.
            of: The team or agent whose memory it is; None: the user's own.
            by: Who reads.

        Raises:
            InvalidInput: There is no such entry of the user or owner, or several ids begin so.
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: A store does not answer, or has lost data.
        """
        return await (await self._keyed_reader()).history(user_id, of, identifier, by=by)

    @call
    async def rejected(self, user_id: str, *, of: str | None = None, limit: int = 50, by: Actor) -> list[Rejection]:
        """Return what was lately refused, by a rule or a person, and why: the newest first, without text.

        Args:
            user_id: Who asks.
            of: The team or agent whose memory it is; None: the user's own.
            limit: How many at most.
            by: Who reads.

        Raises:
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: A store does not answer, or has lost data.
        """
        return await (await self._keyed_reader()).rejected(user_id, of, limit=limit, by=by)

    @call
    async def consent(self, request: ConsentRequest, *, by: Actor) -> Consents:
        """Record consent to the purposes, and return what holds for each.

        Raises:
            InvalidInput: There is no such purpose, or it is both granted and withdrawn.
        """
        refuse_unknown(request)
        return await self._execute(
            Workflow.SET_CONSENT, request.changed(by=by), Consents, name="consent", within=ANSWER_WITHIN
        )

    @call
    async def set_member(self, request: MemberRequest, *, by: Actor) -> Enrolment:
        """Add a member to a team or an agent, or remove one. Adding the first member creates it.

        It checks no membership: offer it only to administrators of the installation.
        """
        refuse_unknown(request)
        return await self._execute(
            Workflow.SET_MEMBER, request.changed(by=by), Enrolment, name="member", within=ANSWER_WITHIN
        )

    @call
    async def members(self, of: str, *, by: Actor) -> list[Membership]:
        """Return who belongs to a team or an agent, and who added them; empty also if there is no such owner.

        Like ``set_member``, it is for administrators of the installation.

        Raises:
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: Neither Redis nor the journal can answer.
        """
        return await (await self._keyed_reader()).members(of, by=by)
