"""Documents on their way into the index, a unit at a time.

While the model embeds one unit, the one before it is made live. A crash costs these two, less the vectors that were
kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from rag_index.embed.batching import embed_all
from rag_index.pipeline.drawn import Drawn
from rag_index.pipeline.report import BuildReport
from rag_index.pipeline.stopping import Stop
from rag_index.store import Manifest, Piece, Prepared
from rag_index.types import Embedder, Event, ModelInfo, Reporter

if TYPE_CHECKING:
    from rag_index.types import Matrix, Vector

UNIT_CHUNKS = 1024
UNIT_DOCUMENTS = 1024
UNIT_S = 5.0
"""A unit ends at this many chunks, documents or seconds, whichever comes first."""
_SAVE_ROWS = 256
_SAVE_S = 2.0
"""Vectors are kept when this many have been made, or this long after the last time."""


class Vectors(Protocol):
    """Where vectors that were made before may be found: the shared cache, another state of the index."""

    def get_many(self, keys: Sequence[bytes], /) -> Mapping[bytes, Vector]:
        """Return those that are known."""
        ...


class UnitWriter:
    """Collects documents, embeds what no one has embedded before, and makes whole units live.

    Args:
        manifest: The state that is written.
        embedder: Gives the model; called only when something must be embedded.
        sources: Asked in this order for vectors that the state has not.
        keep: Told of every vector that was made.
        committed: Told after each unit how many chunks it added.
        before: Told of the model and the unit before any of it is embedded.
        totals: Counts what was done.
    """

    def __init__(  # noqa: PLR0913 (its one caller names them)
        self,
        manifest: Manifest,
        embedder: Callable[[], Embedder],
        totals: BuildReport,
        *,
        report: Reporter,
        stop: Stop,
        sources: Sequence[Vectors] = (),
        keep: Callable[[Sequence[bytes], Matrix], object] | None = None,
        committed: Callable[[int], object] | None = None,
        before: Callable[[ModelInfo, Sequence[Prepared]], object] = lambda _model, _unit: None,
    ) -> None:
        self._manifest = manifest
        self._embedder = embedder
        self._totals = totals
        self._report = report
        self._stop = stop
        self._sources = sources
        self._keep = keep
        self._committed = committed
        self._before = before
        self._unit: list[Prepared] = []
        self._embedded: list[Prepared] = []
        self._chunks = 0
        self._since = time.monotonic()
        self._counted: set[bytes] = set()
        self._expected = 0
        self._documents = 0
        self._tokens = 0
        self._done = 0

    def expect(self, documents: int) -> None:
        """Say how many documents will come, so that the tokens of all can be reckoned while they are read."""
        self._expected = documents

    def add(self, prepared: Prepared) -> None:
        """Take a document; a unit that is full is embedded, and the one before it made live meanwhile."""
        if not self._unit:
            self._since = time.monotonic()
        self._unit.append(prepared)
        self._chunks += len(prepared.pieces)
        self._documents += 1
        full = self._chunks >= UNIT_CHUNKS or len(self._unit) >= UNIT_DOCUMENTS
        if full or time.monotonic() - self._since > UNIT_S:
            self._turn()

    def flush(self) -> None:
        """Embed what is missing and make all that was added live.

        Raises:
            KeyboardInterrupt or SystemExit: a stop was asked for; what was ready has been made live.
        """
        self._turn()
        self._settle()
        self._stop.check()

    def _turn(self) -> None:
        """Embed the unit in hand."""
        unit, self._unit, self._chunks = self._unit, [], 0
        try:
            self._embed(unit)
        except (KeyboardInterrupt, SystemExit):
            self._settle()
            self._put([prepared for prepared in unit if self._ready(prepared)])
            raise
        self._settle()
        self._embedded = unit

    def _settle(self) -> None:
        """Make the unit live that was embedded last."""
        unit, self._embedded = self._embedded, []
        self._put(unit)

    def _put(self, unit: Sequence[Prepared]) -> None:
        if unit:
            added, removed = self._manifest.put(unit)
            self._totals.chunks.added += added
            self._totals.chunks.removed += removed
            self._manifest.relieve_log()
            if self._committed:
                self._committed(added)

    def _ready(self, prepared: Prepared) -> bool:
        keys = {piece.key for piece in prepared.pieces}
        return len(self._manifest.slots(keys)) == len(keys)

    def _embed(self, unit: Sequence[Prepared]) -> None:
        wanted = {piece.key: piece for prepared in unit for piece in prepared.pieces}
        missing = {key: wanted[key] for key in wanted.keys() - self._manifest.slots(wanted).keys()}
        for source in self._sources:
            if missing:
                self._take(source, missing)
        new = {key: piece for key, piece in wanted.items() if key in missing}  # in the order of the documents
        self._totals.reused += len((wanted.keys() - new.keys()) - self._counted)
        self._counted.update(wanted)
        self._tokens += _tokens(wanted.values())
        self._done = self._tokens - _tokens(new.values())
        if new:
            self._before(self._embedder().info, unit)
            self._make(list(new.values()))

    def _take(self, source: Vectors, missing: dict[bytes, Piece]) -> None:
        found = source.get_many(list(missing))
        if found:
            import numpy as np

            self._manifest.add_vectors(list(found), np.stack(list(found.values())))
            for key in found:
                del missing[key]

    def _make(self, pieces: Sequence[Piece]) -> None:
        """Embed in batches of like length and keep the vectors as they come."""
        import numpy as np

        embedder = self._embedder()
        waiting: list[tuple[list[int], Matrix]] = []
        saved = time.monotonic()

        def save() -> None:
            if waiting:
                keys = [pieces[at].key for indices, _ in waiting for at in indices]
                matrix = np.concatenate([rows for _, rows in waiting])
                waiting.clear()
                self._manifest.add_vectors(keys, matrix)
                self._totals.embedded += len(keys)
                if self._keep:
                    self._keep(keys, matrix)

        texts, lengths = [piece.embedded for piece in pieces], [piece.tokens for piece in pieces]
        with Drawn(embed_all(embedder, texts, lengths)) as made:
            self._settle()  # while the model is at work
            for indices, rows in made:
                waiting.append((indices, rows))
                self._done += _tokens(pieces[at] for at in indices)
                self._report(Event("embed", self._done, self._all_tokens(), "tokens"))
                if sum(len(part) for part, _ in waiting) >= _SAVE_ROWS or time.monotonic() - saved > _SAVE_S:
                    save()
                    saved = time.monotonic()
                if self._stop.signal:
                    made.enough()
        save()
        self._stop.check()

    def _all_tokens(self) -> int:
        """Return the tokens of all documents that will come; reckoned from those that have come."""
        return round(self._tokens * max(1.0, self._expected / max(1, self._documents)))


def _tokens(pieces: Iterable[Piece]) -> int:
    return sum(piece.tokens for piece in pieces)
