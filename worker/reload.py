"""Restart the worker when your own code changes: for writing tools, not for production."""

import asyncio
import importlib.util
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from localservers.files import written_at
from perdure.frames import is_library
from perdure.modules import is_file

LOOKS_EVERY = 0.3
"""Seconds between two looks at the files; a choice. An editor that writes a file in two steps is done after one."""

Sources = dict[Path, int]
"""When each file was last written, in nanoseconds."""


def sources(tools: Iterable[str]) -> Sources:
    """Return the files of one's own that this process has loaded, and those of modules that it could not load.

    Args:
        tools: The modules with tools, by import path or file.
    """
    loaded = [(name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items())]
    paths = {Path(file) for name, file in loaded if file and not is_library(Path(file), name)}
    for name in tools:
        if is_file(name):
            paths.add(Path(name))
        # Whatever is wrong with a package above a module, its name alone says nothing about where it is.
        with suppress(Exception):
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.origin and not is_library(Path(spec.origin), name):
                paths.add(Path(spec.origin))
    return {path: written_at(path) for path in paths}


async def changed(tools: Iterable[str], known: Sources) -> Path:
    """Wait until a file has changed since it was first seen, and is no longer being written; return it.

    Args:
        tools: The modules with tools.
        known: What was seen before anything of them was loaded.
    """
    while True:
        await asyncio.sleep(LOOKS_EVERY)
        now = sources(tools)
        # What is loaded later is none that has changed.
        known = now | known
        differing = [path for path in now if now[path] and now[path] != known[path]]
        if differing:
            await asyncio.sleep(LOOKS_EVERY)
            if sources(tools) == now:
                return differing[0]


def begin_anew() -> NoReturn:
    """Replace this process by one that was started in the same way."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
