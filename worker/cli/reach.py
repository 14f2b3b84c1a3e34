"""How the CLI reaches a running Perdure: the settings, the servers' addresses, and a Temporal client."""

from collections.abc import Sequence

from temporalio.client import Client, Plugin

from activities.converter import DATA_CONVERTER
from perdure.errors import StoreUnavailable
from worker.cli.output import say
from worker.servers import ensure, running
from worker.settings import Addresses, Settings, temporal_connect

NOTHING_RUNS = "nothing runs here: start it with 'perdure up', or set the servers' addresses"


def reachable(settings: Settings) -> Addresses:
    """Give the addresses of the servers that run.

    Raises:
        StoreUnavailable: None run.
    """
    addresses = running(settings)
    if addresses is None:
        raise StoreUnavailable("servers", NOTHING_RUNS)
    return addresses


def started(settings: Settings) -> Addresses:
    """Give the addresses of the servers, starting them and a worker if need be, and saying so."""
    addresses = running(settings)
    if addresses is None:
        say("nothing runs yet: starting local servers and a worker (stop them with 'perdure down')")
    return ensure(settings, worker=True, progress=say)


async def connected(addresses: Addresses, *, plugins: Sequence[Plugin] = ()) -> Client:
    """Connect to Temporal, by its own client configuration.

    Raises:
        StoreUnavailable: It does not answer.
    """
    try:
        return await Client.connect(**temporal_connect(addresses), data_converter=DATA_CONVERTER, plugins=list(plugins))
    except RuntimeError as error:
        raise StoreUnavailable("temporal", f"{addresses.temporal} does not answer") from error
