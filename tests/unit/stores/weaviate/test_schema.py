import pytest

from perdure.errors import EmbeddingMismatch, PerdureError, SchemaMismatch
from perdure.stores.weaviate.schema import Embedding, check

MINE = Embedding(name="mine", dimension=3)


def test_the_recorded_model_must_be_the_configured_one() -> None:
    check("C", MINE.model_dump_json(), MINE)


@pytest.mark.parametrize(
    ("description", "error"),
    [
        (Embedding(name="other", dimension=3).model_dump_json(), EmbeddingMismatch),
        (Embedding(name="mine", dimension=4).model_dump_json(), EmbeddingMismatch),
        (Embedding(name="mine", dimension=3, language="german").model_dump_json(), SchemaMismatch),
        ("made by hand", EmbeddingMismatch),
        (None, EmbeddingMismatch),
    ],
)
def test_another_model_or_language_is_refused(description: str | None, error: type[PerdureError]) -> None:
    with pytest.raises(error, match="the collection C"):
        check("C", description, MINE)
