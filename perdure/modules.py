"""Python modules that people name: by their import path, or by their file."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from perdure.errors import InvalidInput
from perdure.identity import digest
from perdure.packages import PACKAGES


def is_file(name: str) -> bool:
    """Return whether somebody names a module by its file."""
    return name.endswith(".py") or "/" in name


def module_of(name: str, field: str) -> ModuleType:
    """Import a module.

    Args:
        name: Its import path, such as ``shop.tools``, or its file, such as ``./tools.py``: it is then loaded under a
            name of its own, whatever else is called so.
        field: What names it, for errors.

    Raises:
        InvalidInput: It cannot be imported; with the reason, and where a module of Perdure's has its name, how to
            name it.
    """
    path, of_file = Path(name).expanduser(), is_file(name)
    try:
        return _of_file(path.resolve()) if of_file else importlib.import_module(name)
    # Whatever goes wrong while a module is imported, also where it leaves the process, the error names the module.
    except (Exception, SystemExit) as problem:
        top = name.partition(".")[0]
        if of_file and isinstance(problem, FileNotFoundError):
            text, fix = f"there is no file {path}", "give a path from the worker's folder, or an absolute one"
        else:
            text = f"cannot be imported: {type(problem).__name__}: {problem}"
            missing = isinstance(problem, ImportError) and not of_file
            fix = "install it, put its folder on PYTHONPATH, or name its file" if missing else ""
        if top in PACKAGES:
            fix = f"a package of Perdure's is called {top}: name the file instead, such as ./{top}.py"
        raise InvalidInput(field, text, fix=fix) from problem


def _of_file(path: Path) -> ModuleType:
    name = f"perdure_file_{digest('module/1', str(path))[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    path.stat()
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Before it runs: what it defines looks itself up by its module's name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
