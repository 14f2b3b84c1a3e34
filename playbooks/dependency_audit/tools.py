"""The audit's tools: read the lock file, inspect a package, append a row to the report."""

import asyncio
import csv
import io
import os
from pathlib import Path

from packaging.markers import default_environment

from perdure import InvalidInput, Model, NotDone, ToolCall, tool
from playbooks.dependency_audit.installed import Inspection, inspect
from playbooks.dependency_audit.lockfiles import LockedPackage, read_packages

COLUMNS = ("key", "date", "package", "locked", "installed", "licence", "bytes", "altered", "verdict", "basis")


class LockFile(Model):
    """The packages of a lock file."""

    packages: list[LockedPackage]


class Row(Model):
    """A row of the report."""

    key: str
    verdict: str


@tool(effect="read", timeout=30)
async def read_lock(path: str) -> LockFile:
    """Read the packages that a lock file pins for this environment."""
    try:
        text = await asyncio.to_thread(Path(path).read_text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("path", f"{path} cannot be read as a lock file: {type(error).__name__}") from error
    environment = {name: str(value) for name, value in default_environment().items()}
    return LockFile(packages=read_packages(Path(path).name, text, environment))


@tool(effect="read", timeout=60)
async def inspect_package(name: str) -> Inspection:
    """Inspect an installed package, and check its files against those that were published."""
    return await asyncio.to_thread(inspect, name)


async def _row_in_report(call: ToolCall, report: str, **row: object) -> Row | None:
    """Return the row that an earlier attempt at this step appended, if there is one."""
    return await asyncio.to_thread(_find, Path(report), call.idempotency_key)


def _find(report: Path, key: str) -> Row | None:
    try:
        with report.open(newline="", encoding="utf-8") as file:
            verdict = next((row["verdict"] for row in csv.DictReader(file) if row["key"] == key), None)
    except FileNotFoundError:
        return None
    return None if verdict is None else Row(key=key, verdict=verdict)


@tool(effect="once", timeout=2, check=_row_in_report)
async def append_row(
    call: ToolCall,
    *,
    report: str,
    date: str,
    package: str,
    locked: str,
    installed: str,
    licence: str,
    bytes: int,
    altered: int,
    basis: str,
) -> Row:
    """Append one row to the report. Two calls would append two rows, hence ``once``."""
    verdict = _verdict(locked=locked, installed=installed, licence=licence, altered=altered)
    buffer = io.StringIO()
    fields = (call.idempotency_key, date, package, locked, installed, licence, bytes, altered, verdict, basis)
    csv.writer(buffer, lineterminator="\n").writerow(fields)
    try:
        _append(Path(report), buffer.getvalue().encode())
    except FileNotFoundError as error:
        raise NotDone(f"the folder of {report} does not exist") from error
    return Row(key=call.idempotency_key, verdict=verdict)


def _append(report: Path, line: bytes) -> None:
    # Unbuffered: the row is one write, so that two tasks can append to one report.
    with report.open("ab", buffering=0) as file:
        header = b"" if file.tell() else (",".join(COLUMNS) + "\n").encode()
        file.write(header + line)
        os.fsync(file.fileno())


def _verdict(*, locked: str, installed: str, licence: str, altered: int) -> str:
    if not installed:
        return "not installed"
    if altered:
        return "files altered"
    if installed != locked:
        return "another version"
    return "ok" if licence else "no licence"
