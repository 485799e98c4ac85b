"""A small run made by hand, for the tests of what is said and drawn about runs."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from rag_index.evaluate.grid import Grid, names
from rag_index.evaluate.labels import Question, Reference
from rag_index.evaluate.run import Costs, Result, Run
from rag_index.evaluate.scoring import Measure
from rag_index.settings import Settings
from rag_index.types import Document, Place, Source, Warn

MEASURE = Measure(k=3, budgets=(500, 3000))


def run_of(
    levels: Sequence[float],
    *,
    questions: int = 60,
    seed: int = 1,
    grid: Grid | None = None,
    costs: Mapping[str, float] | None = None,
    warnings: Sequence[Warn] = (),
    unreachable: int = 0,
    luck: float = 0.0,
) -> Run:
    """Return a run whose n-th configuration answers about ``levels[n]`` of the questions in full, by `luck`."""
    cells, _ = (grid or Grid(sizes=(200, 500, 1000, 2000), overlaps=("0", "0.25"))).cells(Settings())
    hard = random.Random(seed)
    difficulty = [hard.random() for _ in range(questions)]
    results = []
    for n, level in enumerate(levels):
        own = random.Random(100 + n if luck else 0)
        found = [float(value + luck * (own.random() - 0.5) < level) for value in difficulty]
        scores = dict.fromkeys(MEASURE.names, found)
        answers = [[Place("guide.md", 10 * n, 10 * n + 40)] for _ in range(questions)]
        cost = {
            "chunks": 100 - n,
            "vectors": 90 - n,
            "vector_bytes": 1000 * (90 - n),
            "stored": 1.1,
            "single": 0.1,
            "held_back": 0,
            "build_seconds": 0.5,
            "query_ms": 1.5,
            "query_p95_ms": 2.5,
            **(costs or {}),
        }
        results.append(Result(cells[n], scores, answers, Costs(**cost), unreachable))
    ids = [f"q{n}" for n in range(questions)]
    return Run(results, names(cells[: len(levels)]), ids, MEASURE, list(warnings), 3, 9000, 120, 30, 1.25)


DOCUMENTS = {"guide.md": Document(Source("guide.md"), text="Line one.\n<b>Line</b> two.\n" + "More words here. " * 40)}


def asked(count: int = 60) -> list[Question]:
    return [
        Question(f"q{n}", f"What is <{n}>?", (Reference((Place("guide.md", 20, 50),)),), ("odd" if n % 2 else "even",))
        for n in range(count)
    ]
