"""Fixtures that every kind of test shares: the real servers."""

import os
from dataclasses import dataclass

import pytest


@dataclass(frozen=True, kw_only=True)
class Servers:
    """Where the real servers of this test run listen."""

    temporal: str
    weaviate_url: str
    weaviate_grpc_port: int
    redis_url: str


@pytest.fixture(scope="session")
def servers() -> Servers:
    assert os.environ.get("PERDURE_TEST_SERVERS") == "dev"
    return Servers(
        temporal="127.0.0.1:17233",
        weaviate_url="http://127.0.0.1:18080",
        weaviate_grpc_port=18081,
        redis_url="redis://127.0.0.1:16379",
    )
