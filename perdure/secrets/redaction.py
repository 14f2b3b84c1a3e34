"""Keeping secrets out of what is written: the values that this process has resolved are replaced by their names.

What nobody can recognise: parts of a value, one that is encrypted, hashed, reversed or encoded in another way than
those below, and values of fewer than ``SHORTEST`` characters, which would be found in innocent texts.
"""

import base64
import json
from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock
from typing import Any, cast
from urllib.parse import quote, quote_plus

from pydantic import JsonValue

SHORTEST = 6
"""Characters below which a value is not looked for: a choice."""

LONG_LINE = 16
"""Characters from which a line of a value counts as a secret of its own, as in a key of several lines: a choice."""

MOST = 2_000
"""Spellings that are looked for, the newest ones: a choice, against a source whose values change with each call."""


class Redactor:
    """Replaces secrets by their names, in the spellings in which they usually travel."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, str] = OrderedDict()
        self._longest_first: tuple[tuple[str, str], ...] = ()
        self._lock = Lock()

    def learn(self, name: str, value: str) -> None:
        """Look for a value from now on.

        Args:
            name: What replaces it.
            value: The secret.
        """
        told = f"[secret {name}]"
        with self._lock:
            found = [one for one in spellings(value) if self._known.get(one) != told]
            if not found:
                return
            for one in found:
                self._known[one] = told
            while len(self._known) > MOST:
                self._known.popitem(last=False)
            self._longest_first = tuple(sorted(self._known.items(), key=lambda one: -len(one[0])))

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        for secret, told in self._longest_first:
            if secret in text:
                text = text.replace(secret, told)
        return text

    def value(self, value: JsonValue) -> JsonValue:
        """Return a JSON value without secrets, also in the names of its fields."""
        if not self._longest_first:
            return value
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.value(one) for one in value]
            case dict():
                return {self.text(name): self.value(one) for name, one in value.items()}
            case _:
                return value

    def error(self, problem: BaseException) -> None:
        """Take secrets out of an exception's message and of its attributes, and cut off what it was raised from."""
        if not self._longest_first:
            return
        problem.args = tuple(self._cleaned(one) for one in problem.args)
        for name, one in vars(problem).items():
            vars(problem)[name] = self._cleaned(one)
        problem.__cause__ = problem.__context__ = None

    def _cleaned(self, value: Any) -> Any:
        if isinstance(value, str | list | dict):
            return self.value(cast("JsonValue", value))
        return value


def spellings(value: str) -> Iterator[str]:
    """Yield the spellings of a secret that are long enough to be looked for."""
    lines = [line for line in value.splitlines() if len(line) >= LONG_LINE and not line.startswith("-----")]
    for one in dict.fromkeys((value, value.strip(), *(lines if len(lines) > 1 or "\n" in value.strip() else ()))):
        encoded = one.encode(errors="replace")
        travelling = (
            one,
            quote(one, safe=""),
            quote_plus(one),
            json.dumps(one)[1:-1],
            json.dumps(one, ensure_ascii=False)[1:-1],
            base64.b64encode(encoded).decode().rstrip("="),
            base64.urlsafe_b64encode(encoded).decode().rstrip("="),
        )
        if len(one) >= SHORTEST:
            yield from dict.fromkeys(travelling)


KNOWN = Redactor()
"""The secrets that this process has resolved. One for the whole process, as its log and its spans are."""
