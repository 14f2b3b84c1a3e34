"""Who wrote, changed or read a memory, through a whole worker: one line each, with the actor, and no content."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import JsonValue
from temporalio.testing import ActivityEnvironment

from activities.memory import MemoryActivities
from perdure import Actor, ActorKind, RecallRequest, RememberRequest
from perdure.errors import StoreUnavailable
from perdure.memory.audit.audit import Audit
from perdure.memory.recall.query import Query
from perdure.stores.audit.files import FOLDER, sizes
from perdure.stores.audit.lines import AuditKind, AuditLine
from perdure.stores.redis.audit_heads import AuditHeads
from perdure.values.access_tokens import TokenRequest, TokenScope
from perdure.values.entries import Purpose
from perdure.values.memberships import MemberRequest
from perdure.values.requests import (
    ConsentRequest,
    EraseRequest,
    ForgetRequest,
    HandleItem,
    RecallHandle,
    ReconcileRequest,
)
from perdure.values.updates import Correction, Removal, UpdateRequest
from tests.conftest import Servers
from tests.deployment import Deployment
from worker import audits
from worker.gateway import Gateway
from worker.reader import open_reader

ADA, KIM = Actor(kind=ActorKind.PERSON, id="ada"), Actor(kind=ActorKind.PERSON, id="kim")
FACT, CORRECTED = "The espresso machine is a Faema.", "The espresso machine is a Rancilio."


def person(identifier: str) -> Actor:
    return Actor(kind=ActorKind.PERSON, id=identifier)


async def lines(here: Deployment, user: str) -> list[AuditLine]:
    return await shown(here, user, None)


async def shown(here: Deployment, user: str, of: str | None) -> list[AuditLine]:
    """Return what is shown to the two who act, each of whom is shown their own name."""
    await here.services.audit.written()
    to_ada, to_kim = [await audits.show(here.settings, user, of, None, by) for by in (ADA, KIM)]
    return [one if one.by == ADA else other for one, other in zip(to_ada, to_kim, strict=True)]


def brief(found: Sequence[AuditLine]) -> list[tuple[str, str, tuple[tuple[str, int], ...]]]:
    """Return for each line what it is about, who, and how many entries for which reason."""
    return [
        (line.kind.value, line.by.id if line.by else "", tuple((why, len(ids)) for why, ids in line.ids.items()))
        for line in found
    ]


async def remembered(gateway: Gateway, user: str, text: str = FACT) -> str:
    item: JsonValue = {"kind": "memory", "content": text, "occurrence": uuid4().hex}
    job = await gateway.remember(RememberRequest(user_id=user, key=uuid4().hex, items=(item,)), by=ADA)
    return (await gateway.receipt(job, by=KIM)).items[0].id


@pytest.mark.slow
async def test_each_write_and_each_read_leaves_one_line_with_its_actor(
    here: Deployment, servers: Servers, user: str
) -> None:
    async with Gateway(here.settings, servers) as gateway:
        one = await remembered(gateway, user)
        asked = RecallRequest(user_id=user, text="Which espresso machine is it?")
        [item] = (await gateway.recall(asked, by=KIM)).items
        done = await gateway.update(UpdateRequest(user_id=user, id=one, update=Correction(content=CORRECTED)), by=KIM)
        await gateway.memories(user, by=ADA)
        await gateway.history(user, one, by=ADA)
        await gateway.exported(user, by=KIM)
        await gateway.rejected(user, by=ADA)
        handle = RecallHandle(items=(HandleItem(id=done.id, version=1, score=1.0),))
        assert await gateway.read(user, handle, by=ADA)
        await gateway.update(UpdateRequest(user_id=user, id=done.id, update=Removal()), by=ADA)
        await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=KIM)
    assert item.id == one
    found = await lines(here, user)
    assert brief(found) == [
        ("changed", "ada", (("insert", 1),)),
        ("read", "kim", (("recall", 1),)),
        ("changed", "kim", (("correct", 2),)),
        ("read", "ada", (("list", 1),)),
        ("read", "ada", (("history", 1),)),
        ("read", "kim", (("export", 2),)),
        ("read", "ada", (("rejected", 0),)),
        ("read", "ada", (("handle", 1),)),
        ("changed", "ada", (("forgotten on request", 1),)),
        ("changed", "kim", (("granted: extracted", 0),)),
    ]
    assert found[0].ids["insert"] == found[1].ids["recall"] == (one,)
    assert await lines(here, f"{user} too") == [], "somebody else's are not shown"
    written = b"".join((here.settings.journal_folder / FOLDER / file).read_bytes() for file in _files(here))
    assert one.encode() in written
    for content in ("espresso", "Faema", "Rancilio", user):
        assert content.encode() not in written, "no content, and no user id"


@pytest.mark.slow
async def test_a_purge_and_what_a_reconciliation_writes_leave_a_line(
    here: Deployment, servers: Servers, user: str
) -> None:
    services, tenant = here.services, here.services.tenant_key.tenant_of(user)
    async with Gateway(here.settings, servers) as gateway:
        one = await remembered(gateway, user)
        await services.longterm.delete(tenant, [one])
        await gateway.reconcile(ReconcileRequest(user_id=user), by=KIM)
        await gateway.reconcile(ReconcileRequest(user_id=user), by=KIM)
        await gateway.update(UpdateRequest(user_id=user, id=one, update=Removal()), by=ADA)
        much_later = datetime.now(UTC) + timedelta(days=400)
        await gateway.forget(ForgetRequest(user_id=user, at=much_later, approved=True), by=KIM)
    found = await lines(here, user)
    assert brief(found) == [
        ("changed", "ada", (("insert", 1),)),
        ("changed", "kim", (("reconciled", 1),)),
        ("changed", "ada", (("forgotten on request", 1),)),
        ("changed", "kim", (("forgotten, and can no longer be undone", 1),)),
    ]
    assert {one} == {identifier for line in found for ids in line.ids.values() for identifier in ids}


@pytest.mark.slow
async def test_who_adds_removes_and_lists_members_is_told_of_the_team(
    here: Deployment, servers: Servers, user: str, team: str
) -> None:
    key = here.services.tenant_key
    member = key.tenant_of(user)
    async with Gateway(here.settings, servers) as gateway:
        for belongs, by in ((True, ADA), (False, KIM)):
            await gateway.set_member(MemberRequest(of=team, user_id=user, belongs=belongs), by=by)
            await gateway.members(team, by=ADA)
        await gateway.set_member(MemberRequest(of=team, user_id=user, belongs=True), by=KIM)
        await gateway.recall(RecallRequest(user_id=user, of=team, text="anything"), by=person(user))
    assert person(user) in [line.by for line in await shown(here, "", team)], "a member is named"
    async with Gateway(here.settings, servers) as gateway:
        await gateway.set_member(MemberRequest(of=team, user_id=user, belongs=False), by=KIM)
    found = await shown(here, "", team)
    assert [line.by for line in found if line.kind is AuditKind.READ] == [ADA, person(member)], "who left is not"
    del found[3:]
    assert [(line.by, line.ids) for line in found] == [
        (ADA, {"member added": (member,)}),
        (ADA, {"members": (member,)}),
        (KIM, {"member removed": (member,)}),
    ]


@pytest.mark.slow
async def test_what_is_explained_of_a_task_is_read(here: Deployment, servers: Servers, user: str) -> None:
    tenant = here.services.tenant_key.tenant_of(user)
    async with Gateway(here.settings, servers) as gateway, open_reader(here.settings, servers) as reader:
        one = await remembered(gateway, user)
        assert reader is not None
        assert await reader.texts(tenant, [one, "mem_unknown"], by=KIM) == {one: FACT}
    assert [(line.kind.value, line.by, line.ids) for line in await lines(here, user)][1:] == [
        ("read", KIM, {"explain": (one,)})
    ]


@pytest.mark.slow
async def test_an_erasure_is_told_and_what_was_told_before_stays(here: Deployment, servers: Servers, user: str) -> None:
    async with Gateway(here.settings, servers) as gateway:
        await remembered(gateway, user)
        receipt = await gateway.erase(EraseRequest(user_id=user), by=person(user))
    assert receipt.proved
    assert any("the audit" in one for one in receipt.unreachable)
    assert any("the spool of another machine" in one for one in receipt.unreachable)
    assert brief(await lines(here, user)) == [
        ("changed", "ada", (("insert", 1),)),
        ("changed", user, (("erased", 0),)),
    ]


async def test_a_recall_that_a_worker_attempts_again_is_told_once(here: Deployment, user: str) -> None:
    services = here.services
    activities = MemoryActivities(services.recall, services.members, services.results)
    for _ in range(2):
        await ActivityEnvironment().run(activities.recall_memory, RecallRequest(user_id=user, text="anything", by=KIM))
    assert brief(await lines(here, user)) == [("read", "kim", (("recall", 0),))]


async def test_what_cannot_be_audited_is_not_administered(here: Deployment, servers: Servers, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    request = TokenRequest(name=uuid4().hex, scopes=(TokenScope.READ,))

    async def made(journal: Path) -> list[str]:
        async with Gateway(here.settings.changed(journal=journal), servers) as gateway:
            with suppress(StoreUnavailable):
                await gateway.create_token(request, by=ADA)
            return [one.id for one in await gateway.tokens(by=ADA) if one.name == request.name]

    assert not await made(tmp_path / "file")
    [identifier] = await made(here.settings.journal_folder)
    async with Gateway(here.settings, servers) as gateway:
        found = await gateway.audit(installation=True, by=ADA)
        await gateway.revoke_token(identifier, by=ADA)
    assert [(line.by, line.ids) for line in found if line.operation == identifier] == [
        (ADA, {"create a token": (identifier,)})
    ]


async def test_a_token_is_revoked_although_that_cannot_be_audited(
    here: Deployment, servers: Servers, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    async with Gateway(here.settings, servers) as gateway:
        request = TokenRequest(name=uuid4().hex, scopes=(TokenScope.READ,))
        identifier = (await gateway.create_token(request, by=ADA)).token.id
    said: list[str] = []
    full = here.settings.changed(journal=tmp_path / "file")
    async with Gateway(full, servers, notify=said.append) as gateway:
        await gateway.revoke_token(identifier, by=ADA)
        assert identifier not in [one.id for one in await gateway.tokens(by=ADA)]
    assert "that it is revoked is not audited" in said[0]


@pytest.mark.slow
async def test_without_the_audit_nothing_is_changed_and_recall_answers_with_a_warning(
    here: Deployment, servers: Servers, user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    services, tenant = here.services, here.services.tenant_key.tenant_of(user)
    async with Gateway(here.settings, servers) as gateway:
        one = await remembered(gateway, user)
    unusable = Audit(tmp_path / "file" / FOLDER, services.tenant_key, AuditHeads(services.redis))
    monkeypatch.setattr(services.door, "_audit", unusable)
    monkeypatch.setattr(services.recall, "_audit", unusable)
    asked = UpdateRequest(user_id=user, id=one, update=Correction(content=CORRECTED), by=KIM)
    with pytest.raises(StoreUnavailable, match="audit"):
        await services.updater.update(tenant, asked, operation="o", at=datetime.now(UTC))
    assert list(await services.longterm.everything(tenant)) == [one], "nothing is written unaudited"
    result = await services.recall.recall(
        Query(tenant=tenant, session="", text="espresso machine", now=datetime.now(UTC))
    )
    assert [item.id for item in result.items] == [one]
    assert result.degraded == ("audit",)
    monkeypatch.undo()
    result = await services.recall.recall(
        Query(tenant=tenant, session="", text="espresso machine", now=datetime.now(UTC))
    )
    assert result.degraded == ()
    await unusable.close()


def _files(here: Deployment) -> list[str]:
    return list(sizes(here.settings.journal_folder / FOLDER))
