"""The console as people use it: in a real Chromium, by mouse and by keyboard, and examined for screen readers."""

import re
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from perdure.values.requests import RememberRequest
from tests.support.browser import NoBrowser, chromium
from tests.support.http_service import ADMIN, Service, memory_item, remembered
from tests.support.waiting import until

pytestmark = pytest.mark.slow

PATIENCE = 60_000
"""Milliseconds that a page may take beside the other tests: an erasure took more than 20 s there."""

expect.set_options(timeout=PATIENCE)

HOSTILE = '<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script> is Ada\'s favourite tag.'

TOO_WIDE = """() => [...document.querySelectorAll('body *')]
    .filter((one) => one.getBoundingClientRect().right > window.innerWidth)
    .map((one) => `${one.tagName} ${one.innerText}`)"""
"""A script that returns what reaches over a window's right edge."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    try:
        async with chromium() as one:
            yield one
    except NoBrowser as problem:
        pytest.fail(str(problem))


class Person:
    """Somebody with a browser, and what the browser complained about."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))

    async def presses_to(self, name: str, key: str = "Tab") -> None:
        """Press a key until a button or link with this name has the focus."""
        for _ in range(60):
            await self.page.keyboard.press(key)
            if await self.page.evaluate("(document.activeElement.innerText || '').trim()") == name:
                return
        raise AssertionError(f"no key leads to {name!r}")

    async def types_into(self, label: str, text: str) -> None:
        """Go to a field by Tab, and type over what it says."""
        for _ in range(60):
            await self.page.keyboard.press("Tab")
            if await self.page.get_by_label(label).evaluate("one => one === document.activeElement"):
                await self.page.keyboard.press("ControlOrMeta+A")
                await self.page.keyboard.type(text)
                return
        raise AssertionError(f"no key leads to {label!r}")


async def person(browser: Browser, service: Service, token: str, **how: Any) -> Person:
    """Log somebody in."""
    context = await browser.new_context(base_url=service.url, **how)
    context.set_default_timeout(PATIENCE)
    one = Person(await context.new_page())
    await one.page.goto("/login")
    await one.page.get_by_label("Token").fill(token)
    await one.page.keyboard.press("Enter")
    await expect(one.page.get_by_role("heading", level=1)).to_have_text("Inbox")
    return one


@pytest_asyncio.fixture(loop_scope="session")
async def ada(browser: Browser, service: Service, user: str) -> AsyncGenerator[Person]:
    one = await person(browser, service, await service.token(user_id=user, person=True))
    yield one
    await one.page.context.close()
    assert one.complaints == []


async def asks(service: Service, user: str) -> str:
    """Start a task that asks, and return its workflow id once the question is in the inbox."""
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        sent = await client.post("/v2/control/tasks", json={"task_id": f"t-{uuid4().hex[:8]}", "skill": "ask-first"})
        task = str(sent.json()["workflow_id"])

        async def waiting() -> list[Any]:
            return list((await client.get("/v2/control/questions")).json())

        await until(waiting, bool)
    return task


async def output_of(service: Service, user: str, task: str) -> Any:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        return (await client.get(f"/v2/control/tasks/{task}", params={"wait": 30})).json()["result"]["output"]


async def test_a_question_is_answered_in_place_by_keyboard_alone(ada: Person, service: Service, user: str) -> None:
    task = await asks(service, user)
    page = ada.page
    await page.goto("/inbox")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.innerText") == "Skip to the content"
    await page.keyboard.press("Enter")
    await ada.presses_to("yes")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status")).to_have_text("Answered: yes")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Inbox")
    assert await output_of(service, user, task) == "hello"


async def test_enter_in_the_note_decides_nothing(ada: Person, service: Service, user: str) -> None:
    task = await asks(service, user)
    page = ada.page
    await page.goto("/inbox")
    await page.get_by_label("Note").fill("I am still thinking")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="yes")).to_be_visible()
    await page.get_by_role("button", name="yes").click()
    await expect(page.get_by_role("status")).to_have_text("Answered: yes")
    assert await output_of(service, user, task) == "hello"


async def test_a_question_is_answered_without_scripts(browser: Browser, service: Service, user: str) -> None:
    task = await asks(service, user)
    one = await person(browser, service, await service.token(user_id=user, person=True), java_script_enabled=False)
    await one.page.get_by_role("button", name="yes").click()
    await expect(one.page.get_by_text("Nothing waits for a person.")).to_be_visible()
    await one.page.context.close()
    assert await output_of(service, user, task) == "hello"


async def test_a_memory_is_searched_corrected_pinned_forgotten_and_brought_back(
    ada: Person, service: Service, user: str
) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        await remembered(client, "Deploys happen on Tuesdays.")
    page = ada.page
    await page.get_by_role("link", name="Memories").click()
    await page.get_by_label("Ask").fill("When do deploys happen?")
    await page.keyboard.press("Enter")
    bar = page.get_by_role("img", name=re.compile(r"score \d\.\d\d: .*relevance"))
    await expect(bar).to_be_visible()
    await page.get_by_role("link", name="Deploys happen on Tuesdays.").click()
    await page.get_by_label("What it should say").fill("Deploys happen on Fridays.")
    await page.get_by_label("Why").fill("it moved")
    await page.get_by_role("button", name="Correct").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Deploys happen on Fridays.")
    await expect(page.get_by_text("“it moved”")).to_be_visible()
    await page.get_by_role("button", name="Pin").click()
    await expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    await page.get_by_role("button", name="Forget it").click()
    await page.get_by_role("link", name="Undo it").click()
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("1 restored")).to_be_visible()
    await page.get_by_role("link", name="Memories").click()
    await expect(page.get_by_role("link", name="Deploys happen on Fridays.")).to_be_visible()


async def test_a_memory_is_corrected_pinned_forgotten_and_brought_back_by_keyboard_alone(
    ada: Person, service: Service, user: str
) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        memory = await remembered(client, "Deploys happen on Tuesdays.")
    page = ada.page
    await page.goto(f"/memories/{memory}")
    await ada.types_into("What it should say", "Deploys happen on Fridays.")
    await ada.types_into("Why", "it moved")
    await ada.presses_to("Correct")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Deploys happen on Fridays.")
    await expect(page.get_by_text("“it moved”")).to_be_visible()
    await ada.presses_to("Pin: have it in every context")
    await page.keyboard.press("Space")
    await expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    await ada.presses_to("Forget it: that can be undone for a while")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("status")).to_contain_text("Forgotten.")
    await ada.presses_to("Undo it")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Forgetting")
    await ada.presses_to("Undo")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("1 restored")).to_be_visible()


async def test_what_memory_says_is_shown_as_text_and_runs_nowhere(ada: Person, service: Service, user: str) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        one = await remembered(client, HOSTILE)
    page = ada.page
    for place in ("/memories", f"/memories/{one}", "/memories?ask=favourite tag", "/memories?ask=<script>alert(1)"):
        await page.goto(place)
        assert await page.evaluate("window.hacked === undefined"), place
        assert await page.locator("main script, main img").count() == 0, place
    await page.goto("/memories")
    await expect(page.get_by_text(HOSTILE)).to_be_visible()


async def test_a_script_that_got_into_a_page_would_be_refused(ada: Person) -> None:
    add = (
        "() => { const one = document.createElement('script'); one.text = 'window.ran = 1'; document.body.append(one) }"
    )
    await ada.page.evaluate(add)
    assert await ada.page.evaluate("window.ran === undefined")
    refused, ada.complaints = ada.complaints, []
    assert any("Content Security Policy" in said for said in refused), "the control: the browser says so"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_can_be_read_by_a_screen_reader(
    browser: Browser, service: Service, user: str, scheme: Any
) -> None:
    token = await service.token(user_id=user, person=True)
    async with service.client_with(token) as client:
        memory = await remembered(client, "Deploys happen on Tuesdays.")
    held: dict[str, Any] = memory_item("Ada is allergic to nuts.") | {"tags": ["health"]}
    await service.gateway.remember(RememberRequest(user_id=user, key="held", items=(held,)), by=ADMIN)
    task = await asks(service, user)
    one = await person(browser, service, token, color_scheme=scheme)
    places = ["/inbox", "/memories", "/memories?ask=When do deploys happen?", f"/memories/{memory}", "/tasks"]
    places += [f"/tasks/{task}", "/forgetting", "/erase", "/memories/none"]
    local = await person(browser, service, service.local, color_scheme=scheme)
    stranger = await (await browser.new_context(base_url=service.url, color_scheme=scheme)).new_page()
    found: dict[str, str] = {}
    for page, seen in (
        (one.page, places),
        (local.page, [f"/memories?user={user}", "/status"]),
        (stranger, ["/login"]),
    ):
        for place in seen:
            await page.goto(place)
            assert urlsplit(page.url).path == urlsplit(place).path, "it led elsewhere"
            examined = await Axe().run(page)
            if examined.violations_count:
                found[place] = examined.generate_report()
        await page.context.close()
    assert found == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_what_a_sweep_and_an_erasure_have_led_to_can_be_read_by_a_screen_reader(
    browser: Browser, service: Service, user: str, scheme: Any
) -> None:
    said = datetime.now(UTC) - timedelta(days=3)
    over: dict[str, Any] = {"occurred_at": said.isoformat(), "valid_until": (said + timedelta(days=1)).isoformat()}
    request = RememberRequest(user_id=user, key="over", items=(memory_item("The lift is out of order.") | over,))
    await service.gateway.receipt(await service.gateway.remember(request, by=ADMIN), by=ADMIN)
    one = await person(browser, service, await service.token(user_id=user, person=True), color_scheme=scheme)
    page = one.page
    await page.goto("/forgetting")
    await page.get_by_role("button", name="Show what is due").click()
    await expect(page.get_by_role("status").get_by_role("link", name="The lift is out of order.")).to_be_visible()
    swept = await Axe().run(page)
    await page.goto("/erase")
    await page.get_by_label(f"Type {user} to erase it").fill(user)
    await page.get_by_role("button", name="Erase").click()
    await expect(page.get_by_role("status")).to_have_text("Erased, and proved.")
    erased = await Axe().run(page)
    reports = {"a sweep": swept, "an erasure": erased}
    assert {name: found.generate_report() for name, found in reports.items() if found.violations_count} == {}
    assert one.complaints == []
    await page.context.close()


async def test_control_what_no_screen_reader_can_read_is_found(ada: Person) -> None:
    await ada.page.evaluate("() => document.querySelectorAll('label').forEach((one) => one.remove())")
    await ada.page.evaluate("() => { document.querySelector('main').innerHTML = '<input name=x>' }")
    assert (await Axe().run(ada.page)).violations_count


async def test_a_narrow_window_needs_no_scrolling_sideways(ada: Person, service: Service, user: str) -> None:
    async with service.client_with(await service.token(user_id=user, person=True)) as client:
        await remembered(client, f"The build is called {'x' * 300}.")
    await ada.page.set_viewport_size({"width": 380, "height": 700})
    for place in ("/inbox", "/memories", "/tasks", "/forgetting"):
        await ada.page.goto(place)
        assert await ada.page.evaluate(TOO_WIDE) == [], place
