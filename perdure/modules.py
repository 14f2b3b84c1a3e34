"""Python modules that people name: by their import path, or by their file, which may import those beside it."""

import importlib
import importlib.util
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ValidationError

from perdure.documents import refused
from perdure.errors import InvalidInput
from perdure.frames import class_of, frames_of, own, said_by
from perdure.identity import digest
from perdure.packages import PACKAGES

_PATH_LEADS = (
    "correct the path: a relative one leads from the folder of perdure.toml if it is written there, and otherwise from "
    "the folder in which the command runs"
)

_FORMS = "give the import path of a module, such as shop.tools, or its file, such as ./tools.py"


def is_file(name: str) -> bool:
    """Return whether somebody names a module by its file."""
    return name.endswith(".py") or "/" in name


def expanded(path: Path) -> Path:
    """Return an absolute path, with a home folder instead of ``~``.

    Raises:
        ValueError: It names the home of nobody who is known here.
    """
    return _from_home(path).absolute()


def _from_home(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError(f"nobody is known here whose home is {path.parts[0]} (give the whole path)") from None


def _found_anywhere(module: str) -> str:
    return str(expanded(Path(module))) if is_file(module) else module


Module = Annotated[str, AfterValidator(_found_anywhere)]
"""A Python module: its import path, or its file."""


def _member_found_anywhere(name: str) -> str:
    module, colon, member = name.partition(":")
    return f"{_found_anywhere(module)}{colon}{member}"


MemberName = Annotated[str, AfterValidator(_member_found_anywhere)]
"""What a module defines: ``<module>:<name>``."""

ModelName = Annotated[str, AfterValidator(_member_found_anywhere)]
"""A model: ``openai:<model>``, or ``<module>:<model>`` of a provider of one's own (see docs/models.md)."""


def require_model_form(name: str, field: str, error: type[InvalidInput] = InvalidInput) -> None:
    """Check that a model is named as one can be; whether there is such a model, only its provider knows.

    Args:
        name: ``openai:<model>``, ``<module>:<model>``, or nothing: whoever names none is given another.
        field: What names it, for errors.
        error: What to raise.

    Raises:
        InvalidInput: It is not; of the class ``error``.
    """
    provider, _, model = name.partition(":")
    if name and not (provider and model):
        fix = "write openai:<model>, <module>:<model> of a provider of your own, or leave it empty"
        raise error(field, f"there is no model {name!r}", fix=fix)


@contextmanager
def printing_aside() -> Generator[None]:
    """Have what the code of others prints, while it is loaded, go to stderr: on stdout a script reads results."""
    with redirect_stdout(sys.stderr):
        yield


def module_of(name: str, field: str) -> ModuleType:
    """Import a module. What it prints meanwhile goes to stderr.

    Args:
        name: Its import path, such as ``shop.tools``, or its file, such as ``./tools.py``: it is then loaded under a
            name of its own, whatever else is called so, and imports modules beside it by their names.
        field: What names it, for errors.

    Raises:
        InvalidInput: It cannot be imported; with the reason, the line, and where another module has its name, or that
            of one beside it, what to do.
    """
    of_file = is_file(name)
    try:
        path = _from_home(Path(name))
    except ValueError as problem:
        raise InvalidInput(field, str(problem)) from None
    if not of_file and "" in name.split("."):
        raise InvalidInput(field, f"{name!r} names no module", fix=_FORMS)
    try:
        with printing_aside():
            return _of_file(path.resolve()) if of_file else importlib.import_module(name)
    except _Ambiguous as problem:
        raise InvalidInput(
            field, str(problem), fix="rename one of them, or name one file of tools that imports both"
        ) from None
    # Whatever goes wrong while a module is imported, also where it leaves the process, the error names the module.
    except (Exception, SystemExit) as problem:
        top = name.partition(".")[0]
        if of_file and isinstance(problem, FileNotFoundError):
            text, fix = f"there is no file {path}", _PATH_LEADS
        elif isinstance(problem, _NotPython):
            text, fix = f"{path} is no Python file", _FORMS
        elif isinstance(problem, ValidationError):
            # What is made as the module is loaded, a limit say, is refused in pydantic's words.
            said = refused(problem, BaseModel, problem.title)
            text, fix = f"cannot be imported: {said.field}: {said.problem}{_place(problem)}", said.fix
        else:
            text = f"cannot be imported: {class_of(problem)}: {said_by(problem)}{_place(problem)}"
            fix = _why_missing(problem, path.resolve() if of_file else None)
        if top in PACKAGES:
            fix = f"a package of Perdure's is called {top}: name the file instead, such as ./{top}.py"
        raise InvalidInput(field, text, fix=fix) from problem


class _NotPython(Exception):
    """A file that Python cannot load as a module, or a folder."""


class _Ambiguous(Exception):
    """Two files of tools have a module of the same name beside them, and Python loads one."""


def _place(problem: BaseException) -> str:
    """Return the line of one's own that raised it; empty: there is none, or Python says it by itself."""
    if isinstance(problem, SyntaxError):
        return ""
    # Python's own importing has no file.
    return next((f" ({frame.told})" for frame in own(frames_of(problem)) if not frame.file.startswith("<")), "")


def _why_missing(problem: BaseException, path: Path | None) -> str:
    """Return what to do about an import that failed; empty: the problem says it.

    Args:
        problem: How it failed.
        path: The file of the module; None: it was named by its import path.
    """
    if path is not None:
        # A module of that name that is installed, or Perdure's own, comes before the one beside the file.
        for name in _beside(path):
            found = getattr(sys.modules.get(name), "__file__", None) or ""
            hidden = name in sys.modules and not Path(found).is_relative_to(path.parent)
            if hidden and re.search(rf"\b{name}\b", said_by(problem)):
                return f"another module is called {name}, and comes before the one beside {path.name}: rename yours"
    if not isinstance(problem, ImportError):
        return ""
    if path is not None:
        return "install it, or put it beside the file, or its folder on PYTHONPATH"
    return "install it, put its folder on PYTHONPATH, or name its file"


def _beside(path: Path) -> set[str]:
    """Return the names of the modules beside a file."""
    files = {one.stem for one in path.parent.glob("*.py") if one != path}
    return (files | {one.parent.name for one in path.parent.glob("*/__init__.py")}) - {"__init__"}


def _see_beside(path: Path) -> None:
    """Have a file find the modules beside it, also those that its functions import later.

    Raises:
        _Ambiguous: One of them has the name of one that is beside another such file, and is loaded.
    """
    folder = str(path.parent)
    for name in sorted(_beside(path)) if _FOLDERS - {folder} else ():
        found = Path(getattr(sys.modules.get(name), "__file__", None) or "")
        if any(found.is_relative_to(other) for other in _FOLDERS - {folder}) and not found.is_relative_to(folder):
            raise _Ambiguous(f"has the module {name} beside it, and {found} of the same name is loaded already")
    _FOLDERS.add(folder)
    if folder not in sys.path:
        # At the end: it hides nothing that is installed, and no package of Perdure's.
        sys.path.append(folder)


_FOLDERS: set[str] = set()
"""The folders of the files that were loaded."""


def _of_file(path: Path) -> ModuleType:
    name = f"perdure_file_{digest('module/1', str(path))[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    path.stat()
    _see_beside(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise _NotPython
    module = importlib.util.module_from_spec(spec)
    # Before it runs: what it defines looks itself up by its module's name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
