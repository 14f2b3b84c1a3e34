"""Where the settings of a worker come from, and where its tools do, as processes tell one another. Reads no content."""

from pathlib import Path
from typing import Self

from perdure.model import Passed
from perdure.settings import Settings
from perdure.variables import normal, settings_file


class SettingsOrigin(Passed):
    """Where a process has its settings from."""

    file: str = ""
    """The TOML file; empty: there is none, and the environment alone says something."""
    folder: str = ""
    """The folder that it was started in."""
    tools: tuple[str, ...] = ()
    """The modules that its tools are in."""
    mcp_servers: tuple[str, ...] = ()
    """The folders that its MCP servers are in."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return where this process has these settings from."""
        found = settings_file()
        file = "" if found is None else str(normal(found))
        folders = tuple(str(folder) for folder in settings.mcp_servers)
        return cls(file=file, folder=str(Path.cwd()), tools=settings.tools, mcp_servers=folders)

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
