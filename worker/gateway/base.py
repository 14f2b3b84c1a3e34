"""One installation and how it is reached: Temporal's client, its workers, workflows that answer."""

import asyncio
import datetime
import functools
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from opentelemetry import trace
from opentelemetry.trace import StatusCode
from temporalio.client import Client, Plugin
from temporalio.common import TypedSearchAttributes, WorkflowIDConflictPolicy, WorkflowIDReusePolicy

from perdure.documents import refuse_unknown
from perdure.errors import InvalidInput, PerdureError, TenantKeyMissing, WorkerUnavailable
from perdure.names import Workflow
from perdure.settings import Addresses, Settings
from perdure.stores.tenant_key import TenantKey
from perdure.temporal.attributes import TASK_TIMEOUT, tenant_attributes
from perdure.temporal.connection import connected, pollers
from perdure.temporal.errors import translated
from perdure.values.changes import Actor, ActorKind
from worker import local_worker
from worker.worker_wait import waiting

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from perdure.memory.audit.audit import Audit
    from worker.reader import Reader


P = ParamSpec("P")
R = TypeVar("R")

_tracer = trace.get_tracer("perdure")

_HANDS_OVER = 0.02
"""Seconds that a thread of Temporal's client may take to be done with an answer that it has handed over."""

_OF_A_USER = frozenset(
    {
        Workflow.RECALL_MEMORY,
        Workflow.REMEMBER_ITEMS,
        Workflow.UPDATE_MEMORY,
        Workflow.SET_CONSENT,
        Workflow.SET_MEMBER,
        Workflow.SET_LESSON,
        Workflow.CHECK_TASK,
    }
)
"""Workflows that an erasure of their user deletes; what is accepted for a team or an agent becomes theirs."""

ANSWERED_WITHIN = datetime.timedelta(seconds=5)
"""How long a query may take."""


def call(method: Callable[P, Awaitable[R]]) -> Callable[P, Coroutine[Any, Any, R]]:
    """Decorate a call of the gateway: Temporal's errors are raised as Perdure's, and a span says who calls.

    Args:
        method: A coroutine function with an ``Actor`` as its keyword ``by``. The span has its kind alone, since an id
            may be that of a user.
    """
    translating = translated(method)

    @functools.wraps(method)
    async def called(*args: P.args, **kwargs: P.kwargs) -> R:
        by = kwargs.get("by")
        actor = {"perdure.actor": by.kind.value} if isinstance(by, Actor) else None
        # The text of an exception may quote what a caller gave.
        span_of_call = _tracer.start_as_current_span(
            f"gateway.{method.__name__}", attributes=actor, record_exception=False, set_status_on_exception=False
        )
        with span_of_call as span:
            try:
                return await translating(*args, **kwargs)
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(StatusCode.ERROR)
                raise

    return called


class Base:
    """An installation, reached when it is first asked; see ``Gateway``."""

    def __init__(
        self,
        settings: Settings,
        addresses: Addresses | None,
        *,
        notify: Callable[[str], None] = lambda _: None,
        plugins: Sequence[Plugin] = (),
    ) -> None:
        self._settings = settings
        self._given = addresses
        self._notify = notify
        self._plugins = plugins
        self._connected: Client | None = None
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._reader: Reader | None = None
        self._connection: Redis | None = None
        self._audit: Audit | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Close what reading memory opened."""
        await self._stack.aclose()
        if self._connected is not None:
            # A thread of Temporal's client that has just handed over an answer needs the interpreter once more. Where a
            # program ends at that moment, it is aborted (temporalio/sdk-python issue 300): 12 of 460 small ones on a
            # busy machine, and none of 200 with this.
            await asyncio.sleep(_HANDS_OVER)

    @property
    def _addresses(self) -> Addresses:
        # Its clients stay connected to them: what is found once is kept.
        self._given = self._given or local_worker.reachable(self._settings)
        return self._given

    @property
    def temporal_ui(self) -> str:
        """The address of Temporal's UI; empty: nobody said where it is."""
        return self._addresses.temporal_ui

    @translated
    async def client(self) -> Client:
        """Return Temporal's client, connecting when it is first needed: reading memory may not need it at all."""
        if self._connected is None:
            self._connected = await connected(self._addresses.temporal, plugins=self._plugins)
        return self._connected

    @translated
    async def workers(self, *, pid: int | None = None) -> int:
        """Return how many workers serve the task queue: all, or the local one with a process id.

        One that was killed still counts for up to five minutes.
        """
        return await pollers(await self.client(), self._settings.task_queue, pid=pid)

    @translated
    async def serving(self, *, lately: bool = False) -> int:
        """Return how many workers serve the task queue, but for those of this machine where its worker cannot start.

        Args:
            lately: Leave out those that have asked for no work for a minute and a half.
        """
        count = functools.partial(pollers, await self.client(), self._settings.task_queue, lately=lately)
        return await local_worker.serving(self._settings, count)

    @translated
    async def served(self) -> None:
        """Check that a worker serves the task queue, and wait a moment for one that is just starting.

        Raises:
            WorkerUnavailable: No worker serves the task queue.
        """
        if await self.serving():
            return
        self._notify(f"waiting {local_worker.WITHIN:.0f} s for a worker to serve {self._settings.task_queue!r}")
        if not await self.served_within(local_worker.WITHIN):
            raise self.unserved()

    async def served_within(self, seconds: float) -> bool:
        """Return whether a worker serves the task queue, also one that begins to within some seconds."""
        for _ in range(int(seconds / local_worker.LOOK_AGAIN)):
            if await self.serving():
                return True
            await asyncio.sleep(local_worker.LOOK_AGAIN)
        return await self.serving() > 0

    def unserved(self, *, silent: int = 0) -> WorkerUnavailable:
        """Return the error that no worker answers, although ``silent`` of them serve; with the reason if known."""
        queue = self._settings.task_queue
        if local_worker.failing(self._settings) is not None:
            return WorkerUnavailable(local_worker.problem(self._settings))
        if silent:
            return WorkerUnavailable(f"the one that serves {queue!r} did not answer: it is busy, hangs or was killed")
        if (pid := local_worker.starting(self._settings)) is not None:
            return WorkerUnavailable(f"the local worker (process {pid}) is starting: try again in a moment")
        missing = f"none serves the task queue {queue!r}: start one with 'perdure worker'"
        return WorkerUnavailable(local_worker.problem(self._settings) or missing)

    async def _execute(
        self,
        workflow: str,
        argument: Any,
        result_type: type[R],
        *,
        name: str,
        within: float | None = None,
        id_: str = "",
    ) -> R:
        """Run a workflow, and return its result.

        Args:
            workflow: Its type.
            argument: What it takes.
            result_type: What it returns.
            name: What it is called while it is waited for.
            within: Seconds within which a worker has to answer; None: however long it takes.
            id_: Its id; empty: a new one. One that runs under it is waited for, and one that failed is run anew.

        Raises:
            WorkflowAlreadyStartedError: One has completed under the id.
            WorkerUnavailable: No worker serves the task queue, or none has answered in time.
        """
        refuse_unknown(argument)
        await self.served()
        id_ = id_ or f"{name}-{secrets.token_hex(6)}"
        afterwards = f"the request stays queued as {id_} and runs when a worker is available"
        async with waiting(self._notify, f"answer ({name})", afterwards=afterwards, within=within):
            return await (await self.client()).execute_workflow(
                workflow,
                argument,
                id=id_,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                task_queue=self._settings.task_queue,
                task_timeout=TASK_TIMEOUT,
                result_type=result_type,
                static_summary="Asked for from outside a task",
                search_attributes=self._found_by(workflow, argument),
            )

    async def _administered(self, about: str, *, why: str, by: Actor) -> None:
        """Audit what only an administrator does, before it is done. Without the tenant key, say that it is not audited.

        Args:
            about: The id of what it is about.
            why: What is about to be done.
            by: Who does it.

        Raises:
            TenantKeyMismatch: The installation has another key.
            StoreUnavailable: It cannot be recorded, so it must not be done.
        """
        from worker import audits  # noqa: PLC0415  it loads Redis's client

        try:
            async with self._opening:
                if self._audit is None:
                    key = TenantKey.load(self._settings.tenant_key_file)
                    opened = audits.writing(self._settings, self._addresses, key)
                    self._audit, _ = await self._stack.enter_async_context(opened)
        except TenantKeyMissing as error:
            self._notify(f"this is not audited ({why}: {about}): {error}")
        else:
            await self._audit.administered(about, why=why, by=by)

    def _found_by(self, workflow: str, argument: Any) -> TypedSearchAttributes | None:
        """Return what an erasure finds the history by, even if the request is refused; None without the tenant key."""
        if workflow not in _OF_A_USER or argument.user_id is None:
            return None
        with suppress(PerdureError):
            return tenant_attributes(TenantKey.load(self._settings.tenant_key_file).tenant_of(argument.user_id))
        return None


def require_person(by: Actor) -> None:
    """Check that the actor who answers a question is a person, as only people are asked.

    Raises:
        InvalidInput: It is not a person, but an agent or a schedule, say.
    """
    if by.kind is not ActorKind.PERSON:
        fix = "give the person who says so: Actor(kind=ActorKind.PERSON, id=…)"
        raise InvalidInput("by", f"is of the kind {by.kind.value!r}, and only people are asked", fix=fix)
