"""A word put into a text changes few chunks: cuts are borders of the text, and the old ones are soon met again."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

from rag_index.chunk import chunk

CORPORA = Path(__file__).resolve().parents[4] / "shared" / "data" / "chunking_evaluation" / "corpora"


def new_chunks(text: str, at: int, chunker: str, size: int, overlap: int) -> int:
    """Return how many chunk texts are new when a word is put in at `at`."""
    old = {item.text for item in chunk(text, chunker, size, overlap)}
    changed = f"{text[:at]} inserted {text[at:]}"
    return sum(item.text not in old for item in chunk(changed, chunker, size, overlap))


@pytest.mark.skipif(not CORPORA.exists(), reason="the shared corpora are not beside this repository")
@pytest.mark.parametrize("chunker", ["character", "sentence"])
@pytest.mark.parametrize(("size", "overlap"), [(1000, 200), (400, 80)])
def test_a_word_put_in_changes_the_chunks_that_it_touches_and_hardly_more(chunker, size, overlap):
    counts = []
    for path in sorted(CORPORA.glob("*.md")):
        text = path.read_bytes().decode("utf-8")[:30_000]
        counts += [new_chunks(text, at, chunker, size, overlap) for at in range(0, 20_000, 2_900)]
    assert median(counts) <= 2
    assert sum(counts) / len(counts) < 3
