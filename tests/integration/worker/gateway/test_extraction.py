"""What is said becomes memory, or is left with a reason; private data goes before anything is journaled or started."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import JsonValue

from perdure import Actor, ActorKind, RecallRequest, RememberRequest
from perdure.errors import InvalidInput
from perdure.memory.extraction.offers import turns
from perdure.memory.write_policies import WritePolicy
from perdure.memory.writing.batch_checks import read_batch
from perdure.memory.writing.intake import Intake
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.observations import Observations
from perdure.stores.redis.sessions import SessionWrites
from perdure.values.entries import Purpose
from perdure.values.episodes import EpisodeKind
from perdure.values.jobs import Fate
from perdure.values.requests import ConsentRequest, Observed, ObserveRequest
from perdure.values.statements import Ground, Said, Voice
from tests.conftest import Servers, clean_settings
from tests.deployment import Deployment
from worker.gateway import Gateway

pytestmark = pytest.mark.slow

TESTER = Actor(kind=ActorKind.PERSON, id="tester")
NOW = datetime.now(UTC)
EMAIL = "lena.m@example.com"


def said(text: str, number: int = 0, by: Voice = Voice.USER) -> Said:
    return Said(text=text, by=by, at=NOW, occurrence=f"s/{number}")


async def observed(gateway: Gateway, user: str, *things: Said, policy: str = "default", start: int = 0) -> Observed:
    await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=TESTER)
    request = ObserveRequest(user_id=user, session="s", said=things, policy=policy, start=start)
    found = await gateway.observe(request, by=TESTER)
    if found.job:
        receipt = await gateway.receipt(found.job, by=TESTER)
        assert {item.fate for item in receipt.items} <= {Fate.SEARCHABLE, Fate.REJECTED}
    return found


async def test_what_is_stable_is_kept_and_the_rest_is_left_with_a_reason(gateway: Gateway) -> None:
    user = f"user {uuid4().hex}"
    found = await observed(
        gateway, user, said("I always travel by train."), said("lol ok 👍", 1), said("Is it raining?", 2)
    )
    assert (found.items, [left.ground for left in found.left]) == (1, [Ground.CHATTER, Ground.QUESTION])
    items = (await gateway.recall(RecallRequest(user_id=user, text="How do I travel?"), by=TESTER)).items
    assert [item.text for item in items] == ["I always travel by train."]
    nothing = await observed(gateway, user, said("ok", 3))
    assert (nothing.job, nothing.items) == ("", 0)


@pytest.mark.parametrize("way", ["observe", "transcript", "remember"])
async def test_private_data_is_in_no_store_no_journal_and_no_history(
    here: Deployment, gateway: Gateway, way: str
) -> None:
    user = f"user {uuid4().hex}"
    text = f"Invoices go to {EMAIL} on Mondays."
    if way == "remember":
        item: JsonValue = {"kind": "memory", "content": text, "occurrence": "o", "occurred_at": NOW.isoformat()}
        job = await gateway.remember(RememberRequest(user_id=user, key="k", items=(item,)), by=TESTER)
        await gateway.receipt(job, by=TESTER)
    else:
        policy = "transcript" if way == "transcript" else "default"
        job = (await observed(gateway, user, said(text), policy=policy)).job
    tenant = here.services.tenant_key.tenant_of(user)
    [entry] = (await here.services.longterm.everything(tenant)).values()
    assert "[email]" in entry.text
    journaled = b"".join(file.read_bytes() for file in (here.settings.journal_folder / tenant).glob("*.jsonl"))
    assert b"[email]" in journaled
    assert EMAIL.encode() not in journaled
    asked = f"TaskQueue = '{here.queue}'"
    histories = [await run async for run in _histories(here, asked)]
    assert any("[email]" in history for history in histories), "the control: the content is in them"
    assert not any(EMAIL in history for history in histories)
    assert job


@pytest.mark.parametrize("way", ["observe", "transcript", "remember"])
async def test_an_answer_is_as_private_as_its_question_makes_it(
    here: Deployment, gateway: Gateway, user: str, way: str
) -> None:
    talk = [
        said("What is your PIN?", 1, Voice.AGENT),
        said("295817", 2),
        said("And your password?", 3, Voice.AGENT),
        said("swordfishes of course", 4),
        said("I always travel by train.", 5),
    ]
    if way == "remember":
        await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=TESTER)
        items = tuple(turns(ObserveRequest(user_id=user, session="s", said=tuple(talk))))
        request = RememberRequest(user_id=user, key="k", items=items, session="s", policy="transcript")
        await gateway.receipt(await gateway.remember(request, by=TESTER), by=TESTER)
    else:
        await observed(gateway, user, *talk, policy="transcript" if way == "transcript" else "default")
    tenant = here.services.tenant_key.tenant_of(user)
    episodes = [one.text for one in await here.services.episodes.told(tenant, "s", recent=10)]
    kept = [entry.text for entry in (await here.services.longterm.everything(tenant)).values()]
    journaled = b"".join(file.read_bytes() for file in (here.settings.journal_folder / tenant).glob("*.jsonl")).decode()
    histories = [await run async for run in _histories(here, f"TaskQueue = '{here.queue}'")]
    everywhere = [*episodes, *kept, journaled, *histories]
    for private in ("295817", "swordfishes"):
        assert not any(private in one for one in everywhere)
    assert any("travel by train" in one for one in kept), "the control: what is not private is kept"
    assert any("What is your PIN?" in one for one in histories), "the control: the content is in them"
    if way == "observe":
        assert {"user: [PIN]", "user: [password]"} <= {*episodes}


PLACE = f"mail from {EMAIL}, card 4111 1111 1111 1111"


@pytest.mark.parametrize("way", ["observe", "remember"])
async def test_what_identifies_a_request_is_as_private_as_its_content(
    here: Deployment, gateway: Gateway, user: str, servers: Servers, way: str
) -> None:
    await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=TESTER)
    turn = said("I always travel by train.").changed(occurrence=PLACE)
    for _ in range(2):
        if way == "remember":
            item: JsonValue = {"kind": "memory", "content": turn.text, "occurrence": PLACE}
            asking = RememberRequest(user_id=user, key=PLACE, items=(item,), session=f"with {EMAIL}", turns=(turn,))
            job = await gateway.remember(asking, by=TESTER)
        else:
            spoken = ObserveRequest(user_id=user, session="4111-1111-1111-1111", said=(turn,))
            job = (await gateway.observe(spoken, by=TESTER)).job
        await gateway.receipt(job, by=TESTER)
    tenant = here.services.tenant_key.tenant_of(user)
    [entry] = (await here.services.longterm.everything(tenant)).values()
    assert entry.seen == 1, "a retry counts once"
    session = f"with {EMAIL}" if way == "remember" else "4111-1111-1111-1111"
    told = [one.text for one in await here.services.episodes.told(tenant, session, recent=10)]
    assert told.count("user: I always travel by train.") == 1, "the session is found by its own name"
    journaled = b"".join(file.read_bytes() for file in (here.settings.journal_folder / tenant).glob("*.jsonl")).decode()
    histories = [await run async for run in _histories(here, f"TaskQueue = '{here.queue}'")]
    everywhere = [journaled, *histories, *await gateway.exported(user, by=TESTER), *await _in_redis(servers, tenant)]
    for private in (EMAIL, "4111 1111", "4111-1111"):
        assert not [one for one in everywhere if private in one]
    assert any("private-" in one for one in histories), "the control: what stands for it is in them"
    assert any("private-" in one for one in await _in_redis(servers, tenant)), "the control: and here"


async def _in_redis(servers: Servers, tenant: str) -> list[str]:
    """Return what Redis has of a tenant: each key with its value."""
    client: Any = connect(servers.redis_url)
    found: list[str] = []
    reading: dict[bytes, Callable[[Any], Any]] = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"set": client.smembers,
        b"zset": lambda key: client.zrange(key, 0, -1),
        b"stream": client.xrange,
    }
    async for key in client.scan_iter(match=f"*{tenant}*", count=10_000):
        kind = await client.type(key)
        value = await reading[kind.encode() if isinstance(kind, str) else kind](key)
        found.append(f"{key!r} {value!r}")
    await client.aclose()
    return found


async def _histories(here: Deployment, query: str):
    async for run in here.client.list_workflows(query):
        yield _history(here, run.id)


async def _history(here: Deployment, workflow_id: str) -> str:
    return str([event async for event in here.client.get_workflow_handle(workflow_id).fetch_history_events()])


async def test_a_session_adds_ten_and_a_retry_adds_none(here: Deployment, gateway: Gateway) -> None:
    user = f"user {uuid4().hex}"
    things = [said(f"Room {number} of our house is painted in colour {number}.", number) for number in range(12)]
    for _ in range(2):
        await observed(gateway, user, *things)
    tenant = here.services.tenant_key.tenant_of(user)
    assert len(await here.services.longterm.everything(tenant)) == 10


async def test_a_transcript_is_kept_word_for_word_in_its_order(here: Deployment, gateway: Gateway) -> None:
    user = f"user {uuid4().hex}"
    words = ["lol ok", "Is it raining?", "lol ok"]
    things = [said(text, number) for number, text in enumerate(words)]
    for _ in range(2):
        await observed(gateway, user, *things, policy="transcript", start=4)
    tenant = here.services.tenant_key.tenant_of(user)
    found = (await here.services.longterm.everything(tenant)).values()
    turns = sorted((entry.position, entry.text) for entry in found if entry.kind == "turn")
    assert turns == [(4, "user: lol ok"), (5, "user: Is it raining?"), (6, "user: lol ok")]


async def test_an_unknown_policy_is_refused_before_anything_is_sent(gateway: Gateway) -> None:
    with pytest.raises(InvalidInput, match="there is no 'trancript'"):
        await observed(gateway, "ada", said("I always travel by train."), policy="trancript")


async def test_what_is_said_and_believed_is_in_the_session(gateway: Gateway, here: Deployment) -> None:
    user = f"user {uuid4().hex}"
    things = [said("I always travel by train."), said(f"lol, mail {EMAIL} 👍", 1)]
    for _ in range(2):  # The same again is no other episode.
        await observed(gateway, user, *things)
    chatter = await observed(gateway, user, said("ok", 2))
    assert chatter.job == ""
    episodes = await here.services.episodes.told(here.services.tenant_key.tenant_of(user), "s", recent=10)
    assert sorted((one.kind.value, one.text) for one in episodes) == [
        ("insight", "I always travel by train."),
        ("turn", "user: I always travel by train."),
        ("turn", "user: lol, mail [email] 👍"),
        ("turn", "user: ok"),
    ]


async def turns_of(here: Deployment, user: str) -> list[tuple[str, str]]:
    episodes = await here.services.episodes.told(here.services.tenant_key.tenant_of(user), "s", recent=10)
    return [(one.by.value if one.by else "", one.text) for one in episodes if one.kind is EpisodeKind.TURN]


@pytest.mark.parametrize("policy", ["default", "transcript"])
async def test_a_session_has_neither_what_a_tool_returned_nor_how_an_agent_came_to_its_answer(
    gateway: Gateway, here: Deployment, user: str, policy: str
) -> None:
    talk = [
        said("Which licence does nodeenv have?"),
        said("The registry has to be asked first.", 1, Voice.AGENT),
        said('{"name": "nodeenv", "licence": "BSD-3-Clause"}', 2, Voice.TOOL),
        said("It has the BSD licence.", 3, Voice.AGENT),
        said("Thanks.", 4),
        said("Build passed: nodeenv 1.9 is used.", 5, Voice.TOOL).changed(speaker="CI"),
    ]
    await observed(gateway, user, *talk, policy=policy)
    assert sorted(await turns_of(here, user)) == [
        ("agent", "agent: It has the BSD licence."),
        ("user", "user: Thanks."),
        ("user", "user: Which licence does nodeenv have?"),
    ]


async def test_what_is_true_only_now_is_in_the_session_also_where_the_caller_has_no_tenant_key(
    gateway: Gateway, here: Deployment, servers: Servers, user: str, tmp_path: Path
) -> None:
    async with Gateway(clean_settings(tmp_path / "elsewhere", task_queue=here.queue), servers) as elsewhere:
        request = ObserveRequest(user_id=user, session="s", said=(said("It rains today."),))
        assert (await elsewhere.observe(request, by=TESTER)).job == ""
        assert await turns_of(here, user) == [], "the control: nobody has consented"
        await gateway.consent(ConsentRequest(user_id=user, grant=(Purpose.EXTRACTED,)), by=TESTER)
        found = await elsewhere.observe(request, by=TESTER)
    assert (found.job, found.items, [left.ground for left in found.left]) == ("", 0, [Ground.TRANSIENT])
    assert await turns_of(here, user) == [("user", "user: It rains today.")]


async def test_without_consent_a_session_has_nothing_of_what_was_said(gateway: Gateway, here: Deployment) -> None:
    user = f"user {uuid4().hex}"
    request = ObserveRequest(user_id=user, session="s", said=(said("ok"),))
    with pytest.raises(InvalidInput, match="has not consented"):
        await gateway.observe(request, by=TESTER)
    given = RememberRequest(user_id=user, key="k", items=(), turns=request.said, session="s")
    assert await gateway.remember(given, by=TESTER) == ""
    assert await here.services.episodes.told(here.services.tenant_key.tenant_of(user), "s", recent=10) == []


async def test_what_an_agent_sees_somebody_do_is_kept_when_it_is_seen_again(gateway: Gateway, here: Deployment) -> None:
    user = f"user {uuid4().hex}"
    tenant = here.services.tenant_key.tenant_of(user)
    first = said("The user usually books window seats.", 1, Voice.AGENT)
    for _ in range(2):  # A retry is the same observation.
        found = await observed(gateway, user, first)
        [item] = (await gateway.receipt(found.job, by=TESTER)).items
        assert (item.fate, item.reason) == (
            Fate.REJECTED,
            "it is a habit that was observed only once: it is kept when it is observed again",
        )
        assert await here.services.longterm.everything(tenant) == {}
    await observed(gateway, user, said("The user often books window seats.", 2, Voice.AGENT))
    await observed(gateway, user, said("I usually take the stairs.", 3))
    await observed(gateway, user, said("Blocking two seats fixed the double bookings.", 4, Voice.AGENT))
    kept = {entry.text for entry in (await here.services.longterm.everything(tenant)).values()}
    assert kept == {
        "The user often books window seats.",
        "I usually take the stairs.",
        "Blocking two seats fixed the double bookings.",
    }


async def test_what_one_message_tells_twice_was_seen_once(gateway: Gateway, here: Deployment) -> None:
    user = f"user {uuid4().hex}"
    twice = "The user usually books window seats. The user often books window seats."
    await observed(gateway, user, said(twice, 1, Voice.AGENT))
    assert await here.services.longterm.everything(here.services.tenant_key.tenant_of(user)) == {}


async def test_while_redis_is_away_only_what_may_be_chance_is_refused(here: Deployment) -> None:
    tenant = here.services.tenant_key.tenant_of(f"user {uuid4().hex}")
    redis = connect("redis://127.0.0.1:1")
    intake = Intake(
        {"default": WritePolicy()},
        SessionWrites(redis),
        here.services.consents,
        Observations(redis),
        here.services.longterm,
    )
    texts = ["The user usually books window seats.", "Leeds has a window.", "The user often takes taxis."]
    items: list[JsonValue] = [
        {
            "kind": "memory",
            "content": text,
            "source": "learned",
            "occurrence": f"o/{number}",
            "occurred_at": NOW.isoformat(),
        }
        for number, text in enumerate(texts)
    ]
    batch, _ = await intake.taken(read_batch(tenant=tenant, key="k", items=items, accepted_at=NOW), job="j", at=NOW)
    await redis.aclose()
    reasons = [getattr(item, "reason", "") for item in batch.items]
    assert ["Redis cannot tell now" in reason for reason in reasons] == [True, False, True]
    assert reasons[1] == ""


async def test_what_is_believed_is_confirmed_also_when_its_places_are_forgotten(
    gateway: Gateway, here: Deployment
) -> None:
    user = f"user {uuid4().hex}"
    tenant = here.services.tenant_key.tenant_of(user)
    text = "The user usually books window seats."
    for number in range(2):
        await observed(gateway, user, said(text, number, Voice.AGENT))
    [key] = await ask(here.services.redis, "KEYS", f"*{tenant}*:observed:*")
    await ask(here.services.redis, "DEL", key)
    found = await observed(gateway, user, said(text, 2, Voice.AGENT))
    assert [item.fate for item in (await gateway.receipt(found.job, by=TESTER)).items] == [Fate.SEARCHABLE]
    [entry] = (await here.services.longterm.everything(tenant)).values()
    assert entry.seen == 2
