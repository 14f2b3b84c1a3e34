"""The connection to Temporal, by its own client configuration and with our data converter. Starts nothing."""

from collections.abc import Sequence

from temporalio.client import Client, Plugin

from activities.converter import DATA_CONVERTER
from perdure.errors import StoreUnavailable
from worker.settings import Addresses, temporal_connect


async def connected(addresses: Addresses, *, plugins: Sequence[Plugin] = ()) -> Client:
    """Connect to Temporal.

    Raises:
        StoreUnavailable: It does not answer.
    """
    try:
        return await Client.connect(**temporal_connect(addresses), data_converter=DATA_CONVERTER, plugins=list(plugins))
    except RuntimeError as error:
        raise StoreUnavailable("temporal", f"{addresses.temporal} does not answer") from error
