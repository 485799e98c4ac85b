import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.embed import load_embedder
from rag_index.settings import EmbedSettings

TEXTS = st.text(max_size=60)


def hashing(**settings):
    return load_embedder(EmbedSettings(model="hash", **settings))


@given(st.lists(TEXTS, max_size=5))
def test_every_text_has_a_vector_of_length_one_that_does_not_depend_on_its_neighbours(texts):
    matrix = hashing().embed(texts)
    assert matrix.shape == (len(texts), 256)
    assert matrix.dtype == np.float32
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    for row, text in enumerate(texts):
        assert np.array_equal(matrix[row], hashing().embed([text])[0])


@given(TEXTS)
def test_tokens_are_words_in_order_and_without_limit(text):
    tokens = hashing().tokens(text)
    words = [text[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)]
    assert all(words)
    assert list(tokens.starts) == sorted(tokens.starts)
    assert tokens.limit is None
    assert not tokens.unknown


@pytest.mark.parametrize(
    ("question", "near", "far"),
    [
        pytest.param("warranty of the pump", "The warranty of a pump is a year.", "Lunch is at noon.", id="English"),
        pytest.param(
            "保証期間", "ポンプの保証期間は一年です", "昼食は正午です", id="Japanese shares pairs of characters"
        ),
        pytest.param("WARRANTY", "warranty", "pump", id="case does not matter"),
    ],
)
def test_texts_that_share_words_are_nearer(question, near, far):
    embedder = hashing()
    vector = embedder.embed_query(question)
    close, apart = embedder.embed([near, far]) @ vector
    assert close > apart


def test_prompts_go_to_their_own_side():
    plain, prompted = hashing(), hashing(query_prompt="query: ", document_prompt="passage: ")
    assert np.array_equal(prompted.embed_query("pump"), plain.embed_query("query: pump"))
    assert np.array_equal(prompted.embed(["pump"]), plain.embed(["passage: pump"]))
    assert prompted.tokens("pump").extra == 1
