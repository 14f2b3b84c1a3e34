"""Where settings are read from: the environment, the files that it names, and one TOML file."""

import functools
import logging
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from perdure.documents import unreadable
from perdure.errors import InvalidInput
from perdure.modules import MemberName, Module, is_file
from perdure.suggestions import nearest

PREFIX = "PERDURE_"
"""What the variable of each setting begins with."""

_OF_FILE = "_FILE"
"""The end of a variable that names a file with the setting's value."""

_NOT_SETTINGS = ("PERDURE_CONFIG", "PERDURE_CRASH_AT")
"""Variables that are not settings: where the file is, and armed crash points."""

_NOT_OF_SETTINGS = ("PERDURE_SECRET_", "PERDURE_TEST_")
"""How variables begin that are not settings: secrets of tools, and switches of the tests."""

_OF_A_SERVICE = re.compile(
    rf"{PREFIX}(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)"
)
"""Variables that Kubernetes gives to each container for services whose names begin with "perdure"."""

_PORT_OF_A_SERVICE = re.compile(rf"{PREFIX}(?:\w+_)?PORT=(?:tcp|udp|sctp)://.*")
"""One more that it gives, with its value: only that tells it from a setting, or from a misspelt one."""

_log = logging.getLogger(__name__)


def without_services(variables: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return variables without the addresses that Kubernetes gives under names that are settings as well.

    A service called ``perdure-http`` gives ``PERDURE_HTTP_PORT=tcp://10.0.0.7:80``.
    """
    return {
        name: value for name, value in variables.items() if not _PORT_OF_A_SERVICE.fullmatch(f"{name.upper()}={value}")
    }


def without_files(variables: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return variables without those that name files with the values of settings.

    Args:
        variables: Variables of a process.
        names: The names of the settings.
    """
    naming = {PREFIX + name.upper() + _OF_FILE for name in names}
    return {name: value for name, value in variables.items() if name not in naming}


def base_folder(variable: str, fallback: str) -> Path:
    """Return Perdure's folder in an XDG base folder. The specification says to ignore relative ones."""
    chosen = Path(os.environ.get(variable, ""))
    return (chosen if chosen.is_absolute() else Path.home() / fallback) / "perdure"


def warn_of_unknown(names: Iterable[str]) -> None:
    """Warn, once each, of variables that look like settings and are none, with the nearest setting.

    Args:
        names: The names of the settings.
    """
    known = [PREFIX + name.upper() for name in names]
    known += [name + _OF_FILE for name in known]
    for variable, value in os.environ.items():
        is_ours = variable.startswith(PREFIX) and not variable.startswith(_NOT_OF_SETTINGS)
        if is_ours and variable not in {*known, *_NOT_SETTINGS} and not _is_of_a_service(variable, value):
            _warn_once(variable, nearest(variable, known))


def _is_of_a_service(name: str, value: str) -> bool:
    return bool(_OF_A_SERVICE.fullmatch(name) or _PORT_OF_A_SERVICE.fullmatch(f"{name}={value}"))


@functools.cache
def _warn_once(variable: str, known: str) -> None:
    # A variable can be a newer release's, or somebody else's: no reason to stop a worker.
    _log.warning("%s is not a setting, and is ignored (%s)", variable, known)


def read_secrets(names: Sequence[str]) -> dict[str, str]:
    """Return variables whose values are in files, as containers are given secrets: ``PERDURE_REDIS_URL_FILE``.

    Args:
        names: The names of the settings.

    Returns:
        The values by the variables that they stand in for.

    Raises:
        InvalidInput: A file cannot be read, or a setting is given both ways.
    """
    found: dict[str, str] = {}
    for name in names:
        variable = PREFIX + name.upper()
        path = os.environ.get(variable + _OF_FILE)
        if not path:
            continue
        if os.environ.get(variable):
            raise InvalidInput(variable, f"is given, and {variable + _OF_FILE} as well", fix="leave one of them out")
        try:
            found[variable] = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            problem = unreadable(path, error)
            raise InvalidInput(variable + _OF_FILE, f"{path} {problem.problem}", fix=problem.fix) from None
    return found


def settings_file() -> Path | None:
    """Return the one TOML file that settings are read from; None if there is none.

    It is the one that ``$PERDURE_CONFIG`` names, whether or not it is there, otherwise the first that is there of those
    in this folder and in the user's own folder of configuration.
    """
    if chosen := os.environ.get("PERDURE_CONFIG"):
        return None if chosen == os.devnull else Path(chosen)
    folders = (Path(), base_folder("XDG_CONFIG_HOME", ".config"))
    return next((path for folder in folders if _may_be_there(path := folder / "perdure.toml")), None)


def normal(path: Path) -> Path:
    """Return an absolute path without ``..``: two that lead to the same place from different folders are the same."""
    return Path(os.path.normpath(path.absolute()))


def told_file() -> str:
    """Return what a person calls the file of settings: where it is, or the name that it would have."""
    return str(settings_file() or "perdure.toml")


def _may_be_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        # Whoever reads it is told why that cannot be done.
        return True


def read_file(kinds: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in the one TOML file; none if there is no file. Relative paths in it lead from its folder.

    Args:
        kinds: The annotations of the settings, by their names.

    Raises:
        InvalidInput: It cannot be read, or is not TOML, or ``$PERDURE_CONFIG`` names one that is not there.
    """
    path = settings_file()
    if path is None:
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        folder = normal(path).parent
        return {name: _led_from(folder, value, kinds.get(name)) for name, value in found.items()}
    except FileNotFoundError:
        fix = "correct PERDURE_CONFIG, or unset it"
        raise InvalidInput("PERDURE_CONFIG", f"there is no file {path}", fix=fix) from None
    except tomllib.TOMLDecodeError as error:
        fix = 'write name = value, and text in quotes: tools = ["./tools.py"]'
        raise InvalidInput(str(path), f"is not TOML: {error}", fix=fix) from None
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None


_OF_MODULES = {*get_args(Module)[1:], *get_args(MemberName)[1:]}
"""What checks a setting that names a module, or what one defines, such as a model: the module may be a file."""


def _led_from(folder: Path, value: object, kind: Any) -> object:
    """Return the value of a setting in a file in this folder: absolute where it is a relative path."""
    if isinstance(value, list):
        return [_led_from(folder, one, kind) for one in cast("list[object]", value)]
    if not isinstance(value, str) or not value or value.startswith("~"):
        return value
    parts = {*_parts(kind)}
    if Path in parts or (parts & _OF_MODULES and is_file(value.partition(":")[0])):
        return str(normal(folder / value))
    return value


def _parts(kind: Any) -> Iterator[Any]:
    """Return what an annotation is made of: ``tuple[Annotated[Path, …], …]``."""
    yield kind
    for inner in get_args(kind):
        yield from _parts(inner)
