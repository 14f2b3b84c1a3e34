"""Checks whether an installation keeps its promises. Each check asks a real server or file, and says what to do.

Covers servers, durability settings, keys, the journal, models, tools and skills; where no servers run, what can be
checked without them. It makes and changes none of them: no key, no journal and no collection. What is stored is only
read; a deep check notes in Redis which users a worker has to repair.
"""

import asyncio
import contextlib
import functools
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from redis.asyncio import Redis
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client

from localservers import state
from localservers.agreement import disagreements
from localservers.loaded import lives
from perdure.errors import (
    InvalidInput,
    NothingRuns,
    PerdureError,
    StoreUnavailable,
    TenantKeyMismatch,
    TenantKeyMissing,
)
from perdure.memory.wholeness import Wholeness
from perdure.model import Model
from perdure.models.embedding import Embedder
from perdure.plurals import counted
from perdure.settings import Addresses, Settings
from perdure.stores import disk
from perdure.stores.audit.files import FOLDER
from perdure.stores.journal.marks import JournalMarks, known_id
from perdure.stores.redis.checks import Checks
from perdure.stores.redis.connection import connect
from perdure.stores.redis.durability import NEEDED_TOLD, wrong_settings
from perdure.stores.redis.installation import Installation
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.tenant_key import TenantKey
from perdure.stores.weaviate.connection import Connection
from perdure.stores.weaviate.examination import differences, version
from perdure.stores.weaviate.marks import WeaviateMarks
from perdure.stores.weaviate.open_tenants import most_active
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from perdure.temporal import namespace
from perdure.temporal.connection import connected, pollers
from perdure.temporal.errors import FROM_TEMPORAL, perdure_error
from perdure.values.losses import Loss, Store
from worker import audits, configuration_checks, local_worker, mcp_servers, remote_memory
from worker.wiring.parts import embedder_of, longterm_of

_WITHIN = 5.0
"""Seconds that a store may take to say what it has lost."""

ENOUGH_USERS = 30
"""Users at once below which many a recall has to open its user first; a choice."""

S = TypeVar("S")

_FIXES = {
    TenantKeyMismatch: "restore the backup of tenant.key, or use the stores that belong to this key",
    StoreUnavailable: "start it, or correct its address in the settings",
}


class HealthFinding(Model):
    """The result of one check."""

    check: str
    ok: bool
    detail: str
    fix: str = ""


@dataclass(frozen=True, kw_only=True)
class Patient:
    """The installation that is examined. Each check opens its own connections, so that no failure hides another."""

    settings: Settings
    addresses: Addresses

    async def temporal(self) -> Client:
        """Connect to Temporal."""
        return await connected(self.addresses.temporal)

    @asynccontextmanager
    async def redis(self) -> AsyncGenerator[Redis]:
        """Connect to Redis."""
        async with contextlib.aclosing(connect(self.addresses.redis_url)) as redis:
            yield redis

    @asynccontextmanager
    async def longterm(self, redis: Redis, embedder: Embedder) -> AsyncGenerator[LongTerm]:
        """Open long-term memory for reading."""
        longterm = longterm_of(self.settings, self.addresses, redis, embedder)
        try:
            yield longterm
        finally:
            await longterm.close()

    @property
    def weaviate(self) -> dict[str, Any]:
        """The arguments with which Weaviate is examined."""
        names = {"url": "weaviate_url", "grpc_port": "weaviate_grpc_port", "api_key": "weaviate_api_key"}
        return {name: getattr(self.addresses, field) for name, field in names.items()}


async def examine(patient: Patient, *, quick: bool = False, deep: bool = False) -> list[HealthFinding]:
    """Run every check; an error is a finding like any other.

    Args:
        patient: The installation.
        quick: Run only the checks that a container's health depends on.
        deep: Read everything that is stored as well.
    """
    if quick:
        return await _found(_QUICK, patient)
    of_servers = await _found(_OF_SERVERS | (_DEEP if deep else {}), patient)
    return [*of_servers, *await examine_without_servers(patient.settings)]


async def examine_without_servers(settings: Settings) -> list[HealthFinding]:
    """Run the checks that ask none of the installation's servers."""
    elsewhere = {"memory elsewhere": remote_memory.examined} if settings.memory_url else {}
    servers = {"MCP servers": mcp_servers.examined} if settings.mcp_servers else {}
    return await _found(_OF_FILES | elsewhere | servers, settings)


def nothing_runs(error: NothingRuns) -> HealthFinding:
    """Return what is found where no servers run here, and none are configured."""
    return HealthFinding(check="servers", ok=False, detail=str(error), fix=_fix(error))


async def _found(
    checks: Mapping[str, Callable[[S], Awaitable[tuple[bool, str, str]]]], about: S
) -> list[HealthFinding]:
    return [await _asked(name, functools.partial(check, about)) for name, check in checks.items()]


async def _asked(name: str, check: Callable[[], Awaitable[tuple[bool, str, str]]]) -> HealthFinding:
    try:
        ok, detail, fix = await check()
    except PerdureError as error:
        return HealthFinding(check=name, ok=False, detail=str(error), fix=_fix(error))
    except FROM_TEMPORAL as error:
        translated = perdure_error(error)
        if translated is None:
            raise
        return HealthFinding(check=name, ok=False, detail=str(translated), fix=_fix(translated))
    return HealthFinding(check=name, ok=ok, detail=detail, fix="" if ok else fix)


def _fix(error: PerdureError) -> str:
    if isinstance(error, StoreUnavailable) and error.store == Store.JOURNAL:
        return "make its folder usable, or set PERDURE_JOURNAL to another one"
    # The messages of the others contain it.
    return next((fix for kind, fix in _FIXES.items() if isinstance(error, kind)), "")


async def _temporal(patient: Patient) -> tuple[bool, str, str]:
    client = await patient.temporal()
    ok = await client.service_client.check_health()
    return ok, f"{patient.addresses.temporal}, namespace {client.namespace}", "perdure up"


async def _worker(patient: Patient) -> tuple[bool, str, str]:
    return await _serving(patient, "", here=False)


async def _own_worker(patient: Patient) -> tuple[bool, str, str]:
    return await _serving(patient, "of this machine, ", here=True)


async def _serving(patient: Patient, of: str, *, here: bool) -> tuple[bool, str, str]:
    queue = patient.settings.task_queue
    # Only beside local servers is it sure that a process is one of this machine: containers may share its name.
    known = {"lives": lives} if state(patient.settings) else {}
    count = functools.partial(pollers, await patient.temporal(), queue, lately=True, **known)
    number = await local_worker.serving(patient.settings, count, here=here)
    if not number and local_worker.failing(patient.settings) is not None:
        return False, local_worker.problem(patient.settings), "correct it: the worker is started again by itself"
    differing = (one.told for one in disagreements(state(patient.settings), patient.settings))
    detail = "; note: ".join([f"{of}on task queue {queue!r}: {number or 'none'}", *differing])
    return number > 0, detail, "start one: perdure worker"


async def _retention(patient: Patient) -> tuple[bool, str, str]:
    client = await patient.temporal()
    described = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=client.namespace))
    kept = described.config.workflow_execution_retention_ttl.ToTimedelta() / timedelta(days=1)
    claims = patient.settings.claim_ttl_days
    detail = f"claims are kept for {counted(claims, 'day')}, closed workflows for {counted(kept, 'day')}"
    return claims > kept, detail, "set PERDURE_CLAIM_TTL_DAYS above the namespace's retention"


async def _search_attributes(patient: Patient) -> tuple[bool, str, str]:
    client = await patient.temporal()
    missing = await namespace.missing(client)
    names = ", ".join(attribute.value for attribute in missing)
    fix = namespace.command(client.namespace, missing)
    return not missing, f"missing: {names}" if missing else "all are registered", fix


async def _redis(patient: Patient) -> tuple[bool, str, str]:
    async with patient.redis() as redis:
        wrong = await wrong_settings(redis)
    if wrong is None:
        return True, f"answers, but does not show its settings, so nobody checked that it is set to {NEEDED_TOLD}", ""
    told = "; ".join(f"{name} is {value}" for name, value in wrong.items())
    return not wrong, told or "append-only, fsync always, no eviction", f"set {NEEDED_TOLD}"


async def _weaviate(patient: Patient) -> tuple[bool, str, str]:
    return True, f"{patient.addresses.weaviate_url}, version {await version(**patient.weaviate)}", ""


async def _collections(patient: Patient) -> tuple[bool, str, str]:
    try:
        embedder = await asyncio.to_thread(embedder_of, patient.settings)
        language = patient.settings.language
        embedding = Embedding(name=embedder.name, dimension=embedder.dimension, language=language)
    except InvalidInput:
        # That is a finding of its own; the properties can be compared without it.
        embedding = None
    missing = await differences(**patient.weaviate, embedding=embedding)
    return not missing, "; ".join(missing) or "as this build needs them", "start a worker of this build: it adds them"


async def _users(patient: Patient) -> tuple[bool, str, str]:
    at_once = most_active(files := patient.addresses.weaviate_open_files)
    detail = f"Weaviate may open {files:,} files: {counted(at_once, 'user')} at once, any number in turn"
    fix = "raise its limit (ulimit -Hn) to 20000 or more, and set PERDURE_WEAVIATE_OPEN_FILES to it where you run it"
    return at_once >= ENOUGH_USERS, detail, fix


async def _vectors(patient: Patient) -> tuple[bool, str, str]:
    embedder = await asyncio.to_thread(embedder_of, patient.settings)
    missing: dict[str, int] = {}
    async with patient.redis() as redis, patient.longterm(redis, embedder) as longterm:
        tenants = await longterm.tenants()
        for tenant in tenants:
            if ids := await longterm.unsearchable(tenant):
                missing[tenant] = len(ids)
                await Checks(redis).add(tenant, datetime.now(UTC))
    entries, users = counted(sum(missing.values()), "entry"), counted(len(tenants), "user")
    if not missing:
        return True, f"everything that is stored of {users} is found by meaning", ""
    detail = f"{entries} of {len(missing)} of {users} are not found by meaning"
    return False, detail, "keep a worker running: it repairs them within a minute"


async def _tenant_key(patient: Patient) -> tuple[bool, str, str]:
    path = patient.settings.tenant_key_file
    key = TenantKey.load(path)
    async with patient.redis() as redis:
        await Installation(redis).require(key)
    return True, f"{key.fingerprint} matches the stored data; back up {path}", ""


async def _journal(patient: Patient) -> tuple[bool, str, str]:
    folder = patient.settings.journal_folder
    lost = any(loss.store is Store.JOURNAL for loss in await _losses(patient))
    if found := await disk.in_thread(Store.JOURNAL, lambda: known_id(folder)):
        return not lost, f"{found} in {folder}" + (", an older copy" if lost else ""), "perdure reconcile"
    detail = f"there is none in {folder}" + (", and the installation has one" if lost else " yet")
    fix = "set PERDURE_JOURNAL to the folder that the workers share, or begin it anew: perdure reconcile --new-journal"
    return not lost, detail, fix


async def _audit(patient: Patient) -> tuple[bool, str, str]:
    folder = patient.settings.journal_folder / FOLDER
    try:
        await _tenant_key(patient)
    except (TenantKeyMissing, TenantKeyMismatch):
        # That is a finding of its own, and so is a Redis that does not answer.
        return True, "not verified without the tenant key", ""
    except StoreUnavailable:
        pass
    found = await audits.verify(patient.settings, patient.addresses)
    if folder.exists() and not os.access(folder, os.W_OK):
        return False, f"{folder} is not writable", "make it writable: no change of memory is made without its line"
    detail = f"{counted(found.files, 'file')} in {folder}" if found.files else f"there is none in {folder} yet"
    fix = "look: perdure audit verify; where the loss is known: perdure audit accept"
    if found.problems:
        detail += f"; {counted(len(found.problems), 'problem')}, the first: {found.problems[0].what}"
    return not found.problems, detail, fix


async def _stores(patient: Patient) -> tuple[bool, str, str]:
    # One that does not answer is left out, and may have lost everything: if nothing is found, all have to answer.
    found = _not_of_journal(await _losses(patient)) or _not_of_journal(await _losses(patient, of_all=True))
    if found:
        detail = "; ".join(f"{loss.store}: {loss.kind.told}" for loss in found)
        return False, detail, "keep a worker running: it rebuilds them; perdure reconcile shows how that goes"
    return True, "redis and weaviate have what was written to them", ""


def _not_of_journal(losses: Iterable[Loss]) -> list[Loss]:
    return [loss for loss in losses if loss.store is not Store.JOURNAL]


async def _losses(patient: Patient, *, of_all: bool = False) -> tuple[Loss, ...]:
    # Its marks are not vectors of any model.
    connection = Connection(**patient.weaviate, embedding=Embedding(name="", dimension=0))
    async with patient.redis() as redis, connection:
        marks = WeaviateMarks(connection, _WITHIN)
        whole = Wholeness(JournalMarks(patient.settings.journal_folder), RedisMarks(redis), marks)
        return await (whole.examine() if of_all else whole.compare())


_OF_SERVERS: dict[str, Callable[[Patient], Awaitable[tuple[bool, str, str]]]] = {
    "temporal": _temporal,
    "worker": _worker,
    "retention": _retention,
    "search attributes": _search_attributes,
    "redis": _redis,
    "weaviate": _weaviate,
    "collections": _collections,
    "users": _users,
    "tenant key": _tenant_key,
    "journal": _journal,
    "audit": _audit,
    "stores": _stores,
}

_DEEP = {"vectors": _vectors}

_QUICK = {"temporal": _temporal, "worker": _own_worker}
"""The checks that a container's health depends on: another container's worker is none of its own."""

_OF_FILES: dict[str, Callable[[Settings], Awaitable[tuple[bool, str, str]]]] = {
    "embedding": configuration_checks.embedding,
    "disk": configuration_checks.room,
    "tools": configuration_checks.tools,
    "rules": configuration_checks.rules,
    "skills": configuration_checks.skills,
    "agents": configuration_checks.agents,
    "policies": configuration_checks.policies,
}
