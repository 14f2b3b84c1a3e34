"""An index that cannot be searched is told from a Weaviate that cannot answer: only the first has a user repaired."""

import resource
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from localservers import Fleet, Server
from perdure.errors import StoreUnavailable, VectorIndexDamaged
from perdure.stores.weaviate.queries import Queries
from perdure.stores.weaviate.store import LongTerm
from tests.conftest import OwnServers
from tests.integration.stores.weaviate.test_store import EMBEDDER, EMBEDDING, memory, put
from tests.support.cutting import collection_of, objects
from tests.support.nearest import nearest
from tests.support.waiting import until_true

WHOLE, DAMAGED = "t_whole", "t_damaged"


@pytest.fixture
async def fleet(own_servers: OwnServers) -> Fleet:
    return await own_servers(Server.WEAVIATE)


@pytest.fixture
async def longterm(fleet: Fleet) -> AsyncGenerator[LongTerm]:
    """A store with a user whose vectors are whole, and one whose index never got any."""
    longterm = LongTerm(
        fleet.addresses.weaviate_url,
        fleet.addresses.weaviate_grpc_port,
        embedding=EMBEDDING,
        api_key=fleet.addresses.weaviate_api_key,
        query_timeout=2.0,
    )
    await longterm.prepare()
    await put(longterm, WHOLE, memory(WHOLE, "x"))
    damaged = await collection_of(longterm, DAMAGED, "memory")
    await damaged.data.insert_many(objects(DAMAGED, [memory(DAMAGED, "x")], {}))
    yield longterm
    await longterm.close()


async def asked(longterm: LongTerm, tenant: str) -> Sequence[object]:
    """Search a user's vectors."""
    [vector] = await EMBEDDER.embed(["x"])
    return await nearest(longterm, tenant, vector, 2)


def well_again(monkeypatch: pytest.MonkeyPatch, how: Callable[[], None]) -> None:
    """Have Weaviate work again once its search has failed, right before it is asked whether anything is stored."""
    count = Queries.count

    async def counted(*given: Any) -> int:
        how()
        return await count(*given)

    monkeypatch.setattr(Queries, "count", counted)


@pytest.mark.slow
async def test_vectors_that_cannot_be_searched_are_damaged(longterm: LongTerm) -> None:
    assert len(await asked(longterm, WHOLE)) == 1
    with pytest.raises(VectorIndexDamaged) as caught:
        await asked(longterm, DAMAGED)
    assert caught.value.__cause__ is not None
    assert "quantizer not initialized" in str(caught.value.__cause__.__cause__)


@pytest.mark.slow
async def test_want_of_files_is_no_damage(fleet: Fleet, longterm: LongTerm, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = await longterm._connection.collection("memory")  # pyright: ignore[reportPrivateUsage]
    await collection.tenants.deactivate(WHOLE)
    pid = fleet.child(Server.WEAVIATE).pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    def more_files() -> None:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)

    well_again(monkeypatch, more_files)
    with pytest.raises(StoreUnavailable, match="too many open files"):
        await asked(longterm, WHOLE)
    more_files()
    assert len(await asked(longterm, WHOLE)) == 1


@pytest.mark.slow
async def test_no_answer_in_time_is_no_damage(
    fleet: Fleet, longterm: LongTerm, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(await asked(longterm, WHOLE)) == 1
    child = fleet.child(Server.WEAVIATE)
    well_again(monkeypatch, lambda: child.signal(signal.SIGCONT))
    child.signal(signal.SIGSTOP)
    state = Path(f"/proc/{child.pid}/stat")
    await until_true(lambda: state.read_text().rpartition(")")[2].split()[0] == "T")
    with pytest.raises(StoreUnavailable, match="no answer within"):
        await asked(longterm, WHOLE)
    child.signal(signal.SIGCONT)
    assert len(await asked(longterm, WHOLE)) == 1
