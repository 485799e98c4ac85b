"""A state of the index that answers: near vectors and keywords, filters applied first."""

from __future__ import annotations

import json
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rag_index.store.guard import refuse_poisoned
from rag_index.store.layout import Layout
from rag_index.store.published import readable
from rag_index.store.reader import Reader, open_state
from rag_index.store.selection import Chosen, Chunks
from rag_index.store.stored import unpack_live
from rag_index.types import Filter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_index.store.nearby import Nearby
    from rag_index.types import Matrix, Vector

EXACT_LIMIT = 300_000
"""Live texts up to which comparing with every vector is as fast as Chroma's graph: 18 ms, and misses nothing."""


S = TypeVar("S", bound="Snapshot")


def open_snapshot(index: Path) -> Snapshot:
    """Open the state of the index folder `index` that answers now; builds don't change it while it is open.

    Raises:
        IndexMissingError: there is no index.
        IndexDamagedError: a file is missing, too short, or not what was written.
        IndexMismatchError: another version of the program made it, or its Chroma folder is poisoned.
    """
    return open_as(index, Snapshot)


def open_as(index: Path, kind: type[S]) -> S:
    """Open a snapshot of another kind, as `open_snapshot` does."""
    layout = Layout(index)
    found = readable(layout)
    if found is not None and not found.url:
        refuse_poisoned(found.folder(layout))
    return open_state(index, kind)


class Snapshot(Reader):
    """One state of an index. A context manager; its methods may be called from several threads.

    Raises (every method):
        IndexDamagedError: what is stored can't be what was written.
    """

    def __init__(self, layout: Layout, folder: Path) -> None:
        super().__init__(layout, folder)
        self._chosen = lru_cache(8)(self._choose)
        self._projection: Nearby | None = None

    def close(self) -> None:
        """Let go of the state."""
        with self._lock:
            if self._projection:
                self._projection.close()
        super().close()

    def dense(
        self,
        vector: Vector,
        k: int,
        where: Filter | None = None,
        retriever: str = "auto",
    ) -> list[tuple[int, float]]:
        """Return the `k` nearest different texts as (chunk id, cosine), best first; equal scores by path and place.

        A text that stands in several chunks is given once, by the first of them that `where` lets through.

        Args:
            vector: What to look for, L2-normalised.
            k: Most texts.
            where: Which documents may answer.
            retriever: ``exact`` compares with every vector; ``chroma`` asks the published projection for candidates
                (publishing it if it is not up to date) and compares those; ``auto`` does so only beyond
                `EXACT_LIMIT` live texts, without a filter, when the projection is up to date.
        """
        with self.reading():
            candidates = self._candidates(vector, k, where, retriever)
            slots = self._nearest(vector, k, where) if candidates is None else candidates
            scores = cosines(self._matrix[slots], vector)
            return self._as_chunks("t.slot", dict(zip(slots.tolist(), scores, strict=True)), k, where)

    def cosines(self, ids: Sequence[int], vector: Vector) -> list[float]:
        """Return how near each of the chunks is to `vector`, in the order given."""
        return cosines(self.vectors(ids), vector)

    def keyword(self, match: str, k: int, where: Filter | None = None) -> list[tuple[int, float]]:
        """Return the `k` best texts for an FTS5 expression as (chunk id, -bm25), as `dense` orders them."""
        if not match or k < 1:
            return []
        with self.reading() as sql:
            only, bound = "", []
            if where is not None:
                only = "AND rowid IN (SELECT value FROM json_each(?))"
                bound = [json.dumps(np.unique(self._chosen(where).texts).tolist())]
            query = f"SELECT rowid, rank FROM keywords WHERE keywords MATCH ? {only}"
            rows = sql.execute(f"{query} ORDER BY rank LIMIT ?", (match, *bound, k + 1)).fetchall()
            if len(rows) > k and rows[k][1] - rows[k - 1][1] < TIE:  # let path and place decide, not history
                rows = sql.execute(f"{query} AND rank <= ?", (match, *bound, rows[k - 1][1] + TIE)).fetchall()
            return self._as_chunks("t.id", {text: -rank for text, rank in rows}, k, where)

    def _candidates(self, vector: Vector, k: int, where: Filter | None, retriever: str) -> Any:  # noqa: ANN401
        """Return slots that Chroma holds for near, or None if every vector is to be compared."""
        if where is not None or retriever == "exact":  # a filter makes Chroma 30 to 180 times slower
            return None
        if retriever == "auto" and int(self._live.sum()) <= EXACT_LIMIT:
            return None
        if self._projection is None:
            from rag_index.store.nearby import Nearby

            self._projection = Nearby(self, required=retriever == "chroma")
        uids = self._projection.uids(vector, k)
        if uids is None:
            return None
        known = (self._sql.execute("SELECT slot FROM texts WHERE uid = ?", (uid,)).fetchone() for uid in uids)
        return np.array(sorted({row[0] for row in known if row}), np.int64)

    def _nearest(self, vector: Vector, k: int, where: Filter | None) -> Any:  # noqa: ANN401 (an array)
        """Return the slots of the `k` nearest, with all that may be as near as the last of them."""
        if where is None:
            scores = self._scores(vector)
            return _best(scores if self._live.all() else np.where(self._live, scores, -np.inf), k)
        slots = np.unique(self._chosen(where).slots)
        if len(slots) * 8 > len(self._matrix):  # scoring all is faster than gathering an eighth
            return slots[_best(self._scores(vector)[slots], k)]
        return slots[_best(self._matrix[slots] @ vector, k)]

    def _scores(self, vector: Vector) -> Any:  # noqa: ANN401 (an array)
        return self._matrix @ vector

    def _as_chunks(
        self, column: str, scores: Mapping[int, float], k: int, where: Filter | None
    ) -> list[tuple[int, float]]:
        """Turn texts or slots with scores into (chunk id, score): the first chunk of each text, best texts first."""
        rows = self._in(
            f"SELECT t.id, {column}, d.path, c.place, c.id FROM texts t JOIN chunks c ON c.text = t.id "
            f"JOIN documents d ON d.id = c.document WHERE {column} IN",
            list(scores),
        )
        allowed = None if where is None else self._chosen(where).ids
        first: dict[int, tuple[float, bytes, int, int]] = {}
        for text, key, path, place, chunk in rows:
            if allowed is None or chunk in allowed:
                entry = (-round(scores[key], 6), path, place, chunk)
                first[text] = min(first.get(text, entry), entry)
        ranked = sorted(first.items(), key=lambda item: item[1])[:k]
        exact = {chunk: scores[key] for _, key, _, _, chunk in rows}
        return [(entry[3], exact[entry[3]]) for _, entry in ranked]

    def _choose(self, where: Filter) -> Chosen:
        return self._chunk_arrays.choose((row.id for row in self.documents(where)), where.heading)

    @cached_property
    def _live(self) -> Any:  # noqa: ANN401 (a mask)
        with self.reading() as sql:
            (packed,) = sql.execute("SELECT value FROM state WHERE name = 'live'").fetchone()
            return unpack_live(packed, len(self._all))

    @cached_property
    def _chunk_arrays(self) -> Chunks:
        with self.reading() as sql:
            return Chunks(sql)


TIE = 1e-9
"""Ranks that differ by less are equal: the sums of bm25 depend on the order of the terms in their last digits."""


def cosines(rows: Matrix, vector: Vector) -> list[float]:
    """Return the product of each row with `vector`, summed in double precision.

    In single precision the last digits depend on the number of rows and threads, and with them the order of answers
    that are as good as each other.
    """
    found: list[float] = np.einsum("ij,j->i", rows.astype(np.float64), vector.astype(np.float64)).tolist()
    return found


def _best(scores: Any, k: int) -> Any:  # noqa: ANN401 (arrays)
    """Return the places of the `k` best of `scores`, with all that may be as good as the last of them."""
    usable = np.flatnonzero(np.isfinite(scores))
    if k < 1 or not len(usable):
        return np.zeros(0, np.int64)
    if k >= len(usable):
        return usable
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    return np.flatnonzero(scores >= least - 1e-6)
