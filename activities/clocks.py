"""The time as Temporal tells it: by it, too, it is known when something was asked for."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from temporalio import activity


def temporal_clock() -> Callable[[], datetime]:
    """Return what tells the time by Temporal's clock, from when it says that this attempt began."""
    began, entered = activity.info().started_time, time.monotonic()
    return lambda: began + timedelta(seconds=time.monotonic() - entered)
