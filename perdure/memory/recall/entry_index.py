"""The entries that the journal has, in which a batch that waits for its job finds those that it has to do with.

Pure. It finds what the writer asks the store for, so that a batch is decided on as its job will, and at the cost of
what it is about rather than of all that is remembered.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest

from perdure.memory.extraction.content_words import says_it_was_otherwise
from perdure.memory.heirs import MERGERS, mergers, wholes_of
from perdure.memory.writing.needs import about, named_by, statements, successors_of
from perdure.values.assertions import ABOUT_AT_MOST, SHARING
from perdure.values.entries import Entry, Memory, State
from perdure.values.jobs import Batch
from perdure.words import ENGLISH, stems


class EntryIndex:
    """The entries as the batches decided on so far leave them.

    Args:
        entries: Those that are written, by id.
        batches: What will be asked for: only its terms and words are listed.
        language: The language of the words.
    """

    def __init__(self, entries: Mapping[str, Entry], batches: Sequence[Batch], language: str = ENGLISH) -> None:
        self.entries: dict[str, Entry] = {}
        self._language = language
        self._about: dict[str, dict[str, None]] = {term: {} for batch in batches for term in about(batch)}
        words = (word for batch in batches for text in _changing(batch) for word in stems(text, language))
        self._saying: dict[str, dict[str, None]] = {word: {} for word in words}
        self.add(entries.values())

    def add(self, entries: Iterable[Entry]) -> None:
        """Take in entries that are new or have changed."""
        for entry in entries:
            self.entries[entry.id] = entry
            if not isinstance(entry, Memory):
                continue
            for term in entry.assertion.about if entry.assertion and self._about else ():
                if term in self._about:
                    self._about[term][entry.id] = None
            for word in stems(entry.text, self._language) if self._saying else ():
                if word in self._saying:
                    self._saying[word][entry.id] = None

    def size_of(self, term: str) -> int:
        """Return how many memories assert something about a term of the batches."""
        return len(self._about[term])

    def needed(self, batch: Batch) -> dict[str, Entry]:
        """Return the entries that the decisions on a batch depend on."""
        found = self._of(named_by(batch))
        found |= self._of(successors_of(found.values()))
        last = mergers(found.values())
        for _ in range(MERGERS):
            more = self._of(wholes_of(last) - found.keys())
            found |= more
            last = mergers(more.values())
        for memory in (*self._alike(batch), *(one for text in _changing(batch) for one in self._sharing(text))):
            found.setdefault(memory.id, memory)
        return found

    def _alike(self, batch: Batch) -> list[Memory]:
        """Return the memories about the same as a batch, the newest first; of more than are compared, no others."""
        ids = {one: None for term in about(batch) for one in self._about[term]}
        alike = self._memories(ids, State.CURRENT, State.SUPERSEDED)
        # They are listed in about this order already; a heap of 1,000 takes 40 ms of 3,000 (measured).
        return sorted(alike, key=lambda memory: memory.last_seen, reverse=True)[:ABOUT_AT_MOST]

    def _sharing(self, text: str) -> list[Memory]:
        """Return the current memories that share the rarest words with a text."""
        rarity: defaultdict[str, float] = defaultdict(float)
        for word in set(stems(text, self._language)):
            for one in self._saying[word]:
                rarity[one] += math.log1p(len(self.entries) / len(self._saying[word]))
        current = self._memories(rarity, State.CURRENT)
        return nlargest(SHARING, current, key=lambda memory: rarity[memory.id])

    def _memories(self, ids: Iterable[str], *states: State) -> list[Memory]:
        wanted = {state.value for state in states}
        found = (self.entries[one] for one in ids)
        return [memory for memory in found if isinstance(memory, Memory) and memory.state.value in wanted]

    def _of(self, ids: Iterable[str]) -> dict[str, Entry]:
        return {one: self.entries[one] for one in sorted(ids) if one in self.entries}


def _changing(batch: Batch) -> list[str]:
    return sorted(text for text in statements(batch) if says_it_was_otherwise(text))
