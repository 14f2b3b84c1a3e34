"""What was said has bounds, and who exceeds one is told which and what to do."""

from datetime import UTC, datetime

import pytest

from perdure.documents import validated
from perdure.errors import InvalidInput
from perdure.values.statements import LONGEST_BEFORE, Said


@pytest.mark.parametrize("length", [LONGEST_BEFORE, LONGEST_BEFORE + 1], ids=["control", "too long"])
def test_what_was_said_before_is_bounded(length: int) -> None:
    said = {"text": "yes", "at": datetime(2026, 5, 1, tzinfo=UTC), "occurrence": "s/1", "before": "x" * length}
    if length <= LONGEST_BEFORE:
        assert validated(Said, said, "said[0]").before == "x" * length
    else:
        with pytest.raises(InvalidInput, match=r"said\[0\]\.before: has 8,001 .* \(give only the last thing"):
            validated(Said, said, "said[0]")
