"""What is remembered in plain words is compared with what is believed, as what was extracted is."""

from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure import Actor, ActorKind, RememberRequest
from perdure.values.entries import Memory, State
from perdure.values.jobs import Decision, ItemReceipt
from worker.gateway import Gateway

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
FIRST = "Deploys happen on Tuesdays."


async def told(gateway: Gateway, user: str, content: str, **fields: JsonValue) -> ItemReceipt:
    item: JsonValue = {"kind": "memory", "content": content, "occurrence": content, **fields}
    request = RememberRequest(user_id=user, key=uuid4().hex, items=(item,))
    [receipt] = (await gateway.receipt(await gateway.remember(request, by=TESTER), by=TESTER)).items
    return receipt


@pytest.mark.slow
@pytest.mark.parametrize(
    ("later", "replaces"),
    [
        ("Deploys happen on Wednesdays.", True),
        ("Backups happen on Wednesdays.", False),
        ("Deploys happen on Wednesdays. Backups happen on Mondays.", False),
    ],
    ids=["the same thing", "another thing", "several things"],
)
async def test_the_later_of_two_plain_statements_about_the_same_holds(
    gateway: Gateway, user: str, later: str, replaces: bool
) -> None:
    one, other = await told(gateway, user, FIRST), await told(gateway, user, later)
    assert (one.decision, other.decision) == (Decision.INSERT, Decision.SUPERSEDE if replaces else Decision.INSERT)
    stored = {entry.id: entry for entry in await gateway.memories(user, everything=True, by=TESTER)}
    first = stored[one.id]
    assert isinstance(first, Memory)
    assert first.state is (State.SUPERSEDED if replaces else State.CURRENT)
    assert first.superseded_by == (other.id if replaces else "")
    assert {entry.text for entry in await gateway.memories(user, by=TESTER)} == (
        {later} if replaces else {FIRST, later}
    )


async def test_the_same_batch_is_the_same_job_whatever_its_words_assert(gateway: Gateway, user: str) -> None:
    item: JsonValue = {"kind": "memory", "content": "Until tomorrow deploys happen on Tuesdays.", "occurrence": "o"}
    request = RememberRequest(user_id=user, key="k", items=(item,))
    jobs = [await gateway.remember(request, by=TESTER) for _ in range(2)]
    assert jobs[0] == jobs[1]
    [receipt] = (await gateway.receipt(jobs[0], by=TESTER)).items
    [entry] = await gateway.memories(user, by=TESTER)
    assert (entry.id, entry.seen) == (receipt.id, 1)
    assert entry.valid_until is not None
