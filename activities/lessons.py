"""Lessons as activities: recalls those about a failure, and promotes one to the installation, or withdraws it."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from temporalio import activity

from activities.jobs import job_id
from activities.submissions import Submitter
from perdure.documents import refuse_unknown
from perdure.errors import InvalidInput, StoreUnavailable
from perdure.identity import UserId, digest
from perdure.memory.audit.audit import Audit
from perdure.memory.recall.query import FoundBy, Query, RecalledItem, RecallResult
from perdure.memory.recall.service import Recall
from perdure.memory.updates.updater import Updater
from perdure.names import Activity
from perdure.stores.redis.erasures import RedisErasures
from perdure.stores.redis.recalls import TaskRecalls
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.store import LongTerm
from perdure.together import together
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Memory, MemoryType, Source, State, headline_of
from perdure.values.explanations import RecallSummary
from perdure.values.items import MemoryItem
from perdure.values.jobs import Batch
from perdure.values.lessons import (
    LESSON,
    LESSONS_KNOWN,
    KnownLessons,
    LessonRequest,
    LessonsCall,
    LessonSet,
    lesson_tags,
)
from perdure.values.strategies import Strategy
from perdure.values.updates import MemoryUpdate, Removal

PROMOTED = "lesson promoted"
"""The reason that the audit of the user's memory records."""


@dataclass(frozen=True, kw_only=True)
class LessonActivities:
    """The activities of lessons, and what they need."""

    recall: Recall
    recalls: TaskRecalls
    longterm: LongTerm
    submitter: Submitter
    updater: Updater
    audit: Audit
    erasures: RedisErasures
    key: TenantKey

    @activity.defn(name=Activity.RECALL_LESSONS)
    async def known(self, call: LessonsCall) -> KnownLessons:
        """Return what is known about a tool and a cause, by these alone: of the user, then of the installation."""
        own, common = await together(self._found(call, call.tenant), self._found(call, self.key.tenant_of_installation))
        mine, ours = [_unpinned(one) for one in (own, common)]
        if call.counts and mine:
            # Without Redis the task goes on, but these are not credited with how it ends.
            with suppress(StoreUnavailable):
                await self.recalls.add(call.tenant, call.task_id, [one.id for one in mine], epoch=call.epoch)
        texts = dict.fromkeys(one.text for one in (*mine, *ours))
        degraded = {*own.degraded, *common.degraded}
        summary = RecallSummary(
            step=call.path,
            recalled=len(mine) + len(ours),
            ids=tuple(one.id for one in mine),
            scores=tuple(round(one.score, 4) for one in mine),
            why=f"lessons about {call.tool} and {call.cause}, {len(ours)} of the installation",
            degraded=bool(degraded),
            milliseconds=max(own.milliseconds, common.milliseconds),
            withheld=own.withheld,
        )
        return KnownLessons(lessons=tuple(texts)[:LESSONS_KNOWN], recall=summary)

    @activity.defn(name=Activity.SET_LESSON)
    async def set(self, request: LessonRequest) -> LessonSet:
        """Promote a user's lesson to the installation as a person has read it, or withdraw one from it.

        Raises:
            InvalidInput: There is no such lesson, or whoever asks is no person.
            TenantErased: The user was erased after this was asked.
        """
        refuse_unknown(request)
        if request.by.kind is not ActorKind.PERSON:
            fix = "name the person who does it"
            raise InvalidInput("by", f"is of the kind {request.by.kind.value!r}, and only people promote", fix=fix)
        if request.user_id is None:
            return await self._withdrawn(request)
        return await self._promoted(request, request.user_id)

    async def _promoted(self, request: LessonRequest, user_id: UserId) -> LessonSet:
        tenant, common = self.key.tenant_of(user_id), self.key.tenant_of_installation
        at = request.asked_at or activity.info().scheduled_time
        await self.erasures.require_none_since(tenant, at)
        lesson = await self._lesson(tenant, request.id)
        item = MemoryItem(
            content=request.text or headline_of(lesson.text),
            memory_type=MemoryType.OUTCOME,
            source=Source.EXPLICIT,
            tags=lesson.tags,
            importance=lesson.importance,
            occurrence=f"promotion/{digest('promoted-lesson/1', tenant, lesson.id)[:32]}",
            occurred_at=at,
        )
        key = f"promotion-{activity.info().workflow_run_id}"
        batch = Batch(tenant=common, key=key, items=(item,), by=request.by, accepted_at=at)
        await self.audit.ready()
        # The user may have been erased since the lesson was read: everybody would keep what their receipt calls gone.
        await self.submitter.submit(batch, job_id(batch), people={tenant})
        operation = f"promotion:{activity.info().workflow_run_id}"
        await self.audit.changed(tenant, {PROMOTED: (lesson.id,)}, operation=operation, by=request.by, again=True)
        return LessonSet(tenant=tenant, job=job_id(batch))

    async def _withdrawn(self, request: LessonRequest) -> LessonSet:
        common = self.key.tenant_of_installation
        fix = "perdure lessons list shows the ids"
        operation = f"withdrawal:{activity.info().workflow_run_id}"
        removal = MemoryUpdate(id=request.id, update=Removal(), by=request.by)
        found = (await self.longterm.get(common, [request.id])).get(request.id)
        if isinstance(found, Memory) and LESSON not in found.tags:
            raise InvalidInput("id", f"{request.id!r} is a memory of everybody, and no lesson", fix=fix)
        try:
            await self.updater.update(common, removal, operation=operation, at=datetime.now(UTC))
        except InvalidInput as problem:
            # Its fix names the ids of a user's memories, and the lessons of the installation are nobody's.
            raise InvalidInput(problem.field, f"no lesson {request.id!r} counts for everybody", fix=fix) from problem
        return LessonSet(tenant=common)

    async def _lesson(self, tenant: str, identifier: str) -> Memory:
        """Return a lesson of a user.

        Raises:
            InvalidInput: There is none; with the reason.
        """
        found = (await self.longterm.get(tenant, [identifier])).get(identifier)
        if not isinstance(found, Memory) or found.state is not State.CURRENT:
            problem, fix = f"this user has no lesson {identifier!r}", "perdure lessons list --user USER shows the ids"
            raise InvalidInput("id", problem, fix=fix)
        if LESSON not in found.tags:
            fix = "perdure lessons list --user USER shows the lessons"
            raise InvalidInput("id", f"{identifier!r} is a memory, and no lesson", fix=fix)
        return found

    async def _found(self, call: LessonsCall, tenant: str) -> RecallResult:
        info = activity.info()
        query = Query(
            tenant=tenant,
            session=call.session,
            strategy=Strategy.STRUCTURED,
            memory_types=(MemoryType.OUTCOME,),
            tags=lesson_tags(call.tool, call.cause),
            limit=LESSONS_KNOWN,
            only_reads=not call.counts,
            now=call.now,
            by=Actor(kind=ActorKind.AGENT, id=info.workflow_id or ""),
            operation=f"lessons:{info.workflow_run_id}:{info.activity_id}:{tenant}",
        )
        return await self.recall.recall(query)


def _unpinned(found: RecallResult) -> list[RecalledItem]:
    """Return what was asked for: what is pinned comes in addition, whatever is asked."""
    return [one for one in found.items if one.found_by is not FoundBy.PINNED]
