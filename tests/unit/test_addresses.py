import pytest

from perdure.addresses import require_safe
from perdure.base_error import InvalidInput


@pytest.mark.parametrize(
    "url",
    [
        "https://memory.example.org",
        "HTTPS://10.0.0.7:8321/x",
        "http://127.0.0.1:8321",
        "http://[::1]",
        "http://localhost",
    ],
)
def test_what_nobody_can_overhear_is_safe(url: str) -> None:
    require_safe("memory_url", url)


@pytest.mark.parametrize(
    "url",
    [
        "http://memory.example.org",
        "http://10.0.0.7:8321",
        "http://127.0.0.1.example.org",
        "http://127.0.0.1@example.org",
        "https://",
        "redis://127.0.0.1",
        "memory.example.org",
        "",
    ],
)
def test_what_others_can_overhear_is_refused_with_the_field(url: str) -> None:
    with pytest.raises(InvalidInput, match="is not an address by https") as refused:
        require_safe("memory_url", url)
    assert (refused.value.field, refused.value.fix) == ("memory_url", "write https://…")


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(InvalidInput, match=r"'http://example\.org:80/path' is not") as refused:
        require_safe("memory_url", "http://ada:hunter2@example.org:80/path")
    assert "hunter2" not in str(refused.value)
