"""An export tells of one moment, while writes go on."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure import Actor, ActorKind, ConsentRequest, MemberRequest, RememberRequest
from perdure.errors import UnknownOwner
from perdure.memory.updates.exports import (
    Exported,
    ExportedConsent,
    ExportedEpisode,
    ExportedHold,
    ExportedMembership,
    read,
)
from perdure.memory.writing.batch_checks import read_batch
from perdure.names import Workflow
from perdure.temporal.attributes import tenant_attributes
from perdure.values.entries import Memory, Purpose, State
from perdure.values.episodes import Episode, EpisodeKind
from perdure.values.holds import Hold, hold_id
from perdure.values.items import MemoryItem
from perdure.values.jobs import Fate
from perdure.values.updates import Correction, Merger, UpdateRequest
from tests.conftest import Servers
from tests.deployment import Deployment
from tests.support.waiting import until
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
NOW = datetime.now(UTC)
PAIRS = 6


def said(content: str, **more: JsonValue) -> JsonValue:
    return {"kind": "memory", "content": content, "occurrence": "o", **more}


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
            exports.append(read(await gateway.exported(user, by=TESTER)).entries)
        await merging
        exports.append(read(await gateway.exported(user, by=TESTER)).entries)
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
    for job in (await gateway.import_(user, exported, by=TESTER)).jobs:
        receipt = await gateway.receipt(job, by=TESTER)
        assert {(one.fate, one.reason) for one in receipt.items} == {(Fate.SEARCHABLE, "it is there already")}
    assert {one.id: one for one in await gateway.memories(user, everything=True, by=TESTER)} == before
    # The control: of somebody else it is new.
    other = f"{user} too"
    for job in (await gateway.import_(other, exported, by=TESTER)).jobs:
        await gateway.receipt(job, by=TESTER)
    imported = await gateway.memories(other, everything=True, by=TESTER)
    assert len(imported) == len(ids) - 1
    assert not {one.id for one in imported} & before.keys()


async def on_hold(here: Deployment, tenant: str, content: str) -> str:
    item: JsonValue = {"kind": "memory", "content": content, "occurrence": "o"}
    batch = read_batch(tenant=tenant, key="h", items=[item | {"occurred_at": NOW.isoformat()}], accepted_at=NOW)
    hold = Hold(
        batch=batch.changed(key=hold_id(tenant, uuid4().hex, 0)), reason="tag health", until=NOW + timedelta(days=1)
    )
    await here.client.start_workflow(
        Workflow.HOLD_MEMORY,
        hold,
        id=hold.batch.key,
        task_queue=here.queue,
        search_attributes=tenant_attributes(tenant),
    )
    return hold.batch.key


async def test_an_export_is_complete_and_an_import_gives_nobody_what_they_did_not_have(
    here: Deployment, gateway: Gateway, user: str
) -> None:
    team, heir = f"team:{uuid4().hex}", f"{user} heir"
    tenant, owner = here.services.tenant_key.tenant_of(user), here.services.tenant_key.tenant_of_owner(team)
    for member in (user, f"{user} other"):
        await gateway.set_member(MemberRequest(of=team, user_id=member, belongs=True), by=TESTER)
    await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=TESTER)
    await gateway.receipt(
        await gateway.remember(RememberRequest(user_id=user, key="k", items=(said("Lunch is at noon."),)), by=TESTER),
        by=TESTER,
    )
    episode = Episode(id="e1", kind=EpisodeKind.TURN, text="I never fly.", importance=0.5, at=NOW)
    await here.services.episodes.append(tenant, "s", episode)
    await here.services.spool.append(tenant, "s", episode.changed(id="e2", text="I always walk."))
    told = {"text": "a: yes (answered by kim at noon)", "person": "kim"}
    await here.services.episodes.append(tenant, "s", episode.changed(id="e3", **told))
    held = await on_hold(here, tenant, "Marzipan is made of almonds.")
    # Temporal's list lags behind.
    lines = await until(lambda: gateway.exported(user, by=TESTER), lambda lines: len(lines) == 8)
    export = read(lines)
    found = {(one.kind, type(one)): one for one in export.others}
    assert [one.entry.text for one in export.entries] == ["Lunch is at noon."]
    assert sorted(one.kind for one in export.others) == ["consent", *["episode"] * 3, "held", "membership"]
    consent, hold = found["consent", ExportedConsent], found["held", ExportedHold]
    assert isinstance(consent, ExportedConsent)
    assert (consent.consent.purpose, consent.consent.granted) == (Purpose.EXTRACTED, True)
    assert isinstance(hold, ExportedHold)
    assert isinstance(hold.item, MemoryItem)
    assert (hold.id, hold.item.content, hold.reason) == (held, "Marzipan is made of almonds.", "tag health")
    texts = [one.episode.text for one in export.others if isinstance(one, ExportedEpisode)]
    assert sorted(texts) == ["I always walk.", "I never fly.", "a: yes (answered by another person at noon)"]
    assert "kim" not in "".join(lines)
    membership = found["membership", ExportedMembership]
    assert isinstance(membership, ExportedMembership)
    assert (membership.owner, membership.membership.user_id) == (owner, user)
    # Of a team's other members a member takes no ids away.
    shared = read(await gateway.exported(user, of=team, by=TESTER)).others
    members = [one for one in shared if isinstance(one, ExportedMembership)]
    assert sorted(one.membership.user_id for one in members) == ["", user]
    assert {one.of for one in members} == {team}
    assert "tester" not in "".join(one.model_dump_json() for one in members)

    imported = await gateway.import_(heir, lines, by=TESTER)
    assert sorted((what.partition(":")[0], count) for what, count in imported.left_out.items()) == [
        ("consent", 1),
        ("episode", 3),
        ("held", 1),
        ("membership", 1),
    ]
    for job in imported.jobs:
        assert (await gateway.receipt(job, by=TESTER)).count(Fate.SEARCHABLE) == 1
    assert not (await gateway.consent(ConsentRequest(user_id=heir), by=TESTER)).granted[Purpose.EXTRACTED]
    with pytest.raises(UnknownOwner):
        await gateway.memories(heir, of=team, by=TESTER)
    assert [
        one.text for one in await gateway.memories(heir, everything=True, by=TESTER) if isinstance(one, Memory)
    ] == ["Lunch is at noon."]
    heirs = read(await gateway.exported(heir, by=TESTER))
    assert heirs.others == []


async def test_a_teams_export_names_no_member_but_the_one_who_exports(gateway: Gateway, user: str, team: str) -> None:
    kim = f"kim {uuid4().hex}"
    own, others = (Actor(kind=ActorKind.PERSON, id=one) for one in (user, kim))
    for member in (user, kim):
        await gateway.set_member(MemberRequest(of=team, user_id=member, belongs=True), by=TESTER)
    await gateway.consent(ConsentRequest(user_id=kim, of=team, grant=(Purpose.EXTRACTED,)), by=others)
    for actor in (own, others):
        items = (said(f"{actor.id.partition(' ')[0]} has lunch at noon.", occurrence=actor.id[:3]),)
        request = RememberRequest(user_id=actor.id, of=team, key="k", items=items)
        await gateway.receipt(await gateway.remember(request, by=actor), by=TESTER)
    lines = await gateway.exported(user, of=team, by=own)
    assert not [line for line in lines if kim in line]
    assert [line for line in lines if user in line], "the control: the one who exports is named"


@pytest.mark.parametrize("imports", [True, False], ids=["imported", "control"])
async def test_no_import_makes_a_memory_surer(gateway: Gateway, user: str, *, imports: bool) -> None:
    other = f"{user} other"
    for who, confidence in ((user, 0.7), (other, 1.0)):
        items = (said("Lunch is at noon.", confidence=confidence),)
        job = await gateway.remember(RememberRequest(user_id=who, key="k", items=items), by=TESTER)
        assert (await gateway.receipt(job, by=TESTER)).count(Fate.SEARCHABLE) == 1
    if imports:
        jobs = (await gateway.import_(user, await gateway.exported(other, by=TESTER), by=TESTER)).jobs
    else:
        again = RememberRequest(user_id=user, key="k2", items=(said("Lunch is at noon.", occurrence="p"),))
        jobs = (await gateway.remember(again, by=TESTER),)
    for job in jobs:
        await gateway.receipt(job, by=TESTER)
    [memory] = await gateway.memories(user, by=TESTER)
    assert (memory.seen, memory.confidence) == (2, 0.7 if imports else 0.8)


async def test_a_habit_that_was_seen_often_enough_is_imported_as_given(here: Deployment, servers: Servers) -> None:
    user, other = (f"user {uuid4().hex}" for _ in range(2))
    habit = "The user usually books window seats."
    async with Gateway(here.settings, servers) as gateway:

        async def sees(whose: str, place: str) -> Fate:
            item: JsonValue = {"kind": "memory", "content": habit, "source": "learned", "occurrence": place}
            request = RememberRequest(user_id=whose, key=place, items=(item,))
            [one] = (await gateway.receipt(await gateway.remember(request, by=TESTER), by=TESTER)).items
            return one.fate

        assert await sees(user, "chat/1#1") is Fate.REJECTED, "the control: once is chance"
        assert await sees(user, "chat/2#1") is Fate.SEARCHABLE
        lines = await gateway.exported(user, by=TESTER)
        imported = await gateway.import_(other, lines, by=TESTER)
        for job in imported.jobs:
            assert (await gateway.receipt(job, by=TESTER)).count(Fate.SEARCHABLE) == 1
        assert [one.text for one in await gateway.memories(other, by=TESTER)] == [habit]
