"""The command ``perdure demo``: the whole main job in about a minute, with its figures checked."""

import asyncio
import secrets
import signal
import statistics
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from packaging.markers import default_environment

from demo.audit import ANSWERS, SHOWN_BY, Watcher
from demo.ledger import Kill, course_of, read_ledger, with_one_version_changed
from demo.workers import start_mortal
from localservers import ensure, running, stop
from localservers.processes import Child
from perdure.errors import InvalidInput
from perdure.settings import Addresses, Settings
from perdure.values.jobs import Fate
from perdure.values.requests import ForgetRequest, ForgetResult, RememberRequest, UndoRequest
from perdure.values.tasks import AgentTask, Progress, TaskResult
from playbooks.dependency_audit.lockfiles import LockedPackage, read_packages
from worker.exit_status import Exit
from worker.gateway import Gateway
from worker.terminal.output import out, program, say

_DAY = datetime(2026, 5, 4, tzinfo=UTC)
"""The date of the first audit. It is an input of the task, so that the second audit can be dated the next day."""

_STOPS_WITHIN = 15.0
"""Seconds that a worker may take to finish its activities."""


def demo(
    *,
    lock: Annotated[Path, typer.Option(help="Lock file to audit: requirements.lock, uv.lock or pylock.toml.")] = Path(
        "requirements-dev.lock"
    ),
    keep: Annotated[bool, typer.Option(help="Leave the servers running, to explore the UI.")] = True,
) -> None:
    """Audit a lock file, be killed twice, remember, recall the next day, forget and undo.

    Example: perdure demo
    """
    settings = Settings()
    were_running = running(settings) is not None
    addresses = ensure(settings, worker=False, progress=say)
    shown = Demo(settings, addresses, lock.absolute())
    held = asyncio.run(shown.run())
    ui = addresses.temporal_ui
    out.print(f"\n[bold]5. Look around[/]: {ui}/namespaces/default/workflows" if ui else "")
    if keep or were_running:
        out.print(f"   Ask what it remembers: {program()} up && {program()} recall {shown.question}", markup=False)
        out.print(f"   The servers keep running; stop them with: {program()} down")
    else:
        stop(settings, say)
    if not held:
        raise typer.Exit(Exit.FAILED)


class Demo:
    """One demonstration, with a user and a task queue of its own."""

    def __init__(self, settings: Settings, addresses: Addresses, lock: Path) -> None:
        name = f"demo-{secrets.token_hex(3)}"
        self._settings = settings.changed(task_queue=name, examples=True)
        self._addresses = addresses
        self._lock = lock
        self._user = name
        self._folder = settings.home / "demo" / name
        self._log = settings.home / "logs" / "demo-worker.log"
        self._problems: list[str] = []
        self._worker: Child | None = None
        try:
            self._packages = _read(lock)
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(
                "--lock", f"{lock} cannot be read: {error}", fix="pass the path of a lock file"
            ) from error

    @property
    def question(self) -> str:
        """The arguments of a recall that finds something the demonstration remembered."""
        return f"'Which licence does {self._packages[-1].name} have?' --user {self._user}"

    async def run(self) -> bool:
        """Run every part; return whether all figures are as promised."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._log.parent.mkdir(parents=True, exist_ok=True)
        gateway = Gateway(self._settings, self._addresses, notify=say)
        began = time.monotonic()
        try:
            await self._crashing_audit(gateway)
            await self._audit_of_the_next_day(gateway)
            await self._forgetting(gateway)
        finally:
            if self._worker is not None:
                await self._worker.stop(_STOPS_WITHIN)
        out.print(
            f"\n{'All figures hold' if not self._problems else 'NOT as promised'}; {time.monotonic() - began:.0f} s"
        )
        for problem in self._problems:
            out.print(f"  [red]{problem}[/]")
        return not self._problems

    async def _crashing_audit(self, gateway: Gateway) -> None:
        total = len(self._packages)
        out.print(f"\n[bold]1. Killed twice[/]: an audit of {self._lock.name}, {total} packages, one report row each")
        report = self._folder / "day-1.csv"
        worker = await self._new_worker(crash_at=f"tool.acted:{max(1, total // 3)}")
        task = (await gateway.start(self._task("day-1", self._lock, report, _DAY), by=SHOWN_BY)).workflow_id
        watcher = Watcher(gateway, task)
        killed: list[Kill] = []

        async def replace(how: str) -> None:
            nonlocal worker
            await worker.wait()
            killed.append(Kill(process=str(worker.pid), at=datetime.now(UTC)))
            out.print(f"   SIGKILL {worker.pid}, {how}, after step {watcher.done}", markup=False)
            worker = await self._new_worker()

        async def harm(progress: Progress) -> None:
            if len(killed) == 1 and progress.done > 2 * progress.total / 3:
                worker.signal(signal.SIGKILL)
                await replace("at a random moment, from outside")

        first = asyncio.create_task(replace("between a row and its report to Temporal"))
        try:
            result = await watcher.follow(harm)
        finally:
            first.cancel()
        ledger = read_ledger(report, self._packages)
        course = await course_of(await gateway.client(), task)
        resumed = [course.resumed_after(one) for one in killed]
        out.print(
            f"   rows {ledger.rows} = packages {ledger.packages}, duplicates {ledger.duplicates}, "
            f"missing {ledger.missing}, steps run again {course.again}, from kill to resumed "
            + ", ".join(f"{seconds:.1f} s" for seconds in resumed)
        )
        self._hold("the audit completed", result.status == "completed")
        self._hold("two workers were killed", len(killed) == 2)
        self._hold("one row for each package", ledger.rows == total and not ledger.duplicates and not ledger.missing)
        self._hold("each resumed within 6 s", all(seconds < 6 for seconds in resumed))
        await self._questions(gateway, watcher, result)

    async def _questions(self, gateway: Gateway, watcher: Watcher, result: TaskResult) -> None:
        out.print(f"\n[bold]2. Asked and remembered[/]: {len(watcher.questions)} licences that only a person knows")
        for question in watcher.questions:
            out.print(f"   {question.text}", markup=False)
        receipts = [await gateway.receipt(job, by=SHOWN_BY) for job in result.jobs]
        searchable = sum(receipt.count(Fate.SEARCHABLE) for receipt in receipts)
        out.print(f"   {searchable} findings and answers are searchable, in {len(receipts)} ingest jobs")
        expected = sum(package.name in ANSWERS for package in self._packages)
        self._hold("each unreadable licence was asked", len(watcher.questions) >= expected)
        self._hold("everything was remembered", searchable >= len(self._packages))

    async def _audit_of_the_next_day(self, gateway: Gateway) -> None:
        changed = next(package for package in self._packages if package.name not in ANSWERS)
        out.print(f"\n[bold]3. The next day[/]: {changed.name} has a new version, nothing else has changed")
        lock, report = self._folder / "day-2.lock", self._folder / "day-2.csv"
        lock.write_text(with_one_version_changed(self._packages, changed), encoding="utf-8")
        begun = await gateway.start(self._task("day-2", lock, report, _DAY + timedelta(days=1)), by=SHOWN_BY)
        task = begun.workflow_id
        watcher = Watcher(gateway, task)

        result = await watcher.follow()
        packages = _read(lock)
        ledger = read_ledger(report, packages)
        for recall in [recall for recall in result.recalls if recall.ids][:3]:
            place = int(recall.step.partition("[")[2].partition("]")[0])
            out.print(
                f"   {packages[place].name} {packages[place].version}: {recall.ids[0][:13]}… score "
                f"{recall.scores[0]:.2f}, {recall.why} (lane and key), {recall.milliseconds:.1f} ms",
                markup=False,
            )
        times = sorted(recall.milliseconds for recall in result.recalls)
        out.print(
            f"   {len(times)} recalls listed in the result: p50 {statistics.median(times):.1f} ms, "
            f"slowest {times[-1]:.1f} ms; inspected again: {ledger.inspected} of {ledger.rows}; "
            f"questions: {len(watcher.questions)}"
        )
        self._hold("only the changed package was inspected", ledger.inspected == 1)
        self._hold("nothing was asked twice", not watcher.questions)
        self._hold("the second report is complete", not ledger.duplicates and not ledger.missing)

    async def _forgetting(self, gateway: Gateway) -> None:
        out.print("\n[bold]4. Forgetting[/]: two notes have expired, one has too little confidence, one stays")
        await gateway.receipt(await gateway.remember(self._notes(), by=SHOWN_BY), by=SHOWN_BY)
        dry = await self._sweep(gateway, dry_run=True)
        swept = await self._sweep(gateway, dry_run=False)
        undone = await gateway.undo(UndoRequest(sweep=swept.sweep), by=SHOWN_BY)
        reasons = ", ".join(f"{number} × {reason}" for reason, number in swept.report.reasons.items())
        out.print(f"   dry run: would forget {dry.report.forgotten}; then forgot {swept.report.forgotten} ({reasons})")
        out.print(f"   undo: {undone.restored} restored")
        self._hold("three were forgotten", (dry.report.forgotten, swept.report.forgotten) == (3, 3))
        self._hold("three came back", undone.restored == 3)

    async def _sweep(self, gateway: Gateway, *, dry_run: bool) -> ForgetResult:
        return await gateway.forget(ForgetRequest(user_id=self._user, dry_run=dry_run), by=SHOWN_BY)

    def _notes(self) -> RememberRequest:
        now = datetime.now(UTC)
        before, yesterday = [(now - timedelta(days=days)).isoformat() for days in (2, 1)]

        def note(name: str, **more: object) -> dict[str, object]:
            described = {"kind": "record", "lane": "feedback", "key": name, "payload": {"answer": name}}
            return described | {"occurrence": f"demo/{name}", "occurred_at": now.isoformat()} | more

        over = {"occurred_at": before, "valid_until": yesterday}
        expired = (note("build freeze", **over), note("registry outage", **over))
        notes = (*expired, note("rumour", confidence=0.1), note("licence policy"))
        return RememberRequest.model_validate({"user_id": self._user, "key": "demo notes", "items": notes})

    def _task(self, name: str, lock: Path, report: Path, day: datetime) -> AgentTask:
        return AgentTask(
            task_id=f"{self._user}-{name}",
            user_id=self._user,
            agent="auditor",
            skill="dependency-audit",
            inputs={"lock": str(lock), "report": str(report)},
            date=day.date(),
        )

    async def _new_worker(self, crash_at: str = "") -> Child:
        self._worker = await start_mortal(self._settings, self._addresses, self._log, crash_at=crash_at)
        return self._worker

    def _hold(self, what: str, holds: bool) -> None:
        if not holds:
            self._problems.append(f"does not hold: {what}")


def _read(lock: Path) -> list[LockedPackage]:
    environment = {name: str(value) for name, value in default_environment().items()}
    return read_packages(lock.name, lock.read_text(encoding="utf-8"), environment)
