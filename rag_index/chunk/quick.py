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
    size, stop = bounds.size, region.end
    half, last = size // 2, region.end - size
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
        low = start + half
        if low < done:  # noqa: PLR1730 (a call of `max` is a twentieth of the whole)
            low = done
        cut = rfind("\n\n", low + 1, far + 2) if blank else -1
        if cut < 0:
            cut = rfind("\n", low + 1, far + 1)
        if cut < 0 or start >= last or not usable:
            end, after = step(text, start, done, stop, bounds, cutter)
        else:
            end = trim_space(text, start, cut) if text[cut - 1].isspace() else cut
            after = done if end <= done else _resume(text, start, cut, end, bounds, cutter)
            if text[after].isspace():
                after += 1
                if after < stop and text[after].isspace():
                    after = skip_space(text, after, stop)
        if end > done:
            yield start, end
            done = end
        start = after


def _resume(text: str, start: int, cut: int, end: int, bounds: Characters, cutter: CharacterCutter) -> int:
    """Return where the chunk begins that follows the one at ``(start, end)``, which was cut at the line end `cut`."""
    back = cut - bounds.overlap
    if back <= start:
        back = start + 1
    if back >= end:
        return cut
    after = text.find("\n", back - 1, end) + 1 or cutter.resume_in_line(back, end)
    return cut if after < start + bounds.progress or after >= end else after
