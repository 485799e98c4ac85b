"""Lay all documents on one line, with repeated sentences folded onto their first place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_index.evaluate.labels import MIN_REPEAT, Reference
from rag_index.evaluate.metrics import Interval, intersect, length, union
from rag_index.types import Place

SENTENCE = re.compile(r"\S(?:[^\n.!?。！？]|[.!?](?=\S))*(?:[.!?。！？]+|(?=\n)|\Z)")
"""A rough sentence: for folding it only matters that equal texts are cut alike."""


@dataclass(frozen=True, slots=True)
class _Fold:
    """A repeated sentence in one document, and how far its characters move to those of the first."""

    start: int
    end: int
    shift: int


class Axis:
    """One line of characters for all documents; no two documents touch on it.

    A sentence of ``MIN_REPEAT`` or more characters that has stood before, in any document, has no characters
    of its own: its span is that of the first. So the reader of a result pays for it once, and finding either
    place is finding both.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._bases: dict[str, int] = {}
        self._folds: dict[str, list[_Fold]] = {}
        first: dict[str, int] = {}
        at = repeated = 0
        for name, text in texts.items():
            self._bases[name] = at
            self._folds[name] = list(_folds(text, at, first))
            repeated += sum(fold.end - fold.start for fold in self._folds[name])
            at += len(text) + 1
        self.characters = at - len(texts)
        self.repeated = repeated

    def plain(self, place: Place) -> Interval:
        """Return the interval of a place, repeats left where they are: for the gross accounting."""
        base = self._bases[place.path]
        return (base + place.start, base + place.end)

    def net(self, place: Place) -> list[Interval]:
        """Return the intervals of a place in reading order, repeats moved to their first place."""
        base, folds = self._bases[place.path], self._folds[place.path]
        at = place.start
        parts: list[Interval] = []
        for fold in folds[max(0, bisect_right(folds, at, key=lambda fold: fold.start) - 1) :]:
            if fold.start >= place.end:
                break
            start, end = max(at, fold.start), min(place.end, fold.end)
            if start < end:
                parts += [(base + at, base + start), (base + start + fold.shift, base + end + fold.shift)]
                at = end
        parts.append((base + at, base + place.end))
        return [(start, end) for start, end in parts if start < end]

    def choices(self, reference: Reference) -> list[list[Interval]]:
        """Return the places of a reference, each as a union of intervals, those that fold together once."""
        unions = (tuple(union(self.net(place))) for place in (*reference.places, *reference.repeats))
        return [list(spans) for spans in dict.fromkeys(unions)]


def chosen(choices: Iterable[Sequence[Sequence[Interval]]], got: Iterable[Interval]) -> list[Interval]:
    """Return, for each reference, the place that `got` covers best, as one union; of equals the first."""
    seen = union(got)
    best = (
        max(places, key=lambda place: _covered(place, seen)) if len(places) > 1 else places[0] for places in choices
    )
    return union(span for place in best for span in place)


def _covered(place: Sequence[Interval], seen: Sequence[Interval]) -> float:
    return length(intersect(place, seen)) / length(place)


def _folds(text: str, base: int, first: dict[str, int]) -> Iterable[_Fold]:
    for match in SENTENCE.finditer(text):
        if match.end() - match.start() < MIN_REPEAT:
            continue
        at = first.setdefault(match.group(), base + match.start())
        if at != base + match.start():
            yield _Fold(match.start(), match.end(), at - base - match.start())
