"""The cosine counts less where the model doesn't know the question's language."""

from dataclasses import replace

import pytest

from rag_index.search.knowing import OTHER_SCRIPT, SAME_SCRIPT, knowledge
from rag_index.types import ModelInfo, Tokens


class Model:
    """Reads ASCII words and nothing else, as an English model does."""

    def __init__(self, *languages):
        self.info = replace(ModelInfo("m", "f", 2), languages=languages)

    def tokens(self, text):
        starts = [at for at, char in enumerate(text) if not char.isspace()]
        return Tokens(starts, [at + 1 for at in starts], [at for at in starts if not text[at].isascii()])


@pytest.mark.parametrize(
    ("languages", "question", "expected"),
    [
        (("en",), "What is the warranty on a repaired pump, and when does it begin?", 1.0),
        (("en",), "¿Cuál es la garantía de una bomba reparada y cuándo empieza?", SAME_SCRIPT),
        (("en",), "修理したポンプの保証期間はどのくらいですか", OTHER_SCRIPT),
        (("en", "ja"), "pump", 1.0),
        ((), "What is the warranty on a repaired pump?", 1.0),
        ((), "修理したポンプの保証期間はどのくらいですか", OTHER_SCRIPT),
        ((), "", 1.0),
    ],
)
def test_the_cosine_counts(languages, question, expected):
    assert knowledge(Model(*languages), question) == expected
