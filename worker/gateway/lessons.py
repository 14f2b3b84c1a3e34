"""Requests about lessons: what tasks have learned from failures, of a user and of the installation."""

from perdure.documents import refuse_unknown
from perdure.names import Workflow
from perdure.values.changes import Actor
from perdure.values.entries import Memory
from perdure.values.lessons import LESSON, LessonRequest, LessonSet
from perdure.values.updates import Version
from worker.gateway.base import call, require_person
from worker.gateway.memories import MemoriesCalls
from worker.worker_wait import ANSWER_WITHIN


class LessonCalls(MemoriesCalls):
    """Managing lessons. Those of the installation count for all users: offer ``set_lesson`` to administrators only."""

    @call
    async def lessons(self, user_id: str | None = None, *, by: Actor) -> list[Memory]:
        """Return the lessons of a user, or those of the installation, the newest first.

        Args:
            user_id: Whose; None: the installation's.
            by: Who reads.

        Raises:
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: A store does not answer, or has lost data.
        """
        reader = await self._keyed_reader()
        found = await (reader.memories(user_id, None, everything=False, by=by) if user_id else reader.common(by=by))
        return [one for one in found if isinstance(one, Memory) and LESSON in one.tags]

    @call
    async def lesson_history(self, identifier: str, *, by: Actor) -> list[Version]:
        """Return the versions of a lesson of the installation, oldest first: who promoted it, and when.

        Raises:
            InvalidInput: There is no such lesson.
            TenantKeyMissing: This process has no tenant key.
            StoreUnavailable: A store does not answer, or has lost data.
        """
        return await (await self._keyed_reader()).common_history(identifier, by=by)

    @call
    async def set_lesson(self, request: LessonRequest, *, by: Actor) -> LessonSet:
        """Promote a user's lesson to the installation, with the text that a person has read, or withdraw one from it.

        Args:
            request: Which lesson, and what it says from then on.
            by: The person; the audit and the lesson's history name them.

        Raises:
            InvalidInput: There is no such lesson, or the actor is not a person.
        """
        require_person(by)
        refuse_unknown(request)
        return await self._execute(
            Workflow.SET_LESSON, request.changed(by=by), LessonSet, name="lesson", within=ANSWER_WITHIN
        )
