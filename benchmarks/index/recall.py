"""Recall of `auto` where it asks Chroma's graph: beyond 300,000 texts, after many deletes, and with a filter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_index.embed.cache import vector_key
from rag_index.settings import EmbedSettings, Settings, StoreSettings
from rag_index.store import Hint, Layout, Manifest, Piece, Prepared, WriterLock, open_snapshot
from rag_index.store.projection import Publication
from rag_index.store.schema import text_hash
from rag_index.types import Document, Filter, Ledger, ModelInfo, Source

DIMENSION = 384
TEXTS_A_FILE = 100
MODEL = ModelInfo("bench", "bench", DIMENSION)
QUESTIONS = 200


def vectors_of(count: int) -> np.ndarray:
    """Vectors in clusters, as those of real texts are."""
    numbers = np.random.default_rng(11)
    centres = numbers.standard_normal((500, DIMENSION), dtype=np.float32)
    made = centres[numbers.integers(0, 500, count)]
    made += 0.9 * numbers.standard_normal((count, DIMENSION), dtype=np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def fill(index: Path, vectors: np.ndarray) -> None:
    layout = Layout(index)
    layout.prepare()
    manifest = Manifest.create(index / "state-1", Settings(embed=EmbedSettings(model="hash")), MODEL, root=".")
    layout.point_to(manifest.folder)
    with WriterLock(layout.lock), manifest:
        for at in range(0, len(vectors), 10 * TEXTS_A_FILE):
            texts = [f"Text {n}." for n in range(at, min(at + 10 * TEXTS_A_FILE, len(vectors)))]
            keys = [vector_key(MODEL, text) for text in texts]
            manifest.add_vectors(keys, vectors[at : at + len(texts)])
            files = range(0, len(texts), TEXTS_A_FILE)
            manifest.put([prepared(at + f, texts[f : f + TEXTS_A_FILE], keys[f : f + TEXTS_A_FILE]) for f in files])
            manifest.relieve_log()
        manifest.seal()


def prepared(first: int, texts: Sequence[str], keys: Sequence[bytes]) -> Prepared:
    at, pieces = 0, []
    for text, key in zip(texts, keys, strict=True):
        digest = text_hash(text)
        pieces.append(Piece(at, at + len(text), digest, digest, key, text, text))
        at += len(text) + 1
    source = Source(f"f{first // TEXTS_A_FILE:05}.txt", "0" * 64, format="text")
    return Prepared(Document(source, text="\n".join(texts)), "file", Hint(), tuple(pieces), Ledger())


def publish(index: Path) -> None:
    layout = Layout(index)
    with WriterLock(layout.lock), Publication(layout, layout.current(), StoreSettings()) as publication:
        publication.finish()


def share_found(index: Path, questions: np.ndarray, where: Filter | None = None) -> float:
    """Return which share of the ten nearest `auto` brings."""
    found = 0
    with open_snapshot(index) as snapshot:
        for question in questions:
            exact = {chunk for chunk, _ in snapshot.dense(question, 10, where, "exact")}
            found += len(exact & {chunk for chunk, _ in snapshot.dense(question, 10, where, "auto")})
    return round(found / 10 / len(questions), 4)


def measure(scratch: Path, count: int) -> dict[str, object]:
    vectors, index = vectors_of(count), scratch / "recall"
    numbers = np.random.default_rng(12)
    questions = vectors[numbers.integers(0, count, QUESTIONS)]
    questions = questions + 0.03 * numbers.standard_normal(questions.shape).astype(np.float32)
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    fill(index, vectors)
    publish(index)
    found = {"vectors": count, "recall": share_found(index, questions)}
    found["recall_filtered"] = share_found(index, questions[:20], Filter(paths=("f[0-9][0-9][0-9][0-9][0-4].txt",)))
    layout = Layout(index)
    with WriterLock(layout.lock), Manifest.open(layout.current()) as manifest:
        manifest.remove([known.id for path, known in manifest.known().items() if path.endswith("7.txt")])
    publish(index)
    return {**found, "recall_after_deletes": share_found(index, questions)}
