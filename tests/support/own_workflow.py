from datetime import timedelta

from pydantic import JsonValue
from temporalio import activity, workflow

from perdure import Actor, ActorKind, RecallHandle, RecallRequest, RememberRequest
from perdure.temporal import recall, remember, until_searchable
from worker.gateway import Gateway

GREETINGS = Actor(kind=ActorKind.AGENT, id="greetings")


class Greetings:
    def __init__(self, memory: Gateway) -> None:
        self._memory = memory

    @activity.defn
    async def write_greeting(self, user: str, known: RecallHandle) -> str:
        items = await self._memory.read(user, known, by=GREETINGS)
        return f"Hello! I remember: {items[0].text}" if items else "Hello!"


@workflow.defn
class Greet:
    @workflow.run
    async def run(self, user: str, wish: str) -> str:
        key = workflow.info().workflow_id
        item: JsonValue = {
            "kind": "memory",
            "content": wish,
            "occurrence": key,
            "occurred_at": workflow.now().isoformat(),
        }
        job = await remember(RememberRequest(user_id=user, key=key, items=(item,)))
        await until_searchable(job)
        known = await recall(RecallRequest(user_id=user, text="How does this user want to be greeted?"))
        return await workflow.execute_activity_method(
            Greetings.write_greeting, args=[user, known], start_to_close_timeout=timedelta(seconds=30)
        )
