"""A dry run: everything that a build does but embedding and writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack

from rag_index.extract import Found
from rag_index.pipeline.languages import Watch
from rag_index.pipeline.prepare import prepare
from rag_index.pipeline.report import BuildReport, Skipped
from rag_index.pipeline.scan import Plan, Roots, Scan, documents_of, outside
from rag_index.pipeline.states import identity
from rag_index.settings import Settings
from rag_index.store import Hint, Layout, Prepared, Snapshot, open_snapshot
from rag_index.types import Document, Embedder, Event, Reporter, Status, Warn


def rehearse(
    layout: Layout,
    roots: Roots,
    found: Iterable[Found],
    settings: Settings,
    load: Callable[[], Embedder],
    *,
    report: Reporter,
    full: bool,
    typed: str,
) -> BuildReport:
    """Say what a build of `typed` would do; the model is loaded (to count tokens) only if a document would be cut."""
    with ExitStack() as stack:
        snapshot = stack.enter_context(open_snapshot(layout.index)) if layout.states() else None
        known = snapshot.known() if snapshot else {}
        fits = snapshot is not None and identity(snapshot.info.settings) == identity(settings)
        here, before = (known, {}) if fits else ({}, known)
        plan = Scan(here, before, full=full).plan(outside(found, layout.index), roots.scopes, report)
        rehearsal = _Rehearsal(
            layout, settings, load, snapshot, {name: was.id for name, was in known.items()}, fits=fits
        )
        languages = snapshot.by_language if snapshot and fits else list
        warnings: list[Warn] = []
        watch = Watch(languages, warnings.append, typed)
        for document, hint in documents_of(plan, rehearsal.stored, settings, report):
            if prepared := rehearsal.store(document, hint):
                watch.note(prepared)
        totals = rehearsal.report(plan)
        if totals.embedded:
            watch.check(load().info, all_read=True)
        for warning in warnings:
            totals.warnings.append(warning)
            report(Event("warning", note=warning.message))
        return totals


class _Rehearsal:
    def __init__(
        self,
        layout: Layout,
        settings: Settings,
        load: Callable[[], Embedder],
        snapshot: Snapshot | None,
        ids: dict[str, int],
        *,
        fits: bool,
    ) -> None:
        self._settings = settings
        self._load = load
        self._snapshot = snapshot
        self._ids = ids
        self._fits = fits
        self._keys: set[bytes] = set()
        self._totals = BuildReport(str(layout.index))
        self._refused: dict[str, Skipped] = {}

    def stored(self, name: str) -> Document | None:
        """Return the stored document called `name`."""
        known = self._snapshot is not None and name in self._ids
        return self._snapshot.document(self._ids[name]) if known and self._snapshot else None

    def store(self, document: Document, hint: Hint) -> Prepared | None:
        """Count what storing `document` would change; returns what would be stored."""
        name = document.source.path
        old = self._chunks(name)
        if not document.status.searchable:
            self._refused[name] = Skipped(name, document.status.value, document.reason)
            if old and document.status is Status.UNREADABLE:
                return None
        elif hint.read_ns:
            self._totals.files.indexed += 1
        prepared = prepare(document, self._load(), self._settings, hint=hint)
        new = Counter(piece.uid.hex() for piece in prepared.pieces)
        self._totals.chunks.added += (new - old).total()
        self._totals.chunks.removed += (old - new).total()
        self._totals.tokens += prepared.ledger
        self._keys.update(piece.key for piece in prepared.pieces)
        return prepared

    def report(self, plan: Plan) -> BuildReport:
        """Return the counts."""
        totals, files, chunks = self._totals, self._totals.files, self._totals.chunks
        names = {id_: name for name, id_ in self._ids.items()}
        for id_ in plan.remove:
            chunks.removed += self._chunks(names[id_]).total()
        self._refused |= {name: Skipped(name, was.status.value, was.reason) for name, was in plan.skipped.items()}
        totals.skipped = sorted(self._refused.values(), key=lambda skipped: skipped.path)
        files.seen, files.unchanged, files.removed = plan.seen, plan.unchanged, len(plan.remove)
        files.skipped = len(totals.skipped)
        known = self._snapshot.has_vectors(self._keys) if self._snapshot else set()
        totals.embedded, totals.reused = len(self._keys - known), len(known)
        if self._snapshot:
            chunks.live = self._snapshot.info.counts.chunks
            totals.model, totals.engine = self._snapshot.info.model.name, self._snapshot.info.model.engine
        chunks.live += chunks.added - chunks.removed
        return totals

    def _chunks(self, name: str) -> Counter[str]:
        if self._snapshot is None or name not in self._ids:
            return Counter()
        return Counter(row.uid for row in self._snapshot.chunks_of(self._ids[name]))
