"""The beginning of the ``perdure`` command: it looks whether the package that it is about to run is Perdure's own."""

import importlib
import json
import signal
import sys
from pathlib import Path
from typing import NoReturn

from perdure.base_error import InvalidInput
from perdure.packages import hidden_packages


def main() -> None:
    """Run the command line; leave with status 2 where a module of somebody's hides the package that it is in."""
    # Loading takes some tenths of a second, in which Ctrl-C would print where it was.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    origin = dict(hidden_packages(Path(__file__).resolve().parent.parent)).get("worker")
    if origin is not None:
        fix = f"rename it, or take its folder off PYTHONPATH and name the file: PERDURE_TOOLS='[\"{origin}\"]'"
        _refuse(InvalidInput(origin, "hides Perdure's own package worker", fix=fix))
    importlib.import_module("worker.cli.app").main()


def _refuse(error: InvalidInput) -> NoReturn:
    """Print an error as commands do, of which none can be loaded, and exit."""
    options = sys.argv[1 : sys.argv.index("--") if "--" in sys.argv else None]
    if "--json" in options:
        told = {"code": error.code, "message": error.message, **error.carried()}
        print(json.dumps({"error": told}, indent=2, ensure_ascii=False))
    else:
        print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
