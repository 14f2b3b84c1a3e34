"""The connection to Weaviate: opened when first needed, checked, every call under a time limit. Knows no entry."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import weaviate
from weaviate.classes.init import AdditionalConfig, Auth, Timeout
from weaviate.collections import CollectionAsync
from weaviate.exceptions import UnexpectedStatusCodeError, WeaviateBaseError

from perdure.errors import InvalidInput, StoreUnavailable
from perdure.stores.weaviate.schema import KINDS, Embedding, Kind, check, collection_name, create

STORE = "weaviate"
_MISSING_TENANT = "tenant not found"


class MissingTenant(Exception):
    """A tenant that nothing was ever written for: what was asked for is not there."""


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
        api_key: str | None = None,
        prefix: str = "Perdure",
        open_timeout: float = 10.0,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InvalidInput("weaviate url", f"{url} is no address", fix="write http://host:port")
        secure = parts.scheme == "https"
        self._client = weaviate.use_async_with_custom(
            http_host=parts.hostname,
            http_port=parts.port or (443 if secure else 80),
            http_secure=secure,
            grpc_host=parts.hostname,
            grpc_port=grpc_port,
            grpc_secure=secure,
            auth_credentials=Auth.api_key(api_key) if api_key else None,
            # The client's own checks at start also ask a package index for news.
            skip_init_checks=True,
            # Ours are shorter; these only end what was cancelled already.
            additional_config=AdditionalConfig(timeout=Timeout(init=30, query=60, insert=120)),
        )
        self._embedding = embedding
        self._prefix = prefix
        self._open_timeout = open_timeout
        self._opening = asyncio.Lock()
        self._opened = False

    async def open(self) -> None:
        """Connect, and make the collections or check that they hold the right vectors.

        Raises:
            StoreUnavailable: When Weaviate does not answer; a later call tries again.
            EmbeddingMismatch: When the collections were made with another model.
        """
        async with self._opening:
            if self._opened:
                return
            async with asking(self._open_timeout):
                await self._client.connect()
                for kind in KINDS:
                    await self._provide(kind)
            self._opened = True

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()
        self._opened = False

    async def collection(self, kind: Kind) -> CollectionAsync[Any, Any]:
        """Give the collection for a kind of entry."""
        if not self._opened:
            await self.open()
        return self._client.collections.use(collection_name(self._prefix, kind))

    async def _provide(self, kind: Kind) -> None:
        name = collection_name(self._prefix, kind)
        if not await self._client.collections.exists(name):
            try:
                await create(self._client, name, kind, self._embedding)
            except WeaviateBaseError:
                # Another process may have made it between the question and now.
                if not await self._client.collections.exists(name):
                    raise
        config = await self._client.collections.use(name).config.get(simple=True)
        check(name, config.description, self._embedding)


@asynccontextmanager
async def asking(seconds: float) -> AsyncGenerator[None]:
    """Wait for Weaviate's answer, but not for ever: the client alone would retry for a minute.

    Raises:
        MissingTenant: When the tenant has nothing at all.
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
        # Its own words may quote what was stored; its status does not.
        status = f" {error.status_code}" if isinstance(error, UnexpectedStatusCodeError) else ""
        raise StoreUnavailable(STORE, f"{type(error).__name__}{status}") from error
    except (httpx.HTTPError, OSError) as error:
        raise StoreUnavailable(STORE, type(error).__name__) from error
