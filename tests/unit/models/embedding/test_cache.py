from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from perdure.models.embedding import CachedEmbedder, Vector
from tests.support.hashing import HashingEmbedder


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__(8)
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        return await super().embed(texts)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6)), st.integers(1, 10))
async def test_it_gives_what_the_model_gives(calls: list[list[str]], capacity: int) -> None:
    cached, plain = CachedEmbedder(Counting(), capacity), HashingEmbedder(8)
    for texts in calls:
        assert await cached.embed(texts) == await plain.embed(texts)


async def test_a_text_is_embedded_once_while_it_is_remembered() -> None:
    model = Counting()
    cached = CachedEmbedder(model, 2)
    await cached.embed(["a", "b", "a"])
    await cached.embed(["a"])
    assert model.asked == ["a", "b"]
    await cached.embed(["c"])
    await cached.embed(["a", "b"])
    assert model.asked == ["a", "b", "c", "b"]
