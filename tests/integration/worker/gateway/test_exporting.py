"""An export tells of one moment, while writes go on."""

import asyncio
from uuid import uuid4

from pydantic import JsonValue

from perdure import Actor, ActorKind, RememberRequest
from perdure.entries import Memory, State
from perdure.jobs import Fate
from perdure.memory.updating.exports import Exported, read
from perdure.updates import Correction, Merger, UpdateRequest
from tests.conftest import Servers
from tests.deployment import Deployment
from worker.gateway import Gateway

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
PAIRS = 6


async def test_no_export_has_half_of_a_change(here: Deployment, servers: Servers) -> None:
    user = f"user {uuid4().hex}"
    async with Gateway(here.settings, servers) as gateway:
        items: tuple[JsonValue, ...] = tuple(
            {"kind": "memory", "content": f"Room {number} is {word}.", "occurrence": f"{number} {word}"}
            for number in range(PAIRS)
            for word in ("blue", "azure")
        )
        receipt = await gateway.receipt(
            await gateway.remember(RememberRequest(user_id=user, key="k", items=items), by=TESTER), by=TESTER
        )
        ids = [item.id for item in receipt.items]

        async def merge() -> None:
            for number in range(PAIRS):
                update = Merger(other=ids[2 * number + 1])
                await gateway.update(UpdateRequest(user_id=user, id=ids[2 * number], update=update), by=TESTER)

        merging = asyncio.create_task(merge())
        exports: list[list[Exported]] = []
        while not merging.done():
            exports.append(read(await gateway.exported(user, by=TESTER)))
        await merging
        exports.append(read(await gateway.exported(user, by=TESTER)))
    for export in exports:
        entries = {one.entry.id: one.entry for one in export}
        assert {*ids} <= entries.keys()
        for entry in entries.values():
            assert isinstance(entry, Memory)
            assert entry.state is State.CURRENT or entry.superseded_by in entries
            assert all(entries[one].state is State.SUPERSEDED for one in entry.merged_from)
        assert all(one.history[-1].entry == one.entry for one in export)
    sizes = {len(export) for export in exports}
    assert max(sizes) == 3 * PAIRS
    assert len(sizes) > 1, "the control: writes went on meanwhile"


async def test_importing_what_is_there_changes_nothing(here: Deployment, gateway: Gateway, user: str) -> None:
    items: list[JsonValue] = [
        {"kind": "memory", "content": "Cats rule at home.", "occurrence": "o1", "confidence": 0.8},
        {"kind": "memory", "content": "At home, the cats are the rulers.", "occurrence": "o2", "confidence": 0.8},
        {"kind": "memory", "content": "Lunch is at noon.", "occurrence": "o3", "confidence": 0.8},
        {"kind": "record", "lane": "pattern", "key": "k", "payload": 1, "occurrence": "o4", "confidence": 0.8},
        {"kind": "turn", "content": "Hello.", "speaker": "Kim", "session": "s", "position": 0, "occurrence": "o5"},
    ]
    job = await gateway.remember(RememberRequest(user_id=user, key="k", items=tuple(items)), by=TESTER)
    ids = [item.id for item in (await gateway.receipt(job, by=TESTER)).items]
    await gateway.update(UpdateRequest(user_id=user, id=ids[0], update=Merger(other=ids[1])), by=TESTER)
    exported = await gateway.exported(user, by=TESTER)
    await gateway.update(UpdateRequest(user_id=user, id=ids[2], update=Correction(tags=("food",))), by=TESTER)
    before = {one.id: one for one in await gateway.memories(user, everything=True, by=TESTER)}
    for job in await gateway.import_(user, exported, by=TESTER):
        receipt = await gateway.receipt(job, by=TESTER)
        assert {(one.fate, one.reason) for one in receipt.items} == {(Fate.SEARCHABLE, "it is there already")}
    assert {one.id: one for one in await gateway.memories(user, everything=True, by=TESTER)} == before
    # The control: of somebody else it is new.
    other = f"{user} too"
    for job in await gateway.import_(other, exported, by=TESTER):
        await gateway.receipt(job, by=TESTER)
    imported = await gateway.memories(other, everything=True, by=TESTER)
    assert len(imported) == len(ids) - 1
    assert not {one.id for one in imported} & before.keys()
