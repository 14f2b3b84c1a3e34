"""Where the settings of a worker come from, as processes tell one another. Reads no content."""

import os
from pathlib import Path
from typing import Self

from perdure.model import Passed
from perdure.variables import normal, settings_file


class SettingsOrigin(Passed):
    """Where a process has its settings from."""

    file: str = ""
    """The TOML file; empty: there is none, and the environment alone says something."""
    named: bool = False
    """Whether ``$PERDURE_CONFIG`` says so."""
    folder: str = ""
    """The folder that it was started in."""

    @classmethod
    def here(cls) -> Self:
        """Return where this process has its settings from."""
        found = settings_file()
        file = "" if found is None else str(normal(found))
        named = bool(os.environ.get("PERDURE_CONFIG"))
        return cls(file=file, named=named, folder=str(Path.cwd()))

    @property
    def told(self) -> str:
        """The file; that there is none in the folder.

        >>> SettingsOrigin(file="/shop/perdure.toml", folder="/shop").told
        '/shop/perdure.toml'
        """
        return self.file or f"no perdure.toml in {self.folder}"

    def difference(self, here: "SettingsOrigin") -> str:
        """Return how the settings of a worker and those of here come from different places; empty: they do not.

        Args:
            here: Where this process has its settings from.
        """
        # What an older build announced names no folder.
        if not self.folder or self.file == here.file:
            return ""
        return f"it uses {self.told}; here, that is {here.told}"

    def how_to_use(self, here: "SettingsOrigin") -> str:
        """Return what somebody does to have the settings of a worker.

        Args:
            here: Where that somebody has theirs from.

        >>> SettingsOrigin(file="/shop/one.toml", named=True).how_to_use(SettingsOrigin(folder="/shop"))
        'set PERDURE_CONFIG=/shop/one.toml'
        """
        if self.named:
            return f"set PERDURE_CONFIG={self.file or os.devnull}"
        return f"{'unset PERDURE_CONFIG and ' if here.named else ''}work in {self.folder}"
