"""Whether the workers of this machine would do what this process expects of them: with its settings, and its files."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from localservers.loaded import changed_since_loaded
from localservers.origin import SettingsOrigin
from localservers.state import FleetState
from perdure.settings import Settings


class Disagreement(NamedTuple):
    """How a running worker differs from what this process has."""

    what: str
    """How it differs, as the end of a sentence about it."""
    origin: str
    """Where its settings come from, and where these do; empty: that makes no difference."""
    changed: tuple[Path, ...]
    """The files that it has read and that have changed since; none: its settings differ."""
    fix: str
    """How to have them agree."""


def disagreements(current: FleetState | None, settings: Settings) -> Iterator[Disagreement]:
    """Yield how each worker of this machine differs, for those that do.

    Args:
        current: What runs on this machine.
        settings: The settings of this process.
    """
    here = SettingsOrigin.of(settings)
    for one in current.workers if current else ():
        if one.settings != settings.fingerprint:
            yield Disagreement("has other settings", one.origin.difference(here), (), one.how_to_agree(here))
        elif changed := tuple(changed_since_loaded(settings.home, one.pid)):
            others = f" and {len(changed) - 1} more" if changed[1:] else ""
            yield Disagreement(f"has read an older {changed[0]}{others}", "", changed, one.how_to_restart)
