"""A snapshot for many questions: what each of them would read anew is kept in memory."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_index.store.layout import Layout
from rag_index.store.snapshot import TIE, Snapshot, open_as
from rag_index.types import Filter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rag_index.store.rows import ChunkRow
    from rag_index.types import Matrix, Vector

K1, B = 1.2, 0.75
"""Parameters of SQLite's bm25()."""
LEAST_IDF = 1e-6
"""What it gives a term that most texts hold."""
MOST_BYTES = 512 << 20
"""Memory for cosines that are worked out together."""
_PLAIN = re.compile(r'"([a-z\d]+)"(?: OR |\Z)')


def hold_snapshot(index: Path) -> HeldSnapshot:
    """Open the state of the index folder `index` that answers now, for many questions.

    Raises:
        What `open_snapshot` raises.
    """
    return open_as(index, HeldSnapshot)


class HeldSnapshot(Snapshot):
    """A snapshot that reads its chunks and the postings of the words asked for once; it answers the same.

    For one question it is slower than its base, from some fifty on several times as fast.
    """

    def __init__(self, layout: Layout, folder: Path) -> None:
        super().__init__(layout, folder)
        self.document = lru_cache(None)(self._document)  # type: ignore[method-assign]
        self._cosines: dict[bytes, Vector] = {}
        self._postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}

    def chunks(self, ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return chunks by id; ids that aren't live are left out."""
        rows = self._rows_by_id
        return {id_: rows[id_] for id_ in ids if id_ in rows}

    def paths(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the paths of documents; their texts aren't read."""
        return {id_: self._paths[id_] for id_ in ids}

    @cached_property
    def _paths(self) -> dict[int, str]:
        return {row.id: row.path for row in self.documents()}

    def same_text(self, ids: Sequence[int]) -> dict[int, list[int]]:
        """Return, for each chunk, the other live chunks with the very same text, ordered by path and place."""
        return {id_: [other for other in self._alike.get(id_, ()) if other != id_] for id_ in ids}

    def expect(self, vectors: Sequence[Vector]) -> None:
        """Compare these vectors with all that is stored, in one product; `dense` then looks the cosines up.

        One product a question takes as long as all the rest where another process keeps the cores busy: the threads
        of the product wait for each other.
        """
        if vectors and len(vectors) * len(self._matrix) * 4 <= MOST_BYTES:
            cosines = np.stack(vectors) @ self._matrix.T
            self._cosines = {vector.tobytes(): row for vector, row in zip(vectors, cosines, strict=True)}

    def vectors(self, ids: Sequence[int]) -> Matrix:
        """Return the vectors of chunks, one row each, in the order given."""
        return self._matrix[self._slots[np.array(ids, np.int64)]]

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many texts each of `terms` occurs; terms that occur nowhere are left out."""
        wanted = list(terms)
        plain = [term for term in wanted if _PLAIN.fullmatch(f'"{term}"')]
        found = {term: len(self._posting(term)[0]) for term in plain}
        if len(plain) < len(wanted):
            found |= super().frequencies(term for term in wanted if term not in found)
        return {term: count for term, count in found.items() if count}

    def keyword(self, match: str, k: int, where: Filter | None = None) -> list[tuple[int, float]]:
        """Return the `k` best texts for an FTS5 expression as (chunk id, -bm25), as `dense` orders them."""
        terms = _PLAIN.findall(match)
        if where is not None or k < 1 or match != " OR ".join(f'"{term}"' for term in terms):
            return super().keyword(match, k, where)
        scores = np.zeros(len(self._norms))
        for term in terms:
            texts, counts = self._posting(term)
            scores[texts] += self._idf(len(texts)) * ((counts * (K1 + 1)) / (counts + self._norms[texts]))
        found = np.flatnonzero(scores)
        texts = found[_first(-scores[found], k)]
        return self._as_chunks("t.id", dict(zip(texts.tolist(), scores[texts].tolist(), strict=True)), k, None)

    def _scores(self, vector: Vector) -> Any:  # noqa: ANN401 (an array)
        known = self._cosines.get(vector.tobytes())
        return super()._scores(vector) if known is None else known

    def _as_chunks(
        self, column: str, scores: Mapping[int, float], k: int, where: Filter | None
    ) -> list[tuple[int, float]]:
        if where is not None:
            return super()._as_chunks(column, scores, k, where)
        if column == "t.slot":
            scores = {text: score for slot, score in scores.items() for text in self._texts_of_slot.get(slot, ())}
        ranked = sorted((-round(score, 6), self._first[text], score) for text, score in scores.items())[:k]
        return [(self._places[at][0], score) for _, at, score in ranked]

    def _posting(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the texts that hold a term, and how often each does."""
        if term not in self._postings:
            with self.reading() as sql:
                sql.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.stands USING fts5vocab (main, keywords, instance)")
                rows = sql.execute("SELECT doc FROM temp.stands WHERE term = ?", (term,)).fetchall()
            texts, counts = np.unique(np.fromiter((row[0] for row in rows), np.int64, len(rows)), return_counts=True)
            self._postings[term] = texts, counts.astype(np.float64)
        return self._postings[term]

    def _idf(self, hits: int) -> float:
        """Return the weight that SQLite gives a term."""
        weight = math.log((self._count - hits + 0.5) / (hits + 0.5))
        return weight if weight > 0 else LEAST_IDF

    @cached_property
    def _count(self) -> int:
        return int(np.count_nonzero(self._norms))

    @cached_property
    def _norms(self) -> NDArray[np.float64]:
        """What bm25 adds to the count of a term, by text: longer texts need more of it. 0 where there is no text."""
        with self.reading() as sql:
            sizes = {id_: _varint(size) for id_, size in sql.execute("SELECT id, sz FROM keywords_docsize")}
        average = sum(sizes.values()) / max(1, len(sizes))
        norms = np.zeros(max(sizes, default=0) + 1)
        for id_, size in sizes.items():
            norms[id_] = K1 * (1 - B + B * size / average)
        return norms

    @cached_property
    def _rows_by_id(self) -> dict[int, ChunkRow]:
        return {row.id: row for row in self._chunk_rows("c.document", [each.id for each in self.documents()])}

    @cached_property
    def _places(self) -> list[Any]:
        """All chunks by path and place: id, text, slot, digest."""
        with self.reading() as sql:
            return sql.execute(
                "SELECT c.id, t.id, t.slot, t.digest FROM chunks c JOIN texts t ON t.id = c.text "
                "JOIN documents d ON d.id = c.document ORDER BY d.path, c.place"
            ).fetchall()

    @cached_property
    def _first(self) -> dict[int, int]:
        """The number of the first place of each text."""
        first: dict[int, int] = {}
        for at, (_, text, _, _) in enumerate(self._places):
            first.setdefault(text, at)
        return first

    @cached_property
    def _texts_of_slot(self) -> dict[int, list[int]]:
        texts: dict[int, list[int]] = {}
        for text, slot in dict.fromkeys((text, slot) for _, text, slot, _ in self._places):
            texts.setdefault(slot, []).append(text)
        return texts

    @cached_property
    def _slots(self) -> NDArray[np.int64]:
        """The row of each chunk's vector, by its id."""
        slots = np.zeros(max((row[0] for row in self._places), default=0) + 1, np.int64)
        for chunk, _, slot, _ in self._places:
            slots[chunk] = slot
        return slots

    @cached_property
    def _alike(self) -> dict[int, list[int]]:
        """The chunks with one text, for each chunk that is not the only one."""
        chunks: dict[bytes, list[int]] = {}
        for chunk, _, _, digest in self._places:
            chunks.setdefault(digest, []).append(chunk)
        return {chunk: same for same in chunks.values() if len(same) > 1 for chunk in same}


def _first(ranks: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the places of the `k` least ranks, with all that may be as good as the last of them."""
    if len(ranks) <= k:
        return np.arange(len(ranks))
    last, after = np.partition(ranks, (k - 1, k))[k - 1 : k + 1]
    return np.flatnonzero(ranks <= (last + TIE if after - last < TIE else after))


def _varint(data: bytes) -> int:
    """Return the number at the beginning of `data`, as SQLite writes it: seven bits a byte."""
    value = 0
    for byte in data[:8]:
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004 (the last byte of a number)
            return value
    return value << 8 | data[8]
