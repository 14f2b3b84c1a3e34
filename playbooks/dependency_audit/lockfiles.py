"""Reads lock files: requirements.lock (pip), uv.lock and pylock.toml."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any, cast

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from perdure import InvalidInput, Model


class LockedPackage(Model):
    """One package that a lock file pins."""

    name: str
    """Normalised as PyPI does."""
    version: str


def read_packages(file_name: str, text: str, environment: Mapping[str, str]) -> list[LockedPackage]:
    """Return the packages that a lock file pins for an environment.

    Args:
        file_name: Determines the format: ``….toml`` is PEP 751, ``uv.lock`` is uv's, and any other is pip's.
        text: The content of the file.
        environment: The values of PEP 508 markers, as ``packaging.markers.default_environment`` returns them.

    Raises:
        InvalidInput: The file is not a lock file, or pins nothing for this environment.
    """
    if file_name.endswith("uv.lock") or file_name.endswith(".toml"):
        packages = _from_toml(file_name, text, environment)
    else:
        packages = _from_requirements(file_name, text, environment)
    if not packages:
        raise InvalidInput(file_name, "is not a lock file: it pins no package", fix="use a file with name==version")
    return sorted(set(packages), key=lambda package: (package.name, package.version))


def _from_requirements(file_name: str, text: str, environment: Mapping[str, str]) -> list[LockedPackage]:
    packages: list[LockedPackage] = []
    joined = text.replace("\\\n", " ")
    for number, raw in enumerate(joined.splitlines(), start=1):
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        line = re.sub(r"\s--hash=\S+", "", line).strip()
        if not line or line.startswith("-"):
            continue
        try:
            requirement = Requirement(line)
        except InvalidRequirement as error:
            raise InvalidInput(file_name, f"is not a lock file: requirement {number} cannot be read") from error
        pins = [pin for pin in requirement.specifier if pin.operator in ("==", "===")]
        if len(pins) != 1:
            raise InvalidInput(file_name, f"is not a lock file: {requirement.name} is not pinned with ==")
        if requirement.marker is None or requirement.marker.evaluate(dict(environment)):
            packages.append(LockedPackage(name=canonicalize_name(requirement.name), version=pins[0].version))
    return packages


def _from_toml(file_name: str, text: str, environment: Mapping[str, str]) -> list[LockedPackage]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(file_name, f"is not TOML: {error}") from error
    listed: Any = document.get("packages", document.get("package"))
    if not isinstance(listed, list):
        raise InvalidInput(file_name, "is not a lock file: it has neither [[packages]] nor [[package]]")
    packages: list[LockedPackage] = []
    for entry in cast("list[dict[str, Any]]", listed):
        name, version = entry.get("name"), entry.get("version")
        if not isinstance(name, str):
            raise InvalidInput(file_name, "is not a lock file: a package has no name")
        if isinstance(version, str) and _applies(file_name, entry.get("marker"), environment) and not _is_local(entry):
            packages.append(LockedPackage(name=canonicalize_name(name), version=version))
    return packages


def _applies(file_name: str, marker: object, environment: Mapping[str, str]) -> bool:
    if marker is None:
        return True
    try:
        return Marker(str(marker)).evaluate(dict(environment))
    except InvalidMarker as error:
        raise InvalidInput(file_name, f"has a marker that cannot be read: {marker}") from error


def _is_local(entry: Mapping[str, Any]) -> bool:
    """Return whether this is a project of the workspace, which uv.lock lists among the packages."""
    source = entry.get("source")
    return isinstance(source, dict) and bool({"editable", "virtual", "directory"} & source.keys())
