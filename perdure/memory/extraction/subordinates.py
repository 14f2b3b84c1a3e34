"""A clause without its reasons and circumstances: "because …", "now that …", "while …". Pure."""

import re

from perdure.memory.extraction.patterns import regex
from perdure.memory.extraction.predicates import verb_at

_SUBORDINATE = regex(
    r"[\s,]+(?:now\s+that|because|since\s+(?!19|20)\w+|as\s+(?:the|my|our|we|i|it|they|he|she|that)\b|so\s+(?:that"
    r"|we|i|please)|so\s+\w+\s+\w+|although|though|"
    r"even\s+though|whereas|while|which|who\s+|where\s+(?=we|i|they|he|she)|given\s+that|until\s+(?=the|my|our"
    r"|further|we|i|it)|till\s+(?=the|further)|"
    r"unless|in\s+order\s+to|due\s+to|thanks\s+to|after\s+(?=the|my|our|a|that|we|i|all\s+the|last|some)"
    r"|ever\s+since|if\s|when\s+(?=we|i|the|it|they)).*$",
    re.IGNORECASE | re.DOTALL,
)
"""Reasons and circumstances after the clause."""


def without_circumstances(text: str) -> str:
    """Return a clause without the reasons and circumstances after it.

    >>> without_circumstances("the bus stops at the mill because of the roadworks")
    'the bus stops at the mill'
    """
    cut = _SUBORDINATE.sub("", text)
    words = cut.split()
    # "Backups run after the batch": when is all that it says.
    alone = bool(words) and verb_at(words) == len(words) - 1
    return text if alone and text[len(cut) :].lower().startswith(" after ") else cut
