"""The time as Temporal tells it: by it, too, it is known when something was asked for."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from temporalio import activity

from perdure.memory.clock import machine_time
from perdure.stores.redis.clocks import BOOT_CLOCK


def temporal_clock() -> Callable[[], datetime]:
    """Return what tells the time by Temporal's clock, from when it says that this attempt began.

    What a worker that stood still was given long ago was begun long ago: its machine's own clock tells how late it is.
    """
    began, entered = activity.info().started_time, time.clock_gettime(BOOT_CLOCK)
    return lambda: max(began + timedelta(seconds=time.clock_gettime(BOOT_CLOCK) - entered), machine_time())
