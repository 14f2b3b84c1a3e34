"""What came of it: ledger and store, read past the product's own queries, are compared with what was asked."""

import json
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import weaviate
from weaviate.classes.init import Auth
from weaviate.classes.query import Filter
from weaviate.exceptions import WeaviateBaseError

from chaos.ledger import read
from chaos.load import Load, Started
from perdure.entries import Lane, State
from perdure.identity import idempotency_key, record_id
from perdure.items import item_id
from perdure.jobs import Fate
from perdure.settings import Addresses
from perdure.stores.tenant_key import TenantKey

COLLECTIONS = ("PerdureRecord", "PerdureMemory", "PerdureTurn")
NEAREST = 5
_WANTED = ["identifier"]


@dataclass
class Verdict:
    """The counts of one run."""

    effects: int = 0
    writes: int = 0
    lost: int = 0
    doubled: int = 0
    stuck: int = 0
    unindexed: int = 0
    leaked: int = 0
    doubled_in_threads: int = 0
    """In stopped threads, which nothing can fence; not part of the verdict."""

    @property
    def holds(self) -> bool:
        """Whether every promise was kept."""
        return not (self.lost or self.doubled or self.stuck or self.unindexed or self.leaked)


async def judge(load: Load, addresses: Addresses, home: Path) -> Verdict:
    """Count what was lost, doubled, stuck, stored but not found by its own vector, or shown to another user."""
    key = TenantKey.load(home / "tenant.key")
    verdict = Verdict(leaked=load.leaked)
    wanted: dict[str, set[str]] = {}
    done = read(load.ledger).done
    for task in load.tasks:
        tenant = key.tenant_of(task.task.user_id)
        _judge_effects(task, tenant, done, verdict)
        wanted.setdefault(tenant, set()).update(_records(task, tenant) if task.result else ())
    for job in load.jobs:
        tenant = key.tenant_of(job.request.user_id)
        verdict.stuck += job.receipt is None
        for line in job.receipt.items if job.receipt else ():
            item = job.items[line.index]
            verdict.lost += line.fate is not Fate.SEARCHABLE and item.valid_until is None
            if item.valid_until is None:
                wanted.setdefault(tenant, set()).add(item_id(tenant, item))
    async with _store(addresses) as client:
        for tenant, ids in wanted.items():
            verdict.writes += len(ids)
            seen, unindexed = await _stored(client, tenant)
            verdict.lost += len(ids - seen.keys())
            verdict.doubled += sum(seen[one] != 1 for one in ids & seen.keys())
            verdict.unindexed += unindexed
    return verdict


def _judge_effects(one: Started, tenant: str, done: Counter[str], verdict: Verdict) -> None:
    if one.result is None:
        verdict.stuck += 1
    for index in range(len(one.marks)):
        for step in ("seen", "unseen", *(["threaded"] if index == 0 else [])):
            times = done[idempotency_key(tenant, one.task.task_id, f"mark[{index}].{step}")]
            verdict.effects += times > 0
            verdict.lost += one.result is not None and times == 0
            if step == "threaded":
                verdict.doubled_in_threads += max(0, times - 1)
            else:
                verdict.doubled += max(0, times - 1)


def _records(one: Started, tenant: str) -> set[str]:
    user = one.task.user_id
    return {record_id(tenant, Lane.FEEDBACK, mark, {"mark": mark, "user": user}) for mark in one.marks}


@asynccontextmanager
async def _store(addresses: Addresses) -> AsyncGenerator[weaviate.WeaviateAsyncClient]:
    place, secret = urlsplit(addresses.weaviate_url), addresses.weaviate_api_key
    client = weaviate.use_async_with_local(
        host=str(place.hostname),
        port=place.port or 80,
        grpc_port=addresses.weaviate_grpc_port,
        auth_credentials=Auth.api_key(secret.get_secret_value()) if secret else None,
        skip_init_checks=True,
    )
    async with client:
        yield client


async def _stored(client: weaviate.WeaviateAsyncClient, tenant: str) -> tuple[dict[str, int], int]:
    """Return how often each entry of a tenant was seen, and how many that hold are not found by their own vector."""
    seen: dict[str, int] = {}
    unindexed = 0
    for name in COLLECTIONS:
        collection = client.collections.use(name).with_tenant(tenant)
        if not await client.collections.use(name).tenants.exists(tenant):
            continue
        async for item in collection.iterator(include_vector=True, return_properties=["identifier", "document"]):
            identifier, document = str(item.properties["identifier"]), json.loads(str(item.properties["document"]))
            seen[identifier] = document["seen"]
            if document["state"] == State.FORGOTTEN:
                # No search may find it; undoing writes it, and its place in the index, anew.
                continue
            vector, alone = item.vector["default"], Filter.by_property("identifier").equal(identifier)
            try:
                near = await collection.query.near_vector(vector, limit=NEAREST, return_properties=_WANTED)
                found = identifier in {str(one.properties["identifier"]) for one in near.objects}
                only = await collection.query.near_vector(vector, limit=1, filters=alone, return_properties=_WANTED)
                told = f"{identifier} ({document['state']}) of {tenant} is {'' if only.objects else 'not '}in the index"
            except WeaviateBaseError as error:
                found, told = False, f"{tenant}: {type(error).__name__}"
            if not found:
                unindexed += 1
                sys.stderr.write(f"not among the {NEAREST} nearest to its own vector: {told}\n")
    return seen, unindexed
