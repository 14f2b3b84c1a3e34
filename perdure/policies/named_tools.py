"""Which tools the conditions of policies name. Pure.

A policy about a tool that nobody has guards nothing, and no call ever shows it.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from perdure.expressions.evaluation import expressions
from perdure.policies.shape import Policy
from perdure.suggestions import nearest

_TEXT = r"""(?:"([^"\\]*)"|'([^'\\]*)')"""
_COMPARED = re.compile(rf"(?<![.\w])tool\s*==\s*{_TEXT}|{_TEXT}\s*==\s*tool\b(?!\s*[.(])")
_LISTED = re.compile(r"(?<![.\w])tool\s+in\s*\[([^\]]*)\]")
_QUOTED = re.compile(_TEXT)


def named_tools(policy: Policy) -> list[str]:
    """Return the tools that a policy's condition names, in their order: with ``==``, or in a list after ``in``."""
    found: dict[str, None] = {}
    for expression in expressions(policy.when, "when"):
        source = expression.source
        for written in (*_COMPARED.finditer(source), *_QUOTED.finditer(" ".join(_LISTED.findall(source)))):
            found.update(dict.fromkeys(name for name in written.groups() if name))
    return list(found)


def strangers(policies: Iterable[Policy], known: Collection[str]) -> Iterator[tuple[Policy, str, str]]:
    """Yield each policy that names something that nobody here has: the policy, the name, and what may be meant."""
    for policy in policies:
        for name in named_tools(policy):
            if name not in known:
                yield policy, name, nearest(name, known)
