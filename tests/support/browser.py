"""A headless Chromium of this machine, driven by Playwright: never downloaded."""

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")

_OPTIONS = (
    # Containers run as root, which its sandbox refuses.
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    # It is to ask nobody but the service that is looked at.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)


class NoBrowser(Exception):
    """There is no Chromium on this machine."""


def found() -> str:
    """Return the path of a Chromium of this machine: ``CHROMIUM``, or one on PATH.

    Raises:
        NoBrowser: There is none; says what to do.
    """
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise NoBrowser(
            f"no Chromium ({', '.join(NAMES)}): install one, on Debian by 'apt-get install chromium', or set CHROMIUM "
            "to its path"
        )
    return path


@asynccontextmanager
async def chromium() -> AsyncGenerator[Browser]:
    """Run a browser for as long as the block lasts.

    Raises:
        NoBrowser: There is none on this machine.
    """
    program = found()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=_OPTIONS)
        try:
            yield browser
        finally:
            await browser.close()
