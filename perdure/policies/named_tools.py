"""Which tools the conditions of policies name. Pure.

A policy about a tool that nobody has guards nothing, and no call ever shows it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from perdure.expressions.evaluation import expressions
from perdure.expressions.syntax import TOKEN
from perdure.policies.shape import Policy
from perdure.suggestions import nearest

_PLAIN = re.compile(r"""(["'])(?P<text>[^\\]*)\1""")
"""A text whose value is what stands between its quotes."""

_GOES_ON = frozenset({"+", ".", "[", "(", "?"})
"""What makes another value of the one before it, or, in front of a text, of what stands before."""

_EQUALS = ["=", "="]


def named_tools(policy: Policy) -> list[str]:
    """Return the tools that a policy's conditions name, in their order: with ``==``, or in a list after ``in``."""
    found: dict[str, None] = {}
    for condition in (policy.when, *policy.unless):
        for expression in expressions(condition, "when"):
            tokens = [one.group() for one in TOKEN.finditer(expression.source) if one.lastgroup != "space"]
            for place in (place for place, token in enumerate(tokens) if token == "tool"):  # noqa: S105  no secret
                if tokens[place - 1 : place] != ["."]:
                    found.update(dict.fromkeys(_named(tokens, place)))
    return list(found)


def strangers(policies: Iterable[Policy], known: Collection[str]) -> Iterator[tuple[Policy, str, str]]:
    """Yield each policy that names something that nobody here has: the policy, the name, and what may be meant."""
    for policy in policies:
        for name in named_tools(policy):
            if name not in known:
                yield policy, name, nearest(name, known)


def _named(tokens: Sequence[str], place: int) -> Iterator[str]:
    """Yield what ``tool``, at a place among the tokens of a condition, is compared with."""
    before, behind = [*tokens[max(0, place - 4) : place]], [*tokens[place + 1 :]]
    if behind[:2] == _EQUALS and not _GOES_ON & {*behind[3:4]}:
        yield from _texts(behind[2:3])
    if before[-2:] == _EQUALS and not _GOES_ON & {*before[-4:-3], *behind[:1]}:
        yield from _texts(before[-3:-2])
    if behind[:2] == ["in", "["] and "]" in behind:
        listed = behind[2 : behind.index("]")]
        if all(comma == "," for comma in listed[1::2]):
            yield from _texts(listed[::2])


def _texts(tokens: Iterable[str]) -> Iterator[str]:
    for token in tokens:
        if (plain := _PLAIN.fullmatch(token)) is not None:
            yield plain["text"]
