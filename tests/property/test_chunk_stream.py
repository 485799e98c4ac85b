"""A text that comes in pieces gives the chunks of the whole text."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_index.chunk import chunk
from rag_index.chunk.stream import decoded, stream_chunks
from rag_index.errors import UsageError
from rag_index.settings import ChunkSettings
from rag_index.types import Chunk, Span, Tokens

EXAMPLES = 2_000 if os.environ.get("RAG_INDEX_NIGHTLY") else 40
PARAGRAPHS = [
    "The valve was shut at nine. Dr. Hall came at ten, e.g. to look at it. " * 6,
    "# Heading\n\n", "- item one\n- item two\n", "雨が降った。「行こう。」と言った。" * 9, "\n\n",
    "x" * 700, " \u3000 ",
    "Le sifflet retentit et les ouvriers sont partis dans la nuit avec tout ce qu'il y avait. " * 5, "ab\u0301c\r\n",
]  # fmt: skip


@pytest.mark.parametrize("chunker", ["character", "window", "sentence"])
@settings(max_examples=EXAMPLES, deadline=None)
@given(
    parts=st.lists(st.sampled_from(PARAGRAPHS), max_size=60),
    sizes=st.lists(st.integers(1, 5000), min_size=1, max_size=20),
    size=st.integers(5, 300),
    data=st.data(),
)
def test_pieces_give_the_chunks_of_the_whole(chunker, parts, sizes, size, data):
    text = "".join(parts)
    overlap = data.draw(st.integers(0, size - 1))
    pieces, at = [], 0
    while at < len(text):
        step = sizes[len(pieces) % len(sizes)]
        pieces.append(text[at : at + step])
        at += step
    streamed = list(stream_chunks(pieces, ChunkSettings(chunker, size, overlap)))
    assert streamed == list(chunk(text, chunker, size, overlap))


def test_chunks_come_before_the_input_ends_and_no_more_is_read_than_needed():
    read = []

    def source():
        for number in range(1000):
            read.append(number)
            yield f"Sentence number {number} is here. "

    first = next(stream_chunks(source(), ChunkSettings("sentence", 200, 20)))
    assert first.start == 0
    assert len(read) < 300


def test_a_long_stream_is_not_kept():
    piece = "word " * 2000
    total = 0
    for item in stream_chunks((piece for _ in range(300)), ChunkSettings("window", 100, 0)):
        total = item.end
    assert total == 300 * len(piece) - 1


def test_other_chunkers_read_the_whole_text_first():
    def embed(texts):
        import numpy as np

        return np.ones((len(texts), 2), dtype=np.float32)

    found = stream_chunks(["One is. ", "Two is."], ChunkSettings("semantic", 100, 0), embed=embed)
    assert list(found) == [Chunk("One is. Two is.", 0, 0, 15)]


def test_sizes_in_tokens_hold_in_a_stream():
    def tokens(text):
        return Tokens(list(range(len(text))), list(range(1, len(text) + 1)), limit=12, extra=2)

    found = list(stream_chunks(["abc def " * 5] * 900, ChunkSettings("window", 1000, 0), tokens))
    assert found[-1].end == 900 * 40 - 1
    assert all(len(item.text) <= 10 for item in found)
    assert Span(found[0].start, found[0].end) == Span(0, 7)


def test_settings_that_cant_be_meant_are_an_error_at_once():
    with pytest.raises(UsageError, match="sizes in tokens"):
        stream_chunks([], ChunkSettings(unit="tokens"))


@given(st.text(max_size=50), st.integers(1, 7))
def test_characters_may_lie_across_blocks_of_bytes(text, step):
    data = text.encode("utf-8", "ignore")
    blocks = [data[at : at + step] for at in range(0, len(data), step)]
    assert "".join(decoded(blocks)) == data.decode()


@pytest.mark.parametrize(
    ("blocks", "message"),
    [([b"abc\xff"], "not UTF-8 near byte 3"), ([b"ab\xc3"], "ends inside a character, at byte 3")],
)
def test_bytes_that_are_no_text_are_an_error_with_the_place(blocks, message):
    with pytest.raises(UsageError, match=message):
        list(decoded(blocks))
