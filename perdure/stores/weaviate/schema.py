"""The collections, one a kind of entry: properties, what is recorded with them, how they are brought up to date."""

from collections.abc import Awaitable, Callable

import weaviate.classes.config as wvc
from pydantic import ValidationError
from weaviate import WeaviateAsyncClient
from weaviate.collections.classes.config import PropertyConfig
from weaviate.collections.classes.config_vector_index import _RQConfigCreate as QuantizerConfig  # pyright: ignore
from weaviate.exceptions import WeaviateBaseError

from perdure.errors import EmbeddingMismatch, SchemaMismatch
from perdure.model import Stored
from perdure.stores.weaviate.mapping import KINDS, WORDS, Kind
from perdure.tolerance import read_back
from perdure.words import ENGLISH

_ANEW = "stop all workers, run 'perdure reconcile --new-collections', and start them: they rebuild it from the journal"
WHO_CREATES = "a worker creates it when it starts"


class Embedding(Stored):
    """How a collection's entries are searched; recorded as the collection's description."""

    name: str
    """The one model whose vectors it holds."""
    dimension: int
    language: str = ENGLISH
    """The language that words are stemmed in."""


def collection_name(prefix: str, kind: Kind) -> str:
    """Return the name of the collection for a kind of entry."""
    return f"{prefix}{kind.capitalize()}"


def erasures_name(prefix: str) -> str:
    """Return the name of the collection of erasures."""
    return f"{prefix}Erasure"


async def prepare(client: WeaviateAsyncClient, name: str, kind: Kind, embedding: Embedding) -> None:
    """Create the collection for a kind of entry, or add the properties that it lacks.

    Raises:
        EmbeddingMismatch: It holds another model's vectors.
        SchemaMismatch: It has a property in another form, which Weaviate cannot change.
    """
    await _created(client, name, lambda: _create(client, name, kind, embedding))
    for one in await lacking(client, name, kind, embedding):
        await client.collections.use(name).config.add_property(one)


async def prepare_erasures(client: WeaviateAsyncClient, prefix: str) -> None:
    """Create the collection of erasures, unless it is there."""
    name = erasures_name(prefix)
    await _created(client, name, lambda: client.collections.create(name, properties=[_kept("line")]))


async def drop(client: WeaviateAsyncClient, prefix: str) -> None:
    """Delete the collections of entries; those of erasures and marks stay."""
    for kind in KINDS:
        await client.collections.delete(collection_name(prefix, kind))


async def _created(client: WeaviateAsyncClient, name: str, create: Callable[[], Awaitable[object]]) -> None:
    if not await client.collections.exists(name):
        try:
            await create()
        except WeaviateBaseError:
            # Another process may have created it between the question and now.
            if not await client.collections.exists(name):
                raise


async def lacking(
    client: WeaviateAsyncClient, name: str, kind: Kind, embedding: Embedding | None
) -> list[wvc.Property]:
    """Return the properties that a collection lacks; changes nothing.

    Args:
        client: The client to ask with.
        name: The collection's name.
        kind: What it holds.
        embedding: The model whose vectors it must hold; None where it is not known.

    Raises:
        EmbeddingMismatch: It holds another model's vectors.
        SchemaMismatch: It has a property in another form, which Weaviate cannot change.
    """
    config = await client.collections.use(name).config.get(simple=True)
    if embedding is not None:
        check(name, config.description, embedding)
    found = {one.name: one for one in config.properties}
    wanted = [*COMMON, *_OF_KIND[kind]]
    if differing := [one.name for one in wanted if one.name in found and not _alike(one, found[one.name])]:
        raise SchemaMismatch(
            f"the collection {name} has {', '.join(differing)} in a form that this build cannot use, and Weaviate "
            f"cannot change it: {_ANEW}"
        )
    return [one for one in wanted if one.name not in found]


def _alike(wanted: wvc.Property, found: PropertyConfig) -> bool:
    """Return whether a property has the type and the indexes that queries need."""
    return (
        wanted.dataType == found.data_type
        and bool(wanted.indexRangeFilters) == bool(found.index_range_filters)
        and (wanted.indexFilterable is not False) == found.index_filterable
        and (wanted.tokenization is None or wanted.tokenization == found.tokenization)
    )


def check(name: str, description: str | None, embedding: Embedding) -> None:
    """Check that a collection holds this model's vectors, and words stemmed in this language.

    Raises:
        EmbeddingMismatch: It was made with another model, or not by Perdure.
        SchemaMismatch: Its words are stemmed in another language.
    """
    try:
        recorded = read_back(Embedding, description or "")
    except ValidationError as error:
        raise EmbeddingMismatch(f"the collection {name} does not say which model made its vectors") from error
    if (recorded.name, recorded.dimension) != (embedding.name, embedding.dimension):
        raise EmbeddingMismatch(
            f"the collection {name} was made with {recorded.name} ({recorded.dimension} numbers), configured is "
            f"{embedding.name} ({embedding.dimension}): set PERDURE_EMBEDDING={recorded.name}, or {_ANEW}"
        )
    if recorded.language != embedding.language:
        raise SchemaMismatch(
            f"the words in the collection {name} are stemmed in {recorded.language}, configured is "
            f"{embedding.language}: set PERDURE_LANGUAGE={recorded.language}, or {_ANEW}"
        )


async def _create(client: WeaviateAsyncClient, name: str, kind: Kind, embedding: Embedding) -> None:
    await client.collections.create(
        name,
        description=embedding.model_dump_json(),
        properties=[*COMMON, *_OF_KIND[kind]],
        # The stems are without stop words already, and other languages' stems may look like English ones.
        inverted_index_config=wvc.Configure.inverted_index(stopwords_preset=wvc.StopwordsPreset.NONE),
        vector_config=wvc.Configure.Vectors.self_provided(
            vector_index_config=wvc.Configure.VectorIndex.flat(
                distance_metric=wvc.VectorDistances.COSINE, quantizer=_quantizer()
            )
        ),
        multi_tenancy_config=wvc.Configure.multi_tenancy(auto_tenant_creation=True, auto_tenant_activation=True),
    )


def _quantizer() -> QuantizerConfig:
    # Flat, because a tenant is one user; on 10,000 vectors RQ takes 2.0 ms and none 5.8 ms. Without its cache, which
    # would save 0.3 ms: 1.35.2 refills it from flushed segments only, so that after a restart, or when a tenant becomes
    # active again, no search by vector finds anything of a user with few memories (5 were lost, 20 were not).
    return wvc.Configure.VectorIndex.Quantizer.rq(cache=False, rescore_limit=100)


def _exact(name: str, data_type: wvc.DataType = wvc.DataType.TEXT) -> wvc.Property:
    return wvc.Property(
        name=name,
        data_type=data_type,
        tokenization=wvc.Tokenization.FIELD,
        index_filterable=True,
        index_searchable=False,
    )


def _kept(name: str) -> wvc.Property:
    return wvc.Property(name=name, data_type=wvc.DataType.TEXT, index_filterable=False, index_searchable=False)


def _ranged(name: str, data_type: wvc.DataType = wvc.DataType.INT) -> wvc.Property:
    # Without the range index a filter on a number costs 30 to 40 ms on 10,000 objects; with it, nothing.
    return wvc.Property(
        name=name, data_type=data_type, index_filterable=False, index_range_filters=True, index_searchable=False
    )


COMMON = (
    _exact("identifier"),
    wvc.Property(
        name=WORDS,
        description="The stems of the text; the only property that is searched by words",
        data_type=wvc.DataType.TEXT,
        tokenization=wvc.Tokenization.WHITESPACE,
        index_filterable=False,
        index_searchable=True,
    ),
    _kept("text"),
    _kept("document"),
    _exact("state"),
    _ranged("confidence", wvc.DataType.NUMBER),
    wvc.Property(name="version", data_type=wvc.DataType.INT, index_filterable=False),
    _ranged("last_seen"),
    wvc.Property(name="recorded_at", data_type=wvc.DataType.INT, index_filterable=False),
    _ranged("valid_until"),
    _ranged("forget_after"),
    _exact("forget_reason"),
    _exact("rules_version"),
    _ranged("purge_after"),
)

_OF_KIND: dict[Kind, tuple[wvc.Property, ...]] = {
    "record": (_exact("lane"), _exact("key"), _exact("task")),
    "memory": (
        _exact("memory_type"),
        _exact("purpose"),
        _exact("task"),
        *(_exact(name, wvc.DataType.TEXT_ARRAY) for name in ("about", "names", "halves", "linked", "scopes", "tags")),
        wvc.Property(name="pinned", data_type=wvc.DataType.BOOL, index_filterable=True),
        _ranged("valid_from"),
    ),
    "turn": (_exact("speaker"),),
}
