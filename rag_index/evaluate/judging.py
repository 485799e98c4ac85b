"""Ask one index all questions and score the answers; the part of a sweep that runs in several processes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from rag_index.embed import load_embedder
from rag_index.embed.cache import VectorCache
from rag_index.evaluate.axis import Axis
from rag_index.evaluate.grid import Cell
from rag_index.evaluate.labels import Question
from rag_index.evaluate.remembering import Remembering
from rag_index.evaluate.run import Costs, Result
from rag_index.evaluate.scoring import Chunks, Measure, score_answers, score_chunks, uncovered
from rag_index.search import Library, answers_each, read_question, search
from rag_index.settings import SearchSettings
from rag_index.store import Snapshot, open_snapshot
from rag_index.store.held import hold_snapshot
from rag_index.store.keywords import parse_question
from rag_index.types import Embedder, ModelInfo, Place, Tokens

TIMED = 20
"""Most questions that are asked once more by themselves, for the clock."""


@dataclass(frozen=True, slots=True)
class Built:
    """An index that waits for its questions.

    Attributes:
        index: Its folder.
        cells: The configurations that differ in search alone.
        info: Its model.
        seconds: Wall time of the build.
        held_back: Chunks more than the size alone would give.
        times: For each of the cells the seconds that some questions took.
        tokens: The questions as the model reads them, for a process that hasn't loaded it.
    """

    index: Path
    cells: tuple[Cell, ...]
    info: ModelInfo
    seconds: float
    held_back: int
    times: tuple[Sequence[float], ...]
    tokens: Mapping[str, Tokens] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judge:
    """The questions and the documents that they are about."""

    questions: Sequence[Question]
    axis: Axis
    measure: Measure

    @property
    def wordings(self) -> list[str]:
        """The questions as the model is asked them."""
        return [parse_question(read_question(question.text)).text for question in self.questions]

    def judge(self, built: Built, embedder: Embedder) -> list[Result]:
        """Ask the index all questions in each of its configurations."""
        with hold_snapshot(built.index) as snapshot:
            placed, vectors = self._placed(snapshot)
            chunks = Chunks(self.axis.plain(place) for places in placed for place in places)
            alone = [score_chunks(question, chunks, self.axis) for question in self.questions]
            missed = sum(uncovered(question, chunks, self.axis) for question in self.questions)
            shared = self._costs(built, placed, vectors)
            library = Library(snapshot)
            if any(cell.search.mode != "keyword" for cell in built.cells):
                snapshot.expect([embedder.embed_query(text) for text in self.wordings])
            asked = [(cell, *self._asked(cell, library, embedder)) for cell in built.cells]
        return [
            Result(
                cell,
                {name: [round(row[name], 6) for row in map(dict.__or__, values, alone)] for name in self.measure.names},
                answers,
                replace(shared, query_ms=_quantile(times, 0.5), query_p95_ms=_quantile(times, 0.95)),
                missed,
            )
            for (cell, values, answers), times in zip(asked, built.times, strict=True)
        ]

    def time(self, index: Path, cells: Sequence[Cell], embedder: Embedder) -> tuple[list[float], ...]:
        """Return for each cell the seconds that some questions take when they are asked as `query` asks them.

        To be called while nothing else is done, and when `embedder` knows the questions: their embedding is left out.
        """
        questions = self.questions[:: -(-len(self.questions) // TIMED)]
        with open_snapshot(index) as snapshot:
            return tuple(
                [self._seconds(question, cell, snapshot, embedder) for question in questions] for cell in cells
            )

    def _seconds(self, question: Question, cell: Cell, snapshot: Snapshot, embedder: Embedder) -> float:
        began = time.perf_counter()
        search(snapshot, embedder, question.text, self._first(cell))
        return time.perf_counter() - began

    def _placed(self, snapshot: Snapshot) -> tuple[list[list[Place]], int]:
        """Return the places of the chunks, document by document, and how many texts they have."""
        rows = [(row.path, snapshot.chunks_of(row.id)) for row in snapshot.documents() if row.status.searchable]
        places = [[Place(path, chunk.start, chunk.end) for chunk in chunks] for path, chunks in rows]
        return places, len({chunk.uid for _, chunks in rows for chunk in chunks})

    def _asked(
        self, cell: Cell, library: Library, embedder: Embedder
    ) -> tuple[list[dict[str, float]], list[list[Place]]]:
        """Return values and answers of each question."""
        first = self._first(cell)
        wishes = [first, *(replace(first, budget=budget, budget_unit="characters") for budget in self.measure.budgets)]
        values: list[dict[str, float]] = []
        answers: list[list[Place]] = []
        for question in self.questions:
            found, *filling = answers_each(library, embedder, question.text, wishes)
            values.append(score_answers(question, found, filling, self.axis, self.measure))
            answers.append([Place(answer.path, answer.start, answer.end) for answer in found])
        return values, answers

    def _first(self, cell: Cell) -> SearchSettings:
        return replace(cell.search, limit=self.measure.k, budget=0)

    def _costs(self, built: Built, placed: Sequence[Sequence[Place]], vectors: int) -> Costs:
        sizes = [place.end - place.start for places in placed for place in places]
        return Costs(
            chunks=len(sizes),
            vectors=vectors,
            vector_bytes=vectors * built.info.dimension * 4,
            stored=round(sum(sizes) / max(1, self.axis.characters), 3),
            single=round(sum(len(places) == 1 for places in placed) / max(1, len(placed)), 3),
            held_back=built.held_back,
            build_seconds=round(built.seconds, 3),
        )


def _quantile(times: Sequence[float], share: float) -> float:
    """Return a quantile of seconds in milliseconds."""
    ordered = sorted(times)
    return round(1000 * ordered[int((len(ordered) - 1) * share)], 2)


@dataclass(slots=True)
class _Process:
    """What a worker process holds from one index to the next."""

    judge: Judge
    cache: VectorCache


_process: list[_Process] = []


def begin(judge: Judge, cache: Path) -> None:
    """Prepare a worker process."""
    _process[:] = [_Process(judge, VectorCache(cache))]


def judge_here(built: Built) -> list[Result]:
    """Do in a worker process what `Judge.judge` does; the questions' vectors are in the cache."""
    held = _process[0]
    embedder = Remembering(partial(load_embedder, built.cells[0].embed), held.cache, built.info, built.tokens)
    return held.judge.judge(built, embedder)
