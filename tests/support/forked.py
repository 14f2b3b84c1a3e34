"""Asks the server of forks for a command, and is it for whoever started this: its streams, signals and exit.

Imports nothing that takes time: ``python -I -S forked.py SOCKET ARGUMENTS…``.
"""

import json
import os
import signal
import socket
import sys


def main() -> int:
    """Have the command run; returns its exit code."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(sys.argv[1])
        request = {
            "function": "worker.cli.app:main",
            "arguments": sys.argv[2:],
            "environment": dict(os.environ),
            "folder": os.getcwd(),  # noqa: PTH109
        }
        body = json.dumps(request).encode()
        socket.send_fds(server, [len(body).to_bytes(8, "big")], [0, 1, 2])
        server.sendall(body)
        pid = int.from_bytes(server.recv(8), "big")
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda received, _: os.kill(pid, received))
        status = int.from_bytes(server.recv(8), "big", signed=True)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


if __name__ == "__main__":
    os._exit(main())
