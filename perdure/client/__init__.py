"""Another installation's memory and tasks, over its HTTP service."""

from perdure.client.blocking_client import BlockingClient
from perdure.client.client import Client

__all__ = ["BlockingClient", "Client"]
