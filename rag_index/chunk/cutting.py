"""The walk that every strategy shares: chunk after chunk, exact, nothing lost, always forward."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from rag_index.chunk.bounds import Bounds
from rag_index.chunk.graphemes import border_after
from rag_index.settings import ChunkSettings
from rag_index.types import Span

if TYPE_CHECKING:
    from rag_index.types import Matrix


@dataclass(frozen=True, slots=True)
class Scope:
    """What a strategy is made for.

    Attributes:
        text: The whole text.
        settings: Names and sizes.
        borders: Places where blocks of the document begin, the best kind first, each ascending.
        embed: Makes the vectors of sentences, where the strategy needs them.
    """

    text: str
    settings: ChunkSettings
    borders: tuple[Sequence[int], ...] = ()
    embed: Callable[[Sequence[str]], Matrix] | None = None


class Cutter(Protocol):
    """A strategy: it only chooses places; `walk` sees to all that must hold for every strategy."""

    def cut(self, start: int, far: int, done: int) -> tuple[int, bool]:
        """Choose the end of the chunk that begins at `start`.

        Args:
            start: First code point, not white space.
            far: Furthest end that is allowed, before the end of the text.
            done: End of the last chunk: an end at or before it adds nothing.

        Returns:
            A place in ``(start, far]``, and whether it was forced: no border that the strategy knows.
        """
        ...

    def rest(self, start: int, stop: int, done: int) -> int:
        """Choose the end of a chunk that may hold all that is left: `stop`, or a place before it."""
        ...

    def resume(self, back: int, end: int) -> int:
        """Choose the start of the next chunk in ``[back, end]``; `end` is the last chunk's, and no overlap."""
        ...


def walk(text: str, region: Span, bounds: Bounds, cutter: Cutter, done: int = 0) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the chunks of ``text[region]``, lazily.

    `done` is the end of the chunk before the region, where the region begins inside it: to go on where an
    earlier walk stopped.

    Whatever the cutter answers: starts and ends strictly increase, no chunk is empty, begins or ends with
    white space or lies inside another, none is longer than the bounds allow, neighbours share at most the
    overlap, and every character that is not white space is in a chunk. Only what lies outside
    ``(start, far]`` is not caught.
    """
    start = skip_space(text, region.start, region.end)
    done = max(start, done)
    while start < region.end:
        end, after = step(text, start, done, region.end, bounds, cutter)
        if end > done:
            yield start, end
            done = end
        start = after


def step(text: str, start: int, done: int, stop: int, bounds: Bounds, cutter: Cutter) -> tuple[int, int]:
    """Return the end of the chunk at `start`, at most `done` if it adds nothing, and the start of the next."""
    far = bounds.reach(start)
    cut, forced = (cutter.rest(start, stop, done), False) if far >= stop else cutter.cut(start, far, done)
    while (over := bounds.excess(start, cut)) and cut > start + 1:
        # A character is at most four bytes, so a quarter of the excess is never too much.
        cut, forced = cutter.cut(start, max(start + 1, cut - max(1, over // 4)), done)
    end = trim_space(text, start, cut)
    if cut >= stop:
        return end, stop
    if end <= done:  # it added nothing: go on behind what is covered, without an overlap
        return end, skip_space(text, done, stop)
    after = cut
    back = max(bounds.back(cut), start + 1)
    if back < end:
        after = border_after(text, back, end) if forced else cutter.resume(back, end)
        if after < bounds.least(start) or after >= end:
            after = cut
    return end, skip_space(text, after, stop)


def skip_space(text: str, at: int, stop: int) -> int:
    """Return the first place in ``[at, stop]`` that is not white space."""
    step = 64
    while at < stop and text[at].isspace():
        piece = text[at : min(at + step, stop)]
        at += len(piece) - len(piece.lstrip())
        step *= 8  # millions of blank lines take a few turns
    return at


def trim_space(text: str, low: int, at: int) -> int:
    """Return the end of ``text[low:at]`` without the white space at its end."""
    step = 64
    while at > low and text[at - 1].isspace():
        piece = text[max(low, at - step) : at]
        at -= len(piece) - len(piece.rstrip())
        step *= 8
    return at
