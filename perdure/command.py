"""The beginning of the ``perdure`` command: it looks whether the package that it is about to run is Perdure's own."""

import importlib
import signal
import sys
from pathlib import Path

from perdure.packages import hidden_packages


def main() -> None:
    """Run the command line; leave with status 2 where a module of somebody's hides the package that it is in."""
    # Loading takes some tenths of a second, in which Ctrl-C would print where it was.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    origin = dict(hidden_packages(Path(__file__).resolve().parent.parent)).get("worker")
    if origin is not None:
        fix = f"rename it, or take its folder off PYTHONPATH and name the file: PERDURE_TOOLS='[\"{origin}\"]'"
        sys.stderr.write(f"{origin}: hides Perdure's own package worker ({fix})\n")
        sys.exit(2)
    importlib.import_module("worker.cli.app").main()
