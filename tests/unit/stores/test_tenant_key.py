import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InvalidInput, TenantKeyMismatch, TenantKeyMissing
from perdure.stores.tenant_key import TenantKey


def test_a_key_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "home" / "tenant.key"
    first = TenantKey.load_or_create(path)
    assert TenantKey.load_or_create(path).fingerprint == first.fingerprint
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["tenant.key"]


def test_processes_that_start_at_once_use_one_key(tmp_path: Path) -> None:
    path = tmp_path / "tenant.key"
    with ThreadPoolExecutor(16) as pool:
        prints = {key.fingerprint for key in pool.map(TenantKey.load_or_create, [path] * 64)}
    assert len(prints) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_not_a_key_is_refused_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "tenant.key"
    path.write_bytes(b"short")
    with pytest.raises(InvalidInput, match=r"tenant\.key has 5 bytes, not 32 .*backup"):
        TenantKey.load_or_create(path)
    assert path.read_bytes() == b"short"


def test_a_missing_key_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(TenantKeyMissing, match="cannot be read"):
        TenantKey.load(tmp_path / "none")


@given(st.text(min_size=1), st.text(min_size=1))
def test_tenants_differ_as_users_and_keys_do(one: str, other: str) -> None:
    key, another = TenantKey(b"a" * 32), TenantKey(b"b" * 32)
    try:
        tenants = [key.tenant_of(one), key.tenant_of(other)]
    except InvalidInput:
        return  # A lone surrogate is no user id.
    assert len(tenants[0]) <= 64
    assert tenants[0] != another.tenant_of(one)
    if one == other:
        assert tenants[0] == tenants[1]


def test_another_key_does_not_open_the_data() -> None:
    mine, other = TenantKey(os.urandom(32)), TenantKey(os.urandom(32))
    mine.require(mine.fingerprint)
    with pytest.raises(TenantKeyMismatch, match=mine.fingerprint):
        mine.require(other.fingerprint)


def test_a_key_does_not_show_itself() -> None:
    secret = os.urandom(32)
    shown = repr(TenantKey(secret)) + TenantKey(secret).fingerprint
    assert secret.hex()[:12] not in shown


def test_a_fingerprint_stays_what_it_is_for_ever() -> None:
    """Stored data is refused under another fingerprint: a change here locks every installation out."""
    assert TenantKey(bytes(32)).fingerprint == "cfe85a0fbebee65a"
