"""Checks whether an installation keeps its promises. Each check asks a real server or file, and says what to do.

Covers servers, durability settings, keys, models and skills, and changes none of them; what is stored is only read.
"""

import os
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from perdure.agent.steps.validation import check_skill
from perdure.errors import (
    EmbeddingMismatch,
    InvalidInput,
    ModelRefused,
    PerdureError,
    StoreUnavailable,
    TenantKeyMismatch,
)
from perdure.model import Model
from perdure.settings import Addresses, Settings
from perdure.skills.library import SkillLibrary
from perdure.stores.redis.connection import ask
from perdure.stores.weaviate.resting import most_active
from perdure.temporal import namespace
from perdure.temporal.connection import pollers
from worker.wiring import Services

ENOUGH_DISK = 1_000_000_000
"""Free bytes below which the journal and the local servers may soon be unable to write."""


ENOUGH_USERS = 30
"""Users at once below which many a recall has to open its user first; a choice."""


class Finding(Model):
    """The result of one check."""

    check: str
    ok: bool
    detail: str
    fix: str = ""


@dataclass(frozen=True, kw_only=True)
class Patient:
    """The installation that is examined."""

    settings: Settings
    addresses: Addresses
    client: Client
    services: Services


async def examine(patient: Patient, *, quick: bool = False, deep: bool = False) -> list[Finding]:
    """Run every check; an error is a finding like any other.

    Args:
        patient: The installation.
        quick: Run only the checks that a container's health depends on.
        deep: Read everything that is stored as well.
    """
    checks = {name: check for name, check in _CHECKS.items() if not quick or name in _QUICK} | (_DEEP if deep else {})
    return [await _asked(name, check, patient) for name, check in checks.items()]


async def _asked(name: str, check: Callable[[Patient], Awaitable[tuple[bool, str, str]]], patient: Patient) -> Finding:
    try:
        ok, detail, fix = await check(patient)
    except PerdureError as error:
        return Finding(check=name, ok=False, detail=str(error), fix=_fix(error))
    except RPCError as error:
        return Finding(check=name, ok=False, detail=f"Temporal: {error.message}", fix="perdure up")
    except RuntimeError:
        # Temporal's client raises it if nothing listens at the address.
        detail = f"Temporal: {patient.addresses.temporal} does not answer"
        return Finding(check=name, ok=False, detail=detail, fix="start it, or correct its address in the settings")
    return Finding(check=name, ok=ok, detail=detail, fix="" if ok else fix)


def _fix(error: PerdureError) -> str:
    match error:
        case InvalidInput() | ModelRefused():
            return ""  # The message contains it.
        case TenantKeyMismatch():
            return "restore the backup of tenant.key, or use the stores that belong to this key"
        case EmbeddingMismatch():
            return "set PERDURE_EMBEDDING to the model that the stored data was embedded with"
        case _:
            return "start it, or correct its address in the settings"


async def _temporal(patient: Patient) -> tuple[bool, str, str]:
    ok = await patient.client.service_client.check_health()
    return ok, f"{patient.addresses.temporal}, namespace {patient.client.namespace}", "perdure up"


async def _worker(patient: Patient) -> tuple[bool, str, str]:
    queue = patient.settings.task_queue
    number = await pollers(patient.client, queue)
    return number > 0, f"on task queue {queue!r}: {number or 'none'}", "start one: perdure worker"


async def _retention(patient: Patient) -> tuple[bool, str, str]:
    described = await patient.client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=patient.client.namespace)
    )
    kept = described.config.workflow_execution_retention_ttl.ToTimedelta()
    claims = timedelta(days=patient.settings.claim_ttl_days)
    day = timedelta(days=1)
    detail = f"claims are kept for {claims / day:g} days, closed workflows for {kept / day:g} days"
    return claims > kept, detail, "set PERDURE_CLAIM_TTL_DAYS above the namespace's retention"


async def _search_attributes(patient: Patient) -> tuple[bool, str, str]:
    missing = await namespace.missing(patient.client)
    names = ", ".join(attribute.value for attribute in missing)
    fix = namespace.command(patient.client.namespace, missing)
    return not missing, f"missing: {names}" if missing else "all are registered", fix


async def _redis(patient: Patient) -> tuple[bool, str, str]:
    wanted = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
    redis = patient.services.redis
    found: dict[str, str] = {}
    for name in wanted:
        answer = await ask(redis, "CONFIG", "GET", name)
        found |= answer if isinstance(answer, dict) else dict([answer])
    wrong = [f"{name} is {found.get(name)}" for name, value in wanted.items() if found.get(name) != value]
    fix = "set " + ", ".join(f"{name} {value}" for name, value in wanted.items())
    return not wrong, "; ".join(wrong) or "append-only, fsync always, no eviction", fix


async def _weaviate(patient: Patient) -> tuple[bool, str, str]:
    await patient.services.longterm.open()
    embedder = patient.services.embedder
    return True, f"{patient.addresses.weaviate_url}, {embedder.name} ({embedder.dimension} numbers)", ""


async def _users(patient: Patient) -> tuple[bool, str, str]:
    files = patient.addresses.weaviate_open_files
    open_at_once = most_active(files)
    detail = f"Weaviate may open {files:,} files: {open_at_once} users at once, any number in turn"
    fix = "raise its limit (ulimit -Hn) to 20000 or more, and set PERDURE_WEAVIATE_OPEN_FILES to it where you run it"
    return open_at_once >= ENOUGH_USERS, detail, fix


async def _vectors(patient: Patient) -> tuple[bool, str, str]:
    longterm, checks = patient.services.longterm, patient.services.checks
    tenants = await longterm.tenants()
    missing: dict[str, int] = {}
    for tenant in tenants:
        if ids := await longterm.unsearchable(tenant):
            missing[tenant] = len(ids)
            await checks.note(tenant, datetime.now(UTC))
    if not missing:
        return True, f"everything that is stored of {len(tenants)} users is found by meaning", ""
    detail = f"{sum(missing.values())} entries of {len(missing)} of {len(tenants)} users are not found by meaning"
    return False, detail, "keep a worker running: it repairs them within a minute"


async def _tenant_key(patient: Patient) -> tuple[bool, str, str]:
    key = patient.services.tenant_key
    await patient.services.installation.require(key)
    return True, f"{key.fingerprint} matches the stored data; back up {patient.settings.home}/tenant.key", ""


async def _disk(patient: Patient) -> tuple[bool, str, str]:
    folder = patient.settings.journal_folder
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(existing, os.W_OK):
        raise StoreUnavailable("journal", f"{existing} is not writable")
    free = shutil.disk_usage(existing).free
    return free > ENOUGH_DISK, f"{free / 1e9:.1f} GB free for {folder}", "free some space"


async def _skills(patient: Patient) -> tuple[bool, str, str]:
    library, toolbox = patient.services.skills, patient.services.toolbox
    own = SkillLibrary(patient.settings.skills).names()
    usable: list[str] = []
    bad: list[str] = []
    for name in library.names():
        try:
            check_skill(library.get(name), toolbox)
            usable.append(name)
        except InvalidInput as error:
            # A packaged skill is of no use where the tools that come with it were replaced by others.
            if name in own:
                bad.append(f"{error.code} {name}: {str(error).removeprefix(f'{error.code} ')}")
    return not bad, "; ".join(bad) or f"{', '.join(usable) or 'none'}; {len(toolbox)} tools", "correct the skills"


_CHECKS: dict[str, Callable[[Patient], Awaitable[tuple[bool, str, str]]]] = {
    "temporal": _temporal,
    "worker": _worker,
    "retention": _retention,
    "search attributes": _search_attributes,
    "redis": _redis,
    "weaviate": _weaviate,
    "users": _users,
    "tenant key": _tenant_key,
    "disk": _disk,
    "skills": _skills,
}

_DEEP = {"vectors": _vectors}

_QUICK = ("temporal", "worker")
"""The checks that a container's health depends on."""
