"""The HTTP service where no server answers: for what it decides by itself."""

import httpx2

from perdure.settings import Addresses, Settings
from worker.gateway import Gateway
from worker.http.app import make_app

NOWHERE = Addresses(
    temporal="127.0.0.1:9",
    weaviate_url="http://127.0.0.1:9",
    weaviate_grpc_port=10,
    redis_url="redis://127.0.0.1:9",
)


def client_of(settings: Settings, gateway: Gateway, *, local: bool = True) -> httpx2.AsyncClient:
    """Return a client of the service, which runs in this process."""
    app = make_app(settings, gateway, local=local)
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1")
