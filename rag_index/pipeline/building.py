"""build(): from files to an index that answers."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rag_index.chunk import check_chunker
from rag_index.embed import load_embedder
from rag_index.embed.cache import VectorCache
from rag_index.errors import UsageError
from rag_index.extract import Found, discover
from rag_index.pipeline.languages import Watch
from rag_index.pipeline.prepare import FILE, prepare
from rag_index.pipeline.rehearsal import rehearse
from rag_index.pipeline.report import BuildReport, Skipped
from rag_index.pipeline.scan import Plan, Roots, Scan, documents_of, outside
from rag_index.pipeline.states import Work, drop_others, open_work, same_model
from rag_index.pipeline.stopping import Stop
from rag_index.pipeline.unit import UnitWriter, Vectors
from rag_index.settings import Settings
from rag_index.store import Hint, Known, Layout, Manifest, WriterLock, open_snapshot
from rag_index.store.failpoints import passing
from rag_index.types import Document, Embedder, Event, Reporter, Status, Warn, ignore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_index.types import Vector


class _OtherModelError(Exception):
    """The model is not the one that the index was made with, though it has the same name."""


@dataclass(slots=True)
class _Model:
    """The model, loaded when it is first needed."""

    settings: Settings
    loaded: Embedder | None = None
    expected: Manifest | None = None

    def load(self) -> Embedder:
        if self.loaded is None:
            self.loaded = load_embedder(self.settings.embed)
        if self.expected is not None and not same_model(self.expected.model, self.loaded.info):
            raise _OtherModelError
        return self.loaded


@dataclass(slots=True)
class _Run:
    """What one build has at hand."""

    layout: Layout
    settings: Settings
    report: Reporter
    stop: Stop
    model: _Model
    totals: BuildReport
    cache: VectorCache | None = None
    refused: dict[str, Skipped] = field(default_factory=dict)
    typed: str = "PATH"

    def warn(self, warning: Warn) -> None:
        """Tell the user at once, and keep it for the report."""
        self.totals.warnings.append(warning)
        self.report(Event("warning", note=warning.message))


def build(
    paths: Sequence[Path],
    index: Path,
    settings: Settings,
    *,
    report: Reporter = ignore,
    embedder: Embedder | None = None,
    full: bool = False,
    dry_run: bool = False,
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
    model = _Model(settings, embedder)
    roots = _roots(layout, paths)
    found = _first(discover(roots.paths, settings.extract, root=roots.root), layout, paths)
    if dry_run:
        totals = rehearse(layout, roots, found, settings, model.load, report=report, full=full)
        totals.seconds = time.monotonic() - started
        return totals
    layout.prepare()
    with Stop() as stop, WriterLock(layout.lock):
        while True:
            run = _Run(
                layout, settings, report, stop, model, BuildReport(str(index)), typed=shlex.join(map(str, paths))
            )
            try:
                _build_files(run, roots, found, full=full)
            except _OtherModelError:
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
        run = _Run(layout, settings, report, stop, _Model(settings, embedder), BuildReport(str(index)), cache)
        with _working(run, Path(index).absolute().parent) as work:
            known = work.manifest.known()
            writer = _writer(run, work)
            names = set()
            for document in documents:
                if run.stop.signal:
                    writer.flush()
                names.add(document.source.path)
                run.totals.files.seen += 1
                _store(run, writer, document, Hint(read_ns=time.time_ns()), known)
            writer.flush()
            _remove(run, work, [was.id for name, was in known.items() if name not in names])
            _finish(run, work, [""], publish=publish)
    run.totals.seconds = time.monotonic() - started
    return run.totals


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


def _build_files(run: _Run, roots: Roots, found: Iterable[Found], *, full: bool) -> None:
    with _working(run, roots.root) as work:
        known = work.manifest.known()
        before = work.before.known() if work.before else {}
        plan = Scan(known, before, full=full).plan(outside(found, run.layout.index), roots.scopes, run.report)
        run.totals.files.seen = plan.seen
        run.totals.files.unchanged = plan.unchanged
        _note_skipped(run, plan)
        writer = _writer(run, work)
        stored = work.before.document if work.before else work.manifest.document
        for document, hint in documents_of(plan, stored, run.settings, run.report):
            if run.stop.signal:
                writer.flush()
            _store(run, writer, document, hint, before | known)
        writer.flush()
        _remove(run, work, plan.remove)
        if plan.touch:
            work.manifest.touch(plan.touch)
        _finish(run, work, roots.scopes, publish=True)


@contextmanager
def _working(run: _Run, root: Path) -> Iterator[Work]:
    work = open_work(run.layout, run.settings, root, run.model.loaded, run.model.load)
    run.model.expected = work.manifest
    try:
        yield work
    finally:
        run.model.expected = None
        work.close()


def _note_skipped(run: _Run, plan: Plan) -> None:
    for name, known in plan.skipped.items():
        run.refused[name] = Skipped(name, known.status.value, known.reason)
    for file in plan.refused:
        run.refused[file.name] = Skipped(file.name, (file.status or Status.SKIPPED).value, file.reason)


def _writer(run: _Run, work: Work) -> UnitWriter:
    sources: list[Vectors] = [_Stored(work.before)] if work.before else []
    if run.cache:
        sources.append(run.cache)
    return UnitWriter(
        work.manifest,
        run.model.load,
        run.totals,
        report=run.report,
        stop=run.stop,
        sources=sources,
        keep=run.cache.put_many if run.cache else None,
        before=Watch(work.manifest.by_language, run.warn, run.typed).check,
    )


@dataclass(frozen=True, slots=True)
class _Stored:
    """The vectors of the state that a new one is built beside."""

    manifest: Manifest

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        slots = self.manifest.slots(keys)
        if not slots:
            return {}
        return dict(zip(slots, self.manifest.vectors_of(list(slots.values())), strict=True))


def _store(run: _Run, writer: UnitWriter, document: Document, hint: Hint, known: Mapping[str, Known]) -> None:
    """Store one document unless it is as it was."""
    source = document.source
    was = known.get(source.path)
    if not document.status.searchable:
        run.refused[source.path] = Skipped(source.path, document.status.value, document.reason)
        if was and was.status.searchable and document.status is Status.UNREADABLE:
            return  # its last readable version stays
    elif hint.read_ns:
        run.totals.files.indexed += 1
    writer.add(prepare(document, run.model.load(), run.settings, hint=hint, origin=was.origin if was else FILE))


def _remove(run: _Run, work: Work, ids: Sequence[int]) -> None:
    if ids:
        run.totals.chunks.removed += work.manifest.remove(ids)
        run.totals.files.removed += len(ids)


def _finish(run: _Run, work: Work, scopes: Sequence[str], *, publish: bool) -> None:  # noqa: ARG001
    """Note how the build ended, switch to a new state, put the seal on, publish."""
    manifest, totals = work.manifest, run.totals
    totals.skipped = sorted(run.refused.values(), key=lambda skipped: skipped.path)
    totals.files.skipped = len(totals.skipped)
    info = manifest.model
    totals.model, totals.engine = info.name, info.engine
    if run.model.loaded:
        totals.engine = run.model.loaded.info.engine
    totals.chunks.live, totals.tokens = manifest.totals()
    totals.languages = manifest.by_language()
    manifest.note(
        settings=run.settings.to_dict(),
        scopes=sorted({*manifest.value("scopes"), *scopes}),
        built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        last={**asdict(totals), "skipped": len(totals.skipped)},
    )
    passing("finish-committed")
    manifest.compact()
    manifest.seal()
    if work.before is not None:
        passing("switch-begun")
        run.layout.point_to(manifest.folder)
        passing("switch-pointed")
        work.before.close()
        work.before = None
        drop_others(run.layout, manifest.folder)
