import pytest

from perdure.errors import EmbeddingMismatch
from perdure.stores.weaviate.schema import Embedding, check

MINE = Embedding(name="mine", dimension=3)


def test_the_recorded_model_must_be_the_configured_one() -> None:
    check("C", MINE.model_dump_json(), MINE)


@pytest.mark.parametrize(
    "description",
    [
        Embedding(name="other", dimension=3).model_dump_json(),
        Embedding(name="mine", dimension=4).model_dump_json(),
        Embedding(name="mine", dimension=3, language="german").model_dump_json(),
        "made by hand",
        None,
    ],
)
def test_another_model_or_language_is_refused(description: str | None) -> None:
    with pytest.raises(EmbeddingMismatch, match="the collection C"):
        check("C", description, MINE)
