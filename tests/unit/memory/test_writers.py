"""Who writes what is remembered: anything else goes through the door."""

import re
from pathlib import Path

JOURNALING = {
    "activities/submissions.py": "what was accepted",
    "perdure/memory/change_log.py": "what the door changes and forgets",
    "perdure/memory/consent_book.py": "what users consent to",
    "perdure/memory/membership.py": "who belongs to a team or an agent",
    "perdure/memory/reconciliation/reconciler.py": "what a store has and the journal has lost",
    "perdure/memory/repair.py": "entries that are about to be written anew, unchanged",
}

STORING = {
    "perdure/memory/door.py": "changes",
    "perdure/memory/reconciliation/reconciler.py": "what was deleted and came back with an older copy",
    "perdure/memory/repair.py": "what a cut off write left out of an index",
}


def written_by(call: str) -> set[str]:
    """Return the modules that make a call."""
    folders = ("perdure", "activities", "worker", "workflows")
    sources = [path for folder in folders for path in Path(folder).rglob("*.py")]
    return {str(path) for path in sources if re.search(call, path.read_text(encoding="utf-8"))}


def test_only_these_write_to_the_journal() -> None:
    assert written_by(r"self\._?journal\.append\(") == JOURNALING.keys()


def test_only_these_write_to_the_long_term_store() -> None:
    assert written_by(r"longterm\.(put|delete)\(") == STORING.keys()
