"""The extractor that needs no language model: all that may be believed of what was said is believed. Pure."""

from collections.abc import Iterable, Sequence

from perdure.memory.extraction.belief import believable
from perdure.memory.extraction.candidates import candidate_of
from perdure.values.statements import Extraction, Ground, Said


class RuleExtractor:
    """Finds what may be believed by rules over English sentences, and abstains where it cannot tell.

    Private data and secrets are taken out in every language.
    """

    def __init__(self, allow: Iterable[str] = (), believe: Iterable[Ground] = ()) -> None:
        self._allow = tuple(allow)
        self._believe = frozenset(believe)

    async def extract(self, said: Sequence[Said]) -> list[Extraction]:
        """Return what is made of each thing that was said, in its order."""
        return [extraction_of(each, self._allow, self._believe) for each in said]


def extraction_of(said: Said, allow: Iterable[str] = (), believe: Iterable[Ground] = ()) -> Extraction:
    """Return the candidates of one thing that was said, and why the rest is not believed; see ``believable``."""
    found = believable(said, allow, believe)
    return Extraction(candidates=tuple(candidate_of(one, said) for one in found.statements), left=found.left)
