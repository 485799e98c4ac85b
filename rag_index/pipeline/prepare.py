"""One document on its way from text to chunks that can be stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_index.chunk import chunk_document, count_tokens
from rag_index.embed.cache import vector_key
from rag_index.extract.fold import Folded, fold
from rag_index.extract.positions import heading_path, heading_paths
from rag_index.pipeline.languages import language_of
from rag_index.settings import Settings
from rag_index.store import HEADING_SEPARATOR, PATH_SEPARATOR, Hint, Piece, Prepared
from rag_index.store.keywords import index_terms
from rag_index.store.schema import text_hash
from rag_index.types import Document, Embedder, Ledger, ModelInfo, Span, Tokens

if TYPE_CHECKING:
    from rag_index.types import Matrix

FILE = "file"
"""Origin of documents that a build found, and may remove when their file is gone."""


def prepare(document: Document, embedder: Embedder, settings: Settings, *, hint: Hint, origin: str = FILE) -> Prepared:
    """Cut `document` and say what is to be embedded; the model finds token borders but embeds nothing here.

    Only the `semantic` chunker has sentences embedded.
    """
    if not document.status.searchable:
        return Prepared(document, origin, hint, language=language_of(document))
    folded = fold(document.text)
    tokens = _tokens(folded, embedder)
    if settings.chunk.heading_context:
        tokens = _with_room_for_headings(document, tokens, embedder)
    spans = chunk_document(
        document, settings.chunk, tokens, embed=_embed(embedder), keep_furniture=settings.extract.keep_furniture
    )
    pieces, ledger = [], Ledger()
    for span in spans:
        count, unknown = count_tokens(tokens, span)
        cut = max(0, count - tokens.limit) if tokens.limit else 0
        ledger += Ledger(count, count - cut, cut, unknown)
        pieces.append(_piece(document, folded, span, count, settings, embedder.info))
    return Prepared(document, origin, hint, tuple(pieces), ledger, language_of(document))


def _tokens(folded: Folded, embedder: Embedder) -> Tokens:
    """Find the borders of the tokens in the document's own text."""
    tokens = embedder.tokens(folded.text)
    if not folded.edits:
        return tokens
    starts, ends = folded.back_all(tokens.starts, tokens.ends)
    unknown, _ = folded.back_all(tokens.unknown, tokens.unknown)
    return replace(tokens, starts=starts, ends=ends, unknown=unknown)


def _with_room_for_headings(document: Document, tokens: Tokens, embedder: Embedder) -> Tokens:
    """Count the longest heading path of the document as tokens that every chunk has."""
    titles = {heading_path(document, block.start) for block in document.blocks if block.kind == "section"}
    longest = max((len(embedder.tokens(_before(path)).starts) for path in titles), default=0)
    return replace(tokens, extra=tokens.extra + longest)


def _before(titles: Sequence[str]) -> str:
    return f"{' > '.join(titles)}\n\n" if titles else ""


def _piece(document: Document, folded: Folded, span: Span, tokens: int, settings: Settings, info: ModelInfo) -> Piece:
    text, search_text = span.of(document.text), folded.slice(span.start, span.end)
    paths = heading_paths(document, span.start, span.end)
    embedded = (_before(paths[0]) if settings.chunk.heading_context else "") + search_text
    digest = text_hash(text)
    return Piece(
        start=span.start,
        end=span.end,
        uid=digest if embedded == text else text_hash(text, embedded),
        digest=digest,
        key=vector_key(info, embedded),
        embedded=embedded,
        terms=index_terms(search_text),
        heading=PATH_SEPARATOR.join(HEADING_SEPARATOR.join(titles) for titles in paths),
        tokens=tokens,
    )


def _embed(embedder: Embedder) -> Callable[[Sequence[str]], Matrix]:
    return embedder.embed
