"""Documents on their way into the index, a unit at a time.

While the model embeds one unit, the one before it is made live and the next is collected. A crash costs the first two,
less the vectors that were kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from rag_index.pipeline.embedding import Embedding
from rag_index.pipeline.report import BuildReport
from rag_index.pipeline.stopping import Stop
from rag_index.store import Manifest, Piece, Prepared
from rag_index.types import Embedder, Event, ModelInfo, Reporter

if TYPE_CHECKING:
    from rag_index.types import Matrix, Vector

UNIT_CHUNKS = 1024
UNIT_DOCUMENTS = 1024
"""A unit ends at this many chunks or documents, whichever comes first."""
FIRST_S = 2.0
"""The first one ends after this many seconds, too. Mostly it is full by then (1,024 chunks take half a second), which
shows the languages of the documents before the model begins."""
IDLE_S = 5.0
IDLE_CHUNKS = (32, 256)
"""Any other ends after this many seconds, or at this many chunks, if the model waits for it: at few in the beginning,
at twice as many each time after that, for each unit costs a commit."""


class Vectors(Protocol):
    """Where vectors that were made before may be found: the shared cache, another state of the index."""

    def get_many(self, keys: Sequence[bytes], /) -> Mapping[bytes, Vector]:
        """Return those that are known."""
        ...


class Observer(Protocol):
    """What wants to see the documents beside the model."""

    def note(self, prepared: Prepared, /) -> None:
        """Look at a document that was added."""
        ...

    def check(self, model: ModelInfo, /, *, all_read: bool) -> None:
        """Judge what was noted so far, when some of it is new to the model; `all_read` says that nothing more comes.

        Called before the model begins, and after each document from then on.
        """
        ...


class UnitWriter:
    """Collects documents, embeds what no one has embedded before, and makes whole units live.

    Args:
        manifest: The state that is written.
        embedder: Gives the model; called only when something must be embedded.
        sources: Asked in this order for vectors that the state has not.
        keep: Told of every vector that was made.
        committed: Told after each unit how many chunks it added.
        watch: Shown every document; asked for its judgement before the model begins and after each document since.
        totals: Counts what was done.

    A context: at its end the model has stopped; what was not flushed isn't live.
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
        watch: Observer | None = None,
    ) -> None:
        self._manifest = manifest
        self._embedder = embedder
        self._totals = totals
        self._report = report
        self._stop = stop
        self._sources = sources
        self._keep = keep
        self._committed = committed
        self._watch = watch
        self._unit: list[Prepared] = []
        self._chunks = 0
        self._since = time.monotonic()
        self._in_hand: list[Prepared] = []
        self._embedding: Embedding | None = None
        self._waits = True
        self._any_new = False
        self._all_read = False
        self._enough = IDLE_CHUNKS[0]
        self._seen = bytearray()
        self._expected = 0
        self._documents = 0
        self._tokens = 0
        self._done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._embedding:
            self._embedding.__exit__(kind, error, trace)

    def expect(self, documents: int) -> None:
        """Say how many documents will come, so that the tokens of all can be reckoned while they are read."""
        self._expected = documents

    def add(self, prepared: Prepared) -> None:
        """Take a document; a unit that is full is given to the model, and the one before it made live meanwhile."""
        if not self._unit:
            self._since = time.monotonic()
        self._all_read = False
        if self._watch:
            self._watch.note(prepared)
        self._unit.append(prepared)
        self._chunks += len(prepared.pieces)
        if self._embedding:
            self._embedding.take()
        if self._full():
            self._turn()
        self._judge()

    def _judge(self) -> None:
        if self._watch and self._any_new:
            self._watch.check(self._embedder().info, all_read=self._all_read)

    def _full(self) -> bool:
        if self._chunks >= UNIT_CHUNKS or len(self._unit) >= UNIT_DOCUMENTS:
            return True
        if self._embedding and self._embedding.busy:
            return False
        waited = time.monotonic() - self._since
        if not self._any_new:
            return waited > FIRST_S
        if self._waits and self._chunks >= self._enough:
            self._enough = min(2 * self._enough, IDLE_CHUNKS[1])
            return True
        return waited > IDLE_S

    def wait(self) -> None:
        """Return when the model is free for others."""
        if self._embedding:
            self._embedding.finish(self._stopped)

    def flush(self) -> None:
        """Embed what is missing and make all that was added live.

        Raises:
            KeyboardInterrupt or SystemExit: a stop was asked for; what was ready has been made live.
        """
        self._all_read = True
        self._judge()  # before the model is waited for
        self._turn()
        self._turn()  # nothing is collected: the model ends what it has in hand
        self._stop.check()

    def _turn(self) -> None:
        """Give the model the unit that was collected, when it is done with the one in hand; make that one live."""
        unit, self._unit, self._chunks = self._unit, [], 0
        try:
            self._finish()
            self._embed(unit)
        except (KeyboardInterrupt, SystemExit):
            self._put([prepared for prepared in [*self._in_hand, *unit] if self._ready(prepared)])
            raise
        done, self._in_hand = self._in_hand, unit
        self._put(done)  # while the model is at work

    def _stopped(self) -> bool:
        return self._stop.signal != 0

    def _finish(self) -> None:
        """Wait until the unit in hand is embedded."""
        if self._embedding:
            self._embedding.finish(self._stopped)
            self._embedding = None
            self._stop.check()

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
        """Have the model begin with the texts of `unit` that no one has embedded before."""
        wanted = {piece.key: piece for prepared in unit for piece in prepared.pieces}
        known = self._manifest.slots(wanted)
        self._count(known.values(), reused=True)
        missing = {key: wanted[key] for key in wanted.keys() - known.keys()}
        for source in self._sources:
            if missing:
                self._take(source, missing)
        new = {key: piece for key, piece in wanted.items() if key in missing}  # in the order of the documents
        self._documents += len(unit)
        self._tokens += _tokens(wanted.values())
        self._done = self._tokens - _tokens(new.values())
        self._waits = bool(new)
        if new:
            self._any_new = True
            self._judge()
            self._embedding = Embedding(self._embedder(), list(new.values()), self._made, self._tell)

    def _take(self, source: Vectors, missing: dict[bytes, Piece]) -> None:
        found = source.get_many(list(missing))
        if found:
            import numpy as np

            first = self._manifest.add_vectors(list(found), np.stack(list(found.values())))
            self._count(range(first, first + len(found)), reused=True)
            for key in found:
                del missing[key]

    def _made(self, keys: Sequence[bytes], matrix: Matrix) -> None:
        """Keep vectors that were made."""
        first = self._manifest.add_vectors(keys, matrix)
        self._count(range(first, first + len(keys)), reused=False)
        self._totals.embedded += len(keys)
        if self._keep:
            self._keep(keys, matrix)

    def _count(self, rows: Iterable[int], *, reused: bool) -> None:
        """Note that vectors are used, each once; a byte a row, since a set of keys would be most of our memory."""
        for row in rows:
            if row >= len(self._seen):
                self._seen.extend(bytes(row + 1 - len(self._seen)))
            self._totals.reused += reused and not self._seen[row]
            self._seen[row] = 1

    def _tell(self, tokens: int) -> None:
        self._done += tokens
        self._report(Event("embed", self._done, self._all_tokens(), "tokens"))

    def _all_tokens(self) -> int:
        """Return the tokens of all documents that will come; reckoned from those that have come."""
        return round(self._tokens * max(1.0, self._expected / max(1, self._documents)))


def _tokens(pieces: Iterable[Piece]) -> int:
    return sum(piece.tokens for piece in pieces)
