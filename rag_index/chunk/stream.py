"""Chunks of a text that is still coming in: each is given out as soon as nothing that follows can change it."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rag_index.chunk import check_chunker, chunk_document, chunkers
from rag_index.chunk.bounds import Bounds, bounds_for
from rag_index.chunk.cutting import Cutter, Scope
from rag_index.chunk.quick import quick_walk
from rag_index.chunk.sentences import LONGEST_WORD, MAIN, PASSAGE
from rag_index.errors import UsageError
from rag_index.settings import ChunkSettings
from rag_index.types import Chunk, Document, Source, Span, Tokens

if TYPE_CHECKING:
    from rag_index.types import Matrix

STREAMED = frozenset(("character", "recursive", "window", "sentence"))
"""Strategies that look at what is near only; for all others the whole text is read first."""

_AHEAD = 3 * LONGEST_WORD
"""Code points behind the furthest end of a chunk that its end may depend on."""
_BEHIND = 2 * LONGEST_WORD


def stream_chunks(
    pieces: Iterable[str],
    settings: ChunkSettings,
    tokens: Callable[[str], Tokens] | None = None,
    *,
    embed: Callable[[Sequence[str]], Matrix] | None = None,
) -> Iterator[Chunk]:
    """Cut a text that comes in pieces; the chunks are those of the whole text.

    Args:
        pieces: Parts of the text, of any length. They are asked for one by one, and only a window of the text
            is kept.
        settings: As for `chunk`.
        tokens: Finds the token borders of a text (``embedder.tokens``): for sizes in tokens and the model's limit.
        embed: Makes the vectors of sentences, for ``semantic``, which reads the whole text first, as plug-ins do.

    Yields:
        Chunks with positions in the whole text; `total_chunks` is None.

    Raises:
        UsageError: at once, where the settings can't be meant.
    """
    check_chunker(settings)
    bounds_for(settings, "", tokens("") if tokens else None)
    if settings.chunker not in STREAMED:
        return _whole(pieces, settings, tokens, embed)
    return _chunks(pieces, settings, tokens)


def _whole(
    pieces: Iterable[str],
    settings: ChunkSettings,
    tokens: Callable[[str], Tokens] | None,
    embed: Callable[[Sequence[str]], Matrix] | None,
) -> Iterator[Chunk]:
    text = "".join(pieces)
    borders = tokens(text) if tokens else None
    for index, span in enumerate(chunk_document(Document(Source(""), text=text), settings, borders, embed=embed)):
        yield Chunk(span.of(text), index, span.start, span.end)


def decoded(blocks: Iterable[bytes]) -> Iterator[str]:
    """Decode UTF-8 that comes in blocks, as they come; characters may lie across blocks.

    Raises:
        UsageError: the bytes are not UTF-8; names the place.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    before = 0
    for block in blocks:
        try:
            piece = decoder.decode(block)
        except UnicodeDecodeError as error:
            raise UsageError(
                f"the input is not UTF-8 near byte {before + error.start}", "Convert it, or name a file instead of -."
            ) from error
        before += len(block)
        if piece:
            yield piece
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise UsageError(f"the input ends inside a character, at byte {before}", "Give the whole input.") from error


class _Window:
    """The part of the text that is still needed: what came in and may yet be cut."""

    def __init__(self, settings: ChunkSettings, tokens: Callable[[str], Tokens] | None) -> None:
        self.settings = settings
        self.tokens = tokens
        self.text = ""
        self.base = 0
        self.last = Span(0, 0)  # the last chunk given out, in the whole text
        self.before = 0  # the end of the one before it

    def add(self, pieces: list[str]) -> None:
        """Take in what came, and let go what no later cut looks at; languages are judged in whole passages."""
        drop = max(0, self.last.start - self.base - _BEHIND) // PASSAGE * PASSAGE
        self.text = self.text[drop:] + "".join(pieces)
        self.base += drop

    def spans(self, *, ended: bool) -> Iterator[Span]:
        """Yield the chunks behind the last one that nothing to come can change."""
        bounds = bounds_for(self.settings, self.text, self.tokens(self.text) if self.tokens else None)
        cutter: Cutter = chunkers.load(self.settings.chunker)(Scope(self.text, self.settings))
        region = Span(self.last.start - self.base, len(self.text))
        for start, end in quick_walk(self.text, region, bounds, cutter, self.before - self.base):
            if not ended and self._reach(bounds, start) + _AHEAD > len(self.text):
                return
            if end + self.base > self.last.end:
                self.before = self.last.end
                self.last = Span(start + self.base, end + self.base)
                yield self.last

    def _reach(self, bounds: Bounds, start: int) -> int:
        return min(bounds.reach(start), len(self.text))


def _chunks(pieces: Iterable[str], settings: ChunkSettings, tokens: Callable[[str], Tokens] | None) -> Iterator[Chunk]:
    window = _Window(settings, tokens)
    index = 0
    waiting: list[str] = []
    size = 0
    # Fewer code points than this give no new chunk: looking at them would be work in vain.
    enough = max(MAIN, settings.size + _AHEAD)
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size < enough:
            continue
        window.add(waiting)
        waiting, size, enough = [], 0, settings.size
        for span in window.spans(ended=False):
            yield _chunk(window, span, index)
            index += 1
    window.add(waiting)
    for span in window.spans(ended=True):
        yield _chunk(window, span, index)
        index += 1


def _chunk(window: _Window, span: Span, index: int) -> Chunk:
    return Chunk(window.text[span.start - window.base : span.end - window.base], index, span.start, span.end)
