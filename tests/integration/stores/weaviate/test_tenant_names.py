"""What is no tenant never reaches Weaviate, which would seem to be away for as long as anybody tries."""

from collections.abc import AsyncGenerator

import pytest

from perdure.errors import StoreUnavailable
from perdure.stores.weaviate.store import LongTerm
from perdure.values.jobs import Batch, UnusableItem
from tests.conftest import Servers
from tests.integration.stores.weaviate.test_store import memory, opened, put


@pytest.fixture
async def longterm(servers: Servers) -> AsyncGenerator[LongTerm]:
    longterm = opened(servers)
    await longterm.prepare()
    yield longterm
    await longterm.close()


@pytest.mark.parametrize("tenant", ["../t_1", "t 1", "t_" + "0" * 63, "ada@example.org"])
async def test_control_where_nobody_refuses_what_is_no_tenant_its_job_would_wait_for_ever(
    longterm: LongTerm, tenant: str
) -> None:
    with pytest.raises(ValueError, match="is not a valid tenant"):
        Batch(tenant=tenant, key="k", items=(UnusableItem(reason="r"),))
    with pytest.raises(StoreUnavailable) as caught:
        await put(longterm, tenant, memory(tenant, "a fact"))
    assert caught.value.retryable
