"""How fast the whole pipeline is on this machine and these documents: a small build, and questions to it."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_index.embed import load_embedder
from rag_index.errors import UsageError
from rag_index.extract import Found, discover
from rag_index.pipeline import build
from rag_index.search import search
from rag_index.store import Snapshot, open_snapshot
from rag_index.types import Embedder, ModelInfo, Reporter, Tokens, ignore

if TYPE_CHECKING:
    from rag_index.settings import Settings
    from rag_index.types import Matrix, Vector

QUESTIONS = 20
COLD_RUNS = 3


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured.

    Attributes:
        files: Files that were indexed.
        megabytes: Their size.
        chunks: Chunks that they gave.
        tokens: Tokens that the model read.
        build_s: Seconds of the build, without loading the model.
        model_s: Seconds of it in which the model was working.
        tokens_per_s: Tokens by `model_s`.
        waited: Share of the time from the first to the last text in which the model had nothing to do.
        padding: Share of the computed tokens that were filling; None when the engine doesn't tell.
        question_ms: Milliseconds to embed a question, median.
        warm_ms: Milliseconds to answer one in this process, the embedding included, median.
        cold_s: Seconds to answer one in a new process, median.
        engine: What ran the model.
        precision: ``fp32`` or ``bf16``.
        model: Its name.
    """

    files: int
    megabytes: float
    chunks: int
    tokens: int
    build_s: float
    model_s: float
    tokens_per_s: float
    waited: float
    padding: float | None
    question_ms: float
    warm_ms: float
    cold_s: float
    engine: str
    precision: str
    model: str


class _Watched:
    """An embedder that notes when its model works."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.seconds = 0.0
        self.first = self.last = 0.0

    @property
    def info(self) -> ModelInfo:
        return self.inner.info

    @property
    def batch_tokens(self) -> int:
        return int(getattr(self.inner, "batch_tokens", 0))

    def tokens(self, text: str) -> Tokens:
        return self.inner.tokens(text)

    def embed(self, texts: Sequence[str]) -> Matrix:
        begun = time.perf_counter()
        self.first = self.first or begun
        matrix = self.inner.embed(texts)
        self.last = time.perf_counter()
        self.seconds += self.last - begun
        return matrix

    def embed_query(self, text: str) -> Vector:
        return self.inner.embed_query(text)


def measure_speed(
    paths: Sequence[Path], settings: Settings, *, most_mb: float = 2.0, report: Reporter = ignore
) -> Speed:
    """Build an index of some of the files under `paths` in a folder that is removed, and ask it questions.

    Args:
        paths: Files and folders; every n-th file is taken until their size is `most_mb`.
        settings: What to build with.
        most_mb: Megabytes of files.
        report: Told of the progress of the build.

    Raises:
        UsageError: there are no files.
        ModelError: the model can't be loaded.
    """
    root = Path.cwd()
    chosen = _sample(discover(paths, settings.extract, root=root), most_mb)
    if not chosen:
        raise UsageError(f"there are no files in {', '.join(map(str, paths))}", "Name a folder with documents.")
    watched = _Watched(load_embedder(settings.embed, report=report))
    watched.embed_query("what is loaded late is loaded now")
    with tempfile.TemporaryDirectory(prefix="rag-index-bench-") as scratch:
        index = Path(scratch) / "index"
        made = build([found.path for found in chosen], index, settings, embedder=watched, report=report)
        with open_snapshot(index) as snapshot:
            questions = _questions(snapshot)
            question_s, warm_s = _ask(snapshot, watched, questions, settings)
        cold_s = statistics.median(_ask_cold(index, question) for question in questions[:COLD_RUNS])
    span = max(watched.last - watched.first, watched.seconds, 1e-9)
    return Speed(
        files=made.files.indexed,
        megabytes=sum(found.size for found in chosen) / 1e6,
        chunks=made.chunks.live,
        tokens=made.tokens.embedded,
        build_s=made.seconds,
        model_s=watched.seconds,
        tokens_per_s=made.tokens.embedded / max(watched.seconds, 1e-9),
        waited=1 - watched.seconds / span,
        padding=_padding(watched.inner),
        question_ms=question_s * 1000,
        warm_ms=warm_s * 1000,
        cold_s=cold_s,
        engine=watched.info.engine,
        precision=watched.info.precision,
        model=watched.info.name,
    )


def _sample(found: Iterable[Found], most_mb: float) -> list[Found]:
    """Take files evenly over all folders until they are `most_mb` large; at least one."""
    files = [one for one in found if one.status is None]
    total = sum(one.size for one in files)
    step = max(1, round(total / (most_mb * 1e6)))
    chosen: list[Found] = []
    size = 0
    for one in files[::step]:
        if chosen and size + one.size > most_mb * 1e6:
            continue
        chosen.append(one)
        size += one.size
    return chosen


def _questions(snapshot: Snapshot) -> list[str]:
    """Return some words out of as many documents as there are questions; at least `COLD_RUNS`."""
    rows = [row for row in snapshot.documents() if row.status.searchable]
    texts = [snapshot.document(row.id).text for row in rows[:: max(1, len(rows) // QUESTIONS)][:QUESTIONS]]
    words = [" ".join(text[len(text) // 3 :].split()[1:9]) for text in texts]
    asked = [text for text in words if text] or ["how does this work"]
    return (asked * QUESTIONS)[: max(len(asked), COLD_RUNS)]


def _ask(snapshot: Snapshot, embedder: Embedder, questions: Sequence[str], settings: Settings) -> tuple[float, float]:
    """Return the median seconds of embedding a question, and of a whole answer."""
    search(snapshot, embedder, questions[0], settings.search)
    asking, answering = [], []
    for question in questions:
        begun = time.perf_counter()
        embedder.embed_query(question)
        between = time.perf_counter()
        search(snapshot, embedder, question, settings.search)
        asking.append(between - begun)
        answering.append(time.perf_counter() - between)
    return statistics.median(asking), statistics.median(answering)


def _ask_cold(index: Path, question: str) -> float:
    """Return the seconds of a process that answers one question."""
    command = [sys.executable, "-m", "rag_index", "query", "--index", str(index), "--json", "--", question]
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: S603 (ours)
    return time.perf_counter() - begun


def _padding(embedder: Embedder) -> float | None:
    work = getattr(embedder, "work", None)
    return 1 - work.tokens / work.padded if work is not None and work.padded else None
