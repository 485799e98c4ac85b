"""Texts without files: stored one at a time, at once."""

from __future__ import annotations

from pathlib import Path

from rag_index.errors import IndexMismatchError
from rag_index.pipeline.prepare import prepare
from rag_index.pipeline.report import BuildReport
from rag_index.pipeline.states import relative_root, same_model
from rag_index.pipeline.stopping import Stop
from rag_index.pipeline.unit import UnitWriter
from rag_index.settings import Settings
from rag_index.store import Hint, Layout, Manifest, WriterLock
from rag_index.types import Document, Embedder, ignore

ADDED = "added"
"""Origin of documents that no build removes: there is no file that could be gone."""


def add_document(document: Document, index: Path, settings: Settings, embedder: Embedder) -> BuildReport:
    """Chunk, embed and store `document` in place of what has its path; committed when this returns.

    Raises:
        LockedError: another process is building the index.
        IndexMismatchError: the index was made with another model.
    """
    layout = Layout(index)
    layout.prepare()
    totals = BuildReport(str(index))
    with WriterLock(layout.lock), _state(layout, settings, embedder) as manifest:
        if not same_model(manifest.model, embedder.info):
            raise IndexMismatchError(
                f"{index} was made with the model {manifest.model.name}, not {embedder.info.name}",
                "Open it with its own model.",
            )
        with UnitWriter(manifest, lambda: embedder, totals, report=ignore, stop=Stop()) as writer:
            writer.add(prepare(document, embedder, settings, hint=Hint(), origin=ADDED))
            writer.flush()
    return totals


def remove_document(path: str, index: Path) -> bool:
    """Forget the document called `path`; returns whether there was one.

    Raises:
        LockedError: another process is building the index.
        IndexMissingError: there is no index.
    """
    layout = Layout(index)
    folder = layout.current()
    with WriterLock(layout.lock), Manifest.open(folder) as manifest:
        known = manifest.known().get(path)
        if known is not None:
            manifest.remove([known.id])
        return known is not None


def _state(layout: Layout, settings: Settings, embedder: Embedder) -> Manifest:
    if layout.states():
        return Manifest.open(layout.current())
    root = relative_root(layout.index.absolute().parent, layout.index)
    made = Manifest.create(layout.index / "state-1", settings, embedder.info, root=root)
    layout.point_to(made.folder)
    return made
