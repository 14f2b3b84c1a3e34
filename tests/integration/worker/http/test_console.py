"""The console: pages of what people look at and decide, behind the same gate as all else."""

import re
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import httpx2
import pytest

from perdure.memory.forgetting.selection import Guard
from perdure.names import Workflow
from perdure.values.access_tokens import TokenScope
from perdure.values.jobs import Fate
from perdure.values.requests import RememberRequest
from tests.support.console_browser import Browser, browser_with
from tests.support.http_service import ADMIN, Service, memory_item, remembered
from tests.support.waiting import until
from worker import audits
from worker.http.console import forgetting, inbox, tasks

SCRIPT = "<script>alert('x')</script> & \"quotes\""


SHOWN = re.findall(r"--scope (\w+)", Path("docs/console.md").read_text(encoding="utf-8"))
"""The scopes of the token that the page about the console has people make."""


@pytest.fixture
async def ada(service: Service, user: str) -> AsyncGenerator[Browser]:
    scopes = [TokenScope(one) for one in SHOWN]
    one = await browser_with(service, await service.token(*scopes, user_id=user, person=True))
    yield one
    await one.client.aclose()


async def test_without_a_token_everything_leads_to_the_login(service: Service) -> None:
    async with httpx2.AsyncClient(base_url=service.url, trust_env=False) as client:
        for place in ("/inbox", "/memories", "/tasks", "/forgetting", "/status", "/export", "/erase"):
            answer = await client.get(place)
            assert (answer.status_code, answer.headers["location"]) == (303, "/login"), place
        page = await client.get("/login")
        assert page.status_code == 200
        assert "script-src 'self'" in page.headers["content-security-policy"]
        refused = await client.post("/login", data={"token": "nonsense"})
        assert (refused.status_code, "is not valid" in refused.text) == (401, True)
        assert "set-cookie" not in refused.headers


async def test_a_page_that_there_is_not_is_a_page_too(ada: Browser, service: Service) -> None:
    looking = {"Accept": "text/html,*/*;q=0.8"}
    found = await ada.client.get("/memorys", headers=looking)
    assert (found.status_code, "there is no such page" in found.text) == (404, True)
    assert 'href="/inbox"' in found.text
    # There is such an address for another method.
    assert (await ada.client.get("/logout", headers=looking)).status_code != 404
    for place, headers in (("/memorys", {}), ("/v2/memorys", looking)):
        asked = await ada.client.get(place, headers=headers)
        assert (asked.status_code, asked.headers["content-type"]) == (401, "application/problem+json"), place
    async with httpx2.AsyncClient(base_url=service.url, trust_env=False) as client:
        answer = await client.get("/memorys", headers=looking)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(service: Service, user: str) -> None:
    async with httpx2.AsyncClient(base_url=service.url, trust_env=False) as client:
        answer = await client.post("/login", data={"token": await service.token(user_id=user, person=True)})
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie


async def test_a_form_of_another_site_changes_nothing(ada: Browser, service: Service, user: str) -> None:
    await ada.opens("/inbox")
    for fields in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": "é"}):
        answer = await ada.client.post("/logout", data=fields)
        assert answer.status_code == 403, fields
    proof = re.search(r'name="csrf" value="([0-9a-f]+)"', ada.text)
    assert proof
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert (await ada.client.post("/logout", data={"csrf": proof[1]}, headers=foreign)).status_code == 403
    other = await browser_with(service, await service.token(user_id=f"kim {uuid4().hex}", person=True))
    await other.opens("/inbox")
    assert proof[1] not in other.text
    await other.client.aclose()
    assert (await ada.client.get("/inbox")).status_code == 200
    left = await ada.sends("/logout")
    assert left.headers["location"] == "/login"


async def test_what_a_memory_says_is_shown_as_text(ada: Browser, service: Service, user: str) -> None:
    client = service.client_with(await service.token(user_id=user, person=True))
    async with client:
        one = await remembered(client, SCRIPT)
    shown = await ada.opens("/memories")
    assert SCRIPT in shown
    assert "<script>alert" not in ada.text
    page = await ada.opens(f"/memories/{one}")
    assert SCRIPT in page
    assert "<script>alert" not in ada.text
    await ada.opens(f"/memories?ask={'%3Cscript%3E'}")
    assert "<script>" not in ada.text.replace('<script src="/static/htmx.min.js" defer>', "")


@pytest.mark.slow
async def test_a_memory_is_searched_corrected_pinned_and_forgotten(ada: Browser, service: Service, user: str) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        one = await remembered(client, "Deploys happen on Tuesdays.")
    found = await ada.opens("/memories?ask=When do deploys happen?")
    assert "Deploys happen on Tuesdays." in found
    assert re.search(r'<svg class="bar".*?<rect class="part0"', ada.text, re.DOTALL)
    await ada.opens(f"/memories/{one}")
    version = re.search(r'name="expected" value="(\d+)"', ada.text)
    assert version
    moved = await ada.sends(
        f"/memories/{one}/correct", content="Deploys happen on Fridays.", note="it moved", expected=version[1]
    )
    shown = await ada.opens(moved.headers["location"])
    assert "Deploys happen on Fridays." in shown
    assert "it moved" in shown
    place = moved.headers["location"]
    await ada.sends(f"{place}/pin", pinned="yes")
    assert "Unpin" in await ada.opens(place)
    again = await ada.sends(f"{place}/correct", content="x", expected="1", status=422)
    assert "it is at version" in again.text
    gone = await ada.sends(f"{place}/forget")
    assert "forgotten" in await ada.opens(gone.headers["location"])
    sweep = re.search(r'href="/forgetting\?sweep=([^"&]+)', ada.text)
    assert sweep
    form = await ada.opens(f"/forgetting?sweep={sweep[1]}")
    offered = re.search(r'name="sweep" value="([^"]+)"', form)
    assert offered
    undone = await ada.sends("/forgetting/undo", sweep=offered[1], status=200)
    assert "1 restored" in undone.text


@pytest.mark.slow
async def test_all_memories_can_be_leafed_through(ada: Browser, service: Service, user: str) -> None:
    for first in range(0, 201, 67):
        items = tuple(memory_item(f"Box {number} is in room {number + 1_000}.") for number in range(first, first + 67))
        job = await service.gateway.remember(RememberRequest(user_id=user, key=f"from {first}", items=items), by=ADMIN)
        receipt = await service.gateway.receipt(job, by=ADMIN)
        assert receipt.count(Fate.SEARCHABLE) == 67, receipt

    async def boxes(place: str) -> set[str]:
        return set(re.findall(r"Box (\d+) is", await ada.opens(place)))

    newest = await boxes("/memories")
    assert "1 to 200 of 201" in ada.text
    assert "Newer" not in ada.text
    older = re.search(r'<a href="([^"]+)" rel="next">Older', ada.text)
    assert older
    oldest = await boxes(f"/memories{unescape(older[1])}")
    assert (len(newest), len(oldest), len(newest | oldest)) == (200, 1, 201)
    assert "Older" not in ada.text
    newer = re.search(r'<a href="([^"]+)" rel="prev">Newer', ada.text)
    assert newer
    assert await boxes(f"/memories{unescape(newer[1])}") == newest
    assert await boxes("/memories?after=5000") == oldest
    assert "leave it out" in await ada.opens("/memories?after=-1", status=422)

    await ada.opens("/memories")
    everything = re.search(r'<a href="([^"]+)">Show also what was replaced', ada.text)
    assert everything
    assert "All that is stored" in await ada.opens(unescape(everything[1]))


@pytest.mark.slow
async def test_a_question_is_answered_in_place(ada: Browser, service: Service, user: str) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        sent = await client.post("/v2/control/tasks", json={"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first"})
        task = sent.json()["workflow_id"]

        async def asked() -> str:
            return await ada.opens("/inbox")

        shown = await until(asked, lambda text: "Say it?" in text)
        assert task in shown
        question = re.search(r'name="question" value="([^"]+)"', ada.text)
        proof = re.search(r'name="csrf" value="([0-9a-f]+)"', ada.text)
        assert question
        assert proof
        fields = {"csrf": proof[1], "question": question[1], "value": "yes"}
        part = await ada.client.post(f"/inbox/{task}", data=fields, headers={"HX-Request": "true"})
        assert (part.status_code, "Answered" in part.text, "<html" in part.text) == (200, True, False)
        ended = (await client.get(f"/v2/control/tasks/{task}", params={"wait": 30})).json()
        assert ended["result"]["output"] == "hello"
        late = await ada.client.post(f"/inbox/{task}", data=fields, headers={"HX-Request": "true"})
        assert 'class="problem"' in late.text
    page = await ada.opens(f"/tasks/{task}")
    assert "completed" in page
    assert "hello" in page
    await until(lambda: ada.opens("/tasks"), lambda text: task in text)


@pytest.mark.slow
async def test_only_a_person_answers_and_another_users_things_do_not_exist(service: Service, user: str) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        one = await remembered(client, "Ada likes marzipan.")
    program = await browser_with(service, await service.token(user_id=user))
    await program.opens("/inbox")
    refused = await program.sends("/inbox/task-none", question="q", value="yes", status=403)
    assert "person" in refused.text
    await program.client.aclose()
    kim = await browser_with(service, await service.token(user_id=f"kim {uuid4().hex}", person=True))
    await kim.opens(f"/memories/{one}", status=404)
    await kim.opens(f"/memories?user={user}", status=404)
    await kim.opens("/inbox")
    await kim.client.aclose()
    reader = await browser_with(service, await service.token(TokenScope.READ, user_id=user, person=True))
    await reader.opens("/tasks", status=403)
    await reader.client.aclose()


async def put_on_hold(service: Service, user: str) -> None:
    item: dict[str, Any] = memory_item("Ada is allergic to nuts.") | {"tags": ["health"]}
    await service.gateway.remember(RememberRequest(user_id=user, key="held", items=(item,)), by=ADMIN)


async def hold_of(service: Service, user: str) -> str:
    """Return the id of what is on hold, once the lists know of it."""
    async with service.client_with(await service.token(user_id=user, person=True)) as client:

        async def held() -> list[Any]:
            return list((await client.get("/v2/control/holds")).json())

        [hold] = await until(held, bool)
    return str(hold["id"])


@pytest.mark.slow
async def test_what_is_held_is_approved_in_other_words(ada: Browser, service: Service, user: str) -> None:
    await put_on_hold(service, user)

    async def held() -> str:
        return await ada.opens("/memories")

    await until(held, lambda text: "Waiting for approval" in text)
    hold = re.search(r'action="/holds/([^"?]+)', ada.text)
    assert hold
    await ada.sends(f"/holds/{hold[1]}", decision="approve", text="Ada is allergic to hazelnuts.")
    assert "Ada is allergic to hazelnuts." in await ada.opens("/memories")
    assert "Waiting for approval" not in unescape(ada.text)


async def test_what_is_held_is_decided_in_the_inbox_as_well(ada: Browser, service: Service, user: str) -> None:
    await put_on_hold(service, user)
    await until(lambda: ada.opens("/inbox"), lambda text: "Ada is allergic to nuts." in text)
    hold = re.search(r'action="(/holds/[^"]+)"', ada.text)
    back = re.search(r'name="inbox" value="([^"]+)"', ada.text)
    assert hold
    assert back
    left = await ada.sends(hold[1], decision="approve", text="Ada is allergic to hazelnuts.", inbox=back[1])
    assert left.headers["location"] == "/inbox"
    assert "allergic" not in await ada.opens("/inbox")
    assert "Ada is allergic to hazelnuts." in await ada.opens("/memories")


@pytest.mark.slow
async def test_where_no_user_is_named_the_inbox_has_what_is_held_of_all(
    service: Service, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests leave questions that are older.
    monkeypatch.setattr(inbox, "_LISTED", 1_000)
    await put_on_hold(service, user)
    hold = await hold_of(service, user)
    local = await browser_with(service, service.local)
    await until(lambda: local.opens("/inbox"), lambda text: f'action="/holds/{hold}"' in text)
    reader = await service.gateway._keyed_reader()  # pyright: ignore[reportPrivateUsage]
    await reader._reading.audit.written()  # pyright: ignore[reportPrivateUsage]
    lines = await audits.show(service.here.settings, user, None, None, ADMIN)
    assert {one.by.id for one in lines if one.by and hold in one.ids.get("held", ())} - {user}, "it is audited"
    left = await local.sends(f"/holds/{hold}", decision="reject", note="nobody asked", inbox="yes")
    assert left.headers["location"] == "/inbox"
    assert hold not in await local.opens("/inbox")
    assert [one.reason for one in await service.gateway.rejected(user, by=ADMIN) if "nobody asked" in one.reason]
    await local.client.aclose()


@pytest.mark.parametrize(
    ("scopes", "person"),
    [((TokenScope.TASKS,), True), ((TokenScope.TASKS, TokenScope.WRITE), False)],
    ids=["a person without the scope", "a program"],
)
async def test_the_inbox_offers_only_decisions_that_the_token_permits(
    service: Service, user: str, scopes: tuple[TokenScope, ...], person: bool
) -> None:
    await put_on_hold(service, user)
    one = await browser_with(service, await service.token(*scopes, user_id=user, person=person))
    shown = await until(lambda: one.opens("/inbox"), lambda text: "Ada is allergic to nuts." in text)
    assert ("needs a person's token" in shown, "/holds/" in shown) == (True, False)
    await one.client.aclose()


RECALLS = """
name: recall-it
steps:
  - {id: look, recall: {text: "When do deploys happen?"}}
output: "${steps.look.context}"
"""


@pytest.mark.slow
async def test_a_tasks_page_shows_what_it_recalled_and_leads_to_temporals(
    ada: Browser, service: Service, user: str
) -> None:
    [skills] = service.here.settings.skills
    (skills / "recall-it.yaml").write_text(RECALLS, encoding="utf-8")
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        await remembered(client, "Deploys happen on Tuesdays.")

        async def known() -> bool:
            return "recall-it" in {one["name"] for one in (await client.get("/v2/control/skills")).json()}

        await until(known, bool)
        sent = await client.post("/v2/control/tasks", json={"task_id": f"t-{uuid4().hex[:8]}", "skill": "recall-it"})
        task = sent.json()["workflow_id"]
        await client.get(f"/v2/control/tasks/{task}", params={"wait": 30})
    shown = await until(lambda: ada.opens(f"/tasks/{task}"), lambda page: "1 recalled" in page)
    recalled = shown.partition("What it recalled, and why")[2]
    assert "Deploys happen on Tuesdays." in recalled
    link = f'href="{service.gateway.temporal_ui}/namespaces/default/workflows/{task}"'
    assert link in ada.text


@pytest.mark.slow
async def test_a_task_is_cancelled_on_its_page(ada: Browser, service: Service, user: str) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        sent = await client.post("/v2/control/tasks", json={"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first"})
        task = sent.json()["workflow_id"]
        await until(lambda: ada.opens(f"/tasks/{task}"), lambda page: "It asks 1 question" in page)
        left = await ada.sends(f"/tasks/{task}/cancel")
        assert left.headers["location"] == f"/tasks/{task}"
        ended = (await client.get(f"/v2/control/tasks/{task}", params={"wait": 30})).json()
        assert ended["result"]["status"] == "cancelled"
    assert "Cancel it" not in await ada.opens(f"/tasks/{task}")


async def test_what_is_held_is_rejected(ada: Browser, service: Service, user: str) -> None:
    await put_on_hold(service, user)
    await until(lambda: ada.opens("/memories"), lambda text: "Waiting for approval" in text)
    hold = re.search(r'action="/holds/([^"?]+)', ada.text)
    assert hold
    await ada.sends(f"/holds/{hold[1]}", decision="reject", note="nobody asked")
    assert "Ada is allergic to nuts." not in await ada.opens("/memories")
    rejected = await service.gateway.rejected(user, by=ADMIN)
    assert [one.reason for one in rejected if "nobody asked" in one.reason] != []


@pytest.mark.slow
async def test_of_a_user_it_is_shown_what_is_due_and_what_can_be_brought_back(
    ada: Browser, service: Service, user: str
) -> None:
    ends = (datetime.now(UTC) + timedelta(days=2)).isoformat()
    item: dict[str, Any] = memory_item("The lift is out of order.") | {"valid_until": ends}
    job = await service.gateway.remember(RememberRequest(user_id=user, key="ends", items=(item,)), by=ADMIN)
    assert (await service.gateway.receipt(job, by=ADMIN)).count(Fate.SEARCHABLE) == 1
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        one = await remembered(client, "Deploys happen on Tuesdays.")
    page = await ada.opens("/forgetting")
    due, undoable = page.partition("Due within 30 days")[2].split("Forgotten, and can be brought back")
    assert "The lift is out of order." in due
    assert "Tuesdays" not in due
    assert "Nothing." in undoable
    await ada.opens(f"/memories/{one}")
    await ada.sends(f"/memories/{one}/forget")
    undoable = (await ada.opens("/forgetting")).partition("Forgotten, and can be brought back")[2]
    assert "Deploys happen on Tuesdays." in undoable
    assert f"/memories/{one}" in undoable


@pytest.mark.slow
async def test_forgetting_is_seen_beforehand_and_a_user_is_erased_by_typing_the_id(
    ada: Browser, service: Service, user: str
) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        await remembered(client, "Deploys happen on Tuesdays.")
    await ada.opens("/forgetting")
    swept = await ada.sends("/forgetting/sweep", status=200)
    assert "This is due" in swept.text
    exported = await ada.client.get("/export")
    assert "Deploys happen on Tuesdays." in exported.text
    assert "attachment" in exported.headers["content-disposition"]
    assert "1 memories" in await ada.opens("/erase")
    wrong = await ada.sends("/erase", typed="somebody", status=422)
    assert "nothing was erased" in wrong.text
    erased = await ada.sends("/erase", typed=user, status=200)
    assert "Erased, and proved." in erased.text
    # The token was the user's own, and went with the user.
    assert (await ada.client.get("/memories")).headers["location"] == "/login"


@pytest.mark.slow
async def test_whom_the_guard_holds_back_and_what_they_would_lose_is_seen_beforehand(
    ada: Browser, service: Service, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service.here.services.forgetter, "_guard", Guard(fraction=0.0, free=1))
    said, texts = datetime.now(UTC) - timedelta(days=3), ("The lift is out of order.", "The canteen is closed.")
    over: dict[str, Any] = {"occurred_at": said.isoformat(), "valid_until": (said + timedelta(days=1)).isoformat()}
    request = RememberRequest(user_id=user, key="over", items=tuple(memory_item(text) | over for text in texts))
    await service.gateway.receipt(await service.gateway.remember(request, by=ADMIN), by=ADMIN)

    async def shown_by(browser: Browser, place: str, **fields: str) -> tuple[str, str]:
        """Return what is shown of a dry run, and the page that it is on."""
        page = (await browser.sends(place, status=200, **fields)).text
        return unescape(page.partition('<section role="status"')[2].partition("</section>")[0]), page

    await ada.opens("/forgetting")
    held, _ = await shown_by(ada, "/forgetting/sweep")
    assert f"{user}: 2 of 2 entries are due, more than 0%" in held
    assert "tick the box" in held, "it says how to see what that is"
    due, _ = await shown_by(ada, "/forgetting/sweep", approved="yes")
    assert [text for text in (*texts, "expired", "All of it") if text not in due] == []
    ids = re.findall(r'href="/memories/([^"?]+)"', due)
    assert len(ids) == 2

    eraser = await browser_with(service, await service.token(TokenScope.ERASE, person=True))
    await eraser.opens("/forgetting")
    due, page = await shown_by(eraser, f"/forgetting/sweep?user={user}", approved="yes")
    assert [one for one in ids if one not in due] == []
    assert [text for text in texts if text in page] == [], "it may not read"
    await eraser.client.aclose()


@pytest.mark.slow
async def test_the_local_person_sees_everybody_and_names_whom(service: Service, user: str) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        await remembered(client, "Deploys happen on Tuesdays.")
    local = await browser_with(service, service.local)
    assert "Whose" in await local.opens("/memories")
    assert "Deploys happen on Tuesdays." in await local.opens(f"/memories?user={user}")
    assert "reachable" in await local.opens("/status")
    assert "Tasks" in await local.opens("/tasks")
    await local.client.aclose()


@pytest.mark.parametrize("named", [True, False], ids=["the user is named", "it is the token's own"])
@pytest.mark.slow
async def test_a_list_says_that_it_leaves_out_more_only_where_it_does(
    service: Service, user: str, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        await client.post("/v2/control/tasks", json={"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first"})
        one = await remembered(client, "Deploys happen on Tuesdays.")
        await client.post(f"/v2/control/memories/{one}/forget", json={})
    query = f"?user={user}" if named else ""
    local = await browser_with(service, service.local if named else await service.token(user_id=user, person=True))
    await until(lambda: local.opens(f"/inbox{query}"), lambda page: "Say it?" in page)
    await until(lambda: local.opens(f"/tasks{query}"), lambda page: "ask-first" in page)
    said = {"/inbox": "These are the first", "/tasks": "of more", "/forgetting": "not listed"}
    for place, text in said.items():
        assert text not in await local.opens(f"{place}{query}"), place
    for room in (inbox, tasks, forgetting):
        monkeypatch.setattr(room, "_LISTED", 0)
    for place, text in said.items():
        assert text in await local.opens(f"{place}{query}"), place
    assert "1 more are not listed" in unescape(local.text)
    await local.client.aclose()


async def test_what_a_workflow_asks_names_it_and_leads_to_no_task(service: Service, ada: Browser, user: str) -> None:
    identifier = f"ask-{uuid4()}"
    handle = await service.here.client.start_workflow(
        Workflow.ASK_PERSON, {"user_id": user, "text": "Ship it?"}, id=identifier, task_queue=service.here.queue
    )
    inbox = await until(lambda: ada.opens("/inbox"), lambda page: "Ship it?" in page)
    assert "asked by the workflow" in inbox
    assert f"/tasks/{identifier}" not in inbox
    await ada.sends(f"/inbox/{identifier}", question=questions_in(inbox)[0], value="yes")
    await handle.result()


@pytest.mark.slow
async def test_what_has_a_slash_in_its_id_is_opened_and_answered(service: Service, ada: Browser, user: str) -> None:
    asks, runs = f"ask/{uuid4()}", f"run/{uuid4()}/100%2F"
    start = service.here.client.start_workflow
    question: Any = {"user_id": user, "text": "Ship it?"}
    asking = await start(Workflow.ASK_PERSON, question, id=asks, task_queue=service.here.queue)
    task: Any = {"task_id": "by-hand", "user_id": user, "skill": "ask-first"}
    running = await start(Workflow.RESUMABLE_AGENT, task, id=runs, task_queue=service.here.queue)
    await until(lambda: ada.opens("/inbox"), lambda page: "Ship it?" in page and "Say it?" in page)
    for place in re.findall(r'method="post" action="(/inbox/[^"]+)"', ada.text):
        question = questions_in(ada.text[ada.text.index(place) :])[0]
        assert (await ada.sends(place, question=question, value="yes")).headers["location"] == "/inbox"
    await asking.result()
    await running.result()
    await until(lambda: ada.opens("/tasks"), lambda page: "by-hand" in page)
    [link] = re.findall(r'href="(/tasks/[^"]+)"', ada.text)
    assert unquote(link) == f"/tasks/{runs}"
    assert runs in await ada.opens(link)


def questions_in(page: str) -> list[str]:
    return re.findall(r'name="question" value="([^"]+)"', page)


async def test_what_is_no_form_is_refused(ada: Browser) -> None:
    for body, kind in ((b"{}", "application/json"), (b"x", "multipart/form-data"), (b"x" * 10, "")):
        answer = await ada.client.post("/logout", content=body, headers={"Content-Type": kind})
        assert answer.status_code == 415
    many = "&".join(f"f{number}=1" for number in range(60))
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert (await ada.client.post("/logout", content=many, headers=form)).status_code == 400
    assert (await ada.client.get("/static/..%2Fsession.py")).status_code in (401, 404)
    large = await ada.client.post("/login", data={"token": "x" * 100_000})
    assert large.status_code == 413
    assert (await ada.client.get("/static/console.css")).headers["content-type"].startswith("text/css")


async def test_no_other_site_logs_a_browser_in(service: Service, user: str) -> None:
    token = await service.token(user_id=user, person=True)
    async with httpx2.AsyncClient(base_url=service.url, trust_env=False) as client:
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example.org"}):
            answer = await client.post("/login", data={"token": token}, headers=headers)
            assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
        odd = await client.get("/inbox", headers={"Cookie": 'x={"a":1}; perdure_session=zz'})
        assert odd.headers["location"] == "/login"


async def test_the_cookie_holds_no_token_and_ends_with_it(service: Service, user: str) -> None:
    token = await service.token(user_id=user, person=True)
    one = await browser_with(service, token)
    kept = one.client.cookies["perdure_session"]
    assert token not in kept
    assert (await one.client.get("/inbox", headers={"Authorization": f"Bearer {kept}"})).headers["location"] == "/login"
    await service.gateway.revoke_token(token.split("_")[1], by=ADMIN)
    assert (await one.client.get("/inbox")).headers["location"] == "/login"
    part = await one.client.get("/inbox", headers={"HX-Request": "true"})
    assert (part.status_code, part.headers["hx-redirect"]) == (200, "/login")
    await one.client.aclose()


async def test_who_may_see_the_installation_may_not_forget_for_everybody(service: Service) -> None:
    scraper = await browser_with(service, await service.token(TokenScope.OPERATE))
    assert "lacks the scope 'erase'" in await scraper.opens("/forgetting", status=403)
    assert "Forgetting" not in await scraper.opens("/status")
    refused = await scraper.sends("/forgetting/sweep", forget="yes", approved="yes", status=403)
    assert "Status" in refused.text
    program = await browser_with(service, await service.token(TokenScope.OPERATE, TokenScope.ERASE))
    assert "needs a person" in await program.opens("/forgetting")
    await program.sends("/forgetting/sweep", forget="yes", status=403)
    for one in (scraper, program):
        await one.client.aclose()


async def test_what_is_on_hold_is_not_decided_with_the_scope_for_tasks(service: Service, user: str) -> None:
    await put_on_hold(service, user)
    hold = await hold_of(service, user)
    person = await browser_with(service, await service.token(TokenScope.TASKS, person=True))
    await person.opens("/inbox")
    await person.sends(f"/inbox/{hold}", question="approval", value="yes", status=404)
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        assert len((await client.get("/v2/control/holds")).json()) == 1
    await person.client.aclose()
