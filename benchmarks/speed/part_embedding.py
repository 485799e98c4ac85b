"""Embedding: our engines, sentence-transformers' `encode` and a bare OpenVINO loop on the same tokens."""

from __future__ import annotations

import statistics
import time

import numpy as np
from children import CORPORA, figure

from rag_index.chunk import chunk
from rag_index.embed import load_embedder
from rag_index.embed.batching import embed_all, plan
from rag_index.embed.files import find_model
from rag_index.embed.models import load_model
from rag_index.settings import DEFAULT_MODEL, EmbedSettings

CHUNKS, ROUNDS = 96, 4


def measure() -> dict:
    texts = sample()
    ours = {precision: load_embedder(EmbedSettings(engine="openvino", precision=precision)) for precision in usable()}
    model = load_model(find_model(DEFAULT_MODEL), "cpu")
    ways = {f"rag-index {name}": lambda e=embedder: embedded(e, texts) for name, embedder in ours.items()}
    ways |= {f"bare OpenVINO {name}": bare_loop(embedder, texts) for name, embedder in ours.items()}
    ways["sentence-transformers encode"] = lambda: model.encode(texts, normalize_embeddings=True)
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    wall: dict[str, list[float]] = {name: [] for name in ways}
    vectors = {}
    for number in range(ROUNDS + 1):
        for name, way in ways.items():
            before, begun = time.process_time(), time.perf_counter()
            vectors[name] = way()
            if number:  # the first round warms up
                cpu[name].append(time.process_time() - before)
                wall[name].append(time.perf_counter() - begun)
    return summary(texts, ours, cpu, wall, vectors)


def summary(texts, ours, cpu, wall, vectors) -> dict:
    took = {name: statistics.median(values) for name, values in cpu.items()}
    theirs = took["sentence-transformers encode"]
    figures, agreement, per_cpu_s = [], {}, {}
    for precision in ours:
        name = f"rag-index {precision}"
        goal = ">= 3.5" if precision == "bf16" else ">= 1.3"
        figures.append(figure(f"embedding in {precision}, CPU of encode", theirs / took[name], goal, "x"))
        bare = took[f"bare OpenVINO {precision}"] / took[name]
        figures.append(figure(f"embedding in {precision}, speed of the bare loop", bare, ">= 0.95", "x"))
        cosines = (vectors[name] * vectors["sentence-transformers encode"]).sum(axis=1)
        agreement[precision] = {"least": round(float(cosines.min()), 6), "mean": round(float(cosines.mean()), 6)}
    tokens = sum(len(row) for row in next(iter(ours.values()))._tokenizer.rows(texts))
    for name, value in took.items():
        per_cpu_s[name] = {
            "chunks_per_cpu_s": round(len(texts) / value, 1),
            "tokens_per_cpu_s": round(tokens / value),
            "wall_s": round(statistics.median(wall[name]), 3),
            "cpu_s": round(value, 3),
        }
    best = max(ours, key=lambda precision: theirs / took[f"rag-index {precision}"])
    ratio = theirs / took[f"rag-index {best}"]
    row = {
        "what": f"embedding chunks of 1,000 characters ({best}), chunks per CPU second",
        "ours": f"{len(texts) / took[f'rag-index {best}']:.0f} ({ratio:.1f}x)",
        "others": f"sentence-transformers encode {len(texts) / theirs:.0f}",
    }
    return {
        "texts": len(texts),
        "tokens": tokens,
        "ways": per_cpu_s,
        "cosine": agreement,
        "figures": figures,
        "readme": [row],
    }


def sample() -> list[str]:
    """Return chunks of 1,000 characters from all corpora, the same each time."""
    found = [one.text for path in sorted(CORPORA.glob("*.md")) for one in chunk(path.read_text(encoding="utf-8"))]
    return found[:: max(1, len(found) // CHUNKS)][:CHUNKS]


def usable() -> list[str]:
    from rag_index.embed.openvino import choose_precision, import_openvino

    return ["fp32", "bf16"] if choose_precision("auto", import_openvino().Core()) == "bf16" else ["fp32"]


def embedded(embedder, texts) -> np.ndarray:
    matrix = np.zeros((len(texts), embedder.info.dimension), dtype=np.float32)
    for indices, rows in embed_all(embedder, texts):
        matrix[indices] = rows
    return matrix


def bare_loop(embedder, texts):
    """Return a function that runs the compiled model over batches made beforehand, and does nothing else."""
    rows = embedder._tokenizer.rows(texts)
    batches = []
    for batch in plan([len(row) for row in rows], 1024):
        width = len(rows[batch.indices[0]])
        ids = np.zeros((len(batch.indices), width), dtype=np.int64)
        for at, index in enumerate(batch.indices):
            ids[at, : len(rows[index])] = rows[index]
        batches.append((batch.indices, ids, (ids != 0).astype(np.int64)))
    queue = embedder._lanes()
    matrix = np.zeros((len(texts), embedder.info.dimension), dtype=np.float32)

    def loop() -> np.ndarray:
        queue.set_callback(lambda done, places: matrix.__setitem__(places, done.get_output_tensor(0).data))
        for places, ids, mask in batches:
            queue.start_async([ids, mask], places)
        queue.wait_all()
        return matrix

    return loop
