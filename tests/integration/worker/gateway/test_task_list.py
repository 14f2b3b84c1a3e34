"""What is listed of a memory: with what the tasks that recalled it made of it, which no line of the journal tells."""

from uuid import uuid4

from pydantic import JsonValue

from perdure import Actor, ActorKind, RememberRequest
from perdure.memory.updates.exports import read
from perdure.values.entries import Memory
from tests.conftest import Servers
from tests.deployment import Deployment
from worker.gateway import Gateway

TESTER = Actor(kind=ActorKind.PERSON, id="tester")


async def test_trials_are_listed_shown_and_exported(here: Deployment, servers: Servers) -> None:
    user = f"user {uuid4().hex}"
    tenant = here.services.tenant_key.tenant_of(user)
    async with Gateway(here.settings, servers) as gateway:
        item: JsonValue = {"kind": "memory", "content": "The office is in Ghent.", "occurrence": "1"}
        asked = RememberRequest(user_id=user, key="k", items=(item,))
        [stored] = (await gateway.receipt(await gateway.remember(asked, by=TESTER), by=TESTER)).items
        for task in ("one", "two"):
            await here.services.updater.credit(
                tenant, [stored.id], task=task, succeeded=task == "one", by=TESTER, operation=f"credit:{task}"
            )
        [listed] = await gateway.memories(user, by=TESTER)
        shown = (await gateway.history(user, stored.id, by=TESTER))[-1].entry
        [exported] = read(await gateway.exported(user, by=TESTER)).entries
    for entry in (listed, shown, exported.entry):
        assert isinstance(entry, Memory)
        assert (entry.version, len(entry.trials), len(entry.successes)) == (1, 2, 1)
