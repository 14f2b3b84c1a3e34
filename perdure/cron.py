"""What is wrong with a cron expression, as far as its shape and its numbers tell. Pure."""

import re

_FIELDS = re.compile(r"[\d*,/-]+ +[\d*,/-]+ +[\d*,/?-]+ +[\w*,/-]+ +[\w*,/?-]+", re.ASCII)

_MOST = (59, 23, 31, 12, 7)
"""The highest minute, hour, day of the month, month and day of the week."""


def problem_of(cron: str) -> str:
    """Return why a cron expression cannot be meant; empty: Temporal checks what is left, the names in it.

    >>> problem_of("0 3 * * MON")
    ''
    >>> problem_of("61 * * * *")
    'has 61 where at most 59 is meant'
    """
    if not _FIELDS.fullmatch(cron):
        return "must be five fields such as '0 3 * * *', or off"
    for field, most in zip(cron.split(), _MOST, strict=True):
        # A step may be as long as one likes.
        for number in re.findall(r"(?<![/\d])\d+", field):
            if int(number) > most:
                return f"has {number} where at most {most} is meant"
    return ""
