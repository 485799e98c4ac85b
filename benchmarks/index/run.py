"""The index against bare Chroma and others: loading, asking, filters, a cold start, small changes, many files.

    python benchmarks/index/run.py                     all parts
    python benchmarks/index/run.py load files          some; the rest of results.json stays
    python benchmarks/index/run.py load --texts 5000   smaller, to try it; writes nothing

Ratios are of two things measured in the same run; absolute times depend on the machine and what else it does.
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
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import files
import numpy as np
import overlap
import recall
import replay

from rag_index.embed.cache import vector_key
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


def load_ours(index: Path, texts: list[str], vectors: np.ndarray) -> tuple[float, float]:
    """Store the same rows in our truth while Chroma's copy follows, as a build does.

    Returns:
        Seconds until the truth was complete, and until the copy was verified and switched to.
    """
    settings, model = Settings(embed=EmbedSettings(model="hash")), ModelInfo("bench", "bench", DIMENSION)
    layout = Layout(index)
    layout.prepare()
    began = time.perf_counter()
    manifest = Manifest.create(index / "state-1", settings, model, root=".")
    layout.point_to(manifest.folder)
    with WriterLock(layout.lock), Publication(layout, layout.current(), StoreSettings()) as publication, manifest:
        for at in range(0, len(texts), 1000):
            put(manifest, model, texts[at : at + 1000], vectors[at : at + 1000], at)
            publication.follow(1000)
            manifest.relieve_log()
        manifest.seal()
        stored = time.perf_counter() - began
        publication.finish()
    return stored, time.perf_counter() - began


def put(manifest: Manifest, model: ModelInfo, texts: list[str], vectors: np.ndarray, first: int) -> None:
    keys = [vector_key(model, text) for text in texts]
    manifest.add_vectors(keys, vectors)
    manifest.put(
        [
            prepared(first + at, texts[at : at + CHUNKS_A_FILE], keys[at : at + CHUNKS_A_FILE])
            for at in range(0, len(texts), CHUNKS_A_FILE)
        ]
    )


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


def load(work: Path, count: int) -> dict[str, object]:
    """Load, ask, change and load again the same rows, ours and bare."""
    texts, vectors = rows(count)
    index = work / "index"
    found: dict[str, object] = {"texts": count}

    def note(name: str, value: object) -> None:
        found[name] = value
        print(name, value, flush=True)

    stored, loaded = load_ours(index, texts, vectors)
    note("stored_s", round(stored, 2))
    note("load_s", round(loaded, 2))
    note("one_shot", one_shot(index))
    note("bare_s", round(bare(work / "bare", texts, vectors), 2))
    note("query", asking(index, work / "bare", vectors))
    shutil.rmtree(work / "bare")
    shutil.rmtree(index / "chroma")
    note("rebuild_s", round(publish(index), 2))
    note("one_change_s", one_change(index, texts))
    found_records = published(Layout(index))
    assert found_records is not None
    note("records", found_records.count)
    return found


def many_files(work: Path, _: int) -> dict[str, object]:
    return {str(count): files.measure(work / str(count), count) for count in (10_000, 100_000)}


PARTS: dict[str, Callable[[Path, int], dict[str, object]]] = {
    "load": load,
    "replay": lambda work, _: replay.measure(work),
    "files": many_files,
    "overlap": lambda work, count: overlap.measure(work, rows(count * 2 // 5)[0]),
    "recall": lambda work, count: recall.measure(work, count * 31 // 10),
}


def figure(what: str, value: float, goal: str, unit: str = "x") -> dict[str, object]:
    """Return a row of the table: `goal` is like ``>= 0.85``."""
    sign, number = goal.split()
    met = value >= float(number) if sign == ">=" else value <= float(number)
    return {"what": what, "value": f"{value:.3g}{unit}", "goal": f"{goal}{unit}", "met": met}


def figures(parts: dict) -> list[dict[str, object]]:
    """Set what was measured beside the goals."""
    made: list[dict[str, object]] = []
    if one := parts.get("load"):
        at, loaded, query = f"at {one['texts']:,} chunks", one["load_s"], one["query"]
        made += [
            figure("loading, speed of bare adds", one["bare_s"] / loaded, ">= 0.85"),
            figure(f"query {at}, time of bare Chroma", query["ours_ms"] / query["chroma_ms"], "<= 1.3"),
            figure("... its recall@10", query["recall"], ">= 1", ""),
            *(
                figure(f"... filtered to {share}", query[f"ours_{share}_ms"] / query[f"chroma_{share}_ms"], "<= 0.1")
                for share in ("half", "hundredth", "one file")
            ),
            figure("one-shot query, the store's part", one["one_shot"]["s"], "<= 0.25", " s"),
            figure("Chroma's copy made anew, time of the load", one["rebuild_s"] / loaded, "<= 1.2"),
            figure(f"one file changed {at}, published", one["one_change_s"], "<= 10", " s"),
        ]
    if one := parts.get("replay"):
        made += [figure("edit replay, texts embedded for each new one", one["rag-index"]["ratio"], "<= 1.2")]
    if one := parts.get("files"):
        few, many = one["10000"], one["100000"]
        made += [
            figure("nothing changed in 10,000 files", few["again_s"], "<= 3", " s"),
            figure(
                "100,000 files, first build, CPU a file to 10,000's",
                many["first_cpu_s"] / few["first_cpu_s"] / 10,
                "<= 1.3",
            ),
            figure(
                "100,000 files, no change, CPU a file to 10,000's",
                many["again_cpu_s"] / few["again_cpu_s"] / 10,
                "<= 1.3",
            ),
            figure("100,000 files, files open to 10,000's", many["most_open"] / few["most_open"], "<= 1"),
        ]
    if one := parts.get("overlap"):
        made += [
            figure(f"build, the longer of its halves, embedding {told}", one[f"{name}_ratio"], "<= 1.15")
            for name, told in (("half", "half of storing"), ("equal", "as long"), ("twice", "twice as long"))
        ]
    if one := parts.get("recall"):
        made += [
            figure(f"recall@10 of auto at {one['vectors']:,} vectors", one["recall"], ">= 0.99", ""),
            figure("... after a tenth was deleted", one["recall_after_deletes"], ">= 0.99", ""),
            figure("... filtered", one["recall_filtered"], ">= 1", ""),
        ]
    return made


def readme(parts: dict) -> list[dict[str, str]]:
    """Return the rows of the README's table."""
    made = []
    if one := parts.get("load"):
        query = one["query"]
        ms, chroma = query["ours_ms"], query["chroma_ms"]
        half, theirs = query["ours_hundredth_ms"], query["chroma_hundredth_ms"]
        made += [
            {
                "what": f"query by vector at {one['texts']:,} chunks: no filter; a filter that lets 1 % through",
                "ours": f"{ms:.1f} ms; {half:.1f} ms",
                "others": f"Chroma {chroma:.1f} ms; {theirs:.0f} ms",
            }
        ]
    if one := parts.get("replay"):
        names = ("LangChain", "LangChain with start_index", "LlamaIndex")
        made += [
            {
                "what": f"texts embedded for each new one, {one['commits']} commits over {one['files']} documents",
                "ours": f"{one['rag-index']['ratio']:.2f}",
                "others": ", ".join(f"{name} {one[name]['ratio']:.2f}" for name in names),
            }
        ]
    return made


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("parts", nargs="*", help=", ".join(PARTS))
    options.add_argument("--texts", type=int, default=100_000)
    given = options.parse_args()
    if unknown := set(given.parts) - PARTS.keys():
        options.error(f"no part {min(unknown)!r}")
    for name in given.parts or PARTS:
        print(f"-- {name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="rag-index-bench-") as work:
            found = PARTS[name](Path(work), given.texts)
        print(json.dumps(found, indent=1), flush=True)
        if given.texts == options.get_default("texts"):
            keep(name, found)


def keep(name: str, found: dict[str, object]) -> None:
    """Put a part into the results, with the figures that follow from all of them."""
    path = Path(__file__).with_name("results.json")
    parts = (json.loads(path.read_bytes()) if path.is_file() else {}).get("parts", {})
    machine = {
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
    }
    parts[name] = {"at": datetime.now(UTC).isoformat(timespec="seconds"), **machine, **found}
    ordered = {part: parts[part] for part in PARTS if part in parts}
    result = {"figures": figures(ordered), "readme": readme(ordered), "parts": ordered}
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
