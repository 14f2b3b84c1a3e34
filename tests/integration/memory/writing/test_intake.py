"""What a session may add is used up by what it adds, and by nothing that is refused, held or known."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure.identity import stand_in
from perdure.memory.hold_policies import HoldPolicy, HoldRule
from perdure.memory.write_policies import WritePolicy
from perdure.memory.writing.batch_checks import read_batch
from perdure.memory.writing.intake import Intake
from perdure.stores.redis.observations import Observations
from perdure.stores.redis.sessions import SessionWrites
from perdure.values.changes import Actor, ActorKind
from perdure.values.entries import Purpose
from perdure.values.jobs import Approved, Batch, SessionNote, UnusableItem
from tests.conftest import Servers
from tests.deployment import Deployment, deployment

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
HELD = HoldPolicy(rules=(HoldRule(by=(ActorKind.AGENT,)),))
AGENT = Actor(kind=ActorKind.AGENT, id="a")


@pytest.fixture
async def here(servers: Servers, tmp_path: Path) -> AsyncGenerator[Deployment]:
    async with deployment(servers, tmp_path / "home", serving=False) as one:
        yield one


@pytest.fixture(autouse=True)
async def consents(here: Deployment, tenant: str) -> None:
    book = here.services.consents
    await book.say(tenant, grant=[Purpose.EXTRACTED], withdraw=[], operation="consent", by=AGENT, at=NOW)


def intake(here: Deployment, hold: HoldPolicy | None = None) -> Intake:
    services = here.services
    policy = WritePolicy(most_a_session=3, hold=hold or HoldPolicy())
    writes, seen = SessionWrites(services.redis), Observations(services.redis)
    return Intake({"default": policy}, writes, services.consents, seen, services.longterm)


def batch(tenant: str, *rooms: int, confidence: float = 0.9, by: Actor | None = None) -> Batch:
    items: list[JsonValue] = [
        {
            "kind": "memory",
            "content": f"Room {room} has {room + 7} windows.",
            "confidence": confidence,
            "occurrence": uuid4().hex,
            "occurred_at": NOW.isoformat(),
        }
        for room in rooms
    ]
    found = read_batch(tenant=tenant, key=uuid4().hex, items=items, accepted_at=NOW, session="s")
    return found.changed(by=by) if by else found


async def taken(intake: Intake, offered: Batch) -> list[str]:
    """Return what becomes of each item."""
    found = (await intake.taken(offered, job=uuid4().hex, at=NOW)).batch
    return [("held" if one.held else "refused") if isinstance(one, UnusableItem) else "taken" for one in found.items]


async def test_what_is_refused_for_its_confidence_uses_up_nothing(here: Deployment, tenant: str) -> None:
    own = intake(here)
    assert await taken(own, batch(tenant, *range(10), confidence=0.5)) == ["taken"] * 10, "the job refuses them"
    assert await taken(own, batch(tenant, 20, 21, 22, 23)) == ["taken"] * 3 + ["refused"]


async def test_what_identifies_a_batch_is_kept_as_a_digest_and_named_in_no_refusal(
    here: Deployment, tenant: str
) -> None:
    own, private = intake(here), "chat with ada.byron@analytical.example"
    note = SessionNote(tenant=tenant, session=private)
    offered = batch(tenant, 20, 21, 22, 23).changed(session=private, key=private, noted_in=note)
    found = (await own.taken(offered, job=uuid4().hex, at=NOW)).batch
    refused = found.items[3]
    assert isinstance(refused, UnusableItem)
    assert refused.reason.startswith(f"session {stand_in(private)} has added 3 memories already")
    assert "ada.byron" not in found.model_dump_json()
    assert found.session == found.key == stand_in(private)
    again = offered.changed(key=uuid4().hex, session=stand_in(private))
    assert await taken(own, again) == ["taken"] * 3 + ["refused"], "it is the same session"


async def test_what_is_believed_already_uses_up_nothing(here: Deployment, tenant: str) -> None:
    own, known = intake(here), batch(tenant, *range(5))
    plan = await here.services.writer.plan(known, at=NOW)
    await here.services.writer.apply(known, plan, operation="setup")
    assert await taken(own, batch(tenant, *range(5))) == ["taken"] * 5
    assert await taken(own, batch(tenant, 20, 21, 22, 23)) == ["taken"] * 3 + ["refused"]


@pytest.mark.slow
async def test_what_an_agent_concludes_is_judged_and_what_a_session_said_was_judged_before(
    here: Deployment, tenant: str
) -> None:
    own, guess = intake(here), {"content": "Kim might prefer tabs.", "source": "learned"}
    [said] = batch(tenant, 1).items
    guessed = said.changed(**guess)
    offered = batch(tenant, 0).changed(items=(guessed, guessed.changed(source="inferred"), said), session="")
    assert await taken(own, offered) == ["refused", "refused", "taken"]
    assert await taken(own, offered.changed(session="s")) == ["taken"] * 3
    assert await taken(own, offered.changed(approved=Approved(at=NOW, doubt=False))) == ["taken"] * 3


async def test_what_waits_for_a_person_is_counted_apart_and_what_they_approve_is_taken(
    here: Deployment, tenant: str
) -> None:
    own = intake(here, HELD)
    assert await taken(own, batch(tenant, *range(4), by=AGENT)) == ["held"] * 3 + ["refused"]
    assert await taken(own, batch(tenant, 20, 21, 22, 23)) == ["taken"] * 3 + ["refused"]
    approved = batch(tenant, 0).changed(approved=Approved(at=NOW, doubt=False))
    assert await taken(own, approved) == ["taken"]
