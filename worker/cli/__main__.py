"""``python -m worker.cli``: the same command where its script is not on the path."""

from worker.cli.app import main

main()
