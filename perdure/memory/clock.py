"""The time on this machine, for whoever is not told by which clock something was asked for."""

from datetime import UTC, datetime
from functools import partial

machine_time = partial(datetime.now, UTC)
"""Returns the time."""
