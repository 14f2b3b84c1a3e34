"""The page of all settings, written from what they say of themselves: ``python -m worker.cli.settings_page``."""

import json
import re
from pathlib import Path

from pydantic import SecretStr
from pydantic_core import to_jsonable_python

from perdure.reference.meanings import meanings
from perdure.settings import Settings
from perdure.variables import PREFIX

PAGE = Path("docs/reference/settings.md")

_FOLDERS = {"home": "`~/.local/share/perdure`", "cache": "`~/.cache/perdure`"}
"""What is another folder for each user."""

_HEAD = """# Settings

<!-- `make reference` writes this page from the settings. -->

Each is an environment variable, or a line of [perdure.toml](../production.md#settings-and-secrets) under its name in
small letters and without `PERDURE_` (`task_queue = "shop"`). Lists are JSON in a variable
(`PERDURE_TOOLS=["./tools.py"]`), and any value may be in a file that `PERDURE_…_FILE` names. Relative paths in the file
lead from its folder, those in variables from where the command runs.

Which Temporal is used, its own variables say: `TEMPORAL_ADDRESS`, `TEMPORAL_NAMESPACE`, `TEMPORAL_API_KEY`,
`TEMPORAL_PROFILE`.

| variable | default | meaning |
|---|---|---|
"""


def settings_page() -> str:
    """Return the page, in Markdown."""
    said = meanings(Settings)
    rows = (f"| `{PREFIX}{name.upper()}` | {_default(name)} | {_linked(said.get(name, ''))} |" for name in said)
    return _HEAD + "\n".join(rows) + "\n"


def _default(name: str) -> str:
    if name in _FOLDERS:
        return _FOLDERS[name]
    default = Settings.model_fields[name].default
    if default in (None, "", ()) or isinstance(default, SecretStr):
        return ""
    value = to_jsonable_python(default)
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def _linked(meaning: str) -> str:
    """Return what a setting means, with pages that it names as links."""
    return re.sub(r"docs/([\w-]+)\.md", r"[\1](../\1.md)", meaning).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(settings_page(), encoding="utf-8")
