"""``python -m worker.http``: the service as a process of its own, beside local servers."""

import sys

from perdure.base_error import PerdureError
from perdure.settings import Settings
from worker.exit import leave_after
from worker.exit_status import Exit, status_of
from worker.http.server import serve


def main() -> int:
    """Serve until SIGTERM; returns the status that this process is to exit with."""
    try:
        serve(Settings())
    except PerdureError as error:
        sys.stderr.write(f"error: {error}\n")
        return status_of(error)
    return Exit.DONE


leave_after(main)
