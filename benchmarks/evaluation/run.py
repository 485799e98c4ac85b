"""What a sweep costs: a 12-cell grid against embedding its distinct texts once, and the same grid again.

The five corpora of Chroma's chunking_evaluation (1.4 million characters, 472 questions), through our own build and
search, each part in an empty cache and in one run of one process, so that the ratios hold on a busy machine.

    python benchmarks/evaluation/run.py [--model hash]     # default: all-MiniLM-L6-v2
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag_index.chunk import chunk_document
from rag_index.embed import load_embedder
from rag_index.embed.batching import embed_all
from rag_index.evaluate import Cell, Grid, Labels, Run, judge, load_questions, sweep
from rag_index.evaluate.sources import documents_in
from rag_index.extract.fold import fold
from rag_index.settings import DEFAULT_MODEL, EmbedSettings, ExtractSettings, Settings
from rag_index.types import Document

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[2] / "shared" / "data" / "chunking_evaluation"
GRID = Grid(sizes=(250, 500, 1000), overlaps=("0", "0.1", "0.25", "0.5"))
GOALS = {"sweep_over_embedding": 1.3, "first_over_second": 10}


def main() -> None:
    """Measure, print, and write ``results.json`` beside this file."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--model", default=DEFAULT_MODEL)
    model = arguments.parse_args().model
    base = Settings(embed=EmbedSettings(model=model))
    documents = documents_in([DATA / "corpora"], ExtractSettings())
    labels = load_questions(DATA / "questions_df.csv", documents)
    cells, _ = GRID.cells(base)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(list(documents.values()), labels, cells, base, Path(folder))
    text = json.dumps(found, indent=2)
    print(text)
    (HERE / "results.json").write_text(text + "\n", encoding="utf-8")


def measure(documents: Sequence[Document], labels: Labels, cells: Sequence[Cell], base: Settings, cache: Path) -> Any:
    """Time the embedding of the distinct texts, the sweep, the sweep again, and its searches measured anew."""
    embedder = load_embedder(base.embed)
    embedder.embed(["to warm up"])
    texts = distinct(documents, cells, embedder)
    began = time.perf_counter()
    for _ in embed_all(embedder, texts):
        pass
    embedding = time.perf_counter() - began

    def timed(**wishes: Any) -> tuple[float, Run]:
        begun = time.perf_counter()
        run = sweep(documents, labels, cells, base=base, cache=cache, **wishes)
        return time.perf_counter() - begun, run

    first, run = timed()
    second, again = timed()
    anew, _ = timed(fresh=True)
    verdict = judge(run, "recall@3000")
    return {
        "model": base.embed.model,
        "engine": embedder.info.engine,
        "precision": embedder.info.precision,
        "cells": len(cells),
        "distinct_texts": len(texts),
        "seconds": {"embedding": round(embedding, 1), "sweep": round(first, 1), "again": round(second, 2)}
        | {"measured_anew": round(anew, 1)},
        "embedded": {"sweep": run.embedded, "again": again.embedded},
        "ratios": {"sweep_over_embedding": round(first / embedding, 2), "first_over_second": round(first / second, 1)}
        | {"first_over_anew": round(first / anew, 1)},
        "goals": GOALS,
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "verdict": " ".join(verdict.sentences),
    }


def distinct(documents: Sequence[Document], cells: Sequence[Cell], embedder: Any) -> list[str]:
    """Return the texts that the grid embeds, each once."""
    found: dict[str, None] = {}
    for document in documents:
        folded = fold(document.text)
        tokens = embedder.tokens(document.text)
        for cell in cells:
            for span in chunk_document(document, cell.chunk, tokens):
                found.setdefault(folded.slice(span.start, span.end))
    return list(found)


if __name__ == "__main__":
    main()
