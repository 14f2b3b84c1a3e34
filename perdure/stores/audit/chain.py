"""How lines are chained, and what shows that a chain was tampered with. Pure: bytes and values, no file."""

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from perdure.stores.audit.lines import AuditHead, AuditKind, AuditLine, decode, encode

LABEL = "audit/1"
"""Distinguishes the key of the chains from all others that are derived from the tenant key."""

_LINE = re.compile(rb'(\{"n":([1-9]\d{0,11}),"line":(\{.*\})),"mac":"([0-9a-f]{64})"\}')


class Problem(NamedTuple):
    """A sign that a file is not as it was written."""

    file: str
    line: int
    """The line, counted from 1; 0: the file as a whole."""
    what: str


class Checked(NamedTuple):
    """A chain as its file has it."""

    file: str
    macs: Mapping[int, str]
    """The HMAC of each line that is there."""
    lines: Mapping[int, AuditLine]
    """The intact lines, as far as this build understands them."""
    problems: tuple[Problem, ...]
    torn: bool
    """Whether the last line is half written."""

    @property
    def last(self) -> int:
        """The number of the last line; 0: there is none."""
        return max(self.macs, default=0)

    @property
    def closed(self) -> bool:
        """Whether its process ended the chain."""
        return self.last in self.lines and self.lines[self.last].kind is AuditKind.CLOSED


def root(key: bytes, file: str) -> AuditHead:
    """Return what the first line of a file is chained to, so that no file can be renamed unnoticed."""
    return AuditHead(file=file, line=0, mac=_mac(key, b"", file.encode()))


def chained(key: bytes, head: AuditHead, lines: Iterable[AuditLine]) -> tuple[bytes, AuditHead]:
    """Return lines as they are written after a head, and the head afterwards."""
    content: list[bytes] = []
    number, mac = head.line, head.mac
    for line in lines:
        number += 1
        text = b'{"n":%d,"line":%b' % (number, encode(line))
        mac = _mac(key, mac.encode(), text)
        content.append(b'%b,"mac":"%b"}\n' % (text, mac.encode()))
    return b"".join(content), AuditHead(file=head.file, line=number, mac=mac)


def body_of(raw: bytes) -> bytes | None:
    """Return the content of a written line, unchecked; None if it is not a line."""
    match = _LINE.fullmatch(raw)
    return match[3] if match else None


def check(key: bytes, file: str, content: bytes) -> Checked:
    """Check a chain by itself. A missing end shows only by comparison with a later head."""
    *raws, rest = content.split(b"\n")
    problems: list[Problem] = []
    found: list[tuple[int, bytes, bytes, str]] = []
    for place, raw in enumerate(raws, 1):
        if match := _LINE.fullmatch(raw):
            found.append((int(match[2]), match[1], match[3], match[4].decode()))
        else:
            problems.append(Problem(file, place, "is no line of the audit any more"))
    macs: dict[int, str] = {0: root(key, file).mac}
    for number, _, _, mac in found:
        macs.setdefault(number, mac)
    lines: dict[int, AuditLine] = {}
    for number, text, body, mac in found:
        # Lines after a missing one cannot be checked; the missing line is reported below.
        if (before := macs.get(number - 1)) is None:
            continue
        if not hmac.compare_digest(mac, _mac(key, before.encode(), text)):
            problems.append(Problem(file, number, "is not as it was written"))
        elif (line := decode(body)) is not None:
            lines[number] = line
    numbers = [number for number, *_ in found]
    problems += [Problem(file, one, "stands in another place") for before, one in pairwise(numbers) if one <= before]
    unreadable = {problem.line for problem in problems}
    gone = [one for one in range(1, max(numbers, default=0)) if one not in macs and one not in unreadable]
    problems += [Problem(file, one, "is missing") for one in gone]
    closing = [number for number, line in lines.items() if line.kind is AuditKind.CLOSED]
    problems += [Problem(file, one + 1, "follows the closing line") for one in closing if one + 1 in macs]
    return Checked(
        file, {one: mac for one, mac in macs.items() if one}, lines, tuple(dict.fromkeys(problems)), bool(rest)
    )


def _mac(key: bytes, before: bytes, text: bytes) -> str:
    return hmac.new(key, before + text, hashlib.sha256).hexdigest()
