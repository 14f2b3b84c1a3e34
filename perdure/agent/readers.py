"""Where each result is read for the last time, so that a task does not carry along what nobody reads. Pure."""

import json
from collections.abc import Mapping, Sequence, Set

from perdure.agent.cursor import Cursor
from perdure.agent.steps.calls import Result, Value
from perdure.expressions.syntax import Path
from perdure.skills.shape import Skill
from perdure.skills.steps import LetStep, RecallStep


class Readers:
    """What of a skill's results is read, and where for the last time.

    Args:
        skill: The skill.
        reads: What the expressions of each step refer to, by its id; the end of the task under the empty name.
    """

    def __init__(self, skill: Skill, reads: Mapping[str, Sequence[Path]]) -> None:
        self.recalls = frozenset(step.id for _, step, _ in skill.walk() if isinstance(step, RecallStep))
        self.lets = frozenset(step.id for _, step, _ in skill.walk() if isinstance(step, LetStep))
        places = {"": len(skill.steps)}
        for path, step, _ in skill.walk():
            places[step.id] = int(path.partition("[")[2].partition("]")[0])
        self._last: dict[tuple[str, str], int] = {}
        for reader, paths in reads.items():
            for path in paths:
                if path[0] == "steps":
                    part = (path[1], path[2])
                    self._last[part] = max(places[reader], self._last.get(part, 0))
        self._until: dict[int, set[str]] = {}
        self._last_of: dict[str, int] = {}
        for (step, _), place in self._last.items():
            self._until.setdefault(place, set()).add(step)
            self._last_of[step] = max(place, self._last_of.get(step, 0))

    def read_until(self, place: int) -> Set[str]:
        """Return the steps whose results are last read at a place among the skill's own steps."""
        return self._until.get(place, frozenset())

    def still_read(self, step: str, result: Result, place: int) -> Result | None:
        """Return the parts of a step's result that are read after a place; None: nothing is."""
        if self._last_of.get(step, -1) <= place:
            return None
        parts = {part: value for part, value in result.parts.items() if self._last.get((step, part), -1) > place}
        return result if len(parts) == len(result.parts) else result.changed(parts=parts)


def keeping(cursor: Cursor, read: Readers, place: int, new: Mapping[str, Result]) -> Cursor:
    """Return the cursor with new and existing results, as far as something after the place reads them."""
    results, inline = dict(cursor.results), cursor.inline
    for step in dict.fromkeys((*sorted(read.read_until(place)), *new)):
        old = results.pop(step, None)
        result = new.get(step, old)
        kept = read.still_read(step, result, place) if result else None
        if kept:
            results[step] = kept
        inline += inline_of(kept.parts if kept else {}) - inline_of(old.parts if old else {})
    return cursor.changed(results=results, inline=inline)


def inline_of(values: Mapping[str, Value]) -> int:
    """Return the bytes of values, without those that are kept elsewhere."""
    return sum(len(json.dumps(value.inline)) for value in values.values() if not value.ref)
