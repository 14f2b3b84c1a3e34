"""The connection to Temporal, by its own client configuration and with our data converter. Starts nothing."""

from collections.abc import Sequence

from temporalio.client import Client, Plugin

from activities.converter import DATA_CONVERTER
from perdure.errors import StoreUnavailable
from worker.settings import Addresses, temporal_connect


async def connected(addresses: Addresses, *, plugins: Sequence[Plugin] = (), lazy: bool = False) -> Client:
    """Connect to Temporal.

    Args:
        addresses: Where it is.
        plugins: As the SDK takes them.
        lazy: Whether only the first call connects, and finds out whether it answers.

    Raises:
        StoreUnavailable: It does not answer.
    """
    try:
        return await Client.connect(
            **temporal_connect(addresses), data_converter=DATA_CONVERTER, plugins=list(plugins), lazy=lazy
        )
    except RuntimeError as error:
        raise StoreUnavailable("temporal", f"{addresses.temporal} does not answer") from error
