"""Memory over HTTP: accepted, asked, corrected, forgotten, taken along, erased."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import httpx2
import pytest

from perdure.memory.recall.query import RecallResult
from perdure.stores.redis.idempotency_keys import IdempotencyKeys
from perdure.values.access_tokens import TokenScope
from perdure.values.erasures import ErasureReceipt
from perdure.values.jobs import Fate, Receipt
from tests.support.http_service import ADMIN, Service, memory_item, remembered

FACT = "Deploys happen on Tuesdays."


async def test_what_is_accepted_is_found(ada: httpx2.AsyncClient) -> None:
    sent = await ada.post("/v2/control/ingest", json={"items": [memory_item(FACT)]})
    assert sent.status_code == 202
    job = sent.json()["job_id"]
    assert sent.headers["Location"] == f"/v2/control/ingest/jobs/{job}"
    found = (await ada.get(sent.headers["Location"], params={"wait": 30})).json()
    assert found["status"] == "done"
    assert Receipt.model_validate(found["receipt"]).count(Fate.SEARCHABLE) == 1
    asked = await ada.post("/v2/control/query", json={"text": "When do deploys happen?"})
    result = RecallResult.model_validate_json(asked.content)
    assert [item.text for item in result.items] == [FACT]
    assert result.items[0].parts


async def test_the_same_batch_under_the_same_key_is_the_same_job_and_another_one_is_refused(
    ada: httpx2.AsyncClient,
) -> None:
    key, item = {"Idempotency-Key": uuid4().hex}, memory_item(FACT)
    first, again = [await ada.post("/v2/control/ingest", json={"items": [item]}, headers=key) for _ in range(2)]
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json() == again.json()
    spaced = json.dumps({"items": [dict(reversed(item.items()))]}, indent=2).encode()
    rewritten = {**key, "Content-Type": "application/json"}
    assert (await ada.post("/v2/control/ingest", content=spaced, headers=rewritten)).json() == first.json()
    other = await ada.post("/v2/control/ingest", json={"items": [memory_item("Another.")]}, headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "PRD503")
    both = await ada.post("/v2/control/ingest", json={"items": [item], "key": "another"}, headers=key)
    assert (both.status_code, both.json()["field"]) == (422, "key")


@pytest.mark.slow
async def test_a_record_is_found_by_lane_and_key(ada: httpx2.AsyncClient) -> None:
    one = await remembered(ada, FACT)
    await ada.post(f"/v2/control/memories/{one}/pin", json={})
    at = datetime.now(UTC) - timedelta(hours=1)
    counted = [("cores", number) for number in range(12)] + [("disks", 12)]
    records = [
        {
            "kind": "record",
            "lane": "pattern",
            "key": key,
            "payload": {"number": number},
            "occurred_at": (at + timedelta(minutes=number)).isoformat(),
        }
        for key, number in counted
    ]
    sent = await ada.post("/v2/control/ingest", json={"items": records})
    await ada.get(sent.headers["Location"], params={"wait": 30})
    for keys, numbers in ((["cores"], range(11, -1, -1)), (["none", "disks"], [12]), (["none"], [])):
        found = (await ada.get("/v2/control/activity", params={"lane": "pattern", "key": keys})).json()
        shown = [(item["payload"], item["found_by"]) for item in found["items"]]
        assert shown == [({"number": number}, "exact") for number in numbers]
        assert FACT not in found["context"]
    refused = await ada.get("/v2/control/activity", params={"lane": "pattrn", "key": "cores"})
    assert refused.status_code == 422


async def test_a_memory_is_shown_corrected_pinned_and_forgotten(ada: httpx2.AsyncClient) -> None:
    one = await remembered(ada, FACT)
    place = f"/v2/control/memories/{one}"
    pinned = await ada.post(f"{place}/pin", json={})
    assert pinned.json()["versions"] == {one: 2}
    stale = await ada.post(f"{place}/pin", json={"pinned": False, "expected": 1})
    assert stale.status_code in (409, 422)
    corrected = await ada.post(f"{place}/correct", json={"content": "Deploys happen on Mondays.", "note": "moved"})
    new = corrected.json()["id"]
    shown = (await ada.get(f"/v2/control/memories/{new}")).json()
    assert shown["memory"]["text"] == "Deploys happen on Mondays."
    assert shown["versions"][-1]["by"]["kind"] == "person"
    listed = (await ada.get("/v2/control/memories")).json()["memories"]
    assert [entry["id"] for entry in listed] == [new]
    forgotten = await ada.post(f"/v2/control/memories/{new}/forget", json={})
    assert forgotten.json()["undo"]
    assert (await ada.get("/v2/control/memories")).json()["memories"] == []
    lines = (await ada.get("/v2/control/export")).text.splitlines()
    assert all(json.loads(line) for line in lines)


@pytest.mark.slow
async def test_a_memory_on_hold_is_approved_by_a_person_alone(
    service: Service, ada: httpx2.AsyncClient, user: str
) -> None:
    item = memory_item("The user is allergic to nuts.") | {"tags": ["health"]}
    sent = await ada.post("/v2/control/ingest", json={"items": [item]})
    receipt = (await ada.get(sent.headers["Location"], params={"wait": 30})).json()["receipt"]
    [held] = (await ada.get("/v2/control/holds")).json()
    assert receipt["items"][0]["hold"] == held["id"]
    async with await service.client(user_id=user) as program:
        refused = await program.post(f"/v2/control/holds/{held['id']}", json={"approve": True})
        assert (refused.status_code, refused.json()["code"]) == (403, "PRD501")
    decided = await ada.post(f"/v2/control/holds/{held['id']}", json={"approve": True})
    assert (decided.status_code, decided.json()["outcome"]) == (200, "approved"), decided.text
    found = await ada.post("/v2/control/query", json={"text": "allergies"})
    assert "nuts" in found.text


async def test_what_is_another_users_is_answered_as_what_does_not_exist(
    service: Service, ada: httpx2.AsyncClient
) -> None:
    one = await remembered(ada, FACT)
    job = (await ada.post("/v2/control/ingest", json={"items": [memory_item("x y z")]})).json()["job_id"]
    async with await service.client(user_id=f"kim {uuid4().hex}", person=True) as kim:
        for path in (f"/v2/control/memories/{one}", f"/v2/control/ingest/jobs/{job}"):
            theirs = await kim.get(path)
            nobodys = await kim.get(f"{path[:-1]}{'0' if path[-1] != '0' else '1'}")
            assert (theirs.status_code, nobodys.status_code) == (404, 404), theirs.text
            assert theirs.json()["code"] == nobodys.json()["code"] == "PRD116"
        changed = await kim.post(f"/v2/control/memories/{one}/pin", json={})
        assert (changed.status_code, changed.json()["code"]) == (404, "PRD116")
        named = await kim.post("/v2/control/query", json={"text": FACT, "user_id": "somebody else"})
        assert (named.status_code, named.json()["code"]) == (404, "PRD116")
        team = await kim.post("/v2/control/query", json={"text": FACT, "of": "team:none-of-hers"})
        assert (team.status_code, team.json()["code"]) == (404, "PRD107")


async def test_a_token_for_all_users_names_the_user(service: Service, user: str) -> None:
    async with await service.client() as client:
        await remembered(client, FACT, user_id=user)
        found = await client.post("/v2/control/query", json={"text": FACT, "user_id": user})
        assert found.json()["items"]
        nobody = await client.post("/v2/control/query", json={"text": FACT})
        assert (nobody.status_code, nobody.json()["field"]) == (422, "user_id")
        assert "name the user" in nobody.json()["fix"]


async def test_with_a_token_for_all_users_a_job_is_where_its_acceptance_says(service: Service, user: str) -> None:
    asked = {"user_id": f"{user} & co/é?#+", "items": [memory_item(FACT)]}
    async with await service.client() as client:
        sent = await client.post("/v2/control/ingest", json=asked)
        found = await client.get(sent.headers["Location"])
        assert (found.status_code, found.json().get("job_id")) == (200, sent.json()["job_id"]), found.text


@pytest.mark.slow
async def test_an_erasure_ends_the_users_own_tokens(service: Service, ada: httpx2.AsyncClient, user: str) -> None:
    await remembered(ada, FACT)
    async with await service.client(TokenScope.ERASE) as client:
        erased = await client.post("/v2/control/erase", json={"user_id": user})
        assert erased.status_code == 200, erased.text
        assert erased.json()["proved"]
    assert (await ada.get("/v2/control/memories")).status_code == 401
    assert user not in {one.user_id for one in await service.gateway.tokens(by=ADMIN)}


@pytest.fixture(params=["answered", "cut off"])
def first_sending(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What becomes of a first sending: the service that carried it out may die before it can note that it did."""

    async def dies(*_: object) -> None:
        pass

    if request.param == "cut off":
        monkeypatch.setattr(IdempotencyKeys, "done", dies)


@pytest.mark.slow
@pytest.mark.usefixtures("first_sending")
async def test_a_consent_sent_again_does_not_undo_its_withdrawal(ada: httpx2.AsyncClient) -> None:
    async def said(key: str, **what: list[str]) -> bool:
        answer = await ada.post("/v2/control/consent", json=what, headers={"Idempotency-Key": key})
        granted: bool = answer.json()["granted"]["extracted"]
        return granted

    first = uuid4().hex
    assert await said(first, grant=["extracted"])
    assert not await said(uuid4().hex, withdraw=["extracted"])
    assert not await said(first, grant=["extracted"])
    # The control: the same under another key is another request.
    assert await said(uuid4().hex, grant=["extracted"])


@pytest.mark.slow
@pytest.mark.usefixtures("first_sending")
async def test_an_erasure_sent_again_leaves_what_was_remembered_since(service: Service, user: str) -> None:
    async with await service.client() as client:

        async def erased(key: str) -> bool:
            answer = await client.post(
                "/v2/control/erase", json={"user_id": user}, headers={"Idempotency-Key": key}, timeout=60
            )
            assert answer.json()["proved"], answer.text
            earlier: bool = answer.json()["earlier"]
            return earlier

        async def kept() -> int:
            return len((await client.get("/v2/control/memories", params={"user_id": user})).json()["memories"])

        first = uuid4().hex
        await remembered(client, FACT, user_id=user)
        assert not await erased(first)
        await remembered(client, FACT, user_id=user)
        assert await erased(first)
        assert await kept() == 1
        # The control: under another key it is asked anew.
        assert not await erased(uuid4().hex)
        assert await kept() == 0


@pytest.mark.slow
async def test_an_erasure_sent_again_meets_the_one_that_is_under_way(service: Service, user: str) -> None:
    async with await service.client() as client:
        await remembered(client, FACT, user_id=user)

        async def erased(key: str) -> ErasureReceipt:
            answer = await client.post("/v2/control/erase", json={"user_id": user}, headers={"Idempotency-Key": key})
            return ErasureReceipt.model_validate_json(answer.content)

        first = uuid4().hex
        one, same = await asyncio.gather(*(erased(first) for _ in range(2)))
        assert (one.proved, one.changed(earlier=True)) == (True, same.changed(earlier=True))
        # The control: each erasure has an epoch of its own.
        assert (await erased(uuid4().hex)).epoch > one.epoch


@pytest.mark.slow
async def test_a_job_that_runs_is_never_said_to_have_failed(ada: httpx2.AsyncClient) -> None:
    sent = await ada.post("/v2/control/ingest", json={"items": [memory_item(f"{one} {FACT}") for one in range(50)]})
    found = (await ada.get(sent.headers["Location"])).json()
    assert found["status"] in ("running", "done")
    assert not found["problem"]
    waited = await asyncio.wait_for(ada.get(sent.headers["Location"], params={"wait": 60}), 70)
    assert waited.json()["status"] == "done"


@pytest.mark.parametrize("wait", ["-1", "61", "nan", "soon"])
async def test_a_wait_is_bounded(ada: httpx2.AsyncClient, wait: str) -> None:
    answer = await ada.get("/v2/control/ingest/jobs/ingest-0", params={"wait": wait})
    assert (answer.status_code, answer.json()["field"]) == (422, "wait")
