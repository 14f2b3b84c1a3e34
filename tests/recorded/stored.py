"""The stored forms that are no model's: fields and lines in Redis, Weaviate and files, as they really are.

``python -m tests.recorded.stored`` writes those of ``next``, on servers of its own. Names that differ each time, as
owners and processes, are the same here; moments are those of the recording.
"""

import asyncio
import json
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from localservers import Fleet, Server, find_all
from perdure.settings import Addresses
from perdure.stores.audit.lines import AuditHead
from perdure.stores.journal.marks import JournalMarks
from perdure.stores.redis import keys
from perdure.stores.redis.audit_heads import AuditHeads, KnownHead
from perdure.stores.redis.claims import Claims, OnceEffect
from perdure.stores.redis.connection import ask, connect
from perdure.stores.redis.marks import RedisMarks
from perdure.stores.weaviate.connection import Connection
from perdure.stores.weaviate.marks import WeaviateMarks
from perdure.stores.weaviate.schema import Embedding
from perdure.values.bindings import TaskBinding
from perdure.values.losses import Mark
from tests.conftest import clean_settings

FILE = Path(__file__).parent / "next" / "stored.json"

TENANT = "t_0000000000000000000000000000000a"
PROCESS = "00000000000000aa"
MARK = Mark(begun=7, done=5, claimed=3)
HEAD = KnownHead(AuditHead(file="2026-05-01T12-00-00-a.jsonl", line=12, mac="ab" * 32), news=True)
ARGUMENTS = "digest of the arguments"
BINDING = TaskBinding(skill="report", version="digest of the skill", inputs={"shop": "ab"}, day=date(2026, 5, 1))


def effect(step: str) -> OnceEffect:
    """Return an effect of the task whose claims are recorded."""
    return OnceEffect(tenant=TENANT, task_id="task", step=step, arguments=ARGUMENTS, binding=BINDING)


def connection(addresses: Addresses) -> Connection:
    """Return a connection to the collections of an embedding model that nobody has."""
    return Connection(
        addresses.weaviate_url,
        addresses.weaviate_grpc_port,
        embedding=Embedding(name="recorded", dimension=3),
        api_key=addresses.weaviate_api_key,
        prefix="Recorded",
    )


async def record(redis: Redis, weaviate: Connection, folder: Path) -> dict[str, Any]:
    """Write one of each form, and return what is stored then.

    Args:
        redis: A Redis, in which the task's claims, the marks and the heads are replaced.
        weaviate: A Weaviate without marks.
        folder: Where a journal is made.
    """
    claims = Claims(redis, timedelta(minutes=5))
    places = [keys.claim(TENANT, effect(step).key) for step in ("open", "done")]
    binding, task = keys.task(TENANT, "task")
    await ask(redis, "DEL", *places, binding, task, keys.MARKS, keys.AUDIT)
    await claims.claim(effect("open"), "owner", 60)
    await claims.failed(effect("open"), "owner", "TimeoutError")
    await claims.claim(effect("done"), "owner", 60)
    await claims.store(effect("done"), "owner", '{"value": 1}')

    marks = RedisMarks(redis)
    await marks.begin("journal")
    await marks.rebuilding("token")
    await marks.write(PROCESS, MARK, at_least=0)
    await marks.claimed(PROCESS, MARK.claimed, after=0)
    await AuditHeads(redis).publish(HEAD, [])

    kept = WeaviateMarks(weaviate, 5.0)
    await kept.begin("journal")
    await kept.write(PROCESS, MARK, at_least=0)
    found = await (await weaviate.client()).collections.use(f"{weaviate.prefix}Mark").query.fetch_objects()

    journal = JournalMarks(folder)
    await journal.begin("fingerprint", "journal")
    await journal.write(PROCESS, MARK, new=True)
    return {
        "claim": await ask(redis, "HGETALL", places[0]),
        "result": await ask(redis, "HGETALL", places[1]),
        "binding": await ask(redis, "HGETALL", binding),
        "redis_marks": await ask(redis, "HGETALL", keys.MARKS),
        "audit_heads": await ask(redis, "HGETALL", keys.AUDIT),
        "weaviate_marks": {one.properties["name"]: one.properties["value"] for one in found.objects},
        "journal_id": (folder / "journal.id").read_text(),
        "journal_mark": (folder / ".marks" / PROCESS).read_text(),
    }


async def _record(home: Path) -> dict[str, Any]:
    settings = clean_settings(home / "servers")
    found = {name: one for name, one in find_all(settings, print).items() if name in (Server.REDIS, Server.WEAVIATE)}
    nowhere = Addresses(temporal="", weaviate_url="", weaviate_grpc_port=0, redis_url="")
    fleet = Fleet(settings, found, print, others=nowhere)
    try:
        await fleet.start_all()
        addresses = fleet.addresses
        redis = connect(addresses.redis_url)
        weaviate = connection(addresses)
        stored = await record(redis, weaviate, home / "journal")
        await weaviate.close()
        await redis.aclose()
        return stored
    finally:
        await fleet.stop_all()


def main() -> None:
    """Write the stored forms of the release to come."""
    with tempfile.TemporaryDirectory(prefix="perdure-stored-") as home:
        found = asyncio.run(_record(Path(home)))
    FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(found)} stored forms in {FILE}")


if __name__ == "__main__":
    main()
