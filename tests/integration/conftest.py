"""What integration tests share: real stores, one tenant for each test."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from redis.asyncio import Redis

from perdure.memory.door import Door
from perdure.memory.forgetting.forgetter import Forgetter
from perdure.memory.forgetting.selection import Guard
from perdure.memory.retention import RetentionRules
from perdure.memory.writing.planning import WritePolicy
from perdure.memory.writing.writer import Writer
from perdure.models.embedding import CachedEmbedder, Embedder
from perdure.models.embedding.minilm import MiniLMEmbedder
from perdure.stores.journal.log import Mirror
from perdure.stores.redis.deletions import Deletions
from perdure.stores.redis.due import DueIndex
from perdure.stores.redis.leases import Leases
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm
from tests.conftest import Servers


@dataclass(frozen=True, kw_only=True)
class Stores:
    """Everything that writes and forgets, on real servers."""

    redis: Redis
    longterm: LongTerm
    embedder: Embedder
    mirror: Mirror
    leases: Leases
    due: DueIndex
    deletions: Deletions
    door: Door
    writer: Writer
    forgetter: Forgetter


@pytest.fixture
async def stores(servers: Servers, tmp_path: Path) -> AsyncGenerator[Stores]:
    redis: Redis = Redis.from_url(servers.redis_url, decode_responses=True)
    embedder = CachedEmbedder(MiniLMEmbedder(), 1000)
    longterm = LongTerm(
        servers.weaviate_url,
        servers.weaviate_grpc_port,
        embedding=Embedding(name=embedder.name, dimension=embedder.dimension),
        api_key=servers.weaviate_api_key.get_secret_value() if servers.weaviate_api_key else None,
    )
    await longterm.prepare()
    mirror, due, deletions = Mirror(tmp_path / "mirror"), DueIndex(redis), Deletions(redis)
    leases, rules = Leases(redis), RetentionRules()
    door = Door(longterm=longterm, leases=leases, due=due, rules=rules, client_timeout=3)
    yield Stores(
        redis=redis,
        longterm=longterm,
        embedder=embedder,
        mirror=mirror,
        leases=leases,
        due=due,
        deletions=deletions,
        door=door,
        writer=Writer(longterm=longterm, embedder=embedder, door=door, deletions=deletions, policy=WritePolicy()),
        forgetter=Forgetter(
            longterm=longterm,
            door=door,
            deletions=deletions,
            mirror=mirror,
            rules=rules,
            guard=Guard(),
            grace=timedelta(days=30),
        ),
    )
    await longterm.close()
    await redis.aclose()
