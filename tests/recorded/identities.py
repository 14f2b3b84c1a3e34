"""What each identity is made of, as the code says it: ``python -m tests.recorded.identities`` writes it anew.

``identity.digest`` is pinned by values; with what goes into it, so is whatever is named by it. Ids that differ between
two builds would have the one do again what the other did: a changed recipe needs another number after its name.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("perdure", "activities", "workflows", "worker")
WRITTEN = Path(__file__).parent / "next" / "identities.json"


def _calls() -> Iterator[tuple[str, list[str]]]:
    for folder in FOLDERS:
        for path in sorted(Path(folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    parts = [ast.unparse(part) for part in node.args]
                    if node.func.id == "digest" and isinstance(node.args[0], ast.Constant):
                        yield str(node.args[0].value), parts[1:]
                    elif node.func.id == "content_digest":
                        yield "content", parts


def recipes() -> dict[str, list[str]]:
    """Return what goes into each identity, by its name: each way in which it is made."""
    found: dict[str, set[str]] = {}
    for name, parts in _calls():
        found.setdefault(name, set()).add(", ".join(parts))
    return {name: sorted(ways) for name, ways in sorted(found.items())}


if __name__ == "__main__":
    WRITTEN.write_text(json.dumps(recipes(), indent=1) + "\n", encoding="utf-8")
    print(f"{len(recipes())} identities in {WRITTEN}")
