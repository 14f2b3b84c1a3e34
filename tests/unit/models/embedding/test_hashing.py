import math

from hypothesis import given
from hypothesis import strategies as st

from perdure.models.embedding.hashing import HashingEmbedder


@given(st.lists(st.text(), max_size=5))
async def test_equal_texts_have_equal_vectors_of_length_one(texts: list[str]) -> None:
    embedder = HashingEmbedder(16)
    vectors = await embedder.embed(texts)
    assert vectors == await embedder.embed(texts)
    assert all(len(vector) == 16 and math.isclose(math.hypot(*vector), 1.0) for vector in vectors)
