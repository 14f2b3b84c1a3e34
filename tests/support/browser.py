"""A headless Chromium that takes pictures, driven through its debugging pipe: no library, and no port."""

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome")
_WITHIN = 30.0
_SETTLES = 3.0
"""Seconds that a page has to draw what it has fetched; nothing tells when a page of others is done."""


def found() -> str:
    """Return the path of a Chromium of this machine: ``CHROMIUM``, or one on PATH; ends the process without one."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    return path or sys.exit(f"no Chromium: install one ({', '.join(NAMES)}), or set CHROMIUM to its path")


class Browser:
    """A running browser."""

    def __init__(self, program: str) -> None:
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe")
        # It reads commands from descriptor 3, and answers on 4.
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "bash", program, *options, "about:blank"],
            pass_fds=(commands, answers),
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._calls = 0
        self._read = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def shoot(self, address: str, picture: Path, *, size: tuple[int, int], until: str) -> None:
        """Take a picture of what an address shows, once it shows a text."""
        target = self._call("Target.createTarget", url=address)["targetId"]
        session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        shape = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", session, **shape)
        end, shown = time.monotonic() + _WITHIN, ""
        while until not in shown:
            if time.monotonic() > end:
                sys.exit(f"{address} never showed {until!r}, but: {shown[:500]}")
            time.sleep(0.2)
            said = self._call("Runtime.evaluate", session, expression="document.body.innerText")
            shown = str(said["result"].get("value", ""))
        time.sleep(_SETTLES)
        taken = self._call("Page.captureScreenshot", session, format="png")["data"]
        picture.write_bytes(base64.b64decode(taken))

    def _call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        self._calls += 1
        message = {"id": self._calls, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._read:
                if not (more := os.read(self._from, 65_536)):
                    sys.exit("the browser has ended")
                self._read += more
            one, _, self._read = self._read.partition(b"\0")
            answer: dict[str, Any] = json.loads(one)
            if answer.get("id") == self._calls:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
