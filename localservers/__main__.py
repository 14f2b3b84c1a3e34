"""Gets the binaries of the local servers, so that what needs them later does not wait: ``python -m localservers``."""

import sys

from localservers import find_all
from perdure.errors import PerdureError
from perdure.settings import Settings


def main() -> int:
    """Find or get every server and say which one was taken."""
    try:
        find_all(Settings(), lambda text: print(f"servers: {text}", file=sys.stderr, flush=True))
    except PerdureError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
