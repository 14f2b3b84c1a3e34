"""Whether the audit is intact: compares chains with each other and with what Redis knows. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import Field

from perdure.model import Model
from perdure.stores.audit.chain import Checked
from perdure.stores.audit.lines import AuditHead, AuditKind, AuditLine


class AuditFinding(Model):
    """What is wrong with a file of the audit, or worth knowing."""

    file: str
    line: int = 0
    """Counted from 1; 0: the file as a whole."""
    what: str


class Missing(NamedTuple):
    """The end of a chain, or all of it, that is gone."""

    left: int
    """The last line that is left; 0: the file is gone."""
    head: AuditHead
    """How far the chain is known to have come."""


class AuditReport(Model):
    """What a verification found."""

    files: int
    lines: int
    problems: tuple[AuditFinding, ...] = ()
    """What is missing, or was changed."""
    notes: tuple[AuditFinding, ...] = ()
    """What a kill or the loss of Redis leaves, what was removed on purpose, and losses that a person has accepted."""
    missing: Mapping[str, Missing] = Field(default_factory=dict[str, Missing], exclude=True)
    """Missing ends of files that nobody has accepted."""
    read: Mapping[str, AuditHead] = Field(default_factory=dict[str, AuditHead], exclude=True)
    """The head of each file that has no problem."""


class Witness(NamedTuple):
    """Another chain's or Redis's knowledge that a chain has a line."""

    by: str
    head: AuditHead


def report(
    chains: Mapping[str, Checked],
    known: Collection[AuditHead] | None,
    alive: Collection[str],
    limits: Mapping[str, int],
) -> AuditReport:
    """Return what is wrong with the audit.

    Args:
        chains: Every chain that there is, by its file.
        known: The heads that Redis knows; None: it does not answer.
        alive: The files whose processes still live.
        limits: How many lines of each file were there when the first one was read: what a line says of another file
            counts up to here, since the other one may have been read before.
    """
    problems = [AuditFinding(**problem._asdict()) for chain in chains.values() for problem in chain.problems]
    removed, accepted = removals(chains), acceptances(chains)
    gone: set[str] = set()
    missing: dict[str, Missing] = {}
    losses: list[AuditFinding] = []
    for claim in (*(Witness("Redis", head) for head in known or ()), *claims(chains, limits)):
        head = claim.head
        chain = chains.get(head.file)
        if chain is not None and head.line <= chain.last:
            problems += _contradicted(claim, chain)
        elif chain is None and head.file in removed and removed[head.file].line >= head.line:
            gone.add(head.file)
        elif told := _accepted(accepted.get(head.file, ()), Missing(chain.last if chain else 0, head)):
            losses.append(_loss(claim, chain, f"; {told}"))
        else:
            problems.append(_loss(claim, chain))
            if head.file not in missing or missing[head.file].head.line < head.line:
                missing[head.file] = Missing(chain.last if chain else 0, head)
    notes = [note for chain in chains.values() if (note := _end(chain, alive))]
    notes += [AuditFinding(file=file, what="was removed on purpose") for file in sorted(gone)]
    notes += dict.fromkeys(losses)
    if known is None:
        notes.append(AuditFinding(file="", what=f"Redis does not answer: {_UNKNOWN}"))
    elif chains and not known:
        notes.append(AuditFinding(file="", what=f"Redis knows of no chain, as after its loss: {_UNKNOWN}"))
    wrong = {problem.file for problem in problems}
    sound = {file: chain for file, chain in chains.items() if chain.last and file not in wrong}
    return AuditReport(
        files=len(chains),
        lines=sum(len(chain.macs) for chain in chains.values()),
        problems=tuple(dict.fromkeys(problems)),
        notes=tuple(notes),
        missing=missing,
        read={file: AuditHead(file=file, line=chain.last, mac=chain.macs[chain.last]) for file, chain in sound.items()},
    )


_UNKNOWN = "what was cut off or removed and stands in no other chain does not show"


def claims(chains: Mapping[str, Checked], limits: Mapping[str, int]) -> Iterator[Witness]:
    """Return what chains know of others."""
    for file, chain in chains.items():
        for number, line in chain.lines.items():
            if line.kind in (AuditKind.OPENED, AuditKind.HEADS) and number <= limits.get(file, 0):
                yield from (Witness(f"line {number} of {file}", head) for head in line.heads)


def removals(chains: Mapping[str, Checked]) -> dict[str, AuditHead]:
    """Return the chains that were removed on purpose, by their file, with their last line."""
    removing = (line for chain in chains.values() for line in chain.lines.values() if line.kind is AuditKind.REMOVED)
    return {head.file: head for line in removing for head in line.heads}


def acceptances(chains: Mapping[str, Checked]) -> dict[str, list[AuditLine]]:
    """Return the lines by which a person has accepted a loss, by the file that lost something."""
    found: dict[str, list[AuditLine]] = {}
    for line in (line for chain in chains.values() for line in chain.lines.values()):
        if line.kind is AuditKind.ACCEPTED:
            for head in line.heads:
                found.setdefault(head.file, []).append(line)
    return found


def _accepted(lines: Iterable[AuditLine], missing: Missing) -> str:
    """Return who has accepted this loss, and when; empty: nobody has, or it has grown since."""
    for line in lines:
        # What had nothing left, and came back, is not what was accepted.
        as_much = line.number <= missing.left if line.number else not missing.left
        if as_much and any(missing.head.line <= head.line for head in line.heads):
            return f"{(line.by and line.by.id) or 'somebody'} accepted that on {line.at:%Y-%m-%d %H:%M:%S} UTC"
    return ""


def _loss(claim: Witness, chain: Checked | None, more: str = "") -> AuditFinding:
    head = claim.head
    if chain is None:
        return AuditFinding(file=head.file, what=f"is missing: {claim.by} knows its line {head.line}{more}")
    first = chain.last + 1
    lines = f"line {first} is" if first == head.line else f"lines {first} to {head.line} are"
    return AuditFinding(file=head.file, line=first, what=f"{lines} missing: {claim.by} knows line {head.line}{more}")


def _contradicted(claim: Witness, chain: Checked) -> list[AuditFinding]:
    head = claim.head
    # That a line before it is missing is said already.
    if chain.macs.get(head.line, head.mac) != head.mac:
        return [AuditFinding(file=head.file, line=head.line, what=f"is not the line that {claim.by} knows")]
    return []


def _end(chain: Checked, alive: Collection[str]) -> AuditFinding | None:
    if chain.closed or chain.file in alive:
        return None
    last = chain.lines.get(chain.last)
    when = f" at {last.at:%Y-%m-%d %H:%M:%S} UTC" if last else ""
    torn = ", and half a line is left" if chain.torn else ""
    what = f"ended uncleanly{when}: reads of its last second may be missing{torn}"
    return AuditFinding(file=chain.file, line=chain.last, what=what)
