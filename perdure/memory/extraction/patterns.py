"""Regular expressions that are compiled when they are first used. Pure.

The rules of extraction are some 700 of them, of which most processes use few: compiled as their modules were loaded,
they took .9 of the 3.5 s that a worker takes to load, and as long in each command that remembers something (measured).
"""

import re
from typing import Any, cast


def regex(pattern: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """Return a regular expression as ``re.compile`` does, which is compiled when it is first asked for something."""
    return cast("re.Pattern[str]", _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: str, flags: int | re.RegexFlag) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._given)
        # Found on the object itself from now on, as fast as on the compiled one.
        vars(self).update({own: getattr(compiled, own) for own in dir(compiled) if not own.startswith("_")})
        return getattr(compiled, name)
