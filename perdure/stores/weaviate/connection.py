"""The connection to Weaviate: opened when first needed, checked, every call under a time limit. Knows no entry."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import weaviate
from grpc import StatusCode
from grpc.aio import AioRpcError
from pydantic import SecretStr
from weaviate import WeaviateAsyncClient
from weaviate.classes.init import AdditionalConfig, Auth, Timeout
from weaviate.collections import CollectionAsync
from weaviate.exceptions import (
    AuthenticationFailedError,
    InsufficientPermissionsError,
    UnexpectedStatusCodeError,
    WeaviateBaseError,
)

from perdure.errors import InvalidInput, StoreRefused, StoreUnavailable
from perdure.stores.weaviate import schema
from perdure.stores.weaviate.mapping import KINDS, Kind
from perdure.stores.weaviate.schema import Embedding, collection_name

STORE = "weaviate"
_MISSING_TENANT = "tenant not found"
NO_FILES = "too many open files"
_HEADER = re.compile(r"[!-~]+")

_UP_WITHIN = 2.0
"""Seconds within which a Weaviate that is up says so."""


class MissingTenant(Exception):
    """Nothing was ever written for the tenant, so what was asked for does not exist."""


class Connection:
    """One client for the whole process.

    Args:
        url: Weaviate's HTTP address.
        grpc_port: Its gRPC port on the same host.
        embedding: The model that its collections must hold.
        api_key: A key, if it wants one.
        prefix: What the collections' names begin with.
        open_timeout: Seconds that opening may take.
    """

    def __init__(
        self,
        url: str,
        grpc_port: int,
        *,
        embedding: Embedding,
        api_key: SecretStr | None = None,
        prefix: str = "Perdure",
        open_timeout: float = 10.0,
    ) -> None:
        self._client = make_client(url, grpc_port, api_key=api_key)
        self._embedding = embedding
        self.prefix = prefix
        self._open_timeout = open_timeout
        self._opening = asyncio.Lock()
        # To make one takes .1 ms, and a recall needs five.
        self._collections: dict[Kind, CollectionAsync[Any, Any]] = {}
        self._connected = False
        self._opened = False
        self.used: Callable[[str], None] = lambda _: None
        """Called with each tenant that is asked about or written."""

    async def open(self, *, prepare: bool = False) -> None:
        """Connect, and check that the collections hold the right vectors.

        Args:
            prepare: Whether to create the collections, and to add the properties that they lack. Only a worker's start
                does that: a write must never change the schema.

        Raises:
            StoreUnavailable: Weaviate does not answer, or has no collections yet; a later call tries again.
            EmbeddingMismatch: The collections were made with another model.
            SchemaMismatch: A collection cannot be brought up to what this build needs.
        """
        async with self._opening:
            if self._opened and not prepare:
                return
            async with answered_within(self._open_timeout):
                await self._connect()
                for kind in KINDS:
                    name = collection_name(self.prefix, kind)
                    if prepare:
                        await schema.prepare(self._client, name, kind, self._embedding)
                    else:
                        await self._check(name)
                if prepare:
                    await schema.prepare_erasures(self._client, self.prefix)
            self._opened = True

    async def drop(self) -> None:
        """Delete the collections of entries.

        Raises:
            StoreUnavailable: Weaviate does not answer.
        """
        client = await self.client()
        async with answered_within(self._open_timeout):
            await schema.drop(client, self.prefix)
        self._opened = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
        self._connected = self._opened = False

    async def client(self) -> WeaviateAsyncClient:
        """Return the client, connected; the collections may not be there yet.

        Raises:
            StoreUnavailable: Weaviate does not answer.
        """
        if not self._connected:
            async with self._opening, answered_within(self._open_timeout):
                await self._connect()
        return self._client

    async def is_up(self) -> bool:
        """Return whether Weaviate answers now."""
        try:
            async with answered_within(_UP_WITHIN):
                return await (await self.client()).is_ready()
        except StoreUnavailable:
            return False

    async def collection(self, kind: Kind) -> CollectionAsync[Any, Any]:
        """Return the collection for a kind of entry."""
        if not self._opened:
            await self.open()
        if kind not in self._collections:
            self._collections[kind] = self._client.collections.use(collection_name(self.prefix, kind))
        return self._collections[kind]

    async def of(self, tenant: str, kind: Kind) -> CollectionAsync[Any, Any]:
        """Return one tenant's share of the collection for a kind of entry."""
        collection = await self.collection(kind)
        self.used(tenant)
        return collection.with_tenant(tenant)

    async def _connect(self) -> None:
        if not self._connected:
            await self._client.connect()
            self._connected = True

    async def _check(self, name: str) -> None:
        if not await self._client.collections.exists(name):
            raise StoreUnavailable(STORE, f"has no collection {name} yet; {schema.WHO_CREATES}")
        config = await self._client.collections.use(name).config.get(simple=True)
        schema.check(name, config.description, self._embedding)


async def stored_at(collection: CollectionAsync[Any, Any], place: UUID, properties: list[str]) -> Any | None:
    """Return the object with an id of Weaviate's, whether or not any index has it; None: there is none.

    Every filter asks an index, also one by id, and Weaviate that is killed may lose what an index had. Pages follow one
    another without one, from any place on.
    """
    before = str(UUID(int=place.int - 1))
    found = await collection.query.fetch_objects(limit=1, after=before, return_properties=properties)
    return next((one for one in found.objects if one.uuid == place), None)


def make_client(url: str, grpc_port: int, *, api_key: SecretStr | None = None) -> weaviate.WeaviateAsyncClient:
    """Make a client, which connects to nothing yet.

    Raises:
        InvalidInput: The URL is not an address.
    """
    try:
        parts = urlsplit(url)
        host, port, secure = parts.hostname, parts.port, parts.scheme == "https"
    except ValueError:
        host = port = None
        secure = False
    if not url.startswith(("http://", "https://")) or not host:
        raise InvalidInput("weaviate_url", f"{url} is not an address", fix="write http://host:port")
    if api_key and not _HEADER.fullmatch(api_key.get_secret_value()):
        raise InvalidInput("weaviate_api_key", "has characters that no key has", fix="set PERDURE_WEAVIATE_API_KEY")
    return weaviate.use_async_with_custom(
        http_host=host,
        http_port=port or (443 if secure else 80),
        http_secure=secure,
        grpc_host=host,
        grpc_port=grpc_port,
        grpc_secure=secure,
        auth_credentials=Auth.api_key(api_key.get_secret_value()) if api_key else None,
        # The client's own checks at start also ask a package index for news.
        skip_init_checks=True,
        # Ours are shorter; these only end what was cancelled already.
        additional_config=AdditionalConfig(timeout=Timeout(init=30, query=60, insert=120)),
    )


@asynccontextmanager
async def answered_within(seconds: float) -> AsyncGenerator[None]:
    """Bound the time that a call to Weaviate may take; its client alone would retry for a minute.

    Raises:
        MissingTenant: When the tenant has nothing at all.
        StoreRefused: When the key is refused, or its rights.
        StoreUnavailable: When there is no answer in time, or it is an error.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise StoreUnavailable(STORE, f"no answer within {seconds:g} s") from error
    except WeaviateBaseError as error:
        if _MISSING_TENANT in str(error):
            raise MissingTenant from error
        if NO_FILES in str(error):
            raise StoreUnavailable(STORE, "has too many open files: raise its limit, see docs/memory.md") from error
        if _is_refusal(error):
            fix = "correct PERDURE_WEAVIATE_API_KEY, or the key's rights"
            raise StoreRefused(STORE, type(error).__name__, fix=fix) from error
        # Its own words may quote what was stored; its status does not.
        status = f" {error.status_code}" if isinstance(error, UnexpectedStatusCodeError) else ""
        raise StoreUnavailable(STORE, f"{type(error).__name__}{status}") from error
    except (httpx.HTTPError, OSError) as error:
        raise StoreUnavailable(STORE, type(error).__name__) from error


def _is_refusal(error: WeaviateBaseError) -> bool:
    cause = error.__cause__ or error.__context__
    return (
        isinstance(error, AuthenticationFailedError | InsufficientPermissionsError)
        or (isinstance(error, UnexpectedStatusCodeError) and error.status_code in {401, 403})
        or (isinstance(cause, AioRpcError) and cause.code() is StatusCode.UNAUTHENTICATED)
    )
