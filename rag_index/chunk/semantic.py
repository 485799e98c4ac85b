"""`semantic`: cut where neighbouring sentences speak of different things."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from rag_index.chunk.cutting import Scope
from rag_index.chunk.sentences import SentenceCutter, Sentences, sentence
from rag_index.errors import UsageError

if TYPE_CHECKING:
    from rag_index.types import Matrix

BATCH = 256
"""Sentences that are embedded and judged together: memory does not grow with the document."""

LONGEST = 2000
"""Code points of a sentence that are embedded; more say nothing new about its subject."""


def semantic(scope: Scope) -> SemanticCutter:
    """Make the strategy `semantic`.

    Raises:
        UsageError: there is nothing that embeds the sentences.
    """
    if scope.embed is None:
        raise UsageError("the chunker 'semantic' needs a model", "Pass embed=embedder.embed.")
    settings = scope.settings
    rifts = Rifts(Sentences(scope.text, settings.language), scope.embed, settings.neighbours, settings.percentile)
    return SemanticCutter(rifts, sentence(scope), settings.min_size or settings.size // 4)


class Rifts:
    """Places between sentences where the subject changes, found from left to right as far as they are asked for.

    The sentences before a place (their mean vector) are compared with those behind it; a rift is where the
    distance is among the greatest of its batch.
    """

    def __init__(
        self,
        sentences: Sentences,
        embed: Callable[[Sequence[str]], Matrix],
        neighbours: int,
        percentile: int,
    ) -> None:
        self.places: list[int] = []
        self._sentences = sentences
        self._embed = embed
        self._neighbours = neighbours
        self._percentile = percentile
        self._units = self._each()
        self._seen = 0
        self._ends: list[int] = []
        self._vectors: list[Matrix] = []
        self._judged = 0

    def after(self, low: int, far: int) -> int:
        """Return the first rift in ``(low, far]``, or -1."""
        while self._seen <= far and self._grow():
            pass
        at = bisect_right(self.places, low)
        return self.places[at] if at < len(self.places) and self.places[at] <= far else -1

    def _each(self) -> Iterator[tuple[int, int]]:
        begin = 0
        for end, start in self._sentences.ends():
            if self._sentences.text[begin:end].strip():
                yield begin, end
            begin = start
        yield begin, len(self._sentences.text)

    def _grow(self) -> bool:
        """Read one more batch of sentences; returns whether there was one."""
        units = list(islice(self._units, BATCH))
        if not units:
            return False
        text = self._sentences.text
        vectors = self._embed([text[start : min(end, start + LONGEST)] for start, end in units])
        self._ends += [end for _, end in units]
        self._vectors += list(vectors)
        self._seen = units[-1][1] if len(units) == BATCH else len(text) + 1
        self._judge(last=len(units) < BATCH)
        return True

    def _judge(self, *, last: bool) -> None:
        """Judge the places with enough sentences on both sides; keep those that later places need."""
        import numpy as np

        reach = self._neighbours
        stop = len(self._ends) - (1 if last else reach)
        distances = []
        for place in range(self._judged, stop):
            before = np.sum(self._vectors[max(0, place + 1 - reach) : place + 1], axis=0)
            behind = np.sum(self._vectors[place + 1 : place + 1 + reach], axis=0)
            scale = float(np.linalg.norm(before) * np.linalg.norm(behind))
            distances.append(1 - float(before @ behind) / scale if scale else 0.0)
        if distances:
            threshold = max(float(np.percentile(distances, self._percentile)), 1e-6)
            ends = self._ends[self._judged : stop]
            self.places += [end for end, distance in zip(ends, distances, strict=True) if distance >= threshold]
        drop = max(0, stop - reach)
        del self._ends[:drop], self._vectors[:drop]
        self._judged = max(self._judged, stop) - drop


class SemanticCutter:
    """Cut at the first rift behind the least size, else as `sentence` would."""

    def __init__(self, rifts: Rifts, fallback: SentenceCutter, least: int) -> None:
        self.rifts = rifts
        self.fallback = fallback
        self.least = least

    def cut(self, start: int, far: int, done: int) -> tuple[int, bool]:
        """Return the first rift behind the least size, else what `sentence` chooses."""
        place = self.rifts.after(max(start + self.least, done), far)
        return (place, False) if place > start else self.fallback.cut(start, far, done)

    def rest(self, start: int, stop: int, done: int) -> int:
        """Return the first rift in the rest of a region, though all of it would fit."""
        place = self.rifts.after(max(start + self.least, done), stop)
        return place if place > start else stop

    def resume(self, back: int, end: int) -> int:
        """Return the first sentence that begins in the overlap."""
        return self.fallback.resume(back, end)
