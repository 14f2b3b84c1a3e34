"""A clause in which one part is put first for emphasis, in its plain order: "it's Kim who leads the team". Pure."""

import re

from perdure.memory.extraction.patterns import regex

_IT_IS_WHO = regex(r"^it(?:'s|\s+is|\s+was)\s+(?P<who>.{2,60}?)\s+who\s+(?P<does>\S+\s.+)$", re.IGNORECASE)
_IS_THE_ONE = regex(
    r"^(?P<who>.{2,60}?)\s+(?:is|are|was|were)\s+the\s+(?:one|ones|person|people|man|woman)\s+(?:who"
    r"|that)\s+(?P<does>\S+\s.+)$",
    re.IGNORECASE,
)
_IS_WHAT = regex(
    r"^(?P<what>[\w' -]{2,40}?)\s+(?:is|are)\s+the\s+(?!other|second|third)(?:\w+\s+)?\w+\s+(?:(?:that|which)\s+)?"
    r"(?P<does>(?:i|we)(?:'m|'re|\s+am|\s+are)?\s+\w+(?:\s+(?:in|at|on|with|to|from|by))?"
    r"|(?:my|our|the)\s+(?:\w+\s+){1,3}?(?:is|are)\s+\w+(?:ed|en|wn|lt|pt|ut|un)\s+(?:in|at|on|with|to|from|by))$",
    re.IGNORECASE,
)
"""What somebody does, or is done with something, after to what: "Icelandic is the language I'm learning"."""
_IT_IS = regex(
    r"^it(?:'s|\s+is)\s+(?P<what>(?:an?|the)\s+(?!pity|shame|wonder|relief|fact|joke|mess|time|day|week|year|long|good|bad)"
    r"[\w' -]{2,40}?)\s+(?P<does>(?:i|we)\s+\w+)$",
    re.IGNORECASE,
)
"""The same with what comes first: "it's a Volvo I drive"."""


def straightened(text: str) -> str:
    """Return a clause whose subject stands before its verb, and its object after it.

    >>> straightened("Haskell is the language our compiler is written in")
    'our compiler is written in Haskell'
    """
    text = _IT_IS.sub(r"\g<does> \g<what>", _IS_WHAT.sub(r"\g<does> \g<what>", text))
    return _IS_THE_ONE.sub(r"\g<who> \g<does>", _IT_IS_WHO.sub(r"\g<who> \g<does>", text))
