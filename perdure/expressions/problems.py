"""The CEL library's errors, in words for the author of an expression. Pure."""

import re

_SYNTAX = re.compile(r"ERROR: <input>:\d+:(?P<column>\d+): Syntax error: (?P<what>.*)")
_FOUND = re.compile(
    r"(?:mismatched|extraneous) input '(?P<input>.*?)' expecting"
    r"|(?:recognition error at:|no viable alternative at input) '(?P<text>.*)'"
    r"|missing (?P<missing>'.*?') at"
)


def parse_problem(report: str) -> str:
    """Return why an expression does not parse, and where.

    >>> parse_problem("ERROR: <input>:1:5: Syntax error: extraneous input 'b' expecting <EOF>")
    "unexpected 'b' at character 5"
    """
    syntax = _SYNTAX.search(report)
    if syntax is None:
        return report
    found = _FOUND.search(syntax["what"])
    place = f"at character {syntax['column']}"
    if found is None:
        return f"it cannot be understood {place}"
    if found["missing"]:
        return f"{found['missing']} is missing {place}"
    unexpected = (found["input"] or found["text"] or "").strip().removesuffix("<EOF>")
    return f"unexpected {unexpected!r} {place}" if unexpected else "it ends too early"


def evaluation_problem(report: str) -> str:
    """Return why an expression has no value.

    >>> evaluation_problem("Undefined variable or function: 'size'. Check that the variable is defined.")
    "Undefined variable or function: 'size'"
    """
    if report.startswith("No such overload"):
        return "its values have other types than its operator takes; convert them with int(x), double(x) or string(x)"
    return report.partition(". Check")[0]
