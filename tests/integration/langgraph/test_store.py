"""The LangGraph store answers as LangGraph's own store in memory does, over a real service, and its items last."""

import asyncio
import random
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
import pytest_asyncio
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from localservers import Server
from perdure.errors import InvalidInput, StoreUnavailable
from perdure.langgraph import PerdureStore
from perdure.langgraph.records import kept_item, kept_namespace
from perdure.memory.consent_book import ConsentBook
from perdure.memory.writing.batch_checks import LARGEST_BATCH
from perdure.refusals import NotPermitted, UnknownThing
from perdure.stores.weaviate.store import LongTerm
from perdure.values.access_tokens import TokenScope
from perdure.values.entries import Record, State
from perdure.values.requests import EraseRequest
from perdure.values.updates import Removal, UpdateRequest
from tests.conftest import OwnServers, Servers
from tests.support.http_service import ADMIN, Service, http_service
from tests.support.pages import blocks
from tests.support.waiting import until


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def service(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Service]:
    async with http_service(servers, tmp_path_factory.mktemp("langgraph") / "home") as one:
        yield one


@pytest_asyncio.fixture(loop_scope="session")
async def token(service: Service) -> str:
    return await service.token(TokenScope.READ, TokenScope.WRITE)


@pytest.fixture
def store(service: Service, token: str) -> Iterator[PerdureStore]:
    with PerdureStore(service.url, token) as one:
        yield one


def told(result: Any) -> Any:
    """Return what two stores have to agree on; when something was put is each one's own."""
    if isinstance(result, list):
        return [told(one) for one in cast("list[Any]", result)]
    return (result.namespace, result.key, result.value) if hasattr(result, "value") else result


def operations(choose: random.Random, users: list[str], number: int) -> Iterator[Op]:
    namespaces = [(user, *rest) for user in users for rest in ((), ("notes",), ("notes", "old"), ("facts",))]
    met = set[tuple[str, ...]]()
    for _ in range(number):
        namespace, key = choose.choice(namespaces), choose.choice("abc")
        match choose.randrange(8):
            case 0 | 1 | 2:
                met.add(namespace)
                value = {"n": choose.randrange(4), "of": {"kind": choose.choice(["x", "y"])}, "list": [1, key]}
                yield PutOp(namespace, key, value)
            case 3:
                yield PutOp(namespace, key, None) if namespace in met else GetOp((users[0], "none"), "k")
            case 4:
                yield GetOp(namespace, key) if namespace in met else SearchOp((users[0],))
            case 5:
                wanted = choose.choice([None, {"n": 2}, {"n": {"$gte": 2}}, {"of": {"kind": "x"}}, {"list": [1, "a"]}])
                yield SearchOp(
                    namespace[: choose.randrange(1, 3)], wanted, choose.choice([2, 10]), choose.choice([0, 1])
                )
            case _:
                paths = [("prefix", (users[0],)), ("suffix", ("notes",)), ("prefix", ("*", "notes"))]
                kind, path = choose.choice(paths)
                depth = choose.choice([None, 1, 2])
                yield ListNamespacesOp((MatchCondition(kind, path),), depth, 10, 0)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_same_calls_get_the_same_answers(store: PerdureStore, seed: int) -> None:
    users, own = [f"{name}-{uuid4().hex[:8]}" for name in ("ada", "ben")], InMemoryStore()
    for op in operations(random.Random(seed), users, 40):
        [expected], [found] = own.batch([op]), await store.abatch([op])
        # LangGraph's own store lists from then on a namespace in which nothing was ever put.
        own._data.pop((users[0], "none"), None)  # pyright: ignore[reportPrivateUsage]
        assert told(found) == told(expected), op


@pytest.mark.slow
async def test_items_are_put_and_read_from_coroutines_and_last(service: Service, token: str) -> None:
    user = f"ada {uuid4().hex}"
    with PerdureStore(service.url, token) as store:
        await store.aput((user, "settings"), "theme", {"colour": "dark"})
        first = await store.aget((user, "settings"), "theme")
        await store.aput((user, "settings"), "theme", {"colour": "light"})
    with PerdureStore(service.url, token, users=[user]) as later:
        found = await later.aget((user, "settings"), "theme")
        assert first is not None
        assert found is not None
        assert (found.value, found.created_at) == ({"colour": "light"}, first.created_at)
        assert found.updated_at > first.updated_at
        assert await asyncio.to_thread(later.list_namespaces) == [(user, "settings")]
        assert [one.key for one in await later.asearch(())] == ["theme"]
        await asyncio.to_thread(later.delete, (user, "settings"), "theme")
        assert (await later.aget((user, "settings"), "theme"), await later.asearch((user,))) == (None, [])


@pytest.mark.slow
async def test_what_is_put_last_counts_also_where_its_clock_is_behind(
    service: Service, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = (uuid4().hex, "settings")
    with PerdureStore(service.url, token) as ahead, PerdureStore(service.url, token) as behind:
        monkeypatch.setattr(behind, "_now", lambda: datetime.now(UTC) - timedelta(minutes=1))
        await ahead.aput(place, "theme", {"colour": "dark"})
        await behind.aput(place, "theme", {"colour": "light"})
        for store in (ahead, behind):
            found = await store.aget(place, "theme")
            assert found is not None
            assert found.value == {"colour": "light"}
            assert found.updated_at > found.created_at
            assert [one.value for one in await store.asearch(place)] == [{"colour": "light"}]


async def test_the_example_of_the_documentation_finds_what_it_says(service: Service, token: str) -> None:
    [code] = [one.text for one in blocks(Path("docs/frameworks.md")) if "PerdureStore" in one.text]
    names: dict[str, Any] = {}
    exec(compile(code, "docs/frameworks.md", "exec"), names)
    assert await asyncio.to_thread(names["remembered"], service.url, token) == {"text": "Ada drinks green tea."}


@pytest.mark.slow
async def test_items_that_look_alike_are_two_and_come_back_as_they_were(store: PerdureStore) -> None:
    user, own = uuid4().hex, InMemoryStore()
    for one in (store, own):
        for name in ("caf\u00e9", "cafe\u0301"):
            await one.aput((user, name), name, {"name": name, "n": 1.0, "of": [2, 2.0]})
    for name in ("caf\u00e9", "cafe\u0301"):
        found, expected = await store.aget((user, name), name), await own.aget((user, name), name)
        assert repr(told(found)) == repr(told(expected))
    assert await store.aget((), "k") is None
    listed, expected = [await one.alist_namespaces(prefix=(user,)) for one in (store, own)]
    assert sorted(map(repr, listed)) == sorted(map(repr, expected))


@pytest.mark.slow
async def test_a_namespace_is_listed_after_an_erasure_and_whatever_becomes_of_its_mark(
    service: Service, store: PerdureStore
) -> None:
    user = uuid4().hex
    place = (user, "notes")
    await store.aput(place, "a", {"n": 1})
    await service.gateway.erase(EraseRequest(user_id=user), by=ADMIN)
    assert await store.alist_namespaces(prefix=(user,)) == []
    await store.aput(place, "a", {"n": 2})
    assert await store.alist_namespaces(prefix=(user,)) == [place]
    entries = await service.gateway.memories(user, everything=True, by=ADMIN)
    for mark in [one for one in entries if isinstance(one, Record) and kept_namespace(one.key, one.payload)]:
        await service.gateway.update(UpdateRequest(user_id=user, id=mark.id, update=Removal()), by=ADMIN)
    assert [one.value for one in await store.asearch((user,))] == [{"n": 2}]
    assert await store.alist_namespaces(prefix=(user,)) == [place]
    await store.aput(place, "b", {"n": 3})
    await store.abatch([PutOp(place, key, None) for key in "ab"])
    assert await store.alist_namespaces(prefix=(user,)) == [place], "as LangGraph's own, without an item"


@pytest.mark.slow
async def test_a_search_finds_what_is_meant_first(store: PerdureStore) -> None:
    user = uuid4().hex
    await store.aput((user, "facts"), "tea", {"text": "Ada drinks green tea in the morning."})
    await store.aput((user, "facts"), "train", {"text": "Ada travels to work by train.", "n": 1})
    await store.aput((user, "facts"), "cat", {"text": "Ada has a cat called Miso.", "n": 1})
    await store.aput((user, "facts"), "hidden", {"text": "Ada commutes by railway."}, index=False)
    for question, key in (("How does she commute?", "train"), ("Which pet is there?", "cat")):
        found = await store.asearch((user,), query=question)
        assert (found[0].key, found[0].score is not None, len(found)) == (key, True, 4)
        assert [one.score for one in found if one.key == "hidden"] == [None]
    filtered = await store.asearch((user,), query="What does she drink?", filter={"n": 1})
    assert {one.key for one in filtered} == {"train", "cat"}


@pytest.mark.slow
async def test_an_item_that_was_put_often_takes_no_place_of_others_in_a_search(
    service: Service, store: PerdureStore
) -> None:
    user = uuid4().hex
    await store.aput((user, "facts"), "train", {"text": "Ada travels to work by train."})
    for number in range(150):
        await store.aput((user, "facts"), "tea", {"text": f"Ada has had {number} cups of green tea."})
    found = await store.asearch((user,), query="How many cups of green tea has Ada had?")
    assert [(one.key, one.score is not None) for one in found] == [("tea", True), ("train", True)]
    assert found[0].value == {"text": "Ada has had 149 cups of green tea."}
    entries = await service.gateway.memories(user, everything=True, by=ADMIN)
    current = [one for one in entries if isinstance(one, Record) and one.state is State.CURRENT]
    items = [kept_item(one.key, one.payload) for one in current]
    assert sorted(one.key for one in items if one) == ["tea", "train"]


@pytest.mark.slow
async def test_what_cannot_be_kept_is_refused_with_the_reason(store: PerdureStore) -> None:
    user = uuid4().hex
    with pytest.raises(InvalidInput, match="is not JSON"):
        await store.aput((user,), "a", {"path": Path("/")})
    with pytest.raises(InvalidInput):
        await store.aput((user,), "a", {"text": "x" * 20_000})
    with pytest.raises(InvalidInput, match=r"secret|gives access"):
        await store.aput((user,), "a", {"text": "The password is hunter2-Xk9!"})
    assert await store.aget((user,), "a") is None
    await store.aput((user,), "b", {"mail": "kim@example.org", "text": "kim@example.org leads sales."})
    kept = await store.aget((user,), "b")
    assert kept is not None
    assert kept.value["mail"] == "kim@example.org", "private data are kept as they are"


@pytest.mark.slow
async def test_many_large_values_are_kept_at_once(store: PerdureStore) -> None:
    user = uuid4().hex
    values = {str(number): {"n": number, "text": "Tea and cake. " * 900} for number in range(80)}
    assert sum(len(str(value)) for value in values.values()) > 2 * LARGEST_BATCH
    await store.abatch([PutOp((user,), key, value) for key, value in values.items()])
    found = await store.abatch([GetOp((user,), key) for key in values])
    assert {one.key: one.value for one in found if isinstance(one, Item)} == values


@pytest.mark.slow
async def test_who_deletes_what_another_one_has_just_deleted_is_not_refused(store: PerdureStore) -> None:
    user = uuid4().hex
    for number in range(3):
        await store.aput((user,), "a", {"n": number})
    await asyncio.gather(*(store.adelete((user,), "a") for _ in range(4)))
    assert await store.aget((user,), "a") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "reads", "named"), [(LongTerm, "lookup", "weaviate"), (ConsentBook, "of", "consents")]
)
async def test_what_cannot_be_read_is_not_taken_for_missing(
    store: PerdureStore, monkeypatch: pytest.MonkeyPatch, asked: type[object], reads: str, named: str
) -> None:
    user = uuid4().hex
    await store.aput((user,), "a", {"n": 1})

    async def away(*_: Any, **__: Any) -> None:
        raise StoreUnavailable(named, "it was stopped")

    with monkeypatch.context() as patched:
        patched.setattr(asked, reads, away)
        await refused(store, user, named)
    found = await store.aget((user,), "a")
    assert found is not None
    assert found.value == {"n": 1}, "nothing was deleted or replaced"


async def refused(store: PerdureStore, user: str, named: str) -> None:
    """Check that nothing is read, put or deleted while a store is away."""
    calls = (
        lambda: store.aget((user,), "a"),
        lambda: store.aget((user,), "b"),
        lambda: store.adelete((user,), "a"),
        lambda: store.aput((user,), "a", {"n": 2}),
    )
    for call in calls:
        with pytest.raises(StoreUnavailable) as raised:
            await call()
        assert raised.value.store == named


@pytest.mark.slow
async def test_an_item_is_not_missing_while_weaviate_is_stopped(own_servers: OwnServers, tmp_path: Path) -> None:
    fleet, user = await own_servers(Server.REDIS, Server.WEAVIATE), uuid4().hex
    async with http_service(fleet.addresses, tmp_path / "home", settings={"recall_seconds": 5.0}) as service:
        with PerdureStore(service.url, await service.token(TokenScope.READ, TokenScope.WRITE)) as store:
            await store.aput((user,), "a", {"n": 1})
            await fleet.stop(Server.WEAVIATE)
            await refused(store, user, "weaviate")
            await fleet.start(Server.WEAVIATE)

            async def found() -> Any:
                with suppress(StoreUnavailable):
                    return await store.aget((user,), "a")
                return "it is away"

            one = await until(found, lambda answer: answer != "it is away")
    assert one is not None
    assert one.value == {"n": 1}


async def test_nobody_reaches_another_users_items(service: Service, store: PerdureStore) -> None:
    ada, ben = uuid4().hex, uuid4().hex
    await store.aput((ada,), "a", {"text": "mine"})
    with PerdureStore(service.url, await service.token(user_id=ben)) as other:
        with pytest.raises((UnknownThing, NotPermitted)):
            await other.aget((ada,), "a")
        assert await other.alist_namespaces() == []


def test_the_store_is_one_of_langgraphs() -> None:
    assert issubclass(PerdureStore, BaseStore)
