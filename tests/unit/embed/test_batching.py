import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.embed import load_embedder
from rag_index.embed.batching import embed_all, plan
from rag_index.settings import EmbedSettings

LENGTHS = st.lists(st.integers(0, 300), max_size=200)


@given(LENGTHS, st.integers(1, 2000))
def test_every_text_is_in_exactly_one_batch_and_no_batch_is_over_budget(lengths, budget):
    batches = plan(lengths, budget)
    assert sorted(index for batch in batches for index in batch.indices) == list(range(len(lengths)))
    for batch in batches:
        width = max(1, *(lengths[index] for index in batch.indices))
        assert batch.padded == width * len(batch.indices)
        assert batch.padded <= budget or len(batch.indices) == 1


@given(LENGTHS, st.integers(1, 2000))
def test_long_texts_come_first_and_equal_ones_keep_their_order(lengths, budget):
    order = [index for batch in plan(lengths, budget) for index in batch.indices]
    assert order == sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))


def test_sorting_leaves_little_padding():
    lengths = [int(length) for length in np.random.default_rng(0).gamma(2, 25, 2000) + 2]
    batches = plan(lengths, 4096)
    assert sum(batch.padded for batch in batches) <= 1.1 * sum(batch.tokens for batch in batches)


@given(st.lists(st.text("ab ", max_size=30), max_size=30), st.booleans())
def test_all_texts_are_embedded_in_their_places_whether_or_not_lengths_are_given(texts, given_lengths):
    embedder = load_embedder(EmbedSettings(model="hash"))
    lengths = [len(text) for text in texts] if given_lengths else None
    matrix = np.zeros((len(texts), 256), dtype=np.float32)
    for indices, rows in embed_all(embedder, texts, lengths):
        matrix[indices] = rows
    assert np.array_equal(matrix, embedder.embed(texts))


def test_progress_is_told_in_tokens_and_ends_at_the_total():
    events = []
    texts = [f"word {number} " * (number % 9) for number in range(50)]
    for _ in embed_all(load_embedder(EmbedSettings(model="hash")), texts, report=events.append):
        pass
    assert [event.stage for event in events] == ["embed"] * len(events)
    assert [event.done for event in events] == sorted(event.done for event in events)
    assert events[-1].done == events[-1].total


class Narrow:
    """An embedder with room for a few characters at a time."""

    def __init__(self, room, error=MemoryError):
        self.inner = load_embedder(EmbedSettings(model="hash"))
        self.info, self.tokens, self.embed_query = self.inner.info, self.inner.tokens, self.inner.embed_query
        self.room, self.error, self.calls = room, error, []

    def embed(self, texts):
        self.calls.append(len(texts))
        if sum(map(len, texts)) > self.room:
            raise self.error
        return self.inner.embed(texts)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("CUDA out of memory"), RuntimeError("can not allocate")])
def test_a_batch_that_does_not_fit_in_memory_is_halved_and_nothing_is_lost(error):
    texts = [f"{number:05}" for number in range(100)]
    narrow = Narrow(40, error)
    done = [index for indices, _ in embed_all(narrow, texts) for index in indices]
    assert sorted(done) == list(range(100))
    assert narrow.calls[0] == 100


def test_a_batch_that_was_too_large_once_is_not_tried_again():
    narrow = Narrow(40)
    list(embed_all(narrow, ["12345"] * 3000, [500] * 3000))
    assert sum(calls > 8 for calls in narrow.calls) <= 2


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        pytest.param(["x" * 50], MemoryError(), id="one text that is too large"),
        pytest.param(["x"] * 50, RuntimeError("wrong shape"), id="another failure"),
    ],
)
def test_what_halving_does_not_mend_is_raised(texts, error):
    with pytest.raises(type(error)):
        list(embed_all(Narrow(-1 if isinstance(error, RuntimeError) else 40, error), texts))


def test_a_batch_is_embedded_only_when_it_is_asked_for():
    narrow = Narrow(10**9)
    made = embed_all(narrow, ["a"] * 40, [1000] * 40)
    assert narrow.calls == []
    next(made)
    assert narrow.calls == [4]


class Streaming(Narrow):
    """An embedder that takes batch after batch."""

    def embed_stream(self, batches):
        return map(self.embed, batches)


@given(st.lists(st.text("ab ", max_size=30), max_size=30), st.booleans())
def test_a_stream_of_batches_gives_every_text_its_vector(texts, given_lengths):
    embedder = Streaming(10**9)
    lengths = [500 * len(text) for text in texts] if given_lengths else None
    matrix = np.zeros((len(texts), 256), dtype=np.float32)
    for indices, rows in embed_all(embedder, texts, lengths):
        matrix[indices] = rows
    assert np.array_equal(matrix, embedder.inner.embed(texts))


def test_what_a_stream_has_no_memory_for_is_embedded_in_halves_and_nothing_is_lost():
    narrow = Streaming(40, RuntimeError("can not allocate"))
    done = [index for indices, _ in embed_all(narrow, ["12345"] * 300, [50] * 300) for index in indices]
    assert sorted(done) == list(range(300))


def test_another_failure_of_a_stream_is_raised():
    with pytest.raises(RuntimeError, match="wrong shape"):
        list(embed_all(Streaming(-1, RuntimeError("wrong shape")), ["x"] * 50))
