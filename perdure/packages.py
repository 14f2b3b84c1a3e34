"""The packages that Perdure installs, and what hides them. The command begins with it, so it loads nothing else."""

import importlib.util
from pathlib import Path

PACKAGES = frozenset({"activities", "demo", "localservers", "perdure", "playbooks", "worker", "workflows"})
"""The packages that Perdure installs; a module of that name elsewhere hides one, or is hidden."""


def hidden_packages(root: Path) -> list[tuple[str, str]]:
    """Return Perdure's packages that another module hides, each with the file that does.

    Args:
        root: The folder that holds Perdure's packages.
    """
    found = [(name, importlib.util.find_spec(name)) for name in sorted(PACKAGES)]
    places = [(name, spec.origin or "") for name, spec in found if spec]
    return [(name, origin) for name, origin in places if Path(origin).resolve().parent != (root / name).resolve()]
