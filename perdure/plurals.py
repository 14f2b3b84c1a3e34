"""Numbers with their nouns."""

import re


def counted(number: float, one: str, many: str = "") -> str:
    """Write a number with its noun.

    Args:
        number: How many; also parts of one.
        one: The noun, in the singular.
        many: Its plural, unless it is formed as usual.

    >>> counted(1, "item"), counted(2.0, "day"), counted(2, "entry")
    ('1 item', '2 days', '2 entries')
    """
    plural = many or (f"{one[:-1]}ies" if re.search("[^aeiou]y$", one) else f"{one}s")
    return f"{number if isinstance(number, int) else f'{number:g}'} {one if number == 1 else plural}"
