"""The promises that every chunker keeps on every text: exact, nothing lost, in order, within the bounds."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_index.chunk import chunk, chunk_document
from rag_index.chunk.graphemes import joins
from rag_index.settings import ChunkSettings
from rag_index.types import Block, Document, Source, Span, Tokens

EXAMPLES = 10_000 if os.environ.get("RAG_INDEX_NIGHTLY") else 150
CHUNKERS = ["character", "window", "sentence", "semantic"]
PIECES = [
    "a", "b", "word", "Dr.", "e.g.", "End.", "no", "No. 5", "x" * 17, "été", "日本", "。", "」", "、", "字", "かな",
    " ", "  ", "\n", "\n\n", "\r\n", "\u00a0", "\u3000", "\t", "e\u0301", "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1eb\U0001f1f7", "\U0001f44d\U0001f3fd", "\x00", "\ufeff", "\ud800", "…", "! ", "? ", "- item", "# Head",
    "```\n", "1. ", "(", ")", "\u202e", "مرحبا", "\u1112\u1161\u11ab",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def embed(sentences):
    """Embed a sentence by its length and its first letters: anything will do, if it is always the same."""
    rows = [[len(text), *(ord(char) % 7 for char in text[:3].ljust(3))] for text in sentences]
    return np.array(rows, dtype=np.float32)


@st.composite
def sizes(draw):
    size = draw(st.integers(1, 40))
    return size, draw(st.integers(0, size - 1))


def assert_laws(text: str, spans: list[Span], regions: list[Span] | None = None) -> None:
    regions = [Span(0, len(text))] if regions is None else regions
    covered = bytearray(len(text))
    for span in spans:
        assert 0 <= span.start < span.end <= len(text)
        assert not text[span.start].isspace()
        assert not text[span.end - 1].isspace()
        assert any(part.start <= span.start and span.end <= part.end for part in regions)
        covered[span.start : span.end] = b"x" * len(span)
    for part in regions:
        assert all(covered[at] or text[at].isspace() for at in range(part.start, part.end))
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(spans))


def words_stay_whole(text: str, spans: list[Span], size: int) -> None:
    """A border inside a word is allowed only where the word is longer than a chunk."""
    for span in spans:
        for border in (span.start, span.end):
            if 0 < border < len(text) and text[border - 1].isalpha() and text[border].isalpha():
                begin = len(text[:border].rstrip()) - len(text[:border].rsplit(maxsplit=1)[-1])
                word = text[begin:].split(maxsplit=1)[0]
                assert len(word) > size or not word.isascii(), (word, border)


def clusters_stay_whole(text: str, spans: list[Span], size: int) -> None:
    for span in spans:
        for border in (span.start, span.end):
            if 0 < border < len(text) and joins(text, border) and not text[border - 1].isspace():
                begin = border
                while begin > 0 and joins(text, begin):
                    begin -= 1
                end = border
                while end < len(text) and joins(text, end):
                    end += 1
                assert end - begin > size, (text[begin:end], border)


@pytest.mark.parametrize("chunker", CHUNKERS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(text=texts, bounds=sizes())
def test_every_chunk_is_exact_whole_and_within_its_size(chunker, text, bounds):
    size, overlap = bounds
    chunks = list(chunk(text, chunker, size, overlap, embed=embed))
    spans = [Span(item.start, item.end) for item in chunks]
    assert [item.text for item in chunks] == [span.of(text) for span in spans]
    assert [item.index for item in chunks] == list(range(len(chunks)))
    assert_laws(text, spans)
    assert all(len(span) <= size for span in spans)
    assert all(a.end - b.start <= overlap for a, b in pairwise(spans))
    words_stay_whole(text, spans, size)
    clusters_stay_whole(text, spans, size)


@st.composite
def tokenized(draw):
    """Draw a text with tokens of 1 to 4 code points, as any tokenizer might cut it."""
    text = draw(texts)
    starts, ends, at = [], [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        end = at + 1
        while end < min(len(text), at + draw(st.integers(1, 4))) and not text[end].isspace():
            end += 1
        starts.append(at)
        ends.append(end)
        at = end
    return text, Tokens(starts, ends, limit=draw(st.integers(30, 60)), extra=2)


@pytest.mark.parametrize("chunker", CHUNKERS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(case=tokenized(), bounds=sizes())
def test_sizes_in_tokens_keep_the_same_laws(chunker, case, bounds):
    text, tokens = case
    size, overlap = bounds
    spans = list(
        chunk_document(
            Document(Source(""), text=text), ChunkSettings(chunker, size, overlap, "tokens"), tokens, embed=embed
        )
    )
    assert_laws(text, spans)
    assert all(len(whole_tokens(tokens, span)) <= size or len(span) == 1 for span in spans)
    assert all(
        len(whole_tokens(tokens, Span(b.start, a.end))) <= overlap for a, b in pairwise(spans) if b.start < a.end
    )


def whole_tokens(tokens: Tokens, span: Span) -> list[int]:
    return [s for s, e in zip(tokens.starts, tokens.ends, strict=True) if e > span.start and s < span.end]


@st.composite
def structured(draw):
    text = draw(texts)
    blocks = []
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, len(text)))
        kind = draw(st.sampled_from(["section", "heading", "paragraph", "code", "item", "page"]))
        blocks.append(Block(start, end, kind, role=draw(st.sampled_from(["body", "body", "hidden", "furniture"]))))
    return Document(Source(""), text=text, blocks=tuple(blocks))


@pytest.mark.parametrize("chunker", CHUNKERS)
@settings(max_examples=EXAMPLES, deadline=None)
@given(document=structured(), bounds=sizes(), sections=st.booleans(), keep=st.booleans())
def test_blocks_of_any_shape_keep_the_same_laws(chunker, document, bounds, sections, keep):
    size, overlap = bounds
    wanted = ChunkSettings(chunker, size, overlap, sections=sections)
    spans = list(chunk_document(document, wanted, keep_furniture=keep, embed=embed))
    out = ("hidden",) if keep else ("hidden", "furniture")
    holes = bytearray(len(document.text))
    for block in document.blocks:
        if block.role in out:
            holes[block.start : block.end] = b"x" * (block.end - block.start)
    body, begin = [], None
    for at in range(len(holes) + 1):
        inside = at < len(holes) and not holes[at]
        if inside and begin is None:
            begin = at
        elif not inside and begin is not None:
            body.append(Span(begin, at))
            begin = None
    assert_laws(document.text, spans, body)
    assert all(len(span) <= size for span in spans)
