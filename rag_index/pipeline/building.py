"""build(): from files to an index that answers."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from rag_index.chunk import check_chunker
from rag_index.embed.cache import VectorCache
from rag_index.errors import UsageError
from rag_index.extract import Found, discover
from rag_index.pipeline.rehearsal import rehearse
from rag_index.pipeline.report import BuildReport
from rag_index.pipeline.run import (
    Model,
    OtherModelError,
    Run,
    finish,
    note_skipped,
    remove,
    store_all,
    working,
    writer_for,
)
from rag_index.pipeline.scan import Roots, Scan, documents_of, outside
from rag_index.pipeline.stopping import Stop
from rag_index.settings import Settings
from rag_index.store import Hint, Layout, WriterLock, open_snapshot
from rag_index.types import Document, Embedder, Reporter, ignore


def build(
    paths: Sequence[Path],
    index: Path,
    settings: Settings,
    *,
    report: Reporter = ignore,
    embedder: Embedder | None = None,
    full: bool = False,
    dry_run: bool = False,
    cache: VectorCache | None = None,
) -> BuildReport:
    """Bring the index in the folder `index` up to date with the files under `paths`.

    Documents below `paths` whose file is gone are removed; other documents of the index stay. When settings have
    changed, a new state is built from the stored texts and switched to at the end.

    Args:
        paths: Files and folders.
        index: Folder of the index; made if need be.
        settings: What to build with.
        report: Told of the progress: stages ``scan``, ``read``, ``embed``, ``publish``; and of a ``warning``.
        embedder: The model, if it is loaded already.
        full: Read every file again.
        dry_run: Change nothing and embed nothing; the report says what would be done.
        cache: Asked for vectors that the index has not, and told of those that were made.

    Raises:
        UsageError: a path is missing, there is nothing to index, or a name is unknown; nothing was changed.
        LockedError: another process is building this index.
        ModelError: the model can't be loaded.
        StoreError: the disk is full or can't be written; what was committed stays.
        IndexUnusableError: the index that is there can't be used.
        KeyboardInterrupt or SystemExit: SIGINT or SIGTERM came; what was committed stays.
    """
    started = time.monotonic()
    check_chunker(settings.chunk)
    layout = Layout(index)
    model = Model(settings, embedder, report=report)
    roots = _roots(layout, paths)
    found = _first(discover(roots.paths, settings.extract, root=roots.root), layout, paths)
    typed = shlex.join(map(str, paths))
    if dry_run:
        totals = rehearse(layout, roots, found, settings, model.load, report=report, full=full, typed=typed)
        totals.seconds = time.monotonic() - started
        return totals
    layout.prepare()
    with Stop() as stop, WriterLock(layout.lock):
        while True:
            run = Run(layout, settings, report, stop, model, BuildReport(str(index)), cache, typed=typed)
            try:
                _build_files(run, roots, found, full=full)
            except OtherModelError:
                model.expected = None  # now that it is loaded, its identity is compared before anything is stored
                found = discover(roots.paths, settings.extract, root=roots.root)
                continue
            run.totals.seconds = time.monotonic() - started
            return run.totals


def build_documents(
    documents: Iterable[Document],
    index: Path,
    settings: Settings,
    *,
    embedder: Embedder,
    report: Reporter = ignore,
    publish: bool = True,
    cache: VectorCache | None = None,
) -> BuildReport:
    """Make the index in the folder `index` hold exactly `documents`, which are extracted already.

    Args:
        documents: Pulled as units fill up; paths must differ.
        index: Folder of the index; made if need be.
        settings: What to chunk and publish with.
        embedder: The model.
        report: Told of the progress.
        publish: Make Chroma's projection, too.
        cache: Asked for vectors, and told of those that were made.

    Raises:
        What `build` raises.
    """
    started = time.monotonic()
    check_chunker(settings.chunk)
    layout = Layout(index)
    layout.prepare()
    with Stop() as stop, WriterLock(layout.lock):
        settings = replace(settings, store=replace(settings.store, publish=publish and settings.store.publish))
        run = Run(layout, settings, report, stop, Model(settings, embedder), BuildReport(str(index)), cache)
        with working(run, Path(index).absolute().parent) as work:
            known = work.manifest.known()
            names: set[str] = set()
            with writer_for(run, work) as writer:
                store_all(run, writer, _seen(documents, names), known)
                writer.flush()
            run.totals.files.seen += len(names)
            remove(run, work, [was.id for name, was in known.items() if name not in names])
            finish(run, work, [""])
    run.totals.seconds = time.monotonic() - started
    return run.totals


def _seen(documents: Iterable[Document], names: set[str]) -> Iterator[tuple[Document, Hint]]:
    """Pair each document with the time of now, and note its name."""
    for document in documents:
        names.add(document.source.path)
        yield document, Hint(read_ns=time.time_ns())


def _roots(layout: Layout, paths: Sequence[Path]) -> Roots:
    if not layout.states():
        return Roots.choose(paths, layout.index)
    with open_snapshot(layout.index) as snapshot:
        return Roots.choose(paths, layout.index, snapshot.info.root)


def _first(found: Iterator[Found], layout: Layout, paths: Sequence[Path]) -> Iterator[Found]:
    """Look for a first file before anything is made on disk."""
    first = next(found, None)
    if first is None and not layout.states():
        names = ", ".join(str(path) for path in paths)
        raise UsageError(f"there are no files in {names}", "Name a folder with documents.")
    return chain([first] if first else [], found)


def _build_files(run: Run, roots: Roots, found: Iterable[Found], *, full: bool) -> None:
    with working(run, roots.root) as work:
        known = work.manifest.known()
        before = work.before.known() if work.before else {}
        with run.stop.at_once():
            plan = Scan(known, before, full=full).plan(outside(found, run.layout.index), roots.scopes, run.report)
        run.totals.files.seen = plan.seen
        run.totals.files.unchanged = plan.unchanged
        note_skipped(run, plan)
        stored = work.before.document if work.before else work.manifest.document
        documents = documents_of(plan, stored, run.settings, run.report, run.stop.check)
        with writer_for(run, work) as writer:
            writer.expect(len(plan.restore) + len(plan.refused) + len(plan.read))
            store_all(run, writer, documents, before | known)
            writer.flush()
        remove(run, work, plan.remove)
        if plan.touch:
            work.manifest.touch(plan.touch)
        finish(run, work, roots.scopes)
