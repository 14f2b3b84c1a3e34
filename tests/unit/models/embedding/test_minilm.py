import asyncio
import math
from pathlib import Path

import pytest

from perdure.models.embedding import Vector
from perdure.models.embedding.minilm import MiniLMEmbedder, find_minilm, verify_minilm
from perdure.models.errors import ModelFileDamaged


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_vectors_have_length_one(embedder: MiniLMEmbedder) -> None:
    vectors = await embedder.embed(["", "a word", "many words " * 500, "日本語 🙂"])
    assert [len(vector) for vector in vectors] == [embedder.dimension] * 4
    assert all(math.isclose(math.hypot(*vector), 1.0, abs_tol=1e-5) for vector in vectors)


async def test_a_vector_does_not_depend_on_its_company(embedder: MiniLMEmbedder) -> None:
    texts = [f"The {noun} is {'very ' * count}blue." for count, noun in enumerate(["sky", "sea", "car"] * 12)]
    together = await embedder.embed(texts)
    for text, vector in list(zip(texts, together, strict=True))[::7]:
        [alone] = await embedder.embed([text])
        assert max(abs(a - b) for a, b in zip(alone, vector, strict=True)) < 1e-5


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # Known weaknesses of the model: a statement and its opposite are close, so being close is not agreeing.
        ("Python over JavaScript", "JavaScript over Python", 0.990),
        ("likes peanuts", "does not like peanuts", 0.857),
        ("Python over JavaScript", "likes peanuts", 0.09),
    ],
)
async def test_the_model_is_the_one_it_says(embedder: MiniLMEmbedder, one: str, other: str, expected: float) -> None:
    first, second = await embedder.embed([one, other])
    assert cosine(first, second) == pytest.approx(expected, abs=0.006)


async def test_beyond_256_tokens_nothing_counts(embedder: MiniLMEmbedder) -> None:
    start = "alpha " * 300
    one, other = await embedder.embed([start + "peanuts", start + "mountains"])
    # The matrices differ in shape, so the library may add the single-precision numbers in a different order.
    assert one == pytest.approx(other, abs=1e-6)


async def test_the_event_loop_goes_on(embedder: MiniLMEmbedder) -> None:
    await embedder.embed(["warm"])
    beats = 0
    work = asyncio.create_task(embedder.embed([f"{number} words to embed " * 20 for number in range(32)]))
    while not work.done():
        beats += 1
        await asyncio.sleep(0.002)
    assert beats > 20


async def test_those_of_a_process_share_the_model(embedder: MiniLMEmbedder) -> None:
    other = MiniLMEmbedder()
    assert await other.embed(["warm"]) == await embedder.embed(["warm"])
    assert other._model is embedder._model  # pyright: ignore[reportPrivateUsage]  it takes 90 MB
    other.close()


async def test_no_text_gives_no_vector(embedder: MiniLMEmbedder) -> None:
    assert await embedder.embed([]) == []


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(ModelFileDamaged, match="install it again"):
        verify_minilm(tmp_path)


def test_right_weights_are_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = find_minilm()
    assert folder is not None
    verify_minilm(folder)
    [mark] = (tmp_path / "cache" / "perdure").iterdir()
    written = mark.stat().st_mtime_ns
    verify_minilm(folder)
    assert mark.stat().st_mtime_ns == written
