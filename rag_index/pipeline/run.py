"""What the builds have in common: the states they work on, the model, how documents are stored, how they end."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rag_index.embed import load_embedder
from rag_index.embed.cache import VectorCache
from rag_index.pipeline.ahead import ahead
from rag_index.pipeline.languages import Watch
from rag_index.pipeline.prepare import FILE, prepare
from rag_index.pipeline.report import BuildReport, Skipped
from rag_index.pipeline.scan import Plan
from rag_index.pipeline.states import Work, drop_others, open_work, same_model
from rag_index.pipeline.stopping import Stop
from rag_index.pipeline.unit import UnitWriter, Vectors
from rag_index.settings import Settings
from rag_index.store import Hint, Known, Layout, Manifest, Prepared
from rag_index.store.failpoints import passing
from rag_index.store.projection import Publication
from rag_index.store.published import warn_about
from rag_index.types import Document, Embedder, Event, Reporter, Status, Warn, ignore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rag_index.types import Vector


AHEAD_BYTES = 16 << 20
"""Memory for documents that are prepared while the model works: two units' worth of text."""


class OtherModelError(Exception):
    """The model is not the one that the index was made with, though it has the same name."""


@dataclass(slots=True)
class Model:
    """The model, loaded when it is first needed."""

    settings: Settings
    loaded: Embedder | None = None
    expected: Manifest | None = None
    report: Reporter = ignore

    def load(self) -> Embedder:
        """Return the model; raises OtherModelError if the state that is written expects another."""
        if self.loaded is None:
            self.loaded = load_embedder(self.settings.embed, download=True, report=self.report)
        if self.expected is not None and not same_model(self.expected.model, self.loaded.info):
            raise OtherModelError
        return self.loaded


@dataclass(slots=True)
class Run:
    """What one build has at hand."""

    layout: Layout
    settings: Settings
    report: Reporter
    stop: Stop
    model: Model
    totals: BuildReport
    cache: VectorCache | None = None
    sources: Sequence[Vectors] = ()
    refused: dict[str, Skipped] = field(default_factory=dict)
    typed: str = "PATH"
    publication: Publication | None = None

    def warn(self, warning: Warn) -> None:
        """Tell the user at once, and keep it for the report."""
        self.totals.warnings.append(warning)
        self.report(Event("warning", note=warning.message))


@contextmanager
def working(run: Run, root: Path) -> Iterator[Work]:
    """Open the states of a build, and close them whatever happens."""
    with run.stop.at_once():  # a model may have to be converted first
        work = open_work(run.layout, run.settings, root, run.model.loaded, run.model.load)
    run.model.expected = work.manifest
    try:
        danger = warn_about(run.settings.store.url)
        if danger:
            run.warn(Warn("store-in-the-clear", danger))
        if run.settings.store.publish:
            run.publication = Publication(run.layout, work.manifest.folder, run.settings.store, report=run.report)
        yield work
    finally:
        if run.publication:
            run.publication.close()
        run.model.expected = None
        work.close()


def note_skipped(run: Run, plan: Plan) -> None:
    """Name the files that the plan leaves out."""
    for name, known in plan.skipped.items():
        run.refused[name] = Skipped(name, known.status.value, known.reason)
    for file in plan.refused:
        run.refused[file.name] = Skipped(file.name, (file.status or Status.SKIPPED).value, file.reason)


def writer_for(run: Run, work: Work) -> UnitWriter:
    """Return what takes the documents of this build."""
    sources: list[Vectors] = [*run.sources, *([Stored(work.before)] if work.before else [])]
    if run.cache is not None:
        sources.append(run.cache)
    return UnitWriter(
        work.manifest,
        run.model.load,
        run.totals,
        report=run.report,
        stop=run.stop,
        sources=sources,
        keep=run.cache.put_many if run.cache is not None else None,
        committed=run.publication.follow if run.publication else None,
        watch=Watch(work.manifest.by_language, run.warn, run.typed),
    )


@dataclass(frozen=True, slots=True)
class Stored:
    """The vectors of the state that a new one is built beside."""

    manifest: Manifest

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return those that are there."""
        slots = self.manifest.slots(keys)
        if not slots:
            return {}
        return dict(zip(slots, self.manifest.vectors_of(list(slots.values())), strict=True))


def store_all(
    run: Run, writer: UnitWriter, documents: Iterable[tuple[Document, Hint]], known: Mapping[str, Known]
) -> None:
    """Store the documents that are not as they were; while the model is busy, the next ones are cut and tokenised."""
    jobs = _jobs(run, documents, known)
    # What cuts by meaning asks the model itself, which has one owner: it can't be done beside the embedding.
    alone = run.settings.chunk.chunker == "semantic"
    stream: Generator[Prepared, None, None] = (
        (job.prepare() for job in jobs)
        if alone
        else ahead(jobs, _Job.prepare, weight=_Job.bytes, most=AHEAD_BYTES, check=run.stop.check)
    )
    with closing(stream):
        while prepared := _next(run.stop, writer, stream):
            writer.add(prepared)
            if alone:
                writer.wait()


def _next(stop: Stop, writer: UnitWriter, stream: Iterator[Prepared]) -> Prepared | None:
    """Wait for the next document, None at the end; a signal ends the wait, and what is in hand is stored first."""
    try:
        stop.check()
        return next(stream, None)
    except (KeyboardInterrupt, SystemExit):
        writer.flush()
        raise


@dataclass(frozen=True, slots=True)
class _Job:
    """A document to be prepared."""

    document: Document
    hint: Hint
    origin: str
    embedder: Embedder
    settings: Settings

    def prepare(self) -> Prepared:
        return prepare(self.document, self.embedder, self.settings, hint=self.hint, origin=self.origin)

    def bytes(self) -> int:
        """Return about what the document takes when it is prepared: its text, tokens and chunks."""
        return 8 * len(self.document.text) + 1000


def _jobs(run: Run, documents: Iterable[tuple[Document, Hint]], known: Mapping[str, Known]) -> Iterator[_Job]:
    for document, hint in documents:
        path = document.source.path
        was = known.get(path)
        if not document.status.searchable:
            run.refused[path] = Skipped(path, document.status.value, document.reason)
            if was and was.status.searchable and document.status is Status.UNREADABLE:
                continue  # its last readable version stays
        elif hint.read_ns:
            run.totals.files.indexed += 1
        if run.model.loaded is None:
            with run.stop.at_once():  # it may have to be converted first
                run.model.load()
        yield _Job(document, hint, was.origin if was else FILE, run.model.load(), run.settings)


def remove(run: Run, work: Work, ids: Sequence[int]) -> None:
    """Forget documents."""
    if ids:
        run.totals.chunks.removed += work.manifest.remove(ids)
        run.totals.files.removed += len(ids)


def finish(run: Run, work: Work, scopes: Sequence[str]) -> None:
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
    if run.publication:
        with run.stop.at_once():
            if not run.publication.is_fresh():
                run.publication.finish()
