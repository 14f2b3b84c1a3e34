"""What MCP clients send back is sealed under a key that all services of an installation have, whenever they started."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.server.request_state import InvalidRequestState

from perdure.errors import TenantKeyMissing
from tests.conftest import clean_settings, give_tenant_key
from tests.support.no_servers import NOWHERE
from worker.gateway import Gateway
from worker.http import mcp
from worker.http.app import make_app
from worker.mcp.sealing import SealedLater


def test_services_that_started_before_the_tenant_key_was_there_open_what_each_other_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = clean_settings(tmp_path)
    keys: list[Callable[[], bytes]] = []
    made = mcp.make_server

    def noting(*args: Any, sealing: Callable[[], bytes], **how: Any) -> Any:
        keys.append(sealing)
        return made(*args, sealing=sealing, **how)

    monkeypatch.setattr(mcp, "make_server", noting)
    for _ in "12":
        make_app(settings, Gateway(settings, NOWHERE), local=True)
    one, other = map(SealedLater, keys)
    with pytest.raises(TenantKeyMissing):
        one.seal(b"asked")
    give_tenant_key(tmp_path)
    assert other.unseal(one.seal(b"asked")) == b"asked"
    with pytest.raises(InvalidRequestState):
        SealedLater(lambda: bytes(32)).unseal(one.seal(b"asked"))
