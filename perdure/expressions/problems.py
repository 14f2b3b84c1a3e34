"""What the CEL library reports, in words that somebody who wrote an expression can use. Pure."""

import re

_SYNTAX = re.compile(r"ERROR: <input>:\d+:(?P<column>\d+): Syntax error: (?P<what>.*)")
_FOUND = re.compile(r"(?:mismatched|extraneous) input '(?P<input>.*?)' expecting|recognition error at: '(?P<text>.*)'")


def parse_problem(report: str) -> str:
    """Return why an expression does not parse, and where.

    >>> parse_problem("ERROR: <input>:1:5: Syntax error: extraneous input 'b' expecting <EOF>")
    "unexpected 'b' at character 5"
    """
    syntax = _SYNTAX.search(report)
    if syntax is None:
        return report
    found = _FOUND.search(syntax["what"])
    unexpected = (found["input"] or found["text"]).strip() if found else syntax["what"]
    return (
        "it ends too early" if unexpected == "<EOF>" else f"unexpected {unexpected!r} at character {syntax['column']}"
    )


def evaluation_problem(report: str) -> str:
    """Return why an expression has no value.

    >>> evaluation_problem("Undefined variable or function: 'size'. Check that the variable is defined.")
    "Undefined variable or function: 'size'"
    """
    if report.startswith("No such overload"):
        return "its values have other types than its operator takes; convert them with int(x), double(x) or string(x)"
    return report.partition(". Check")[0]
