"""Chunkers that are not ours: a user's function from a text to spans, checked and kept within the model's limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_index.chunk.bounds import TokenBounds
from rag_index.chunk.characters import CharacterCutter
from rag_index.chunk.cutting import walk
from rag_index.errors import UsageError
from rag_index.settings import ChunkSettings
from rag_index.types import Chunker, Span, Tokens


def foreign_spans(
    text: str, parts: Sequence[Span], chunker: Chunker, tokens: Tokens | None
) -> Iterator[tuple[int, int]]:
    """Yield what `chunker` makes of each part of `text`; what is longer than the model reads is cut further.

    Raises:
        UsageError: when the chunker gives a span that is empty or not in the text.
    """
    for part in parts:
        for span in chunker(part.of(text)):
            if not 0 <= span.start < span.end <= len(part):
                raise UsageError(
                    f"the chunker gave the span {span.start}:{span.end} for a text of {len(part)} characters",
                    "Mend the chunker: 0 <= start < end <= len(text).",
                )
            yield from _within_limit(text, Span(part.start + span.start, part.start + span.end), tokens)


def _within_limit(text: str, span: Span, tokens: Tokens | None) -> Iterator[tuple[int, int]]:
    if tokens is None or tokens.limit is None:
        yield span.start, span.end
        return
    bounds = TokenBounds(ChunkSettings(size=len(span), overlap=0), text, tokens)
    if bounds.reach(span.start) >= span.end and not bounds.excess(span.start, span.end):
        yield span.start, span.end
    else:
        yield from walk(text, span, bounds, CharacterCutter(text))
