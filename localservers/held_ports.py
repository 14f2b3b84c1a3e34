"""Ports that a fleet keeps while their server is stopped: no other fleet of this machine takes them meanwhile."""

import errno
import socket
import sys
from collections.abc import Collection


class HeldPorts:
    """The ports that one fleet holds, until it lets go of them or its process ends.

    Linux has names for sockets that need no file and end with their process; elsewhere, nothing is held.
    """

    def __init__(self) -> None:
        self._held: dict[int, socket.socket] = {}

    def hold(self, port: int) -> bool:
        """Hold a port; return whether that was possible, as no other fleet holds it."""
        if port in self._held or sys.platform != "linux":
            return True
        named = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            named.bind(f"\0perdure-port-{port}")
        except OSError as error:
            named.close()
            return error.errno != errno.EADDRINUSE
        self._held[port] = named
        return True

    def keep(self, ports: Collection[int]) -> None:
        """Release all other ports."""
        for port in self._held.keys() - set(ports):
            self._held.pop(port).close()
