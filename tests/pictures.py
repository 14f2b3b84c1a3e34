"""Makes the pictures of the documentation: ``make pictures``.

The quickstart with skills is played up to its question. Then pictures are taken of the task in the Temporal UI, and of
a terminal. The browser is one of this machine, and never downloaded; no test needs it.
"""

import asyncio
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text
from temporalio.client import Client

from perdure.settings import Settings
from tests.support.browser import Browser, found
from tests.support.pages import clean_environment, play

PAGE, FOLDER = Path("docs/quickstart-skills.md"), Path("docs/pictures")
TYPED = ("perdure inbox", "perdure answer task.yaml customer[0].send yes", "perdure run task.yaml", "cat invoices.txt")
"""What is typed in the picture of the terminal, while the task waits for an answer."""

_HTML = """<html><body style="margin:0;background:#11151c"><pre style="font:15px/1.5 'DejaVu Sans Mono',monospace;
color:#e6e9ee;margin:0;padding:22px 26px;white-space:pre-wrap">{}</pre></body></html>"""


def terminal(folder: Path, environment: Mapping[str, str]) -> str:
    """Return a terminal in which commands are typed, as HTML."""
    console = Console(record=True, file=io.StringIO(), width=118, force_terminal=True)
    for line in TYPED:
        console.print(Text(f"$ {line}", style="bold #7fd1b9"))
        console.print(Text(ran(folder, environment, *line.split()).replace(str(folder), "~/billing").rstrip()))
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


def main() -> None:
    """Play the page, and take the pictures."""
    program = found()
    with tempfile.TemporaryDirectory(prefix="perdure-pictures-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        environment = clean_environment(folder / "home", Settings().cache)
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        try:
            for block in play(PAGE, folder, environment):
                if block.text.startswith("? Send"):
                    break
            [task] = json.loads(ran(folder, environment, "perdure", "tasks", "list", "--json"))
            servers = json.loads(ran(folder, environment, "perdure", "up", "--json"))
            workflow = task["workflow_id"]
            run = asyncio.run(run_of(servers["temporal"], workflow))
            address = f"{servers['temporal_ui']}/namespaces/default/workflows/{workflow}/{run}/user-metadata"
            with Browser(program) as browser:
                browser.shoot(address, FOLDER / "temporal-ui.png", size=(1640, 960), until="Current Details")
                page = folder / "terminal.html"
                page.write_text(terminal(folder, environment), encoding="utf-8")
                browser.shoot(page.as_uri(), FOLDER / "terminal.png", size=(1120, 400), until="$ cat")
        finally:
            subprocess.run(["perdure", "down"], env=environment, cwd=folder, check=False)
    for picture in sorted(FOLDER.glob("*.png")):
        sys.stdout.write(f"{picture}: {picture.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
