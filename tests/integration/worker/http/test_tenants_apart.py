"""No answer holds what is another user's, whatever tokens, users and ids are mixed."""

import asyncio
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from perdure.names import Workflow
from perdure.values.memberships import MemberRequest
from tests.integration.worker.http.test_admission import TABLE
from tests.support.belongings import asked, hold
from tests.support.http_service import ADMIN, Service, posted, remembered
from tests.support.issuer import Issuer

USERS = 100
REQUESTS = int(os.environ.get("PERDURE_TEST_REQUESTS", "2000"))
"""Some 40 a second on two busy cores: PERDURE_TEST_REQUESTS=100000 takes most of an hour."""
CLIENTS = 32
MADE_AT_ONCE = 8
"""Users whose things are made at once; a choice."""
MARK = re.compile(r"mark[0-9a-f]{12}")


@dataclass(frozen=True, kw_only=True)
class One:
    """A user, and what is theirs: the mark is in all of it."""

    user: str
    mark: str
    token: str
    memory: str
    job: str
    task: str
    """One that has ended."""
    asking: str
    """One that asks a question, which stays open."""
    question: str
    hold: str

    @property
    def team(self) -> str:
        """The team of which nobody else is a member."""
        return f"team:{self.mark}"


Asked = tuple[str, str, dict[str, Any], dict[str, Any] | None]
"""Method, path, query and body."""

MAKERS: list[Callable[[One, str], Asked]] = [
    lambda of, _: ("GET", f"/v2/control/memories/{of.memory}", {}, None),
    lambda of, _: ("GET", f"/memories/{of.memory}", {}, None),
    lambda of, _: ("GET", f"/v2/control/ingest/jobs/{of.job}", {}, None),
    lambda of, _: ("GET", f"/v2/control/tasks/{of.task}", {}, None),
    lambda of, _: ("GET", f"/v2/control/tasks/{of.task}/explanation", {}, None),
    lambda of, _: ("GET", f"/tasks/{of.task}", {}, None),
    lambda of, user: ("GET", "/v2/control/memories", {"user_id": user}, None),
    lambda of, user: ("GET", "/memories", {"user": user}, None),
    lambda of, user: ("GET", "/v2/control/tasks", {"user_id": user}, None),
    lambda of, user: ("GET", "/v2/control/export", {"user_id": user}, None),
    lambda of, user: ("GET", "/v2/control/activity", {"user_id": user, "lane": "pattern", "key": of.mark}, None),
    lambda of, user: ("POST", "/v2/control/query", {}, {"user_id": user, "text": f"What is due of {of.mark}?"}),
    lambda of, user: ("POST", "/v2/control/query", {}, {"user_id": user, "text": "project", "of": of.team}),
    lambda of, user: ("GET", "/v2/control/memories", {"user_id": user, "of": of.team}, None),
    lambda of, user: ("GET", "/v2/control/export", {"user_id": user, "of": of.team}, None),
    lambda of, _: ("GET", f"/v2/control/tasks/{of.asking}", {}, None),
    lambda of, _: ("GET", f"/tasks/{of.asking}", {}, None),
    lambda of, user: ("POST", f"/v2/control/memories/{of.memory}/pin", {}, {"user_id": user, "pinned": True}),
    lambda of, user: ("GET", "/v2/control/questions", {"user_id": user}, None),
    lambda of, user: ("GET", "/v2/control/holds", {"user_id": user}, None),
    lambda of, user: ("GET", "/inbox", {"user": user}, None),
    lambda of, user: ("GET", "/tasks", {"user": user}, None),
    lambda of, user: ("GET", "/export", {"user": user}, None),
    lambda of, user: ("GET", "/erase", {"user": user}, None),
    lambda of, _: ("GET", f"/v2/control/tasks/{of.task}/events", {}, None),
    lambda of, user: ("POST", "/v2/control/consent", {}, {"user_id": user, "grant": ["extracted"]}),
    lambda of, user: (
        *("POST", f"/v2/control/memories/{of.memory}/correct", {}),
        {"user_id": user, "content": f"Project {of.mark} is due on Friday."},
    ),
    lambda of, user: ("POST", f"/v2/control/tasks/{of.task}/message", {}, {"user_id": user, "text": "x"}),
    lambda of, user: ("POST", f"/v2/control/tasks/{of.task}/deliver", {}, {"user_id": user, "name": "x"}),
    lambda of, user: ("POST", f"/v2/control/tasks/{of.task}/redirect", {}, {"user_id": user, "goal": "x"}),
    lambda of, user: ("POST", f"/v2/control/tasks/{of.task}/pause", {}, {"user_id": user}),
    lambda of, user: ("POST", f"/v2/control/tasks/{of.task}/resume", {}, {"user_id": user}),
    lambda of, user: ("POST", f"/v2/control/tasks/{of.task}/cancel", {}, {"user_id": user}),
    lambda of, _: ("POST", "/mcp", {}, called("recall", text=f"What is due of {of.mark}?")),
    lambda of, _: ("POST", "/mcp", {}, called("recall", text="What is due?", of=of.team)),
    lambda of, _: ("POST", "/mcp", {}, called("task_progress", workflow_id=of.task)),
    lambda of, _: ("POST", "/mcp", {}, called("task_progress", workflow_id=of.asking)),
    lambda of, _: (
        *("POST", "/mcp", {}),
        called("correct", memory_id=of.memory, statement=f"Project {of.mark} is due on Friday."),
    ),
    lambda _, __: ("POST", "/mcp", {}, read("perdure://memories/me")),
    lambda of, _: ("POST", "/mcp", {}, read(f"perdure://memories/{of.team}")),
    lambda of, _: ("POST", "/mcp", {}, read(f"perdure://tasks/{of.asking}/explanation")),
]

ENDING: list[Callable[[One, str], Asked]] = [
    lambda of, user: ("POST", f"/v2/control/memories/{of.memory}/forget", {}, {"user_id": user}),
    lambda of, user: ("POST", f"/v2/control/holds/{of.hold}", {}, {"user_id": user, "approve": True}),
    lambda of, user: ("POST", f"/v2/control/tasks/{of.asking}/cancel", {}, {"user_id": user}),
    lambda of, user: (
        *("POST", f"/v2/control/tasks/{of.asking}/answer", {}),
        {"user_id": user, "question_id": of.question, "value": "yes"},
    ),
    lambda of, _: ("POST", "/mcp", {}, called("forget", memory_id=of.memory)),
    lambda of, _: ("POST", "/mcp", {}, called("answer_question", workflow_id=of.asking, question_id=of.question)),
]
"""These would take away what the others ask for: they are asked by strangers alone."""

UNASKED = {
    # Each takes away what the other requests ask for, or adds to it.
    "POST /v2/control/erase",
    "POST /v2/control/ingest",
    "POST /v2/control/tasks",
}


def called(tool: str, **arguments: str) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def read(resource: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": resource}}


def test_every_route_of_a_user_is_asked() -> None:
    ids = dict.fromkeys(("user", "mark", "token", "memory", "job", "task", "asking", "question", "hold"), "x")
    sent = {(method, path) for method, path, _, _ in (make(One(**ids), "u") for make in (*MAKERS, *ENDING))}
    left: set[str] = set()
    for place, row in TABLE.items():
        method, _, path = place.partition(" ")
        pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
        if row.of_a_user and not any(method == one and pattern.fullmatch(there) for one, there in sent):
            left.add(place)
    # A page that changes something needs its proof, and has the rules of the route that it stands for.
    assert {place for place in left if not (TABLE[place].page and place.startswith("POST "))} == UNASKED


def near(user: str, chance: random.Random) -> str:
    """Return a user id that looks like another one's."""
    return chance.choice([user, user.upper(), f" {user}", f"{user} ", f"{user}\u200b", user.replace("user", "uſer")])


@pytest.mark.slow
@pytest.mark.timeout(1_800 + REQUESTS // 10)
async def test_no_answer_holds_what_is_another_users(service: Service, provider: Issuer) -> None:
    chance = random.Random(7)
    places = asyncio.Semaphore(MADE_AT_ONCE)
    users = await asyncio.gather(*(made(service, provider, number, places) for number in range(USERS)))
    marks = {one.mark for one in users}
    everybody = await service.token()
    left, statuses = iter(range(REQUESTS)), Counter[int]()

    async def ask(client: httpx2.AsyncClient) -> None:
        for _ in left:
            who, of = chance.choice(users), chance.choice(users)
            named = chance.choice([who.user, of.user, near(of.user, chance), "", None])
            for_all = chance.random() < 0.1
            is_stranger = of.user not in (named, None if for_all else who.user)
            method, path, query, body = chance.choice(MAKERS + ENDING * is_stranger)(of, named or "")
            if named is None:
                query.pop("user_id", None)
                (body or {}).pop("user_id", None)
            token = everybody if for_all else who.token
            headers = {"Authorization": f"Bearer {token}"}
            answer = await client.request(method, path, params=query, json=body, headers=headers)
            statuses[answer.status_code] += 1
            # With a token for all users, whose the answer may be is whom the request names.
            allowed = {who.mark}
            if for_all:
                allowed = {one.mark for one in users if one.user == named}
                if path.startswith(("/tasks/", "/memories/")) or not named:
                    allowed = {of.mark} if path.startswith("/tasks/") else set[str]()
                # What everybody is asked is on one page.
                allowed = marks if path == "/inbox" and not named else allowed
            found = set(MARK.findall(answer.text)) & marks
            # A refusal may repeat what was asked for, which whoever asked it knows.
            found -= {of.mark} if answer.status_code >= 400 or refused_by_protocol(answer) else set()
            assert found <= allowed, (method, path, query, body, answer.status_code)
            # A machine that is busy with other tests answers some late: that says nothing about what they hold.
            assert answer.status_code < 500 or answer.status_code == 503, answer.text

    client = httpx2.AsyncClient(base_url=service.url, timeout=60, trust_env=False)
    async with client, asyncio.TaskGroup() as group:
        for _ in range(CLIENTS):
            group.create_task(ask(client))
    assert statuses[503] < REQUESTS / 100, statuses
    assert statuses[200] > REQUESTS / 10, statuses
    assert statuses[404] > REQUESTS / 10, statuses
    await asyncio.gather(*(still_there(service, one, places) for one in users))


def refused_by_protocol(answer: httpx2.Response) -> bool:
    """Return whether an answer of the MCP server is a refusal, which has the status 200."""
    return answer.request.url.path == "/mcp" and bool(re.search(r'"error":|"isError": ?true', answer.text))


async def still_there(service: Service, one: One, places: asyncio.Semaphore) -> None:
    """Check that a user still has, by every door, what strangers have reached for."""
    doors: list[Asked] = [
        ("GET", f"/v2/control/memories/{one.memory}", {}, None),
        ("GET", "/v2/control/holds", {}, None),
        ("GET", "/v2/control/questions", {}, None),
        ("GET", "/v2/control/memories", {"of": one.team}, None),
        ("POST", "/mcp", {}, called("recall", text=f"When does the team of {one.mark} meet?", of=one.team)),
        ("POST", "/mcp", {}, called("task_progress", workflow_id=one.asking)),
        ("POST", "/mcp", {}, read("perdure://memories/me")),
        ("POST", "/mcp", {}, read(f"perdure://memories/{one.team}")),
        ("POST", "/mcp", {}, read(f"perdure://tasks/{one.asking}/explanation")),
    ]
    async with places, service.client_with(one.token) as client:
        for method, path, query, body in doors:
            answer = await client.request(method, path, params=query, json=body)
            assert answer.status_code == 200, answer.text
            assert one.mark in answer.text or "explanation" in str(body), (path, body, answer.text)
            assert not refused_by_protocol(answer), answer.text
        waiting = await asked(client)
        assert {one.asking, one.hold} == {question["workflow_id"] for question in waiting.values()}
        await client.post(f"/v2/control/tasks/{one.asking}/cancel", json={})


async def made(service: Service, provider: Issuer, number: int, places: asyncio.Semaphore) -> One:
    """Create a new user with something of each kind."""
    user, mark = f"user-{uuid4().hex[:12]}", f"mark{uuid4().hex[:12]}"
    scopes = " ".join(f"perdure:{one}" for one in ("read", "write", "tasks", "person"))
    theirs: dict[str, Any] = {"sub": user, "scope": scopes, "exp": int(time.time()) + 7_200}
    token = provider.token(**theirs) if number % 2 else await service.token(user_id=user, person=True)
    async with places, service.client_with(token) as client:
        memory = await remembered(client, f"Project {mark} is due on Friday.")
        enrolment = MemberRequest(of=f"team:{mark}", user_id=user, belongs=True)
        await service.gateway.set_member(enrolment, by=ADMIN)
        await remembered(client, f"The team of {mark} meets on Monday.", of=f"team:{mark}")
        await hold(service, user, f"Whoever leads {mark} is allergic to nuts.")
        asking = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-about", "inputs": {"text": mark}}
        await posted(client, "/v2/control/tasks", asking)
        record = {"kind": "record", "lane": "pattern", "key": mark, "payload": {"project": mark}}
        sent = await posted(client, "/v2/control/ingest", {"items": [record]})
        task = {"task_id": f"t-{uuid4().hex[:8]}", "skill": "echo-it", "inputs": {"text": mark}}
        started = await posted(client, "/v2/control/tasks", task)
        waiting = await asked(client)
    return One(
        user=user,
        mark=mark,
        token=token,
        memory=memory,
        job=sent.json()["job_id"],
        task=started.json()["workflow_id"],
        asking=waiting[Workflow.RESUMABLE_AGENT]["workflow_id"],
        question=waiting[Workflow.RESUMABLE_AGENT]["question"]["id"],
        hold=waiting[Workflow.HOLD_MEMORY]["workflow_id"],
    )
