"""`walk` for `character` with the searches for lines written out: twice as fast on lines, equal everywhere."""

from __future__ import annotations

from collections.abc import Iterator

from rag_index.chunk.bounds import Bounds, Characters
from rag_index.chunk.characters import CharacterCutter
from rag_index.chunk.cutting import Cutter, skip_space, step, trim_space, walk
from rag_index.types import Span

PRESENCE = 1 << 20
"""Code points for which one answer to "does this occur at all?" is kept."""


def quick_walk(text: str, region: Span, bounds: Bounds, cutter: Cutter, done: int = 0) -> Iterator[tuple[int, int]]:
    """Yield what `walk` yields; sizes in characters and the usual separators go the fast way."""
    if isinstance(bounds, Characters) and isinstance(cutter, CharacterCutter) and cutter.plain:
        return _lines(text, region, bounds, cutter, done)
    return walk(text, region, bounds, cutter, done)


def _lines(
    text: str, region: Span, bounds: Characters, cutter: CharacterCutter, done: int
) -> Iterator[tuple[int, int]]:
    """Cut at LF and blank lines here, leave every chunk that has none in its second half to `step`."""
    size, overlap, progress, stop = bounds.size, bounds.overlap, bounds.progress, region.end
    half = size // 2
    rfind, find = text.rfind, text.find
    start = skip_space(text, region.start, stop)
    done = max(start, done)
    known = 0  # up to where `blank` and `usable` hold
    blank = usable = False
    while start < stop:
        far = start + size
        if far + 8 > known:
            known = max(start + PRESENCE, far + 8)
            usable = find("\r", start, known) < 0
            blank = find("\n\n", start, known) >= 0
        low = max(start + half, done)
        cut = rfind("\n\n", low + 1, far + 2) if blank else -1
        if cut < 0:
            cut = rfind("\n", low + 1, far + 1)
        if cut < 0 or far >= stop or not usable:
            end, after = step(text, start, done, stop, bounds, cutter)
        else:
            end = cut if not text[cut - 1].isspace() else trim_space(text, start, cut)
            after = cut
            back = max(cut - overlap, start + 1)
            if end <= done:  # nothing but white space was added
                after = done
            elif back < end:
                after = find("\n", back - 1, end) + 1 or cutter.resume(back, end)
                if after < start + progress or after >= end:
                    after = cut
            if text[after].isspace():
                after = skip_space(text, after, stop)
        if end > done:
            yield start, end
            done = end
        start = after
