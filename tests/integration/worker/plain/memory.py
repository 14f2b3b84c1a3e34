"""What people do with memory, told as stories."""

import json
from typing import Any
from uuid import uuid4

from temporalio.worker import Worker

from perdure.names import Attribute
from perdure.stores.tenant_key import TenantKey
from perdure.values.lessons import lesson_tags
from tests.conftest import TENANT_KEY
from tests.integration.temporal.test_agent_session import Plays, said
from tests.integration.worker.plain.installation import Plain
from tests.support.own_workflow import Greet, Greetings
from tests.support.waiting import until
from worker.gateway import Gateway

TUESDAYS = "Deploys happen on Tuesdays."

EXPIRED = {
    "kind": "record",
    "lane": "feedback",
    "key": "freeze",
    "payload": {"answer": "yes"},
    "occurred_at": "2019-12-01T00:00:00Z",
    "valid_until": "2020-01-01T00:00:00Z",
}


async def offered(here: Plain, user: str, **item: Any) -> Any:
    """Offer an item; returns what became of it."""
    file = here.given.write(f"{uuid4().hex}.json", json.dumps([{"kind": "memory"} | item]))
    return (await here.told("remember", "--file", file, "--user", user))["items"][0]


async def changes_and_recalls_memory(here: Plain, user: str) -> None:
    """A memory that is corrected, pinned, merged, taken back and taken along; consent, and a team's memory."""
    whose = ("--user", user)
    await here.run("memories", "consent", *whose, "--grant", "extracted")
    await here.run("observe", "I always travel by train.", *whose, "--session", "s")
    one = (await offered(here, user, content=TUESDAYS))["id"]
    other = (await offered(here, user, content="The cats are the rulers."))["id"]
    corrected = (await here.told("memories", "correct", one, "Deploys happen on Mondays.", *whose))["id"]
    assert "Mondays" in (await here.run("recall", "When do deploys happen?", *whose)).out
    await here.run("memories", "revert", one, *whose, "--version", "1")
    await here.run("memories", "pin", other, *whose)
    forgot = await here.run("memories", "forget", other, *whose)
    assert (await here.given.typed(forgot.out.split("undo: ")[1].strip())).status == 0
    history = await here.told("memories", "history", one, *whose)
    assert [version["why"] for version in history][:2] == ["insert", "correct"]
    assert corrected != one
    exported = here.given.folder / f"{uuid4().hex}.jsonl"
    await here.run("memories", "export", *whose, "--file", str(exported))
    await here.run("memories", "import", str(exported), "--user", f"not {user}")
    assert TUESDAYS in (await here.run("memories", "list", "--user", f"not {user}")).out
    team = f"team:{uuid4().hex[:12]}"
    await here.run("memories", "members", "add", team, user)
    await here.run("remember", "The train is late.", *whose, "--of", team)
    assert "late" in (await here.run("recall", "train", *whose, "--of", team)).out
    # Without the tenant key, a worker recalls.
    remote = await here.given.perdure("recall", "When do deploys happen?", *whose, PERDURE_HOME=str(here.ledger()))
    assert (remote.status, TUESDAYS in remote.out) == (0, True), remote.err


async def sweeps_and_repairs(here: Plain, user: str) -> None:
    """A sweep and its undoing; due dates recomputed, and stores reconciled, for everybody."""
    await offered(here, user, **EXPIRED)
    await here.run("remember", TUESDAYS, "--user", user)
    tried = await here.told("forget", "--user", user, "--dry-run")
    swept = await here.told("forget", "--user", user)
    assert tried["report"]["forgotten"] == swept["report"]["forgotten"] == 1
    undone = await here.run("forget", "--undo", "--sweep", swept["sweep"])
    assert undone.out.startswith("restored 1 entry")
    await here.run("forget", "--redate")
    assert (await here.run("reconcile", "--user", user)).out.startswith("reconciled 1 user: 2 entries (2 in both)")
    assert (await here.told("reconcile"))["losses"] == []


async def holds_memories_for_a_person(here: Plain, user: str) -> None:
    """Memories that a person approves and rejects, in each of the two ways."""
    holds = [(await offered(here, user, content=f"{nut} give me hives.", tags=["health"]))["hold"] for nut in NUTS]

    async def waiting() -> set[str]:
        inbox = await here.told("inbox", "--user", user)
        held = await here.told("memories", "held", "--user", user)
        return {one["workflow_id"] for one in inbox} & {one["id"] for one in held}

    await until(waiting, lambda found: found == {*holds})
    approved, rejected, answered = holds
    await here.run("memories", "approve", approved, "--user", user)
    await here.run("memories", "reject", rejected, "--user", user)
    await here.run("answer", answered, "approval", "yes")
    await here.run("memories", "approve", answered, "--user", user)
    texts = {one["text"] for one in await here.told("memories", "list", "--user", user)}
    assert texts == {"Almonds give me hives.", "Pecans give me hives."}
    await until(waiting, lambda found: found == set())


NUTS = ("Almonds", "Walnuts", "Pecans")


async def promotes_a_lesson(here: Plain, user: str) -> None:
    """A lesson that counts for everybody, until it is withdrawn."""
    text, tags = f"send failed. Use the other line ({uuid4().hex[:8]}).", lesson_tags("send", "OSError")
    one = (await offered(here, user, content=text, memory_type="outcome", tags=[*tags]))["id"]
    await here.run("lessons", "promote", one, "--user", user, "--yes")
    [common] = [entry for entry in await here.told("lessons", "list") if entry["text"] == text]
    await here.run("lessons", "withdraw", common["id"])


async def is_used_by_workflows_of_ones_own(here: Plain, user: str) -> None:
    """Anybody's own workflows remember, recall, and keep the session of an agent."""
    queue, wish = f"q-{uuid4().hex}", "I want to be greeted in Latin."
    async with Gateway(here.settings, here.addresses) as gateway:
        greets = Greetings(gateway).write_greeting
        async with Worker(here.client, task_queue=queue, workflows=[Greet, Plays], activities=[greets]):
            how: dict[str, Any] = {"task_queue": queue}
            given: list[Any] = [user, wish]
            greeting = await here.client.execute_workflow(Greet.run, args=given, id=f"g-{uuid4()}", **how)
            assert greeting == f"Hello! I remember: {wish}"
            calls = [["add_items", [said("one"), said("two")]], ["pop_item"], ["get_items"]]
            given = [user, "s", here.settings.task_queue, calls]
            answers = await here.client.execute_workflow(Plays.run, args=given, id=f"p-{uuid4()}", **how)
            assert answers == [None, said("two"), [said("one")]]


async def erases_a_user(here: Plain, user: str) -> None:
    """Everything of a user: memories, one on hold, an open task, an ended one, a conversation and a schedule."""
    await here.run("remember", TUESDAYS, "--user", user)
    hold = (await offered(here, user, content="Almonds give me hives.", tags=["health"]))["hold"]
    await here.run("run", here.of_skill(user, "nothing"))
    asking = here.of_skill(user, "asking")
    task = await here.begun(asking)
    await here.asks(asking)
    await here.run("chat", "Hello", "--user", user)
    scheduled = await here.told("schedule", here.of_skill(user, "nothing"), "--every", "1d")
    receipt = await here.told("erase", "--user", user, "--yes")
    assert (receipt["proved"], receipt["entries"], receipt["executions"] >= 5) == (True, 1, True), receipt
    tenant = TenantKey(TENANT_KEY).tenant_of(user)

    async def runs() -> int:
        return (await here.client.count_workflows(f"{Attribute.TENANT} = '{tenant}'")).count

    await until(runs, lambda number: number == 0)
    for gone in (task, hold):
        shown = await here.given.perdure("tasks", "show", gone)
        assert shown.status == 2, shown.out
    assert await here.told("memories", "list", "--user", user) == []
    assert scheduled["id"] not in [one["id"] for one in await here.told("schedules")]
