"""Owns the choice of ports: those of last time where they are free, else random ones. Keeps none of them bound."""

import random
import socket
from collections.abc import Callable, Iterable, Mapping

LOWEST, HIGHEST = 20_000, 32_000
"""Below the range that Linux takes outgoing connections' ports from (32768 up), so none of those can
sit on a remembered port by accident."""


def is_free(port: int) -> bool:
    """Say whether nobody listens on this port, on any address of the machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Without it, connections that closed a moment ago keep the port of a server just stopped for a minute.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def choose(
    groups: Iterable[tuple[str, ...]],
    remembered: Mapping[str, int],
    *,
    free: Callable[[int], bool] = is_free,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, int]:
    """Give each name a port of its own.

    Args:
        groups: What needs ports; the names of one group get ports that follow each other.
        remembered: The ports of last time.
        free: Whether a port can be had.
        say: Told when a remembered port is taken.
    """
    chosen: dict[str, int] = {}
    for group in groups:
        first = remembered.get(group[0])
        if first is not None and _fits(first, group, set(chosen.values()), free):
            start = first
        else:
            # A remembered port is no choice for another name either, or two names could swap for good.
            start = _random(group, {*chosen.values(), *remembered.values()}, free)
            if first is not None:
                say(f"port {first} of {group[0]} is taken; using {start} instead")
        chosen |= {name: start + offset for offset, name in enumerate(group)}
    return chosen


def _fits(start: int, group: tuple[str, ...], reserved: set[int], free: Callable[[int], bool]) -> bool:
    return all(port not in reserved and free(port) for port in range(start, start + len(group)))


def _random(group: tuple[str, ...], reserved: set[int], free: Callable[[int], bool]) -> int:
    for start in random.sample(range(LOWEST, HIGHEST), 200):
        if _fits(start, group, reserved, free):
            return start
    raise OSError(f"none of 200 ports between {LOWEST} and {HIGHEST} is free")
