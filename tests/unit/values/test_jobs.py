"""A tenant has a form, so that a job for something else is refused instead of waiting for a store for ever."""

import pytest
from pydantic import ValidationError

from perdure.values.jobs import Batch, UnusableItem


@pytest.mark.parametrize("tenant", ["", "../t_1", "t 1", "t_" + "0" * 63, "ada@example.org"])
def test_a_batch_for_what_is_no_tenant_is_refused(tenant: str) -> None:
    with pytest.raises(ValidationError, match="give the user id to a task"):
        Batch(tenant=tenant, key="k", items=(UnusableItem(reason="r"),))
