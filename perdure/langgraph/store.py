"""LangGraph's ``BaseStore`` on an installation's memory: exact items, each user's in their own memory."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any, Self, TypeVar, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
)
from pydantic import ValidationError

from perdure.client import Client
from perdure.errors import InvalidInput, StoreUnavailable
from perdure.langgraph.filters import meets, selected
from perdure.langgraph.records import (
    LANE,
    KeptItem,
    KeptNamespace,
    item_key,
    item_record,
    kept_item,
    kept_namespace,
    namespace_key,
    namespace_record,
    texts_of,
)
from perdure.memory.recall.query import RecallResult
from perdure.memory.writing.batch_checks import batches
from perdure.names import EXACT_POLICY
from perdure.together import together
from perdure.values.entries import Record, State
from perdure.values.jobs import Fate
from perdure.values.strategies import Strategy

T = TypeVar("T")
Namespace = tuple[str, ...]
Place = tuple[Namespace, str]

_SCORED = 100
"""Items that one search by meaning may find: as many as one question may ask for."""

_LATER = timedelta(microseconds=1)
"""By how much what is put later is later at least: moments are kept to the microsecond."""

_NEEDED = ("weaviate", "consents")
"""Stores without which a recall may lack a record that exists, or return one that has been replaced. The journal, which
stands in for Weaviate, may not be the workers' where the service runs."""


class PerdureStore(BaseStore):
    """A LangGraph store whose items are kept in the memories of their users, through an installation's service.

    A namespace begins with the id of the user whose memory it is in, so that their items are exported and erased with
    everything else of theirs. A value is kept exactly, as JSON of at most 16 kB; a secret in it is refused. Nothing
    else of what memory believes applies to it, but what nobody has read or put for a year is forgotten, as is every
    record. A search by meaning finds items by the texts in their values, or in the fields that ``put`` names.

    Operations that name no user, such as ``list_namespaces()``, look at the users that were given, and at those whose
    namespaces this object has met: an installation lists nobody's users.

    While Weaviate is away or too slow, ``get``, ``put`` and ``delete`` raise ``StoreUnavailable``: no item is taken for
    missing.

    Args:
        url: Where the service is, such as ``http://127.0.0.1:8321``.
        token: A token with the scopes read and write.
        users: The ids of users to look at where an operation names none.
    """

    def __init__(self, url: str, token: str, *, users: Iterable[str] = ()) -> None:
        self._client = Client(url, token)
        self._users = dict.fromkeys(users)
        self._latest = datetime.min.replace(tzinfo=UTC)
        # LangGraph calls from threads and from loops of its own; a connection belongs to one loop.
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="perdure-store", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the store cannot be used any more."""
        if self._loop.is_closed():
            return
        self._called(self._client.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations; what reads does not see what the same batch puts."""
        return self._called(self._batch([*ops]))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations; see ``batch``."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._batch([*ops]), self._loop))

    def _called(self, call: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    async def _batch(self, ops: Sequence[Op]) -> list[Result]:
        results = await together(*(self._read(op) for op in ops if not isinstance(op, PutOp)))
        read = iter(results)
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        users = {namespace[0] for namespace, _ in puts}
        await together(*(self._put([op for op in puts.values() if op.namespace[0] == user]) for user in users))
        return [None if isinstance(op, PutOp) else next(read) for op in ops]

    async def _read(self, op: Op) -> Result:
        match op:
            case GetOp(namespace=()):
                return None
            case GetOp():
                found = _latest(await self._exactly(op.namespace[0], item_key(op.namespace, op.key)))
                return _item(found) if found else None
            case SearchOp():
                return await self._search(op)
            case ListNamespacesOp():
                return await self._listed(op)
            case _:
                raise ValueError(f"Unknown operation type: {type(op)}")

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        users = [op.namespace_prefix[0]] if op.namespace_prefix else [*self._users]
        size = len(op.namespace_prefix)
        found: list[KeptItem] = []
        scores: dict[Place, float] = {}
        for user in users:
            items, _ = await self._everything(user)
            found += [
                one for one in items if one.namespace[:size] == op.namespace_prefix and meets(one.value, op.filter)
            ]
            if op.query and items:
                scores |= await self._scored(user, op.query, items)
        ranked = sorted((one for one in found if _place(one) in scores), key=lambda one: -scores[_place(one)])
        kept = ranked[op.offset : op.offset + op.limit]
        others = [one for one in found if _place(one) not in scores]
        # As LangGraph does it: what a search cannot score fills what is left.
        kept += others[: op.limit - len(kept)] if ranked else others[op.offset : op.offset + op.limit]
        return [
            SearchItem(
                namespace=one.namespace,
                key=one.key,
                value=dict(one.value),
                created_at=one.created,
                updated_at=one.updated,
                score=scores.get(_place(one)),
            )
            for one in kept
        ]

    async def _scored(self, user: str, query: str, items: Iterable[KeptItem]) -> dict[Place, float]:
        """Return how well a search finds items, for those that it finds."""
        now = {_place(one): one.updated for one in items if one.searched}
        asked: dict[str, Any] = {"strategy": Strategy.SIMILARITY.value, "limit": _SCORED, "min_confidence": 0.0}
        result = await self._client.recall(query, user_id=user, **asked)
        scores: dict[Place, float] = {}
        for record in result.items:
            one = kept_item(record.key, record.payload)
            if one is not None and now.get(_place(one)) == one.updated:
                scores.setdefault(_place(one), record.score)
        return scores

    async def _listed(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = tuple(op.match_conditions or ())
        named = [one.path[0] for one in conditions if one.match_type == "prefix" and one.path and one.path[0] != "*"]
        namespaces: list[Namespace] = []
        for user in dict.fromkeys(named or self._users):
            _, found = await self._everything(str(user))
            namespaces += found
        kept = selected(namespaces, conditions, op.max_depth)
        return kept[op.offset : op.offset + op.limit]

    async def _exactly(self, user: str, key: str) -> RecallResult:
        """Return the records under a key.

        Raises:
            StoreUnavailable: Something did not answer without which they may not be all.
        """
        found = await self._client.activity(LANE, key, user_id=user)
        if away := next((store for store in _NEEDED if store in found.degraded), ""):
            raise StoreUnavailable(away, "did not answer in time, so an item that exists may look as if it did not")
        self._users.setdefault(user)
        return found

    async def _everything(self, user: str) -> tuple[list[KeptItem], list[Namespace]]:
        """Return a user's items and namespaces, each in the order in which they were first put.

        A namespace has a mark, as LangGraph lists it also once its last item is deleted. One whose mark was forgotten,
        as it is read less often than its items, is there as long as these are.
        """
        items: dict[Place, KeptItem] = {}
        first: dict[Namespace, datetime] = {}
        for entry in await self._client.memories(user_id=user, everything=True):
            if not isinstance(entry, Record) or entry.state is not State.CURRENT or entry.lane != LANE:
                continue
            one, mark = kept_item(entry.key, entry.payload), kept_namespace(entry.key, entry.payload)
            if one is not None and (_place(one) not in items or _order(one) > _order(items[_place(one)])):
                items[_place(one)] = one
            if kept := one or mark:
                first[kept.namespace] = min(kept.created, first.get(kept.namespace, kept.created))
        self._users.setdefault(user)
        ordered = sorted(items.values(), key=lambda one: (first[one.namespace], one.created))
        return ordered, sorted(first, key=lambda one: first[one])

    async def _put(self, ops: Sequence[PutOp]) -> None:
        """Put or delete items of one user."""
        user = ops[0].namespace[0]
        await together(*(self._delete(user, op) for op in ops if op.value is None))
        kept = [op for op in ops if op.value is not None]
        there = await together(*(self._exactly(user, item_key(op.namespace, op.key)) for op in kept))
        records = [self._record(op, _latest(found)) for op, found in zip(kept, there, strict=True)]
        namespaces = [*dict.fromkeys(op.namespace for op in kept)]
        marks = await together(*(self._exactly(user, namespace_key(one)) for one in namespaces))
        fresh = [one for one, found in zip(namespaces, marks, strict=True) if not found.items]
        records = [namespace_record(KeptNamespace(namespace=one, created=self._now())) for one in fresh] + records
        for batch in batches(records):
            receipt = await self._client.remember(batch, user_id=user, policy=EXACT_POLICY)
            for told in receipt.items:
                if told.fate is not Fate.SEARCHABLE:
                    raise InvalidInput("value", f"is not kept: {told.reason}")
        # A search would find what was there before in the place of other items.
        await together(*(self._refusal(user, record.id) for found in there for record in found.items))

    def _record(self, op: PutOp, there: KeptItem | None) -> dict[str, Any]:
        now = self._now()
        # Whoever put what this item replaces may have a clock that is ahead; the latest one counts.
        updated = max(now, there.updated + _LATER) if there else now
        value = cast("dict[str, Any]", op.value)
        try:
            one = KeptItem(
                namespace=op.namespace,
                key=op.key,
                value=value,
                created=there.created if there else now,
                updated=updated,
                searched=op.index is not False,
            )
        except ValidationError as error:
            raise InvalidInput("value", "is not JSON", fix="put only what JSON can carry") from error
        if op.index is False:
            return item_record(one, ())
        texts = texts_of(one.value) if op.index is None else _texts_at(one.value, op.index)
        return item_record(one, texts)

    async def _delete(self, user: str, op: PutOp) -> None:
        """Forget an item, with all that was put in its place before."""
        refused: dict[str, InvalidInput] = {}
        while found := (await self._exactly(user, item_key(op.namespace, op.key))).items:
            if still := next((refused[one.id] for one in found if one.id in refused), None):
                raise still
            refused |= {one.id: why for one in found if (why := await self._refusal(user, one.id))}

    async def _refusal(self, user: str, record: str) -> InvalidInput | None:
        """Forget a record; return why it was not, as where somebody else has forgotten it just now."""
        try:
            await self._client.forget(record, user_id=user)
        except InvalidInput as problem:
            return problem
        return None

    def _now(self) -> datetime:
        """Return the moment, later than the one before it: items keep their order by it."""
        self._latest = max(datetime.now(UTC), self._latest + _LATER)
        return self._latest


def _latest(found: RecallResult) -> KeptItem | None:
    """Return what was put last of the items that were found under one key; None: there is none."""
    items = (kept_item(record.key, record.payload) for record in found.items)
    return max((one for one in items if one), key=_order, default=None)


def _order(one: KeptItem) -> tuple[datetime, str]:
    """Return what says which of two items at one place was put last; of the same moment, all readers say the same."""
    return one.updated, json.dumps(one.value, sort_keys=True)


def _place(one: KeptItem) -> Place:
    return one.namespace, one.key


def _item(one: KeptItem) -> Item:
    return Item(
        value=dict(one.value), key=one.key, namespace=one.namespace, created_at=one.created, updated_at=one.updated
    )


def _texts_at(value: dict[str, Any], paths: Iterable[str]) -> list[str]:
    at: Callable[[Any, str], list[str]] = get_text_at_path
    return [text for path in paths for text in at(value, path)]
