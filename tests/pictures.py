"""Makes the pictures of the documentation: ``make pictures``.

The quickstart with skills is played up to its question. Then pictures are taken of the task in the Temporal UI, of
the console, and of a terminal. The browser is one of this machine, and never downloaded.
"""

import asyncio
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page
from rich.console import Console
from rich.text import Text
from temporalio.client import Client

from perdure.settings import Settings
from tests.support.browser import NoBrowser, chromium, found
from tests.support.pages import clean_environment, play

PAGE, FOLDER = Path("docs/quickstart-skills.md"), Path("docs/pictures")
TYPED = ("perdure inbox", "perdure answer task.yaml customer[0].send yes", "perdure run task.yaml", "cat invoices.txt")
"""What is typed in the picture of the terminal, while the task waits for an answer."""

SAID = (
    "Invoices go out on the first Monday of the month.",
    "Kim pays by bank transfer.",
    "Lee wants invoices as PDF.",
    "Invoices are sent by the billing service.",
)
"""What is remembered in the pictures of the console, besides what the task learns."""

ENDS = {
    "kind": "memory",
    "content": "Invoices to Kim wait for the new price list.",
    "occurrence": "pictures/1",
    "valid_until": (datetime.now(UTC) + timedelta(days=9)).isoformat(),
}
"""What is due soon in the picture of what will be forgotten."""

POLICY = "default: {hold: {rules: [{tags: [prices]}]}}\n"
"""The write policy in the pictures: what is said of prices waits for a person."""

APPROVED = "Kim gets a discount of five percent."

HELD = {"kind": "memory", "content": APPROVED, "occurrence": "pictures/2", "tags": ["prices"]}
"""What waits for approval in the pictures of the console, and is approved there."""

_LISTED_WITHIN = 30
"""Looks after which a memory that waits for approval is not going to be listed; a choice. The first one finds it."""

_HTML = """<html><body style="margin:0;background:#11151c"><pre style="font:15px/1.5 'DejaVu Sans Mono',monospace;
color:#e6e9ee;margin:0;padding:22px 26px;white-space:pre-wrap">{}</pre></body></html>"""


def terminal(folder: Path, environment: Mapping[str, str]) -> str:
    """Return a terminal in which commands are typed, as HTML."""
    console = Console(record=True, file=io.StringIO(), width=118, force_terminal=True)
    for line in TYPED:
        console.print(Text(f"$ {line}", style="bold #7fd1b9"))
        said = ran(folder, environment, *line.split()).replace(str(folder / "home"), "~")
        console.print(Text(said.replace(str(folder), "~/billing").rstrip()))
    return _HTML.format(console.export_html(inline_styles=True, code_format="{code}"))


def ran(folder: Path, environment: Mapping[str, str], *command: str) -> str:
    """Run a command, and return what it prints."""
    ended = subprocess.run(
        command, cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    return ended.stderr + ended.stdout if command[-1] != "--json" else ended.stdout


async def run_of(address: str, workflow: str) -> str:
    """Return the id of the run that a workflow is in."""
    client = await Client.connect(address)
    return (await client.get_workflow_handle(workflow).describe()).run_id


async def shoot(page: Page, name: str, *, until: str, whole: bool = False) -> None:
    """Take a picture of a page once it shows a text: of what fits into the window, or of the whole page."""
    await page.get_by_text(until).first.wait_for()
    await page.screenshot(path=FOLDER / f"{name}.png", full_page=whole)


async def shoot_temporal(browser: Browser, address: str) -> None:
    """Take the picture of a task in the Temporal UI."""
    page = await browser.new_page(viewport={"width": 1640, "height": 960})
    await page.goto(address)
    await page.get_by_text("Current Details").first.wait_for()
    # It goes on to ask for things, and nothing tells when all that it shows is there.
    await page.wait_for_timeout(5_000)
    await page.screenshot(path=FOLDER / "temporal-ui.png")


async def shoot_console(browser: Browser, address: str, token: str, workflow: str) -> None:
    """Take pictures of the console's pages, of which one shows it in the dark."""
    size: Any = {"width": 1120, "height": 700}
    for dark in (False, True):
        context = await browser.new_context(
            base_url=address, viewport=size, color_scheme="dark" if dark else "light", reduced_motion="reduce"
        )
        page = await context.new_page()
        await page.goto("/login")
        if not dark:
            await shoot(page, "console-login", until="Made by")
        await page.get_by_label("Token").fill(token)
        await page.get_by_role("button", name="Log in").click()
        if dark:
            await page.goto(f"/tasks/{workflow}?user=ada")
            await shoot(page, "console-task-dark", until="What it recalled")
            continue
        await shoot(page, "console-inbox", until="Send")
        await page.goto("/memories?user=ada&ask=When do invoices go out?")
        await shoot(page, "console-search", until="What answers it")
        await page.get_by_role("link", name=SAID[0]).click()
        await shoot(page, "console-memory", until="How it came to be so")
        await page.goto("/memories?user=ada")
        await shoot(page, "console-memories", until="Waiting for approval", whole=True)
        await page.get_by_role("button", name="Approve").click()
        await page.get_by_role("link", name=APPROVED).first.wait_for()
        await page.get_by_role("link", name=SAID[3]).first.click()
        await page.get_by_role("button", name="Forget").click()
        await page.goto("/tasks?user=ada")
        await shoot(page, "console-tasks", until=workflow.removeprefix("task-").rpartition("-")[0])
        await page.goto("/forgetting?user=ada")
        await page.get_by_role("button", name="Show what is due").click()
        await shoot(page, "console-forgetting", until="Due within 30 days", whole=True)
        await page.goto("/status")
        await shoot(page, "console-status", until="weaviate")
        await page.goto("/erase?user=ada")
        await shoot(page, "console-erase", until="It cannot be undone")
        await context.close()


def token_of(environment: Mapping[str, str]) -> str:
    """Return the token of the machine."""
    return Path(environment["HOME"], ".local/share/perdure/http.token").read_text(encoding="utf-8").strip()


async def shoot_all(folder: Path, environment: Mapping[str, str]) -> None:
    """Take all pictures, while the played task waits for an answer."""
    [task] = json.loads(ran(folder, environment, "perdure", "tasks", "list", "--json"))
    servers = json.loads(ran(folder, environment, "perdure", "up", "--json"))
    for text in SAID:
        ran(folder, environment, "perdure", "remember", text, "--user", "ada")
    (folder / "items.json").write_text(json.dumps([ENDS, HELD]))
    ran(folder, environment, "perdure", "remember", "--user", "ada", "--file", "items.json")
    for _ in range(_LISTED_WITHIN):
        if json.loads(ran(folder, environment, "perdure", "memories", "held", "--user", "ada", "--json")):
            break
    workflow = task["workflow_id"]
    run = await run_of(servers["temporal"], workflow)
    async with chromium() as browser:
        await shoot_temporal(
            browser, f"{servers['temporal_ui']}/namespaces/default/workflows/{workflow}/{run}/user-metadata"
        )
        await shoot_console(browser, servers["http"], token_of(environment), workflow)
        page = await browser.new_page(viewport={"width": 1120, "height": 300})
        await page.set_content(terminal(folder, environment))
        await shoot(page, "terminal", until="$ cat", whole=True)


def main() -> None:
    """Play the page, and take the pictures."""
    try:
        found()
    except NoBrowser as problem:
        sys.exit(str(problem))
    with tempfile.TemporaryDirectory(prefix="perdure-pictures-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        environment = clean_environment(folder / "home", Settings().cache)
        (folder / "write-policies.yaml").write_text(POLICY)
        environment["PERDURE_WRITE_POLICIES"] = str(folder / "write-policies.yaml")
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        try:
            for block in play(PAGE, folder, environment):
                if block.text.startswith("? Send"):
                    break
            asyncio.run(shoot_all(folder, environment))
        finally:
            subprocess.run(["perdure", "down"], env=environment, cwd=folder, check=False)
    for picture in sorted(FOLDER.glob("*.png")):
        sys.stdout.write(f"{picture}: {picture.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
