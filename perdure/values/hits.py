"""What a search found of an entry, and how well it fits. Pure values."""

from collections.abc import Callable

from perdure.values.entries import Entry


class Hit:
    """An entry that a search found, and its score in each kind of search.

    Args:
        entry: The entry, or what reads it: a ranking needs the scores of a hundred, and a quarter of the entries.
        cosine: How near it is; None: the vector search did not return it.
        bm25: How well its words fit; None: the word search did not return it.
        words: The words that it is searched by, see ``perdure.words``.
    """

    __slots__ = ("_entry", "bm25", "cosine", "words")

    def __init__(
        self,
        entry: Entry | Callable[[], Entry],
        cosine: float | None = None,
        bm25: float | None = None,
        words: str = "",
    ) -> None:
        self._entry = entry
        self.cosine = cosine
        self.bm25 = bm25
        self.words = words

    @property
    def entry(self) -> Entry:
        """The entry; read when it is first asked for."""
        if callable(self._entry):
            self._entry = self._entry()
        return self._entry
