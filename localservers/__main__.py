"""Installs the binaries of the local servers in advance: ``python -m localservers``."""

import sys

from localservers import find_all
from perdure.errors import PerdureError
from perdure.settings import Settings


def main() -> int:
    """Find or install every server, and print which binary is used."""
    try:
        find_all(Settings(), lambda text: print(f"servers: {text}", file=sys.stderr, flush=True))
    except PerdureError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
