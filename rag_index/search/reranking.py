"""Let a cross-encoder read the best that the search has to offer, and order it anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_index.search.passages import Item
from rag_index.search.reading import Texts
from rag_index.settings import SearchSettings

if TYPE_CHECKING:
    from rag_index.embed.rerank import Reranker

READ = 50
"""Items that a reranker reads: some 10 ms each on a processor, so this is what a person waits for."""


def rerank(texts: Texts, items: Sequence[Item], question: str, settings: SearchSettings) -> list[Item]:
    """Return the first `READ` items in the order of the reranker's scores, which replace theirs; the rest is dropped.

    A sentence is read with its neighbours, as a person would. Equal scores keep their order.

    Raises:
        ModelError: the reranker can't be loaded.
    """
    best = list(items[: max(READ, settings.limit)])
    scores = _load(settings.rerank).scores(question, [_read(texts, item) for item in best])
    marked = [
        replace(item, score=score, parts={**item.parts, "rerank": score})
        for item, score in zip(best, scores, strict=True)
        if score >= settings.min_score
    ]
    return sorted(marked, key=lambda item: -round(item.score, 6))


def _read(texts: Texts, item: Item) -> str:
    span = texts.part(item.document, item.span.start).around(item.span, 1)
    return span.of(texts.document(item.document).text)


@lru_cache(maxsize=2)
def _load(name: str) -> Reranker:
    from rag_index.embed.rerank import Reranker

    return Reranker(name)
