"""Whether the workers of this machine would do what this process expects of them: with its settings, and its files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from localservers.loaded import changed_since_loaded
from localservers.origin import SettingsOrigin
from localservers.state import FleetState
from perdure.settings import Settings

_NAMED = 3
"""Files that are named before the others are counted; a choice."""


class Disagreement(NamedTuple):
    """How a running worker differs from what this process has."""

    worker: str
    """Which worker, as the subject of a sentence."""
    what: str
    """How it differs, as the end of that sentence."""
    origin: str
    """Where its settings come from, and where these do; empty: that makes no difference."""
    changed: tuple[Path, ...]
    """The files that it has read and that have changed since; none: its settings differ."""
    fix: str
    """How to have them agree."""

    @property
    def told(self) -> str:
        """All of it, for a person."""
        return f"{self.worker} {self.what}{f': {self.origin}' if self.origin else ''}; {self.fix}"


def disagreements(current: FleetState | None, settings: Settings) -> Iterator[Disagreement]:
    """Yield how each worker of this machine differs, for those that do.

    None is of use to whoever has an address for every server: what runs here serves others.

    Args:
        current: What runs on this machine.
        settings: The settings of this process.
    """
    if settings.configured_addresses():
        return
    here, workers = SettingsOrigin.here(), current.workers if current else ()
    for one in workers:
        worker = f"the worker of {settings.home}"
        if one.is_foreground:
            worker += f" in a terminal (process {one.pid})"
        elif workers[1:]:
            worker += " in the background"
        if one.settings != settings.fingerprint:
            what, origin = "has other settings", one.origin.difference(here)
            yield Disagreement(worker, what, origin, (), one.how_to_agree(here))
        elif changed := tuple(changed_since_loaded(settings.home, one.pid)):
            yield Disagreement(worker, f"has read an older {named(changed)}", "", changed, one.how_to_restart)


def named(files: Sequence[Path]) -> str:
    """Name files for a person: the first few, and how many more there are.

    >>> named([Path("a.py"), Path("b.py")])
    'a.py and b.py'
    """
    shown = [str(one) for one in files[:_NAMED]]
    last = f"{len(files) - _NAMED} more" if files[_NAMED:] else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last
