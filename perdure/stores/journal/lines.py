"""What the mirror's lines say, and how they are written. Pure: bytes and values, no file."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from perdure.episodes import Episode
from perdure.jobs import Batch
from perdure.model import Instant, Model, Stored


class BatchLine(Stored):
    """A batch was accepted."""

    kind: Literal["batch"] = "batch"
    job_id: str
    batch: Batch
    at: Instant


class DeletionLine(Stored):
    """Something was forgotten: a line of the deletion log."""

    kind: Literal["deletion"] = "deletion"
    ids: Annotated[tuple[str, ...], Field(min_length=1)]
    """The records and memories that it is about."""
    reason: str
    at: Instant
    occurrences: tuple[str, ...] = ()
    """The observations that supported them, so that the same ones cannot bring them back."""


class RestorationLine(Stored):
    """Forgetting was undone: earlier deletion lines about these ids count no longer."""

    kind: Literal["restoration"] = "restoration"
    ids: Annotated[tuple[str, ...], Field(min_length=1)]
    run: str = ""
    """The forgetting run that was undone."""
    at: Instant


class EpisodeLine(Stored):
    """An episode that waits for Redis to come back."""

    kind: Literal["episode"] = "episode"
    session: str
    episode: Episode


MirrorLine = Annotated[BatchLine | DeletionLine | RestorationLine | EpisodeLine, Field(discriminator="kind")]
"""Anything that the mirror keeps."""


class MirrorView(Model):
    """A tenant's lines, oldest first."""

    lines: tuple[MirrorLine, ...] = ()
    damaged: int = 0
    """Lines that cannot be read: a crash in the middle of a write leaves one."""


_line: TypeAdapter[MirrorLine] = TypeAdapter(MirrorLine)


def encode(line: MirrorLine) -> bytes:
    """Write a line. Its kind comes first, so that ``is_about_an_episode`` need not parse it."""
    return _line.dump_json(line) + b"\n"


def decode(content: Iterable[bytes]) -> MirrorView:
    """Read lines; those that cannot be read are skipped and counted."""
    lines: list[MirrorLine] = []
    damaged = 0
    for raw in content:
        if not raw.strip():
            continue
        try:
            lines.append(_line.validate_json(raw))
        except ValidationError:
            damaged += 1
    return MirrorView(lines=tuple(lines), damaged=damaged)


def is_about_an_episode(raw: bytes) -> bool:
    """Tell whether a written line is an episode, without parsing it."""
    return b'"kind":"episode"' in raw[:40]
