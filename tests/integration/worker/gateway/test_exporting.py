"""An export tells of one moment, while writes go on."""

import asyncio
from uuid import uuid4

from pydantic import JsonValue

from perdure import Actor, ActorKind, RememberRequest
from perdure.entries import Memory, State
from perdure.memory.updating.exports import Exported, read
from perdure.updates import Merger, UpdateRequest
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
