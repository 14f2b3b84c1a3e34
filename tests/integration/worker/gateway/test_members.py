"""A team's memory is its members', through every door; to anybody else there is no such team."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure import Actor, ActorKind, RecallRequest, RememberRequest
from perdure.errors import InvalidInput, UnknownOwner
from perdure.identity import author_id
from perdure.memory.erasure.eraser import Eraser
from perdure.memory.membership import MemberBook
from perdure.names import Attribute
from perdure.stores.redis import keys
from perdure.stores.redis.connection import ask
from perdure.values.entries import Memory, Purpose
from perdure.values.erasures import Erasure, ErasureReceipt
from perdure.values.jobs import Fate, ItemReceipt
from perdure.values.memberships import MemberRequest
from perdure.values.requests import (
    ConsentRequest,
    EraseRequest,
    ForgetRequest,
    HandleItem,
    ObserveRequest,
    RecallHandle,
    ReconcileRequest,
    UndoRequest,
)
from perdure.values.statements import Said, Voice
from perdure.values.updates import Pinning, UpdateRequest
from tests.conftest import Servers, clean_settings
from tests.deployment import Deployment
from tests.support.waiting import until
from worker.gateway import Gateway

ADMIN = Actor(kind=ActorKind.PERSON, id="admin")
FACT = "The release train leaves on Thursday."


async def enrol(gateway: Gateway, team: str, user: str, *, belongs: bool = True) -> None:
    request = MemberRequest(of=team, user_id=user, belongs=belongs)
    assert (await gateway.set_member(request, by=ADMIN)).belongs is belongs


async def remembered(gateway: Gateway, user: str, of: str | None, text: str = FACT) -> str:
    item: JsonValue = {"kind": "memory", "content": text, "occurrence": uuid4().hex}
    request = RememberRequest(user_id=user, of=of, key=uuid4().hex, items=(item,))
    [done] = (await gateway.receipt(await gateway.remember(request, by=ADMIN), by=ADMIN)).items
    assert done.fate is Fate.SEARCHABLE, done.reason
    return done.id


async def texts(gateway: Gateway, user: str, of: str | None) -> list[str]:
    found = await gateway.recall(
        RecallRequest(user_id=user, of=of, text="When does the release train leave?"), by=ADMIN
    )
    return [item.text for item in found.items]


@pytest.mark.slow
async def test_members_share_a_memory_that_is_nobodys_own(here: Deployment, gateway: Gateway, team: str) -> None:
    ada, kim = f"ada {uuid4().hex}", f"kim {uuid4().hex}"
    await enrol(gateway, team, ada)
    await enrol(gateway, team, kim)
    identifier = await remembered(gateway, ada, team)
    await remembered(gateway, ada, None, "The release train of ada leaves on Monday.")
    assert await texts(gateway, kim, team) == [FACT]
    assert await texts(gateway, kim, None) == []
    assert await texts(gateway, ada, None) == ["The release train of ada leaves on Monday."]
    await gateway.update(UpdateRequest(user_id=kim, of=team, id=identifier, update=Pinning(pinned=True)), by=ADMIN)
    [entry] = await gateway.memories(ada, of=team, by=ADMIN)
    assert isinstance(entry, Memory)
    assert entry.pinned
    with pytest.raises(InvalidInput, match=r"PRD116 id: there is no"):
        await gateway.update(UpdateRequest(user_id=kim, id=identifier, update=Pinning(pinned=True)), by=ADMIN)
    versions = await gateway.history(ada, identifier, of=team, by=ADMIN)
    assert {version.by.id for version in versions} == {ADMIN.id}, "the actor stays the person"
    members = await gateway.members(team, by=ADMIN)
    assert [(one.user_id, one.by) for one in members] == sorted([(ada, ADMIN), (kim, ADMIN)])
    tenant = here.services.tenant_key.tenant_of_owner(team)
    copied = (await gateway.import_(kim, await gateway.exported(ada, of=team, by=ADMIN), by=ADMIN)).jobs
    assert [(await gateway.receipt(job, by=ADMIN)).count(Fate.SEARCHABLE) for job in copied] == [1]
    assert set(await texts(gateway, kim, None)) == {FACT}
    assert await here.services.longterm.get(tenant, [identifier]) != {}


def author(here: Deployment, team: str, user: str) -> str:
    """Return what stands for a member in a team's memory."""
    key = here.services.tenant_key
    return author_id(key.tenant_of_owner(team), key.tenant_of(user))


@pytest.mark.slow
async def test_a_member_replaces_what_another_one_said_only_by_a_persons_decision(
    here: Deployment, gateway: Gateway, team: str
) -> None:
    ada, kim = f"ada {uuid4().hex}", f"kim {uuid4().hex}"
    for member in (ada, kim):
        await enrol(gateway, team, member)

    async def said(user: str, text: str) -> ItemReceipt:
        item: JsonValue = {"kind": "memory", "content": text, "occurrence": uuid4().hex}
        request = RememberRequest(user_id=user, of=team, key=uuid4().hex, items=(item,))
        [done] = (await gateway.receipt(await gateway.remember(request, by=ADMIN), by=ADMIN)).items
        return done

    first = await said(ada, "The standup is at 9.")
    held = await said(kim, "The standup is at 10.")
    assert (held.fate, held.reason) == (Fate.HELD, f"it contradicts what somebody else said: {first.id}")
    own = await said(ada, "The standup is at 11.")
    assert own.fate is Fate.SEARCHABLE, "oneself changes one's mind"
    [memory] = [one for one in await gateway.memories(ada, of=team, by=ADMIN) if isinstance(one, Memory)]
    assert (memory.text, memory.authors) == ("The standup is at 11.", (author(here, team, ada),))
    decided = await gateway.decide(kim, held.hold, of=team, approve=True, by=ADMIN)
    assert decided.receipt is not None
    [memory] = [one for one in await gateway.memories(ada, of=team, by=ADMIN) if isinstance(one, Memory)]
    assert (memory.text, memory.authors) == ("The standup is at 10.", (author(here, team, kim),))
    # Nothing that is kept of a memory's authors names an erased one.
    await gateway.set_member(MemberRequest(of=team, user_id=kim, belongs=False), by=ADMIN)
    await gateway.erase(EraseRequest(user_id=kim), by=ADMIN)
    lines = await here.services.journal.read(here.services.tenant_key.tenant_of_owner(team))
    assert not [line for line in lines if kim in line.model_dump_json()]


@pytest.mark.slow
async def test_what_members_did_by_themselves_names_them_until_they_are_erased(
    here: Deployment, gateway: Gateway, team: str
) -> None:
    ada, kim = f"ada {uuid4().hex}", f"kim {uuid4().hex}"
    await enrol(gateway, team, ada)
    await enrol(gateway, team, kim)
    by = Actor(kind=ActorKind.PERSON, id=kim)

    async def said(user: str, text: str, by: Actor) -> ItemReceipt:
        item: JsonValue = {"kind": "memory", "content": text, "occurrence": uuid4().hex}
        request = RememberRequest(user_id=user, of=team, key=uuid4().hex, items=(item,), by=by)
        [done] = (await gateway.receipt(await gateway.remember(request, by=by), by=by)).items
        return done

    own = (await said(kim, FACT, by)).id
    await gateway.update(UpdateRequest(user_id=kim, of=team, id=own, update=Pinning(pinned=True)), by=by)
    await gateway.consent(ConsentRequest(user_id=kim, of=team, grant=(Purpose.EXTRACTED,)), by=by)
    await said(ada, "The standup is at 9.", ADMIN)
    for text, approve in (("The standup is at 10.", True), ("The standup is at 11.", False)):
        held = await said(ada if approve else kim, text, ADMIN)
        if held.fate is Fate.HELD:
            await gateway.decide(kim, held.hold, of=team, approve=approve, by=by)
    names = {version.by.id for version in await gateway.history(ada, own, of=team, by=ADMIN)}
    assert names == {kim}, "a member is told who among them it was"
    owner = here.services.tenant_key.tenant_of_owner(team)
    await gateway.set_member(MemberRequest(of=team, user_id=kim, belongs=False), by=ADMIN)
    await gateway.erase(EraseRequest(user_id=kim), by=ADMIN)
    folder = here.settings.journal_folder
    assert [path for path in folder.rglob("*") if path.is_file() and kim.encode() in path.read_bytes()] == []
    assert kim not in str(await ask(here.services.redis, "HGETALL", keys.consents(owner)))
    names = {version.by.id for version in await gateway.history(ada, own, of=team, by=ADMIN)}
    assert names == {author(here, team, kim)}, "nothing says any more whom this stands for"


BY_WORKERS = ("recall", "remember", "update", "consent", "erase", "forget", "undo", "reconcile")
"""What a process without the tenant key can ask for."""

BY_ID = ("update", "history", "decide")
"""What a member may ask, of something that there is not."""

REFUSED = {"undo": "forgot nothing that can still be undone", **dict.fromkeys(BY_ID, "PRD116 id: there is no")}
"""What a member is told who may ask."""


def doors(gateway: Gateway, user: str, of: str) -> dict[str, Callable[[], Awaitable[Any]]]:
    who: dict[str, Any] = {"user_id": user, "of": of}
    said = Said.model_validate(
        {"text": "I travel by train.", "by": Voice.USER, "at": "2026-05-01T12:00:00Z", "occurrence": "o"}
    )
    item: JsonValue = {"kind": "memory", "content": FACT, "occurrence": "o"}
    handle = RecallHandle(of=of, items=(HandleItem(id="mem_1", version=1, score=1.0),))
    pinning = UpdateRequest(**who, id="mem_1", update=Pinning(pinned=True))
    return {
        "recall": lambda: gateway.recall(RecallRequest(**who, text="train"), by=ADMIN),
        "remember": lambda: gateway.remember(RememberRequest(**who, key="k", items=(item,)), by=ADMIN),
        "observe": lambda: gateway.observe(ObserveRequest(**who, session="s", said=(said,)), by=ADMIN),
        "update": lambda: gateway.update(pinning, by=ADMIN),
        "consent": lambda: gateway.consent(ConsentRequest(**who, grant=(Purpose.EXTRACTED,)), by=ADMIN),
        "erase": lambda: gateway.erase(EraseRequest(**who), by=ADMIN),
        "forget": lambda: gateway.forget(ForgetRequest(**who), by=ADMIN),
        "undo": lambda: gateway.undo(UndoRequest(**who, sweep="sweep"), by=ADMIN),
        "reconcile": lambda: gateway.reconcile(ReconcileRequest(**who), by=ADMIN),
        "read": lambda: gateway.read(user, handle, by=ADMIN),
        "memories": lambda: gateway.memories(user, of=of, by=ADMIN),
        "history": lambda: gateway.history(user, "mem_1", of=of, by=ADMIN),
        "rejected": lambda: gateway.rejected(user, of=of, by=ADMIN),
        "held": lambda: gateway.held(user, of=of, by=ADMIN),
        "decide": lambda: gateway.decide(user, "hold-1", of=of, approve=True, by=ADMIN),
        "exported": lambda: gateway.exported(user, of=of, by=ADMIN),
    }


async def refusal(call: Callable[[], Awaitable[Any]], of: str) -> str:
    with pytest.raises(UnknownOwner) as caught:
        await call()
    return str(caught.value).replace(of, "OWNER")


@pytest.fixture
async def keyless(here: Deployment, servers: Servers, tmp_path: Path) -> AsyncGenerator[Gateway]:
    async with Gateway(clean_settings(tmp_path / "elsewhere", task_queue=here.queue), servers) as one:
        yield one


@pytest.mark.slow
async def test_no_door_tells_a_team_that_one_does_not_belong_to_from_none(
    gateway: Gateway, keyless: Gateway, team: str, user: str
) -> None:
    stranger, none = f"stranger {uuid4().hex}", f"team:none-{uuid4().hex[:8]}"
    await enrol(gateway, team, user)
    await gateway.consent(ConsentRequest(user_id=user, of=team, grant=(Purpose.EXTRACTED,)), by=ADMIN)
    asked = [(gateway, door) for door in doors(gateway, user, team)] + [(keyless, door) for door in BY_WORKERS]

    for way, door in asked:
        told = await refusal(doors(way, stranger, team)[door], team)
        assert told == await refusal(doors(way, stranger, none)[door], none), door
        assert told.startswith("PRD107 of: this user belongs to no 'OWNER'"), door
        if door in REFUSED:
            with pytest.raises(InvalidInput, match=REFUSED[door]):
                await doors(way, user, team)[door]()
        elif door != "erase":
            await doors(way, user, team)[door]()


@pytest.mark.slow
async def test_who_was_removed_reads_and_writes_no_more(gateway: Gateway, team: str, user: str) -> None:
    await enrol(gateway, team, user)
    identifier = await remembered(gateway, user, team)
    handle = RecallHandle(of=team, items=(HandleItem(id=identifier, version=1, score=1.0),))
    assert [item.text for item in await gateway.read(user, handle, by=ADMIN)] == [FACT], "the control"
    await enrol(gateway, team, user, belongs=False)
    for door in ("recall", "remember", "read", "memories"):
        await refusal(doors(gateway, user, team)[door], team)
    assert await gateway.members(team, by=ADMIN) == []
    await enrol(gateway, team, user)
    assert await texts(gateway, user, team) == [FACT], "what was written stays the team's"


@pytest.mark.slow
async def test_a_team_is_swept_restored_and_reconciled_by_a_member(
    here: Deployment, gateway: Gateway, team: str, user: str
) -> None:
    await enrol(gateway, team, user)
    items: tuple[JsonValue, ...] = tuple(
        {
            "kind": "memory",
            "content": f"Room {number} is shut.",
            "occurrence": f"o{number}",
            "occurred_at": "2019-12-01T00:00:00Z",
            "valid_until": "2020-01-01T00:00:00Z",
        }
        for number in range(30)
    )
    job = await gateway.remember(RememberRequest(user_id=user, of=team, key="k", items=items), by=ADMIN)
    await gateway.receipt(job, by=ADMIN)
    await remembered(gateway, user, None)
    tenant = here.services.tenant_key.tenant_of_owner(team)
    who = {"user_id": user, "of": team}
    held = await gateway.forget(ForgetRequest.model_validate(who), by=ADMIN)
    assert (held.report.held != (), held.report.forgotten) == (True, 0), "the guard holds the team"
    swept = await gateway.forget(ForgetRequest.model_validate(who | {"approved": True}), by=ADMIN)
    assert (swept.report.tenants, swept.report.forgotten) == (1, 30)
    undone = await gateway.undo(UndoRequest.model_validate(who), by=ADMIN)
    assert (undone.sweep, undone.restored) == (swept.sweep, 30)
    found = await gateway.reconcile(ReconcileRequest.model_validate(who), by=ADMIN)
    assert (found.found.tenants, found.found.origins) == (1, {"merged": 30})
    assert (
        len(await gateway.memories(user, of=team, by=ADMIN))
        == len(await here.services.longterm.everything(tenant))
        == 30
    )
    assert len(await gateway.memories(user, by=ADMIN)) == 1, "the member's own is left alone"


async def test_who_says_not_who_asks_is_a_stranger(gateway: Gateway, team: str, user: str) -> None:
    await enrol(gateway, team, user)
    await refusal(lambda: gateway.forget(ForgetRequest(of=team), by=ADMIN), team)
    await refusal(lambda: gateway.undo(UndoRequest(of=team, sweep="sweep"), by=ADMIN), team)
    await refusal(lambda: gateway.reconcile(ReconcileRequest(of=team), by=ADMIN), team)


@pytest.mark.slow
async def test_a_team_has_a_consent_of_its_own(gateway: Gateway, team: str, user: str) -> None:
    await enrol(gateway, team, user)
    granted = await gateway.consent(ConsentRequest(user_id=user, of=team, grant=(Purpose.EXTRACTED,)), by=ADMIN)
    assert granted.granted == {"given": True, "extracted": True}
    assert (await gateway.consent(ConsentRequest(user_id=user), by=ADMIN)).granted["extracted"] is False
    with pytest.raises(InvalidInput, match=r"has not consented .*--of OWNER"):
        await doors_without(gateway, user)
    observed = await doors(gateway, user, team)["observe"]()
    [done] = (await gateway.receipt(observed.job, by=ADMIN)).items
    assert done.fate is Fate.SEARCHABLE
    assert [item.text for item in await gateway.memories(user, by=ADMIN)] == []


async def doors_without(gateway: Gateway, user: str) -> None:
    said = Said.model_validate(
        {"text": "I travel by train.", "by": Voice.USER, "at": "2026-05-01T12:00:00Z", "occurrence": "o"}
    )
    await gateway.observe(ObserveRequest(user_id=user, session="s", said=(said,)), by=ADMIN)


@pytest.mark.slow
async def test_erasing_a_team_leaves_its_members_and_erasing_a_member_leaves_the_team(
    here: Deployment, gateway: Gateway, team: str
) -> None:
    ada, kim = f"ada {uuid4().hex}", f"kim {uuid4().hex}"
    await enrol(gateway, team, ada)
    # Also who added somebody is named in a list.
    request = MemberRequest(of=team, user_id=kim, belongs=True)
    await gateway.set_member(request, by=Actor(kind=ActorKind.PERSON, id=ada))
    await remembered(gateway, ada, team)
    await remembered(gateway, ada, None, "The release train of ada leaves on Monday.")
    key, redis = here.services.tenant_key, here.services.redis
    tenant, journal = key.tenant_of_owner(team), here.settings.journal_folder

    async def named(user: str) -> tuple[bool, bool, bool]:
        lines = (journal / tenant / "current.jsonl").read_text("utf-8")
        listed = str(await ask(redis, "HGETALL", keys.members(tenant)))
        return user in lines, user in listed, key.tenant_of(user) in lines + listed

    assert await named(ada) == (True, True, True), "the control"
    receipt = await gateway.erase(EraseRequest(user_id=ada), by=ADMIN)
    assert receipt.proved
    assert await named(ada) == (False, False, False)
    assert [(one.user_id, one.by.id) for one in await gateway.members(team, by=ADMIN)] == [(kim, "")]
    assert await texts(gateway, kim, team) == [FACT], "what she wrote into the team's memory stays the team's"
    await refusal(doors(gateway, ada, team)["recall"], team)

    await remembered(gateway, kim, None, "The release train of kim leaves on Friday.")
    receipt = await gateway.erase(EraseRequest(user_id=kim, of=team), by=ADMIN)
    assert (receipt.proved, receipt.entries, receipt.tenant) == (True, 1, tenant)
    assert [one async for one in here.client.list_workflows(f"{Attribute.TENANT} = '{tenant}'")] == []
    await refusal(doors(gateway, kim, team)["recall"], team)
    assert await gateway.members(team, by=ADMIN) == []
    assert await texts(gateway, kim, None) == ["The release train of kim leaves on Friday."]


@pytest.mark.slow
async def test_a_proved_receipt_is_had_again_although_another_erasure_was_taken_over_later(
    here: Deployment, gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, team = f"user {uuid4().hex}", f"team:{uuid4().hex[:12]}"
    await gateway.set_member(MemberRequest(of=team, user_id=user, belongs=True), by=ADMIN)
    request, services = EraseRequest(user_id=user, of=team), here.services

    async def found(*_: object) -> str:
        return services.tenant_key.tenant_of_owner(team)

    async def taken_over(self: Eraser, tenant: str, *, operation: str, **more: Any) -> Erasure:
        return Erasure(tenant=tenant, epoch=1, at=datetime.now(UTC), operation="the other one")

    first = await gateway.erase(request, by=ADMIN)
    assert first.proved
    with monkeypatch.context() as patched:
        patched.setattr(MemberBook, "erasable", found)
        patched.setattr(Eraser, "begin", taken_over)
        assert not (await gateway.erase(request, by=ADMIN)).proved

    async def again() -> ErasureReceipt | None:
        with suppress(UnknownOwner):
            return await gateway.erase(request, by=ADMIN)
        return None

    assert await until(again, lambda one: one is not None) == first.changed(earlier=True)


@pytest.mark.slow
async def test_a_team_whose_erasure_was_cut_off_is_erased_by_its_members_and_nobody_else(
    here: Deployment, gateway: Gateway
) -> None:
    user, other, team = f"user {uuid4().hex}", f"other {uuid4().hex}", f"team:{uuid4().hex[:12]}"
    await gateway.set_member(MemberRequest(of=team, user_id=user, belongs=True), by=ADMIN)
    services, tenant = here.services, here.services.tenant_key.tenant_of_owner(team)
    await services.eraser.begin(tenant, operation="cut off", by=ADMIN, at=datetime.now(UTC))
    for _ in range(2):
        await services.eraser.remove(tenant, "cut off")
    with pytest.raises(UnknownOwner):
        await services.members.tenant(user, team)
    with pytest.raises(UnknownOwner):
        await gateway.erase(EraseRequest(user_id=other, of=team), by=ADMIN)
    receipt = await gateway.erase(EraseRequest(user_id=user, of=team), by=ADMIN)
    assert receipt.proved
    assert await ask(services.redis, "EXISTS", keys.former(tenant)) == 0

    # Its answer may have been lost.
    async def again(who: str, of: str = team) -> ErasureReceipt | None:
        with suppress(UnknownOwner):
            return await gateway.erase(EraseRequest(user_id=who, of=of), by=ADMIN)

    assert await until(lambda: again(user), lambda found: found is not None) == receipt.changed(earlier=True)
    for who, of in ((other, team), (user, f"{team}-other")):
        assert await again(who, of) is None
