"""Chunks as a person sees them: sizes, the overlap marked, how the sizes are spread."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from rag_index.cli import shapes
from rag_index.cli.terminal import BOLD, DIM, mark, paint, safe, say, say_json, say_json_line
from rag_index.settings import ChunkSettings
from rag_index.types import Chunk, Document

Sized = Sequence[tuple[Chunk, int]]
"""Chunks with their sizes in tokens."""

_BARS, _WIDTH = 10, 40


def show_json(document: Document, settings: ChunkSettings, chunks: Sized) -> None:
    """Print all chunks as one JSON object."""
    whole = shapes.chunking(document.source.path, settings)
    say_json({**whole, "chunks": [shapes.chunk(chunk, tokens) for chunk, tokens in chunks]})


def show_lines(chunks: Iterable[tuple[Chunk, int]]) -> None:
    """Print each chunk as a JSON object on a line, as soon as it is there."""
    for chunk, tokens in chunks:
        say_json_line(shapes.chunk(chunk, tokens))


def show(document: Document, settings: ChunkSettings, chunks: Sized) -> None:
    """Print each chunk under a line with its sizes, and on a terminal how the sizes are spread."""
    reach = 0
    for chunk, tokens in chunks:
        shared = max(0, reach - chunk.start)
        say(paint(_heading(chunk, tokens, shared), BOLD))
        start = mark(safe(chunk.text[:shared])) if shared else ""
        say(start + safe(chunk.text[shared:]))
        say()
        reach = chunk.end
    name = f"{settings.chunker}, at most {settings.size:,} {settings.unit}, overlap {settings.overlap:,}"
    say(paint(f"{safe(document.source.path)}: {len(chunks):,} chunks ({name})", DIM))
    if sys.stdout.isatty():
        for line in histogram([len(chunk.text) for chunk, _ in chunks]):
            say(line)


def _heading(chunk: Chunk, tokens: int, shared: int) -> str:
    overlap = f", {shared:,} shared with the chunk before" if shared else ""
    size = f"{len(chunk.text):,} characters, {tokens:,} tokens{overlap}"
    return f"#{chunk.index}  {chunk.start}-{chunk.end}  {size}"


def histogram(sizes: Sequence[int]) -> list[str]:
    """Return lines that show how many chunks have which size in characters."""
    if not sizes:
        return []
    step = max(1, -(-max(sizes) // _BARS))
    counts = Counter((size - 1) // step for size in sizes)
    most = max(counts.values())
    lines = ["characters   chunks"]
    for place in range(max(counts) + 1):
        bar = "█" * -(-counts[place] * _WIDTH // most)
        lines.append(f"{place * step + 1:>5}-{(place + 1) * step:<6} {counts[place]:>6} {bar}".rstrip())
    return lines
