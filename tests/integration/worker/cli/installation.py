"""An installation as its user has it: the real command and a real worker, each a process of its own."""

import asyncio
import json
import os
import pty
import re
import shlex
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from temporalio.client import Client

from localservers.fleet import worker_environment
from perdure.settings import Addresses
from perdure.temporal.connection import pollers
from tests.conftest import Servers, clean_settings, give_tenant_key, journal_of
from tests.support import forked as forked_command
from tests.support.forks import Forked, fork, fork_server
from tests.support.waiting import until, until_true

STARTED_WITHIN = 60.0
"""Seconds that a process may take to load, and to find out that it must not go on: 30 were too few beside four others
(measured)."""

COMMAND = (sys.executable, "-m", "worker.cli")
"""The command from its very beginning."""


Process = asyncio.subprocess.Process | Forked


def forked() -> tuple[str, ...]:
    """Return the command as a fork of a process that has its libraries; see ``fork_server``."""
    return (sys.executable, "-I", "-S", str(Path(forked_command.__file__)), str(fork_server("random")))


def _is_read_at_start(variable: str) -> bool:
    """Return whether Python, or a library that is imported already, has looked at a variable."""
    return variable.startswith(("PYTHON", "LANG", "LC_", "OTEL_", "COLUMNS"))


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a command left."""

    status: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line on stderr that says what is wrong; with --json, what stdout says of it."""
        assert "Traceback" not in self.err, self.err
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        if not lines:
            told = json.loads(self.out)["error"]
            return f"error: {told['code']} {told['message']}"
        assert len(lines) == 1, self.err
        return lines[0]


class Running:
    """A command that still runs."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._seen = ""

    async def says(self, pattern: str) -> str:
        """Read stderr until a line has this in it; gives that line."""
        assert self.process.stderr
        while line := (await asyncio.wait_for(self.process.stderr.readline(), STARTED_WITHIN)).decode():
            self._seen += line
            if re.search(pattern, line):
                return line.strip()
        raise AssertionError(f"never said {pattern!r}: {self._seen}")

    async def ended(self) -> Ran:
        """Wait for its end."""
        out, err = await asyncio.wait_for(self.process.communicate(), 110)
        return Ran(status=self.process.returncode or 0, out=(out or b"").decode(), err=self._seen + err.decode())


class Talking(Running):
    """A command into which somebody types."""

    def type(self, line: str) -> None:
        """Type a line."""
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n".encode())

    async def prints(self, text: str) -> None:
        """Read stdout until this has come, which may be the middle of a line; nothing else may come before it."""
        assert self.process.stdout
        found = await asyncio.wait_for(self.process.stdout.readexactly(len(text.encode())), 30)
        assert found.decode() == text


class AtTerminal(Running):
    """A command in a terminal."""

    def __init__(self, process: asyncio.subprocess.Process, controller: int) -> None:
        super().__init__(process)
        self._controller = controller

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._controller, f"{line}\n".encode())


@dataclass(frozen=True, kw_only=True)
class Installation:
    """A data folder, the servers, and a task queue of its own."""

    folder: Path
    environment: dict[str, str]
    processes: list[Process] = field(default_factory=list[Process])
    terminals: list[int] = field(default_factory=list[int])

    async def start(self, *arguments: str, **environment: str) -> Running:
        """Start the command, with variables of its own."""
        process = await asyncio.create_subprocess_exec(
            *(COMMAND if any(map(_is_read_at_start, environment)) else forked()),
            *arguments,
            env=self.environment | environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.folder,
        )
        self.processes.append(process)
        return Running(process)

    async def perdure(self, *arguments: str, **environment: str) -> Ran:
        """Run the command to its end."""
        return await (await self.start(*arguments, **environment)).ended()

    async def fed(self, text: str, *arguments: str) -> Ran:
        """Run the command with a text on its stdin."""
        source = self.folder / f"{uuid4().hex}.stdin"
        source.write_text(text)
        with source.open("rb") as opened:
            return await self._reading(opened, *arguments)

    async def typing(self, text: str, *arguments: str) -> Ran:
        """Run the command in a terminal into which a line is typed."""
        controller, terminal = pty.openpty()
        try:
            os.write(controller, f"{text}\n".encode())
            return await self._reading(terminal, *arguments)
        finally:
            os.close(terminal)
            os.close(controller)

    async def at_terminal(self, *arguments: str) -> "AtTerminal":
        """Start the command in a terminal that shows what it prints, too, and into which lines are typed."""
        controller, terminal = pty.openpty()
        self.terminals.append(controller)
        process = await self._forked(terminal, *arguments, stdout=terminal)
        os.close(terminal)
        return AtTerminal(process, controller)

    async def in_terminal(self, *arguments: str) -> Running:
        """Start the command in a terminal into which nothing is typed."""
        controller, terminal = pty.openpty()
        self.terminals.append(controller)
        try:
            return Running(await self._forked(terminal, *arguments))
        finally:
            os.close(terminal)

    async def talking(self, *arguments: str) -> "Talking":
        """Start the command, to type into it line by line and to read along."""
        return Talking(await self._forked(asyncio.subprocess.PIPE, *arguments))

    async def _reading(self, stdin: IO[bytes] | int, *arguments: str) -> Ran:
        """Run the command to its end with something else as its stdin."""
        return await Running(await self._forked(stdin, *arguments)).ended()

    async def _forked(
        self, stdin: IO[bytes] | int, *arguments: str, stdout: int = asyncio.subprocess.PIPE
    ) -> asyncio.subprocess.Process:
        """Start the command with something else as its stdin, or its stdout."""
        process = await asyncio.create_subprocess_exec(
            *forked(),
            *arguments,
            env=self.environment,
            stdin=stdin,
            stdout=stdout,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.folder,
        )
        self.processes.append(process)
        return process

    async def typed(self, line: str) -> Ran:
        """Run a line as a shell would."""
        command, *arguments = shlex.split(line)
        assert command == "perdure"
        return await self.perdure(*arguments)

    async def worker(self, **environment: str) -> tuple[Process, Path]:
        """Start a worker; gives its log, too."""
        log = self.folder / f"worker-{len(self.processes)}.log"
        variables = self.environment | environment
        with log.open("wb") as output:
            if any(map(_is_read_at_start, environment)):
                process: Process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "worker"),
                    env=variables,
                    stdout=output,
                    stderr=output,
                    cwd=self.folder,
                )
            else:
                process = await fork("worker.process:main", environment=variables, folder=self.folder, output=output)
        self.processes.append(process)
        return process, log

    async def ready_worker(self, **environment: str) -> Process:
        """Start a worker, and wait until it serves."""
        process, log = await self.worker(**environment)
        await until_true(lambda: "worker ready" in log.read_text() or process.returncode is not None, seconds=60)
        assert process.returncode is None, log.read_text()
        of = self.environment | environment
        client = await Client.connect(of["TEMPORAL_ADDRESS"], namespace=of.get("TEMPORAL_NAMESPACE") or "default")
        # It says so when it begins to ask for work, and Temporal lists it once it has been asked.
        await until(lambda: pollers(client, of["PERDURE_TASK_QUEUE"]), bool)
        return process

    def write(self, name: str, text: str) -> str:
        """Write a file into the folder in which the commands run; gives its name."""
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def audit(self, *packages: str) -> tuple[str, str]:
        """Write an audit task; gives its file and its task id."""
        task_id = f"audit-{uuid4().hex[:8]}"
        lock = self.write(f"{task_id}.lock", "".join(f"{package}\n" for package in packages))
        text = (
            f"task_id: {task_id}\nuser_id: {uuid4().hex}\nskill: dependency-audit\n"
            f"inputs: {{lock: {self.folder / lock}, report: {self.report(task_id)}}}\n"
        )
        return self.write(f"{task_id}.yaml", text), task_id

    def report(self, task_id: str) -> Path:
        """Return the path of an audit's report."""
        return self.folder / f"{task_id}.csv"


@asynccontextmanager
async def installation(servers: Servers, folder: Path, **settings: Any) -> AsyncGenerator[Installation]:
    """Return an installation without a worker; in the end, all that it started is gone."""
    home = folder / "home"
    values = {
        "task_queue": f"cli-{uuid4().hex[:10]}",
        "forgetting_cron": "off",
        "redating_cron": "off",
        "accesses_cron": "off",
        "reconciling_cron": "off",
        "examples": True,
    } | settings
    values = {"journal": journal_of(servers, home)} | values
    addresses = Addresses.model_validate(servers.model_dump())
    give_tenant_key(home)
    environment = worker_environment(clean_settings(home, **values), addresses)
    given = Installation(
        folder=folder, environment={name: value for name, value in environment.items() if name != "TERM"}
    )
    try:
        yield given
    finally:
        for terminal in given.terminals:
            os.close(terminal)
        for process in given.processes:
            if process.returncode is None:
                process.kill()
            await process.wait()


def unanswered(servers: Servers) -> dict[str, str]:
    """Return the variables of an installation whose Temporal is not there."""
    return {"TEMPORAL_ADDRESS": f"{servers.temporal.partition(':')[0]}:9"}


def nothing_configured() -> dict[str, str]:
    """Return the variables that take every address away."""
    return {"TEMPORAL_ADDRESS": "", "PERDURE_WEAVIATE_URL": "", "PERDURE_REDIS_URL": "", "PATH": os.environ["PATH"]}
