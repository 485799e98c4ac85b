"""The index against bare Chroma: loading, asking, filters, a cold start, no change, small changes.

    python benchmarks/index/run.py [--texts 100000] [--files 10000] [--out benchmarks/index/results.json]

Ratios hold within one run; absolute times depend on the machine and what else it does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from rag_index.embed import load_embedder
from rag_index.embed.cache import vector_key
from rag_index.pipeline import build, build_documents
from rag_index.settings import EmbedSettings, Settings, StoreSettings
from rag_index.store import Hint, Layout, Manifest, Piece, Prepared, WriterLock, open_snapshot, published
from rag_index.store.projection import Publication
from rag_index.store.schema import text_hash
from rag_index.types import Document, Filter, Ledger, ModelInfo, Source

DIMENSION = 384
CHUNKS_A_FILE = 50
WORDS = [f"w{n:04}" for n in range(5000)]


def rows(count: int) -> tuple[list[str], np.ndarray]:
    """Texts of 700 characters, and vectors in clusters as those of real texts are."""
    chance, numbers = random.Random(7), np.random.default_rng(7)
    texts = [f"{n} " + " ".join(chance.choices(WORDS, k=138)) for n in range(count)]
    centres = numbers.standard_normal((500, DIMENSION), dtype=np.float32)
    vectors = centres[numbers.integers(0, 500, count)] + 0.9 * numbers.standard_normal(
        (count, DIMENSION), dtype=np.float32
    )
    return texts, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def bare(folder: Path, texts: list[str], vectors: np.ndarray) -> float:
    """Load the same rows by a loop of `add`."""
    import chromadb

    client = chromadb.PersistentClient(str(folder))
    hnsw = {"space": "cosine", "max_neighbors": 32, "ef_construction": 200, "ef_search": 200}
    collection = client.create_collection("rag_index", embedding_function=None, configuration={"hnsw": hnsw})
    began = time.perf_counter()
    for at in range(0, len(texts), 5000):
        part = range(at, min(at + 5000, len(texts)))
        collection.add(
            ids=[text_hash(texts[n]).hex() for n in part],
            embeddings=vectors[at : at + 5000],
            documents=[texts[n] for n in part],
            metadatas=[
                {
                    "source": f"f{n // CHUNKS_A_FILE:05}.txt", "document_id": "0" * 16, "index": n % CHUNKS_A_FILE,
                    "total_chunks": CHUNKS_A_FILE, "start_offset": n, "end_offset": n + 700, "start_index": n,
                    "content_hash": "0" * 16,
                }
                for n in part
            ],
        )  # fmt: skip
    spent = time.perf_counter() - began
    client.close()
    return spent


def journal(index: Path, texts: list[str], vectors: np.ndarray) -> float:
    """Store the same rows in our truth."""
    settings, model = Settings(embed=EmbedSettings(model="hash")), ModelInfo("bench", "bench", DIMENSION)
    layout = Layout(index)
    layout.prepare()
    began = time.perf_counter()
    manifest = Manifest.create(index / "state-1", settings, model, root=".")
    layout.point_to(manifest.folder)
    with WriterLock(layout.lock), manifest:
        for at in range(0, len(texts), 1000):
            part = texts[at : at + 1000]
            keys = [vector_key(model, text) for text in part]
            manifest.add_vectors(keys, vectors[at : at + 1000])
            manifest.put(
                [
                    prepared(at + f, part[f : f + CHUNKS_A_FILE], keys[f : f + CHUNKS_A_FILE])
                    for f in range(0, len(part), CHUNKS_A_FILE)
                ]
            )
            manifest.relieve_log()
        manifest.seal()
    return time.perf_counter() - began


def prepared(first: int, texts: list[str], keys: list[bytes]) -> Prepared:
    name, at, pieces = f"f{first // CHUNKS_A_FILE:05}.txt", 0, []
    for text, key in zip(texts, keys, strict=True):
        digest = text_hash(text)
        pieces.append(Piece(at, at + len(text), digest, digest, key, text, text))
        at += len(text) + 1
    document = Document(Source(name, "0" * 64, format="text"), text="\n".join(texts))
    return Prepared(document, "file", Hint(), tuple(pieces), Ledger())


def publish(index: Path) -> float:
    layout = Layout(index)
    began = time.perf_counter()
    with WriterLock(layout.lock), Publication(layout, layout.current(), StoreSettings()) as publication:
        publication.finish()
    return time.perf_counter() - began


def timed(action: Callable[[], object], times: int) -> float:
    """Median milliseconds."""
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        spent.append(time.perf_counter() - began)
    return round(median(spent) * 1000, 3)


def asking(index: Path, folder: Path, vectors: np.ndarray) -> dict[str, object]:
    """Median times of our query and of Chroma's, and the recall of both against a comparison with every vector."""
    import chromadb

    numbers = np.random.default_rng(1)
    questions = vectors[numbers.integers(0, len(vectors), 50)] + 0.3 * numbers.standard_normal((50, DIMENSION)).astype(
        np.float32
    )
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    truth = [set(np.argsort(-(vectors @ q))[:10].tolist()) for q in questions]
    client = chromadb.PersistentClient(str(folder))
    collection = client.get_collection("rag_index", embedding_function=None)
    files = len(vectors) // CHUNKS_A_FILE
    shares = {"half": 0.5, "hundredth": 0.01, "one file": 1 / files}
    result: dict[str, object] = {}
    with open_snapshot(index) as snapshot:
        ours = [{n for n, _ in places(snapshot, snapshot.dense(q, 10))} for q in questions]
        result["recall"] = sum(len(a & b) for a, b in zip(ours, truth, strict=True)) / 500
        turn = iter(range(10**6))
        result["ours_ms"] = timed(lambda: snapshot.dense(questions[next(turn) % 50], 10), 100)
        result["chroma_ms"] = timed(
            lambda: collection.query(query_embeddings=[questions[next(turn) % 50].tolist()], n_results=10), 100
        )
        for name, share in shares.items():
            names = [f"f{n:05}.txt" for n in range(max(1, round(files * share)))]
            where = Filter(paths=tuple(names) if len(names) < 50 else (f"f{'[0-9]' * 4}[0-4].txt",))
            chosen = (
                {"source": {"$in": [f"f{n:05}.txt" for n in range(files) if n % 10 < 5]}}
                if len(names) >= 50
                else {"source": {"$in": names}}
            )
            result[f"ours_{name}_ms"] = timed(
                lambda where=where: snapshot.dense(questions[next(turn) % 50], 10, where), 20
            )
            result[f"chroma_{name}_ms"] = timed(
                lambda chosen=chosen: collection.query(
                    query_embeddings=[questions[next(turn) % 50].tolist()], n_results=10, where=chosen
                ),
                5,
            )
    client.close()
    return result


def places(snapshot, hits) -> list[tuple[int, float]]:
    """Return the numbers of the texts that were found."""
    found = snapshot.chunks([id_ for id_, _ in hits])
    return [
        (int(snapshot.document(found[id_].document).text[found[id_].start :].split(" ", 1)[0]), score)
        for id_, score in hits
    ]


ONE_SHOT = """
import sys, time
began, busy = time.perf_counter(), time.process_time()
import numpy as np
from pathlib import Path
from rag_index.store import open_snapshot
with open_snapshot(Path(sys.argv[1])) as snapshot:
    vector = np.ones(384, np.float32) / 384 ** 0.5
    hits = snapshot.dense(vector, 10)
    snapshot.keyword("w0001", 10)
    snapshot.chunks([id for id, _ in hits])
    print(time.perf_counter() - began, time.process_time() - busy, "chromadb" in sys.modules)
"""


def one_shot(index: Path) -> dict[str, float]:
    """Median seconds, and those of CPU, from a fresh interpreter's first import to the answer; file checks included."""
    spent = []
    for _ in range(5):
        out = subprocess.run([sys.executable, "-c", ONE_SHOT, str(index)], capture_output=True, text=True, check=True)
        seconds, cpu, chroma = out.stdout.split()
        assert chroma == "False"
        spent.append((float(seconds), float(cpu)))
    return {"s": round(median(s for s, _ in spent), 3), "cpu_s": round(median(cpu for _, cpu in spent), 3)}


def no_change(folder: Path, count: int) -> dict[str, float]:
    settings = Settings(embed=EmbedSettings(model="hash"), store=StoreSettings(publish=False))
    for n in range(count):
        path = folder / f"{n // 500:03}" / f"{n}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"File number {n} about {WORDS[n % 5000]}.", encoding="utf-8")
    time.sleep(2.1)  # files written less than 2 s before they are read are read again
    began = time.process_time()
    build([folder], folder / ".rag-index", settings)
    first = time.process_time() - began
    again, cpu = time.perf_counter(), time.process_time()
    assert build([folder], folder / ".rag-index", settings).files.unchanged == count
    return {
        "first_cpu_s": round(first, 2),
        "again_s": round(time.perf_counter() - again, 2),
        "again_cpu_s": round(time.process_time() - cpu, 2),
    }


def edits(folder: Path, commits: int = 50, files: int = 200) -> dict[str, int]:
    """Replay a history of edits, made by a script, and count what is embedded."""
    chance = random.Random(3)
    settings = Settings(embed=EmbedSettings(model="hash"), store=StoreSettings(publish=False))
    embedder = load_embedder(settings.embed)
    texts = {f"{n}.txt": [sentence(chance) for _ in range(120)] for n in range(files)}
    seen: set[str] = set()
    embedded = new = 0
    for _ in range(commits + 1):
        for name in chance.sample(sorted(texts), 8):
            edit(texts, name, chance)
        documents = [Document(Source(name), text=" ".join(sentences)) for name, sentences in texts.items()]
        embedded += build_documents(documents, folder, settings, embedder=embedder).embedded
        with open_snapshot(folder) as snapshot:
            now = {uid.hex() for uid in snapshot.uids()}
        new, seen = new + len(now - seen), seen | now
    return {"embedded": embedded, "new_texts": new}


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=12)).capitalize() + "."


def edit(texts: dict[str, list[str]], name: str, chance: random.Random) -> None:
    """Insert, change, delete a sentence, rename or replace a file: what people do."""
    sentences, at = texts[name], chance.randrange(len(texts[name]))
    action = chance.random()
    if action < 0.4:
        sentences.insert(at, sentence(chance))
    elif action < 0.7:
        sentences[at] = sentence(chance)
    elif action < 0.85 and len(sentences) > 20:
        del sentences[at]
    elif action < 0.95:
        texts[f"{chance.randrange(10**6)}.txt"] = texts.pop(name)
    else:
        texts[name] = [sentence(chance) for _ in range(120)]


def one_change(index: Path, texts: list[str]) -> float:
    """Seconds until a change of one file is in Chroma's copy."""
    model = ModelInfo("bench", "bench", DIMENSION)
    part = [f"{text} changed" for text in texts[:CHUNKS_A_FILE]]
    keys = [vector_key(model, text) for text in part]
    made = np.random.default_rng(9).standard_normal((len(part), DIMENSION), dtype=np.float32)
    layout = Layout(index)
    began = time.perf_counter()
    with WriterLock(layout.lock), Manifest.open(layout.current()) as manifest:
        manifest.add_vectors(keys, made / np.linalg.norm(made, axis=1, keepdims=True))
        manifest.put([prepared(0, part, keys)])
    publish(index)
    return round(time.perf_counter() - began, 2)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--texts", type=int, default=100_000)
    options.add_argument("--files", type=int, default=10_000)
    options.add_argument("--out", type=Path, default=Path(__file__).with_name("results.json"))
    given = options.parse_args()
    work = Path(tempfile.mkdtemp(prefix="rag-index-bench-"))
    result: dict[str, object] = {
        "texts": given.texts,
        "machine": {"cpus": os.cpu_count(), "python": platform.python_version(), "load": round(os.getloadavg()[0], 1)},
    }

    def note(name: str, value: object) -> None:
        result[name] = value
        print(name, value, flush=True)
        given.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")

    try:
        texts, vectors = rows(given.texts)
        index = work / "index"
        note("journal_s", round(journal(index, texts, vectors), 2))
        note("one_shot", one_shot(index))
        note("bare_s", round(bare(work / "bare", texts, vectors), 2))
        note("publish_s", round(publish(index), 2))
        note("load_ratio", round(result["bare_s"] / (result["journal_s"] + result["publish_s"]), 3))
        note("query", asking(index, work / "bare", vectors))
        note("one_change_s", one_change(index, texts))
        note("records", published(Layout(index)).count)
        note("edits", edits(work / "edits"))
        note("no_change", {"files": given.files, **no_change(work / "files", given.files)})
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
