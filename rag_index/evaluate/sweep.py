"""Build each configuration aside, ask all questions, score the answers."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from rag_index.chunk import check_chunker, chunk_document
from rag_index.embed import load_embedder
from rag_index.embed.cache import VectorCache, cache_folder
from rag_index.errors import UsageError
from rag_index.evaluate.axis import Axis
from rag_index.evaluate.grid import Cell, names
from rag_index.evaluate.judging import Built, Judge, begin, judge_here
from rag_index.evaluate.labels import Labels
from rag_index.evaluate.remembering import Remembering
from rag_index.evaluate.results import Results
from rag_index.evaluate.run import Result, Run
from rag_index.evaluate.scoring import Measure
from rag_index.pipeline import build_documents
from rag_index.settings import EmbedSettings, Settings
from rag_index.store import open_snapshot
from rag_index.types import Document, Embedder, Event, Reporter, Tokens, Warn, ignore


def sweep(  # noqa: PLR0913 (one keyword a wish)
    documents: Sequence[Document],
    labels: Labels,
    cells: Sequence[Cell],
    *,
    base: Settings | None = None,
    measure: Measure | None = None,
    report: Reporter = ignore,
    jobs: int = 1,
    fresh: bool = False,
    cache: Path | None = None,
    warnings: Sequence[Warn] = (),
    ready: Mapping[str, Path] | None = None,
) -> Run:
    """Measure every configuration of `cells` on the same documents and questions.

    Vectors and the results of finished configurations are kept in `cache`: a second sweep embeds nothing, and an
    interrupted one goes on where it was.

    Args:
        documents: Extracted; those without text are left out.
        labels: Checked questions.
        cells: What to compare; each is built by the same pipeline and asked by the same search as an index.
        base: Settings beside those of the cells.
        measure: What to measure.
        report: Told of the progress: stage ``eval``, and those of the builds.
        jobs: Processes that ask questions while the next index is built; with one, it is another thread that asks.
        fresh: Measure again what is known; vectors are kept.
        cache: Folder to keep things in; by default the user's cache.
        warnings: What the reader of the run should know besides: put before what is found here.
        ready: ``Cell.build_key`` -> folder of an index of these documents that is there already.

    Raises:
        UsageError: nothing to compare, or a name is unknown; before anything is built.
        ModelError: a model can't be loaded.
    """
    began = time.monotonic()
    measure = measure or Measure()
    readable = [document for document in documents if document.status.searchable]
    _check(cells, readable, jobs)
    folder = cache or cache_folder()
    known = Results.of(folder / "evaluations", readable, labels.questions, measure)
    found = {} if fresh else {cell.key: result for cell in cells if (result := known.get(cell))}
    axis = Axis({document.source.path: document.text for document in readable})
    with VectorCache(folder / "vectors.sqlite") as vectors:
        work = _Work(
            documents=readable,
            base=base or Settings(),
            judge=Judge(labels.questions, axis, measure),
            vectors=vectors,
            report=_each_warning_once(report),
            total=len(cells),
            done=len(found),
            ready=ready or {},
        )
        todo = [cell for cell in cells if cell.key not in found]
        for result in _results(work, _groups(todo), jobs):
            known.put(result)
            found[result.cell.key] = result
    return Run(
        results=[found[cell.key] for cell in cells],
        names=names(cells),
        questions=[question.id for question in labels.questions],
        measure=measure,
        warnings=[*warnings, *labels.warnings, *_repetition(axis)],
        documents=len(readable),
        characters=axis.characters,
        embedded=work.embedded,
        reused=work.reused,
        seconds=round(time.monotonic() - began, 3),
    )


@dataclass(slots=True)
class _Work:
    """What the builds of one sweep share."""

    documents: Sequence[Document]
    base: Settings
    judge: Judge
    vectors: VectorCache
    report: Reporter
    total: int
    done: int
    ready: Mapping[str, Path]
    embedded: int = 0
    reused: int = 0
    models: dict[EmbedSettings, Remembering] = field(default_factory=dict)

    def embedder(self, settings: EmbedSettings) -> Remembering:
        if settings not in self.models:
            self.models[settings] = Remembering(_loader(settings), self.vectors)
        return self.models[settings]

    def build(self, cells: Sequence[Cell], folder: Path) -> Built:
        """Build the index that `cells` share in `folder`, unless it is there already."""
        cell = cells[0]
        embedder = self.embedder(cell.embed)
        self.report(Event("eval", self.done, self.total, names(cells)[0]))
        index = self.ready.get(cell.build_key, folder)
        began = time.monotonic()
        if index == folder:
            self._build(cell, folder, embedder)
        seconds = time.monotonic() - began
        with open_snapshot(index) as snapshot:
            chunks = sum(row.chunks for row in snapshot.documents())
        return Built(
            index=index,
            cells=tuple(cells),
            info=embedder.info,
            seconds=seconds,
            held_back=chunks - self._unbounded(cell) if _bounded(cell, embedder) else 0,
            tokens=self._questions(cells, embedder),
            times=self.judge.time(index, cells, embedder),
        )

    def _questions(self, cells: Sequence[Cell], embedder: Remembering) -> dict[str, Tokens]:
        """Make the questions known to the embedder, so that another thread or process never asks the model."""
        if all(cell.search.mode == "keyword" for cell in cells):
            return {}
        for text in self.judge.wordings:
            embedder.embed_query(text)
        return {text: embedder.tokens(text) for text in self.judge.wordings}

    def _build(self, cell: Cell, folder: Path, embedder: Embedder) -> None:
        settings = Settings(self.base.extract, cell.chunk, cell.embed, self.base.store, cell.search)
        built = build_documents(
            self.documents,
            folder,
            settings,
            embedder=embedder,
            report=self.report,
            publish=False,
            cache=self.vectors,
        )
        self.embedded += built.embedded
        self.reused += built.reused

    def finished(self, results: Sequence[Result]) -> None:
        self.done += len(results)
        self.report(Event("eval", self.done, self.total))

    def _unbounded(self, cell: Cell) -> int:
        """Count the chunks that the size alone would give."""
        keep = self.base.extract.keep_furniture
        return sum(
            sum(1 for _ in chunk_document(document, cell.chunk, None, keep_furniture=keep))
            for document in self.documents
        )


def _results(work: _Work, groups: Sequence[Sequence[Cell]], jobs: int) -> Iterator[Result]:
    """Build group after group, have each asked while the next is built, and yield the results as they are found."""
    with _scratch() as top, _askers(work, jobs) as ask:
        waiting: deque[tuple[Path, Future[list[Result]]]] = deque()
        for number, cells in enumerate(groups):
            folder = top / str(number)
            waiting.append((folder, ask(work.build(cells, folder))))
            while waiting and (waiting[0][1].done() or len(waiting) > jobs):
                yield from _finished(work, *waiting.popleft())
        while waiting:
            yield from _finished(work, *waiting.popleft())


def _finished(work: _Work, folder: Path, asked: Future[list[Result]]) -> list[Result]:
    results = asked.result()
    shutil.rmtree(folder, ignore_errors=True)
    work.finished(results)
    return results


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="rag-index-eval-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _askers(work: _Work, jobs: int) -> Iterator[Callable[[Built], Future[list[Result]]]]:
    """Give what asks an index all questions aside: in one other thread, or in `jobs` processes.

    When the sweep is interrupted, what waits is given up.
    """
    pool: Executor
    if jobs == 1:
        pool = ThreadPoolExecutor(1, "asking")
    else:
        pool = ProcessPoolExecutor(jobs, get_context("spawn"), begin, (work.judge, work.vectors.path))

    def ask(built: Built) -> Future[list[Result]]:
        if jobs == 1:
            return pool.submit(work.judge.judge, built, work.embedder(built.cells[0].embed))
        return pool.submit(judge_here, built)

    try:
        yield ask
    finally:
        pool.shutdown(cancel_futures=True)


def _check(cells: Sequence[Cell], documents: Sequence[Document], jobs: int) -> None:
    if not cells:
        raise UsageError("there is no configuration to measure", "Give --sizes, --overlaps or --chunkers.")
    if not documents:
        raise UsageError("there is no document with text", "Point --docs at a folder with documents.")
    if jobs < 1:
        raise UsageError(f"jobs is {jobs} but must be at least 1", "Raise --jobs.")
    for cell in cells:
        check_chunker(cell.chunk)


def _groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Bring together the cells that share an index; order kept."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.build_key, []).append(cell)
    return list(groups.values())


def _loader(settings: EmbedSettings) -> Callable[[], Embedder]:
    return lambda: load_embedder(settings)


def _bounded(cell: Cell, embedder: Embedder) -> bool:
    """Whether the model's limit may shorten chunks; `semantic` would have to embed again to tell."""
    return embedder.info.max_tokens is not None and cell.chunk.unit == "characters" and cell.chunk.chunker != "semantic"


def _each_warning_once(report: Reporter) -> Reporter:
    """Pass on what each build reports, but not for each a warning that differs in figures and order alone."""
    said: set[frozenset[str]] = set()

    def told(event: Event) -> None:
        words = frozenset(re.findall(r"[^\W\d]+", event.note))
        if event.stage != "warning" or words not in said:
            report(event)
        if event.stage == "warning":
            said.add(words)

    return told


def _repetition(axis: Axis) -> list[Warn]:
    share = axis.repeated / max(1, axis.characters)
    if share < 0.05:  # noqa: PLR2004 (below a twentieth it moves no figure that anyone reads)
        return []
    message = f"{share:.0%} of the characters repeat an earlier sentence; they are charged once and found together"
    return [Warn("repetition", message)]
