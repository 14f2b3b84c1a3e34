"""Tools whose every effect is a line in a ledger file, so that a test can count what really happened."""

import asyncio
import os
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from perdure import CallLimit, NotDone, ToolCall, tool


def append_line(ledger: str, line: str) -> None:
    """Append a line, and have it on the disk."""
    with Path(ledger).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())


def lines_in(ledger: str) -> list[str]:
    """Return the lines of a ledger."""
    return Path(ledger).read_text(encoding="utf-8").splitlines() if Path(ledger).exists() else []


def written_by(ledger: Path) -> datetime:
    """Return a moment at which the ledger was surely written."""
    # Files are dated by the kernel's last tick, up to 10 ms before the clock that a claim's time is taken from.
    return datetime.fromtimestamp(ledger.stat().st_mtime, UTC) + timedelta(milliseconds=20)


async def _appended(ledger: str, line: str) -> dict[str, Any] | None:
    return {"line": line} if line in lines_in(ledger) else None


@tool(effect="once", timeout=2.0, check=_appended)
async def append(ledger: str, line: str) -> dict[str, Any]:
    """Append a line, and be able to tell afterwards."""
    append_line(ledger, line)
    return {"line": line}


@tool(effect="once", timeout=1.0)
async def append_blindly(ledger: str, line: str) -> dict[str, Any]:
    """Append a line, with no way to tell afterwards."""
    append_line(ledger, line)
    return {"line": line}


@tool(effect="once", timeout=1.0)
async def append_too_much(ledger: str, line: str) -> str:
    """Append a line, and return more than a step can carry."""
    append_line(ledger, line)
    return "x" * 2_000_001


@tool(effect="once", timeout=2.0, check=_appended)
async def append_and_die(ledger: str, line: str) -> dict[str, Any]:
    """Append a line; the first time that it is line 13, take the worker along."""
    return append_and_die_once(ledger, line)


@tool(effect="idempotent", timeout=2.0)
async def append_unguarded(ledger: str, line: str) -> dict[str, Any]:
    """Append as if it could be repeated: the control, which must show a duplicate."""
    return append_and_die_once(ledger, line)


def append_and_die_once(ledger: str, line: str) -> dict[str, Any]:
    """Append a line; the first time that it is line 13, take this process along."""
    append_line(ledger, line)
    if line == "13" and lines_in(ledger).count(line) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"line": line}


@tool(effect="once", timeout=60.0)
def wait_in_a_thread(word: str, begun: str, go: str) -> dict[str, str]:
    """Wait for a file in a thread, which nothing cuts off; return more than a history takes."""
    Path(begun).touch()
    until = time.monotonic() + 60
    while not Path(go).exists() and time.monotonic() < until:
        time.sleep(0.03)
    return {"words": word * 300}


@tool(effect="read")
async def echo(value: Any) -> Any:
    """Return back what it is given."""
    return value


@tool(effect="idempotent", timeout=5.0, limits=(CallLimit(at_once=2),))
async def crowded(ledger: str) -> None:
    """Write that a call begins and ends; a limit is for two at once."""
    append_line(ledger, "in")
    # As long as many others take to begin on a busy machine.
    await asyncio.sleep(0.3)
    append_line(ledger, "out")


@tool(effect="once", timeout=2.0, check=_appended, limits=(CallLimit(per_minute=3, per_user=True),))
async def paced(ledger: str, line: str) -> None:
    """Write a line; a user has three a minute."""
    append_line(ledger, line)


@tool(effect="read")
async def look(name: str, known: bool = True) -> dict[str, Any]:
    """Look something up; what is not known has no licence."""
    return {"name": name, "licence": "MIT" if known else None}


@tool(effect="read")
async def lines_of(file: str) -> list[str]:
    """Return the lines of a file."""
    return lines_in(file)


@tool(effect="read")
async def big(size: int) -> str:
    """Return a text of this many characters."""
    return "x" * size


def _nested(levels: int) -> Any:
    value: Any = "core"
    for _ in range(levels):
        value = [value]
    return value


@tool(effect="read")
async def nest(levels: int) -> Any:
    """Return this many lists within one another."""
    return _nested(levels)


@tool(effect="once", timeout=2.0)
async def append_and_nest(ledger: str, line: str, levels: int) -> Any:
    """Append a line, and return this many lists within one another."""
    append_line(ledger, line)
    return _nested(levels)


@tool(effect="read")
async def who(call: ToolCall) -> dict[str, Any]:
    """Return what a tool knows about its call."""
    return call.model_dump(mode="json")


@tool(effect="read", timeout=5.0)
async def flaky(ledger: str, fails: int) -> int:
    """Fail this often, then succeed."""
    append_line(ledger, "try")
    tries = len(lines_in(ledger))
    if tries <= fails:
        raise RuntimeError(f"secret number {tries}")
    return tries


@tool(effect="read", timeout=5.0)
async def tells(ledger: str, call: ToolCall) -> list[str]:
    """Fail once, then return the lessons that came with the call."""
    append_line(ledger, "try")
    if len(lines_in(ledger)) == 1:
        raise KeyError("no")
    return list(call.lessons)


@tool(effect="read")
async def raises(text: str) -> str:
    """Fail with a text."""
    raise ValueError(text)


@tool(effect="read")
async def garbles() -> str:
    """Fail with the name of a file that is not UTF-8."""
    raise OSError("no file \udcff")


@tool(effect="once", timeout=2.0)
async def hesitant(ledger: str) -> int:
    """Report once that nothing happened, then act."""
    append_line(ledger, "try")
    tries = len(lines_in(ledger))
    if tries == 1:
        raise NotDone("the service was busy")
    return tries


@tool(effect="once", timeout=1.0)
async def breaks(ledger: str, line: str) -> str:
    """Act, and then fail, so that nobody knows."""
    append_line(ledger, line)
    if len(lines_in(ledger)) == 1:
        raise ConnectionError("gone")
    return line


async def _taken(ledger: str, seconds: float, *, fails: bool = False) -> str:
    append_line(ledger, "begun")
    await asyncio.sleep(seconds)
    if fails:
        raise ConnectionError("gone")
    append_line(ledger, "ended")
    return "ended"


@tool(effect="once", timeout=2.0)
async def take_time(ledger: str, seconds: float, fails: bool = False) -> str:
    """Begin, take a while, and end."""
    append_line(ledger, "begun")
    await asyncio.sleep(seconds)
    if fails:
        raise ConnectionError("gone")
    append_line(ledger, "ended")
    return "ended"


@tool(effect="once", timeout=6.0)
async def take_longer(ledger: str, seconds: float, fails: bool = False) -> str:
    """Do as ``take_time`` does, and be given longer: a cancellation reaches it in time, however busy the machine is."""
    return await _taken(ledger, seconds, fails=fails)


@tool(effect="idempotent", timeout=6.0)
async def take_time_again(ledger: str, seconds: float) -> str:
    """Begin, take a while, and end; doing it twice is doing it once."""
    return await _taken(ledger, seconds)


async def _late(ledger: str, line: str, seconds: float) -> str | None:
    return line if line in lines_in(ledger) else None


@tool(effect="once", timeout=1.0, check=_late)
def append_late(ledger: str, line: str, seconds: float) -> str:
    """Append a line after a while, in a thread that nothing can cut off."""
    time.sleep(seconds)
    append_line(ledger, line)
    return line


@tool(effect="once", timeout=4.0, check=_late)
async def request_late(ledger: str, line: str, seconds: float) -> str:
    """Send what a server works on for a while, also where nobody waits for its answer any more."""
    append_line(ledger, f"asked for {line}")
    threading.Timer(seconds, append_line, (ledger, line)).start()
    await asyncio.sleep(seconds)
    return line


@tool(effect="idempotent", timeout=0.2)
def crawl(ledger: str, seconds: float) -> None:
    """Go on in a thread for longer than a call may take."""
    append_line(ledger, "begun")
    time.sleep(seconds)


@tool(effect="idempotent", timeout=5.0)
async def dwell(ledger: str, line: str) -> str:
    """Append a line, and take a moment, so that others can be on their way as well."""
    append_line(ledger, line)
    await asyncio.sleep(0.3)
    return line


@tool(effect="read", timeout=60.0)
async def linger(ledger: str) -> str:
    """Note that it started, and wait to be cancelled."""
    append_line(ledger, "started")
    await asyncio.sleep(60)
    return "done"
