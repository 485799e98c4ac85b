"""Embedding and storing at once: the wall time of a build beside that of its two halves.

The model is one on an accelerator: it takes its time, and none of the processor's. It takes half as long as storing, as
long (where overlap matters most: one after the other, the two would take twice as long), or twice as long.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rag_index.embed import load_embedder
from rag_index.embed.hashing import DIMENSION
from rag_index.pipeline import build_documents
from rag_index.settings import ChunkSettings, EmbedSettings, Settings
from rag_index.types import Document, Source

SETTINGS = Settings(chunk=ChunkSettings(size=800, overlap=0), embed=EmbedSettings(model="hash"))
CHUNKS_A_DOCUMENT = 50
SPEEDS = {"half": 0.5, "equal": 1.0, "twice": 2.0}
"""Time of the model, in times of storing."""


class Elsewhere:
    """A model whose vectors come from an accelerator after `text_s` a text."""

    def __init__(self, text_s: float) -> None:
        embedder = load_embedder(SETTINGS.embed)
        self.info, self.tokens, self.embed_query = embedder.info, embedder.tokens, embedder.embed_query
        self.text_s = text_s
        self.spent = 0.0
        self._numbers = np.random.default_rng(5)

    def embed(self, texts: Sequence[str]):
        time.sleep(self.text_s * len(texts))
        self.spent += self.text_s * len(texts)
        made = self._numbers.standard_normal((len(texts), DIMENSION), dtype=np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def documents(texts: Sequence[str]) -> Iterator[Document]:
    for at in range(0, len(texts), CHUNKS_A_DOCUMENT):
        text = "\n\n".join(f"{part}." for part in texts[at : at + CHUNKS_A_DOCUMENT])
        yield Document(Source(f"f{at // CHUNKS_A_DOCUMENT:05}.txt", "0" * 64, format="text"), text=text)


def measure(scratch: Path, texts: Sequence[str]) -> dict[str, float]:
    began = time.perf_counter()
    report = build_documents(documents(texts), scratch / "storing", SETTINGS, embedder=Elsewhere(0))
    storing = time.perf_counter() - began
    figures: dict[str, float] = {"chunks": report.chunks.live, "storing_s": round(storing, 2)}
    for name, times in SPEEDS.items():
        model = Elsewhere(times * storing / report.embedded)
        began = time.perf_counter()
        build_documents(documents(texts), scratch / name, SETTINGS, embedder=model)
        both = time.perf_counter() - began
        figures |= {f"{name}_embedding_s": round(model.spent, 2), f"{name}_build_s": round(both, 2)}
        figures[f"{name}_ratio"] = round(both / max(storing, model.spent), 3)
        shutil.rmtree(scratch / name)
    return figures
