"""A warm query at 100,000 chunks: the embedding of the question, all the rest of the answer, and what the default adds.

The documents are of the benchmark's own making: sentences of words that are as frequent as words are in a language
(Zipf's law), so that keyword search has rare and frequent ones to look for. Their vectors are random.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
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
WORDS = 20_000
FREQUENCIES = list(accumulate(1 / number for number in range(1, WORDS + 1)))


class Borrowed(HashEmbedder):
    """Random vectors of the real model's size for the documents; the real model for the questions."""

    def __init__(self, settings, real) -> None:
        super().__init__(settings)
        self.real = real
        self.asking: list[float] = []

    @property
    def info(self) -> ModelInfo:
        return self.real.info

    def embed(self, texts):
        seeds = np.random.default_rng(len(texts[0]) if texts else 0)
        made = seeds.normal(size=(len(texts), self.real.info.dimension)).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    def embed_query(self, text):
        """Embed a question and note how long that takes where it is done: between two searches, when the model's
        weights have left the processor's cache, it takes some three times as long as in a loop of its own."""
        begun = time.perf_counter()
        vector = self.real.embed_query(text)
        self.asking.append(time.perf_counter() - begun)
        return vector


def measure() -> dict:
    settings = Settings()
    real = load_embedder(settings.embed)
    embedder = Borrowed(EmbedSettings(model="hash"), real)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "docs"
        folder.mkdir()
        write(folder)
        index = Path(scratch) / "index"
        small = replace(
            settings,
            chunk=replace(settings.chunk, size=200, overlap=0),
            store=replace(settings.store, publish=False),
        )
        build([folder], index, small, embedder=embedder)
        with open_snapshot(index) as snapshot:
            count = sum(row.chunks for row in snapshot.documents())
            asked = questions()
            alone = times(asked, real.embed_query)
            plain = SearchSettings(mode="dense", passages="chunk")
            whole = times(asked, lambda text: search(snapshot, embedder, text, plain))
            question = embedder.asking[-len(asked) :]
            default = times(asked, lambda text: search(snapshot, embedder, text, SearchSettings()))
    rest = [a - b for a, b in zip(whole, question, strict=True)]
    middle = statistics.median(rest) * 1000
    added = (statistics.median(default) - statistics.median(whole)) * 1000
    row = {
        "what": f"warm query at {count:,} chunks, beside the embedding of the question",
        "ours": f"{middle:.0f} ms",
        "others": "-",
    }
    return {
        "chunks": count,
        "milliseconds": {
            "question": round(statistics.median(question) * 1000, 2),
            "question, in a loop of its own": round(statistics.median(alone) * 1000, 2),
            "rest, dense": round(middle, 2),
            "rest, dense, fastest": round(min(rest) * 1000, 2),
            "added by the default mode": round(added, 2),
        },
        "figures": [
            figure(f"warm query at {count:,} chunks, beside the question", middle, "<= 10", " ms"),
            figure("... and what the default mode adds to it", added, "<= 15", " ms"),
        ],
        "readme": [row],
    }


def questions() -> list[str]:
    chance = random.Random(5)
    return [f"how does the {' '.join(words(chance, 4))} work" for _ in range(QUESTIONS)]


def times(asked: list[str], answer: Callable[[str], object]) -> list[float]:
    """Seconds of each question when all were asked before: documents that were read lie in memory."""
    taken = []
    for text in [*asked, *asked]:
        begun = time.perf_counter()
        answer(text)
        taken.append(time.perf_counter() - begun)
    return taken[len(asked) :]


def words(chance: random.Random, count: int) -> list[str]:
    """Words w1, w2 ... of which the n-th is 1/n as frequent as the first."""
    return [f"w{number}" for number in chance.choices(range(1, WORDS + 1), cum_weights=FREQUENCIES, k=count)]


def write(folder: Path) -> None:
    chance = random.Random(3)
    for file in range(200):
        lines = []
        for _ in range(CHUNKS // 200):
            sentences = [" ".join(words(chance, 9)).capitalize() + "." for _ in range(4)]
            lines.append(" ".join(sentences)[:190])
        (folder / f"{file:03}.txt").write_text("\n\n".join(lines), encoding="utf-8")
