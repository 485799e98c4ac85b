"""The published rows of all-MiniLM-L6-v2, from our own vectors, exact search and the published accounting."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from rag_index.embed import load_embedder
from rag_index.embed.batching import embed_all
from rag_index.evaluate.metrics import score
from rag_index.settings import DEFAULT_MODEL, EmbedSettings
from tests.unit.evaluate.anchor import recursive


@pytest.mark.model
@pytest.mark.slow
def test_recursive_200_without_overlap_five_chunks_retrieved(shared, corpora, questions, texts_of_questions, cl100k):
    embedder = load_embedder(EmbedSettings(model=DEFAULT_MODEL))
    count = lru_cache(None)(lambda text: len(cl100k.encode(text, disallowed_special=())))
    chunks = [(doc, span) for doc, text in corpora.items() for span in recursive(text, 200, 0, count)]
    texts = [corpora[doc][slice(*span)] for doc, span in chunks]
    matrix = np.zeros((len(texts), embedder.info.dimension), dtype=np.float32)
    for indices, rows in embed_all(embedder, texts):
        matrix[indices] = rows
    asked = np.stack([embedder.embed_query(text) for text in texts_of_questions])
    best = np.argsort(-(asked @ matrix.T), axis=1, kind="stable")[:, :5]

    scores = []
    for (doc, references), row in zip(questions, best, strict=True):
        # Another document's chunk has no character of the reference, wherever it is put.
        spans = [chunks[n][1] if chunks[n][0] == doc else _elsewhere(chunks[n][1]) for n in row]
        scores.append(score(spans, references, gross=True))

    assert 100 * np.mean([each.recall for each in scores]) == pytest.approx(75.6, abs=0.3)
    assert 100 * np.mean([each.precision for each in scores]) == pytest.approx(6.19, abs=0.1)
    assert 100 * np.mean([each.iou for each in scores]) == pytest.approx(6.16, abs=0.1)


def _elsewhere(span: tuple[int, int]) -> tuple[int, int]:
    return (span[0] + 10_000_000, span[1] + 10_000_000)
