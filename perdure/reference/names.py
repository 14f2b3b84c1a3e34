"""The names and functions that expressions in skills can use, each with an example and its value."""

from typing import NamedTuple

from pydantic import JsonValue

SAMPLE: dict[str, JsonValue] = {
    "inputs": {"city": "Oslo", "nights": 3},
    "steps": {
        "look": {"output": {"price": 90.5}, "status": "done", "answer": None, "problem": None},
        "known": {
            "items": [{"text": "Oslo is cold."}],
            "records": {"trip-6": {"city": "Oslo"}},
            "context": "- Oslo is cold.",
            "status": "done",
        },
        "shop": {"count": 6, "done": 4, "skipped": 1, "failed": 1, "status": "done"},
    },
    "task": {"id": "trip-7", "date": "2026-03-02", "agent": "agent"},
    "shop": "North",
    "index": 2,
    "rate": 1.5,
    "output": {"price": 90.5},
    "answer": "Bergen",
}
"""What the examples below are evaluated over: a tool step ``look``, a recall ``known``, a block ``shop``."""


class Entry(NamedTuple):
    """A name or a function."""

    name: str
    meaning: str
    example: str
    """An expression, without ``${}``."""
    gives: JsonValue
    """Its value over the sample, as JSON."""


NAMES = (
    Entry("inputs.<name>", "an input of the skill", "inputs.nights", 3),
    Entry(
        "steps.<id>.output",
        "what a step before gave: a tool, a model, a skill, an event",
        "steps.look.output.price",
        90.5,
    ),
    Entry("steps.<id>.status", "how it ended: `done`, `skipped` or `failed`", "steps.look.status == 'done'", True),
    Entry(
        "steps.<id>.answer",
        "what a person answered to the question of a tool's step; otherwise null",
        "steps.look.answer == null",
        True,
    ),
    Entry(
        "steps.<id>.problem",
        "why it failed, where the task went on; otherwise null",
        "steps.look.problem == null",
        True,
    ),
    Entry("steps.<id>.items", "what a recall returned, the best of each kind first", "steps.known.items.size()", 1),
    Entry(
        "steps.<id>.records",
        "of a recall: the payloads of its records by their keys, of each key the newest",
        "'trip-6' in steps.known.records ? steps.known.records['trip-6'].city : ''",
        "Oslo",
    ),
    Entry(
        "steps.<id>.context", "of a recall: the same as text, for a prompt", "steps.known.context", "- Oslo is cold."
    ),
    Entry("steps.<id>.count", "of a block: how many steps it had, over all elements", "steps.shop.count", 6),
    Entry("steps.<id>.done", "of a block: how many are done", "steps.shop.done", 4),
    Entry("steps.<id>.skipped", "of a block: how many were skipped", "steps.shop.skipped", 1),
    Entry("steps.<id>.failed", "of a block: how many failed", "steps.shop.failed", 1),
    Entry("task.id", "the task's id", "task.id", "trip-7"),
    Entry(
        "task.date", "the day that the task is about: its own `date`, or the day it started", "task.date", "2026-03-02"
    ),
    Entry("task.agent", "who works on it", "task.agent", "agent"),
    Entry("<as>", "inside `for_each`: the element, under the name given by `as`", "shop", "North"),
    Entry("index", "inside `for_each`: the number of the element, from 0", "index + 1", 3),
    Entry("<let>", "what a `let` before has named", "rate * 2.0", 3.0),
    Entry(
        "output",
        "the step's own result, in its `expect`, `ask`, `remember` and `compensate`; in the skill's `expect` and "
        "`judge`, the task's",
        "output.price < 100.0",
        True,
    ),
    Entry("answer", "a person's answer to the step's `ask`, in its `remember`; otherwise null", "answer", "Bergen"),
)
"""The names."""

_AT = "timestamp('2026-03-02T10:30:05.250Z')"

FUNCTIONS = (
    Entry("has", "whether a field is there", "has(inputs.country)", False),
    Entry("size", "the length of a text, a list or a mapping", "inputs.city.size()", 4),
    Entry("contains", "whether a text has another one in it", "inputs.city.contains('sl')", True),
    Entry("startsWith", "whether a text begins so", "inputs.city.startsWith('O')", True),
    Entry("endsWith", "whether a text ends so", "inputs.city.endsWith('o')", True),
    Entry("matches", "whether a regular expression finds something in a text", "inputs.city.matches('^O.*o$')", True),
    Entry("charAt", "a character, counted from 0", "inputs.city.charAt(1)", "s"),
    Entry("indexOf", "where a text begins in another one, from 0; -1: nowhere", "'banana'.indexOf('n')", 2),
    Entry("lastIndexOf", "where it begins for the last time", "'banana'.lastIndexOf('n')", 4),
    Entry("substring", "the characters from one place to before another", "'banana'.substring(1, 3)", "an"),
    Entry("replace", "a text with each occurrence replaced", "'a-b-c'.replace('-', '+')", "a+b+c"),
    Entry("split", "the parts of a text", "'a,b'.split(',')", ["a", "b"]),
    Entry("join", "a list of texts as one", "['a', 'b'].join('-')", "a-b"),
    Entry("trim", "a text without spaces around it", "' a '.trim()", "a"),
    Entry("lowerAscii", "a text with A–Z in lower case", "inputs.city.lowerAscii()", "oslo"),
    Entry("upperAscii", "a text with a–z in upper case", "inputs.city.upperAscii()", "OSLO"),
    Entry("all", "whether something holds of each element", "[1, 2].all(x, x > 0)", True),
    Entry("exists", "whether it holds of one or more", "[1, 2].exists(x, x > 1)", True),
    Entry("exists_one", "whether it holds of exactly one", "[1, 2].exists_one(x, x > 0)", False),
    Entry("filter", "the elements of which it holds", "[1, 2, 3].filter(x, x > 1)", [2, 3]),
    Entry("map", "a value for each element", "[1, 2].map(x, x * 2)", [2, 4]),
    Entry("first", "the first element; null of an empty list", "[3, 4].first()", 3),
    Entry("last", "the last element; null of an empty list", "[3, 4].last()", 4),
    Entry("slice", "the elements from one place to before another", "[1, 2, 3].slice(0, 2)", [1, 2]),
    Entry("distinct", "a list without duplicates", "[1, 2, 1].distinct()", [1, 2]),
    Entry("flatten", "a list of lists as one list", "[[1], [2, 3]].flatten()", [1, 2, 3]),
    Entry("reverse", "a list or a text, backwards", "[1, 2].reverse()", [2, 1]),
    Entry("sort", "a list in its order", "[2, 1].sort()", [1, 2]),
    Entry("sum", "the sum of a list of numbers", "[1, 2].sum()", 3),
    Entry("max", "the largest of a list, or of several values", "[1, 5].max()", 5),
    Entry("min", "the smallest of a list, or of several values", "min(1, 5)", 1),
    Entry("string", "a value as text", "string(inputs.nights)", "3"),
    Entry("int", "a whole number, cut off", "int('42') + int(4.7)", 46),
    Entry("uint", "a whole number that is not negative", "uint(3)", 3),
    Entry("double", "a decimal: whole numbers and decimals do not mix", "double(inputs.nights) * 1.5", 4.5),
    Entry("bool", "true or false, of a text", "bool('true')", True),
    Entry("bytes", "the bytes of a text, for `size`", "bytes('ø').size()", 2),
    Entry("dyn", "a value without a type, so that types may mix", "dyn(1)", 1),
    Entry("type", "the type of a value", "type(inputs.city) == string", True),
    Entry("duration", "a length of time: `h`, `m`, `s`", "duration('90s')", "PT1M30S"),
    Entry("timestamp", "a moment, of a text in ISO 8601", f"{_AT} + duration('1h')", "2026-03-02T11:30:05.250000Z"),
    Entry("getFullYear", "its year", f"{_AT}.getFullYear()", 2026),
    Entry("getMonth", "its month, from 0", f"{_AT}.getMonth()", 2),
    Entry("getDate", "its day of the month, from 1", f"{_AT}.getDate()", 2),
    Entry("getDayOfMonth", "its day of the month, from 0", f"{_AT}.getDayOfMonth()", 1),
    Entry("getDayOfWeek", "its day of the week, from Sunday as 0", f"{_AT}.getDayOfWeek()", 1),
    Entry("getDayOfYear", "its day of the year, from 0", f"{_AT}.getDayOfYear()", 60),
    Entry("getHours", "its hour", f"{_AT}.getHours()", 10),
    Entry("getMinutes", "its minute", f"{_AT}.getMinutes()", 30),
    Entry("getSeconds", "its second; of a duration, all of it", f"{_AT}.getSeconds()", 5),
    Entry("getMilliseconds", "its thousandths of a second", f"{_AT}.getMilliseconds()", 250),
)
"""The functions and macros."""
