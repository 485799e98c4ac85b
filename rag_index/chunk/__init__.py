"""Cut texts into chunks: exact spans, lazily, in order, nothing lost, never longer than the model reads."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING

from rag_index.chunk.bounds import bounds_for, count_tokens
from rag_index.chunk.cutting import Cutter, Scope
from rag_index.chunk.foreign import foreign_spans
from rag_index.chunk.languages import check_language, detect_language
from rag_index.chunk.making import chunks_of
from rag_index.chunk.quick import quick_walk
from rag_index.chunk.structure import borders, regions
from rag_index.registry import Registry
from rag_index.settings import ChunkSettings
from rag_index.types import Chunk, Document, Source, Span, Tokens

if TYPE_CHECKING:
    from rag_index.types import Chunker, Matrix

__all__ = ["check_chunker", "chunk", "chunk_document", "chunkers", "count_tokens", "detect_language"]

chunkers = Registry(
    "chunker",
    {
        "character": "rag_index.chunk.characters:character",
        "recursive": "rag_index.chunk.characters:character",
        "window": "rag_index.chunk.characters:window",
        "semantic": "rag_index.chunk.semantic:semantic",
        "sentence": "rag_index.chunk.sentences:sentence",
    },
)
"""Built-in names give a function from a `Scope` to a `Cutter`; a plug-in's name gives a `Chunker`."""


def check_chunker(settings: ChunkSettings) -> None:
    """Raise what is wrong with `settings` before any work is done.

    Raises:
        UnknownNameError: no chunker or sentence rules go by that name.
    """
    chunkers.check(settings.chunker)
    check_language(settings.language)


def chunk(  # noqa: PLR0913 (one keyword a setting; only two are ever positional)
    text: str,
    chunker: str | Chunker = "character",
    size: int = 1000,
    overlap: int = 200,
    *,
    unit: str = "characters",
    separators: Sequence[str] = (),
    language: str = "auto",
    tokens: Tokens | None = None,
    embed: Callable[[Sequence[str]], Matrix] | None = None,
) -> Iterator[Chunk]:
    """Cut `text`; yields chunks lazily, so a `break` costs nothing.

    Args:
        text: Any string; it is never changed, and ``chunk.text == text[chunk.start:chunk.end]``.
        chunker: A name, or a function of your own from a text to spans.
        size: Most units in a chunk, at least 1.
        overlap: Most units that neighbours share, less than `size`.
        unit: ``characters`` (code points) or ``tokens``.
        separators: Borders that ``character`` prefers, best first, in place of its own.
        language: ISO 639-1 code for ``sentence`` and ``semantic``, or ``auto``.
        tokens: Token borders of `text` (``embedder.tokens(text)``); no chunk exceeds their limit.
        embed: Makes the vectors of sentences, for ``semantic``.

    Raises:
        UsageError: at once, where a value is out of its range or missing.
        UnknownNameError: at once, for an unknown chunker or language.
    """
    named = chunker if isinstance(chunker, str) else "character"
    settings = ChunkSettings(named, size, overlap, unit, tuple(separators), language)
    document = Document(Source(""), text=text)
    own = None if isinstance(chunker, str) else chunker
    spans = _spans(document, settings, tokens, embed=embed, own=own)
    return chunks_of(text, spans)


def chunk_document(
    document: Document,
    settings: ChunkSettings,
    tokens: Tokens | None = None,
    *,
    embed: Callable[[Sequence[str]], Matrix] | None = None,
    keep_furniture: bool = False,
) -> Iterator[Span]:
    """Yield the spans of the chunks of `document`, lazily, in order.

    Args:
        document: Its blocks give borders that chunks prefer; hidden text is left out of all chunks.
        settings: Chunker, sizes and languages.
        tokens: Token borders in ``document.text``; no chunk exceeds their limit, their `extra` counted.
        embed: Makes the vectors of sentences, for ``semantic``.
        keep_furniture: Chunk navigation and running headers too.

    Raises:
        UsageError: at once, where something that the settings need is missing.
        UnknownNameError: at once, for an unknown chunker or language.
    """
    spans = _spans(document, settings, tokens, embed=embed, keep_furniture=keep_furniture)
    return (Span(start, end) for start, end in spans)


def _spans(
    document: Document,
    settings: ChunkSettings,
    tokens: Tokens | None,
    *,
    embed: Callable[[Sequence[str]], Matrix] | None = None,
    keep_furniture: bool = False,
    own: Chunker | None = None,
) -> Iterator[tuple[int, int]]:
    """Check all that can be checked, then return the lazy part."""
    check_chunker(settings)
    bounds = bounds_for(settings, document.text, tokens)
    parts = regions(document, sections=settings.sections, keep_furniture=keep_furniture)
    if own is None and settings.chunker not in chunkers.builtin:
        own = chunkers.load(settings.chunker)
    if own is not None:
        return foreign_spans(document.text, parts, own, tokens)
    cutter: Cutter = chunkers.load(settings.chunker)(Scope(document.text, settings, borders(document), embed))
    return chain.from_iterable(quick_walk(document.text, part, bounds, cutter) for part in parts)


class _Callable(ModuleType):
    """This package, which can be called: ``rag_index.chunk(text)`` is the function `chunk`."""

    __call__ = staticmethod(chunk)


sys.modules[__name__].__class__ = _Callable
