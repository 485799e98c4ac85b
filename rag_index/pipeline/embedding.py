"""The texts of one unit, while the model is at work on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rag_index.embed.batching import embed_all
from rag_index.pipeline.drawn import Drawn
from rag_index.store import Piece
from rag_index.types import Embedder

if TYPE_CHECKING:
    from rag_index.types import Matrix

_SAVE_ROWS = 256
_SAVE_S = 2.0
"""Vectors are handed over when this many have been made, or this long after the last time."""


class Embedding:
    """Embeds `pieces` in a thread of its own, in batches of like length.

    Args:
        embedder: The model; nobody else may embed with it until this ends.
        pieces: Their texts are embedded.
        keep: Takes vectors as they come: keys, and a matrix with their rows in that order.
        told: Takes the number of tokens that were embedded since it was told last.

    Both are called in the caller's thread, by `take`, `finish` and the end of the context. When an error ends that, the
    batch in hand is waited for and what was made is kept; when Ctrl-C does, neither.
    """

    def __init__(
        self,
        embedder: Embedder,
        pieces: Sequence[Piece],
        keep: Callable[[Sequence[bytes], Matrix], object],
        told: Callable[[int], object],
    ) -> None:
        self._pieces = pieces
        self._keep = keep
        self._told = told
        self._waiting: list[tuple[list[int], Matrix]] = []
        self._saved = time.monotonic()
        texts, lengths = [piece.embedded for piece in pieces], [piece.tokens for piece in pieces]
        self._made = Drawn(embed_all(embedder, texts, lengths), most=len(pieces))

    @property
    def busy(self) -> bool:
        """Whether the model is still at work."""
        return not self._made.ended

    def take(self) -> None:
        """Hand over what has been made since; waits for nothing."""
        for indices, rows in self._made.ready():
            self._add(indices, rows)

    def finish(self, enough: Callable[[], bool]) -> None:
        """Wait for the rest and hand it over; once `enough` says so, nothing more is begun."""
        try:
            for indices, rows in self._made:
                self._add(indices, rows)
                if enough():
                    self._made.enough()
        finally:
            self._save()

    def _add(self, indices: list[int], rows: Matrix) -> None:
        self._waiting.append((indices, rows))
        self._told(sum(self._pieces[at].tokens for at in indices))
        if sum(len(part) for part, _ in self._waiting) >= _SAVE_ROWS or time.monotonic() - self._saved > _SAVE_S:
            self._save()

    def _save(self) -> None:
        import numpy as np

        waiting, self._waiting, self._saved = self._waiting, [], time.monotonic()
        if waiting:
            keys = [self._pieces[at].key for indices, _ in waiting for at in indices]
            self._keep(keys, np.concatenate([rows for _, rows in waiting]))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, Exception):
                self._made.enough()
                self.finish(lambda: True)
        finally:
            self._made.__exit__(kind, error, trace)
