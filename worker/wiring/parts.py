"""What services are made of, from the settings."""

from redis.asyncio import Redis

from perdure.models.embedding import Embedder, open_embedder
from perdure.models.language import LanguageModels
from perdure.settings import Addresses, Settings
from perdure.stores.redis.open_tenants import ActiveTenants
from perdure.stores.weaviate.open_tenants import most_active
from perdure.stores.weaviate.schema import Embedding
from perdure.stores.weaviate.store import LongTerm

WRITE_SECONDS = 3.0
"""The longest that one write of 50 objects to Weaviate may take (0.03 s measured); twice that must be left of the
10 s that a lease lasts."""


def embedder_of(settings: Settings) -> Embedder:
    """Open the embedding model.

    Raises:
        InvalidInput: It is not there.
    """
    api_key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    return open_embedder(settings.embedding, api_key=api_key, base_url=settings.openai_base_url)


def longterm_of(settings: Settings, addresses: Addresses, redis: Redis, embedder: Embedder) -> LongTerm:
    """Return long-term memory, which connects when first asked."""
    return LongTerm(
        addresses.weaviate_url,
        addresses.weaviate_grpc_port,
        embedding=Embedding(name=embedder.name, dimension=embedder.dimension, language=settings.language),
        api_key=addresses.weaviate_api_key,
        write_timeout=WRITE_SECONDS,
        active=ActiveTenants(redis),
        most_active=most_active(addresses.weaviate_open_files),
    )


def models_of(settings: Settings) -> LanguageModels:
    """Return the language models that the settings' server has."""
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    return LanguageModels(
        settings.model,
        api=settings.model_api,
        api_key=key,
        base_url=settings.openai_base_url,
        timeout=settings.model_timeout,
        summarizing=settings.summary_model,
    )
