"""What a sweep found: the values of every question in every configuration, and what each cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rag_index.errors import UnknownNameError, UsageError
from rag_index.evaluate.grid import Cell
from rag_index.evaluate.scoring import Measure
from rag_index.settings import Settings
from rag_index.types import Place, Warn

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Costs:
    """What a configuration costs.

    Attributes:
        chunks: Live chunks.
        vectors: Distinct texts, one vector each.
        vector_bytes: Bytes of the vectors.
        stored: Characters in all chunks divided by characters of the documents.
        single: Share of the documents that are one chunk.
        held_back: Chunks more than the size alone would give, because the model reads no longer ones.
        build_seconds: Wall time of the build, vectors from the cache where they were there.
        query_ms: Median wall time of a question, the question's own embedding not counted.
        query_p95_ms: Its 95th percentile.
    """

    chunks: int
    vectors: int
    vector_bytes: int
    stored: float
    single: float
    held_back: int
    build_seconds: float
    query_ms: float = 0.0
    query_p95_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """One configuration, measured.

    Attributes:
        cell: The configuration.
        scores: Metric -> one value a question, in the order of the questions.
        answers: For each question the places returned, best first.
        costs: What it cost.
        unreachable: Questions with a reference of which less than half lies in any chunk.
    """

    cell: Cell
    scores: Mapping[str, Sequence[float]]
    answers: Sequence[Sequence[Place]]
    costs: Costs
    unreachable: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "cell": {part: asdict(getattr(self.cell, part)) for part in ("chunk", "embed", "search")},
            "scores": {name: list(values) for name, values in self.scores.items()},
            "answers": [[[place.path, place.start, place.end] for place in places] for places in self.answers],
            "costs": asdict(self.costs),
            "unreachable": self.unreachable,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Result:
        """Read back what `to_dict` gave."""
        settings = Settings.from_dict(values["cell"])
        return cls(
            Cell(settings.chunk, settings.embed, settings.search),
            values["scores"],
            [[Place(*place) for place in places] for places in values["answers"]],
            Costs(**values["costs"]),
            values["unreachable"],
        )


@dataclass(frozen=True, slots=True)
class Run:
    """A finished sweep.

    Attributes:
        results: One a configuration, in the order of the grid.
        names: A short name for each.
        questions: Ids, in the order of the values.
        measure: What was measured.
        warnings: What the reader of the figures should know.
        documents: Number of documents.
        characters: Their length together.
        embedded: Texts that the model embedded in this run.
        reused: Vectors that were there already.
        seconds: Wall time.
    """

    results: Sequence[Result]
    names: Sequence[str]
    questions: Sequence[str]
    measure: Measure
    warnings: Sequence[Warn]
    documents: int
    characters: int
    embedded: int
    reused: int
    seconds: float

    def scores(self, metric: str) -> list[list[float]]:
        """Return one row a configuration, one value a question. Raises UsageError for an unknown metric."""
        check_metric(metric, self.measure)
        return [list(result.scores[metric]) for result in self.results]

    def save(self, path: Path) -> None:
        """Write the whole run as JSON, for `load_run` and ``--baseline``. Raises UsageError."""
        values = {
            "format": FORMAT,
            "questions": list(self.questions),
            "measure": asdict(self.measure),
            "names": list(self.names),
            "warnings": [asdict(warning) for warning in self.warnings],
            "counts": [self.documents, self.characters, self.embedded, self.reused, self.seconds],
            "results": [result.to_dict() for result in self.results],
        }
        try:
            path.write_text(json.dumps(values, ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"can't write {path}: {error.strerror}", "Choose another place for --save.") from error


def load_run(path: Path) -> Run:
    """Read what `Run.save` wrote. Raises UsageError for anything else."""
    try:
        values = json.loads(path.read_bytes())
        if values["format"] != FORMAT:
            raise UsageError(f"{path} is a run of format {values['format']}, not {FORMAT}", "Run the baseline again.")
        measure = Measure(**{**values["measure"], "budgets": tuple(values["measure"]["budgets"])})
        results = [Result.from_dict(result) for result in values["results"]]
        warnings = [Warn(**warning) for warning in values["warnings"]]
        return Run(results, values["names"], values["questions"], measure, warnings, *values["counts"])
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror}", "Give a file that --save wrote.") from error
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"{path} is not a saved run: {error!r}", "Give a file that --save wrote.") from error


def check_metric(metric: str, measure: Measure) -> None:
    """Raise UsageError, with the nearest name, for a metric that is not measured."""
    if metric not in measure.names:
        raise UnknownNameError.named("metric", metric, measure.names)
