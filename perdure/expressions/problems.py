"""The CEL library's errors, in words for the author of an expression. Pure."""

import re
from collections.abc import Collection
from typing import NamedTuple

_SYNTAX = re.compile(r"ERROR: <input>:\d+:(?P<column>\d+): Syntax error: (?P<what>.*)")
_CALLED = re.compile(r"Undefined variable or function: '(?P<name>\w+)'")
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


class EvaluationProblem(NamedTuple):
    """Why an expression has no value."""

    why: str
    of_types: bool = False
    """Whether it is due to the type of a value: others of that type have none either."""


def evaluation_problem(report: str, functions: Collection[str] = (), fieldless: str = "") -> EvaluationProblem:
    """Return why an expression has no value.

    Args:
        report: What the library says.
        functions: The functions that there are: of one of them it says that it is undefined if its value is of another
            type than it takes.
        fieldless: That a field is asked of what has none: of that it says the same as of an operator's values.

    >>> evaluation_problem("Undefined variable or function: 'size'. Check that the variable is defined.", ["size"]).why
    'size() takes no value of this type, or is not called in this form'
    """
    if fieldless and report.startswith(("No such overload", "Unexpected type: got 'string'")):
        return EvaluationProblem(fieldless, of_types=True)
    if report.startswith(("No such overload", "Unsupported operation")):
        why = "its values have other types than its operator takes; convert them with int(x), double(x) or string(x)"
        return EvaluationProblem(why, of_types=True)
    called = _CALLED.match(report)
    if called is not None and called["name"] in functions:
        why = f"{called['name']}() takes no value of this type, or is not called in this form"
        return EvaluationProblem(why, of_types=True)
    return EvaluationProblem(report.partition(". Check")[0])
