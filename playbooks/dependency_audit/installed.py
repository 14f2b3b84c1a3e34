"""Inspects an installed package: version, licence, size, and each file against its RECORD."""

import base64
import hashlib
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from perdure import Model

_SPOKEN = {
    "apache software license": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "mit license": "MIT",
    "isc license (iscl)": "ISC",
    "isc license": "ISC",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
}
"""Names that packages use for licences, where they mean exactly one SPDX identifier. "BSD" alone could be several."""


class Inspection(Model):
    """What is installed under a package's name."""

    name: str
    installed: str
    """The installed version; empty if it is not installed."""
    licence: str
    """An SPDX expression; empty if the metadata is ambiguous."""
    stated: str
    """What the metadata says, shortened."""
    bytes: int
    files: int
    altered: tuple[str, ...]
    """Files that are missing or differ from RECORD, at most 10."""


def inspect(name: str) -> Inspection:
    """Inspect an installed package, reading all of its files."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return Inspection(name=name, installed="", licence="", stated="", bytes=0, files=0, altered=())
    licence, stated = read_licence(found)
    size, files, altered = _verify(found)
    return Inspection(
        name=name,
        installed=found.version,
        licence=licence,
        stated=stated[:80],
        bytes=size,
        files=files,
        altered=tuple(altered[:10]),
    )


def read_licence(found: Distribution) -> tuple[str, str]:
    """Return the licence as an SPDX expression, empty if ambiguous, and what the metadata says."""
    metadata = found.metadata
    said = [*(metadata.get_all("License-Expression") or []), *(metadata.get_all("License") or [])]
    said += [
        classifier.rpartition(" :: ")[2]
        for classifier in metadata.get_all("Classifier") or []
        if classifier.startswith("License :: OSI Approved :: ")
    ]
    stated = [text.strip().splitlines()[0] for text in said if text and text.strip()]
    for text in stated:
        if (spoken := _SPOKEN.get(text.casefold())) is not None:
            return spoken, text
        if re.fullmatch(r"[A-Za-z0-9.+() -]{2,80}", text):
            try:
                return str(canonicalize_license_expression(text)), text
            except InvalidLicenseExpression:
                continue
    return "", "; ".join(stated)


def _verify(found: Distribution) -> tuple[int, int, list[str]]:
    size, files = 0, 0
    altered: list[str] = []
    for entry in found.files or []:
        if entry.hash is None:
            # RECORD itself, and bytecode compiled after the installation, have no hash.
            continue
        path = Path(str(found.locate_file(entry)))
        try:
            with path.open("rb") as file:
                seen = hashlib.file_digest(file, entry.hash.mode).digest()
                size += file.tell()
        except OSError:
            altered.append(str(entry))
            continue
        files += 1
        if base64.urlsafe_b64encode(seen).rstrip(b"=").decode() != entry.hash.value:
            altered.append(str(entry))
    return size, files, altered
