"""A warm query at 100,000 chunks: the embedding of the question, and all the rest of the answer."""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from children import figure

from rag_index.embed import load_embedder
from rag_index.embed.hashing import HashEmbedder
from rag_index.pipeline import build
from rag_index.search import search
from rag_index.settings import EmbedSettings, SearchSettings, Settings
from rag_index.store import open_snapshot
from rag_index.types import ModelInfo

CHUNKS, QUESTIONS = 100_000, 40


class Borrowed(HashEmbedder):
    """Random vectors of the real model's size for the documents; the real model for the questions."""

    def __init__(self, settings, real) -> None:
        super().__init__(settings)
        self.real = real

    @property
    def info(self) -> ModelInfo:
        return self.real.info

    def embed(self, texts):
        seeds = np.random.default_rng(len(texts[0]) if texts else 0)
        made = seeds.normal(size=(len(texts), self.real.info.dimension)).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def embed_query(self, text):
        return self.real.embed_query(text)


def measure() -> dict:
    settings = Settings()
    real = load_embedder(settings.embed)
    embedder = Borrowed(EmbedSettings(model="hash"), real)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "docs"
        folder.mkdir()
        write(folder)
        index = Path(scratch) / "index"
        small = replace(settings, chunk=replace(settings.chunk, size=200, overlap=0))
        build([folder], index, small, embedder=embedder)
        with open_snapshot(index) as snapshot:
            count = sum(row.chunks for row in snapshot.documents())
            whole, question = times(snapshot, embedder)
    rest = [a - b for a, b in zip(whole, question, strict=True)]
    middle = statistics.median(rest) * 1000
    row = {
        "what": f"warm query at {count:,} chunks, beside the embedding of the question",
        "ours": f"{middle:.0f} ms",
        "others": "-",
    }
    return {
        "chunks": count,
        "milliseconds": {
            "question": round(statistics.median(question) * 1000, 2),
            "rest": round(middle, 2),
            "rest_fastest": round(min(rest) * 1000, 2),
        },
        "figures": [figure(f"warm query at {count:,} chunks, beside the question", middle, "<= 10", " ms")],
        "readme": [row],
    }


def times(snapshot, embedder) -> tuple[list[float], list[float]]:
    whole, question = [], []
    settings = SearchSettings(mode="dense", passages="chunk")
    for number in range(QUESTIONS + 5):
        text = f"pump {number} in room {number * 37 % 1000}"
        begun = time.perf_counter()
        embedder.embed_query(text)
        between = time.perf_counter()
        search(snapshot, embedder, text, settings)
        if number >= 5:
            question.append(between - begun)
            whole.append(time.perf_counter() - between)
    return whole, question


def write(folder: Path) -> None:
    for file in range(200):
        lines = [
            f"Entry {file}-{line}: {'the pump in the cellar was looked at. ' * 4}{line * 7919 % 10007}."
            for line in range(CHUNKS // 200)
        ]
        (folder / f"{file:03}.txt").write_text("\n\n".join(lines), encoding="utf-8")
