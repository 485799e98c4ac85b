"""A damaged state is built again: from the sources, and from what of it is sound."""

from __future__ import annotations

import os
from pathlib import Path

from rag_index.embed import load_embedder
from rag_index.errors import RagIndexError
from rag_index.extract import discover
from rag_index.pipeline.report import BuildReport
from rag_index.pipeline.run import Model, Run, finish, note_skipped, store_all, writer_for
from rag_index.pipeline.scan import Roots, Scan, documents_of, outside
from rag_index.pipeline.states import Work, drop_others, relative_root
from rag_index.pipeline.stopping import Stop
from rag_index.settings import Settings
from rag_index.store import Hint, Known, Layout, Manifest
from rag_index.store.salvage import Salvage
from rag_index.types import Embedder, Reporter, Status


def rebuild(
    layout: Layout, damaged: Path | None, fallback: Settings, *, embedder: Embedder | None, report: Reporter
) -> BuildReport:
    """Build a new state from the sources and switch to it; the lock must be held.

    Vectors that are sound are used again, texts that were added without a file are taken over.

    Args:
        layout: Paths of the index.
        damaged: Folder of the damaged state, if there is one.
        fallback: Settings, where the damaged state no longer says its own.
        embedder: The model, if it is loaded already.
        report: Told of the progress.

    Raises:
        UsageError: the sources are gone.
    """
    salvage = Salvage(damaged or layout.index)
    try:
        return _rebuild(layout, salvage, _settings(salvage, fallback), embedder, report)
    finally:
        salvage.close()


def _settings(salvage: Salvage, fallback: Settings) -> Settings:
    stored = salvage.value("settings")
    try:
        return Settings.from_dict(stored) if stored else fallback
    except (RagIndexError, TypeError, ValueError, AttributeError):
        return fallback


def _rebuild(
    layout: Layout, salvage: Salvage, settings: Settings, embedder: Embedder | None, report: Reporter
) -> BuildReport:
    base = layout.index.absolute()
    root = Path(os.path.normpath(base / (salvage.value("root") or "..")))
    scopes = salvage.value("scopes") or [""]
    roots = Roots.choose([root / scope for scope in scopes], layout.index, root)
    model = Model(settings, embedder or load_embedder(settings.embed))
    number = 1 + max((int(folder.name[6:]) for folder in layout.states()), default=0)
    manifest = Manifest.create(
        layout.index / f"state-{number}",
        settings,
        model.load().info,
        root=relative_root(root, layout.index),
        generation=int(salvage.value("generation") or 0),
        index_id=str(salvage.value("index_id") or ""),
    )
    work = Work(manifest)
    with Stop() as stop, manifest:
        run = Run(layout, settings, report, stop, model, BuildReport(str(layout.index)), sources=[salvage])
        found = outside(discover(roots.paths, settings.extract, root=roots.root), layout.index)
        plan = Scan({}, full=True).plan(found, roots.scopes, report)
        note_skipped(run, plan)
        added = list(salvage.added())
        known = {document.source.path: Known(0, "added", Status.OK, "", "", "", Hint()) for document in added}
        with writer_for(run, work) as writer:
            store_all(run, writer, documents_of(plan, lambda _: None, settings, report, run.stop.check), {})
            store_all(run, writer, ((document, Hint()) for document in added), known)
            writer.flush()
        finish(run, work, roots.scopes)
        layout.point_to(manifest.folder)
        drop_others(layout, manifest.folder)
    return run.totals
