"""A first build, imports included: rag-index, a plain script, LangChain and LlamaIndex over Chroma, one model."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from children import CORPORA, PYTHON, RAG_INDEX, figure, run

from rag_index.embed.files import find_model
from rag_index.settings import DEFAULT_MODEL

RIVALS = Path(__file__).resolve().parent / "rivals"
SMALL = ("chatlogs.md", "state_of_the_union.md", "wikitexts.md")
"""What is built from with ``RAG_INDEX_BENCH_SMALL`` set, where there is little time; the results say so."""
HANDBOOK = Path(__file__).resolve().parents[2] / "data" / "handbook"

ALONE = """
import json, sys, time
from pathlib import Path
from rag_index.embed import load_embedder
from rag_index.embed.batching import embed_all
from rag_index.extract.fold import fold
from rag_index.store import open_snapshot
with open_snapshot(Path(sys.argv[1])) as snapshot:
    texts = {}
    for row in snapshot.documents():
        folded = fold(snapshot.document(row.id).text)
        texts |= dict.fromkeys(folded.slice(chunk.start, chunk.end) for chunk in snapshot.chunks_of(row.id))
    embedder = load_embedder(snapshot.info.settings.embed)
embedder.embed(["to warm up"] * 8)
wall, cpu = time.perf_counter(), time.process_time()
for _ in embed_all(embedder, list(texts)):
    pass
print(json.dumps({"texts": len(texts), "wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}))
"""
"""Embeds the texts of an index, and takes the time of nothing but that."""


def measure() -> dict:
    model = find_model(DEFAULT_MODEL).folder
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        corpora = place / "corpora"
        corpora.mkdir()
        for path in sorted(CORPORA.glob("*.md")):
            if "RAG_INDEX_BENCH_SMALL" not in os.environ or path.name in SMALL:
                (corpora / path.name).write_bytes(path.read_bytes())
        files = sorted(path.name for path in corpora.iterdir())
        cache, ours = place / "cache", place / "ours"
        run([*RAG_INDEX, "build", HANDBOOK, "--index", place / "first"], cache=cache)  # converts the model, once
        taken = {
            "rag-index": run([*RAG_INDEX, "build", corpora, "--index", ours, "--json"], cache=cache),
            "embedding alone": run([PYTHON, "-c", ALONE, ours], cache=cache),
            "plain script": run([PYTHON, RIVALS / "plain.py", "build", corpora, place / "plain", model]),
            "LangChain": run([PYTHON, RIVALS / "with_langchain.py", corpora, place / "lc", model]),
            "LlamaIndex": run([PYTHON, RIVALS / "with_llamaindex.py", corpora, place / "li", model]),
        }
    ours, alone = taken["rag-index"], taken.pop("embedding alone")
    made, embedding = json.loads(ours.out), json.loads(alone.out)
    figures = [
        figure(f"build, CPU of {name}", other.cpu_s / ours.cpu_s, ">= 3", "x")
        for name, other in taken.items()
        if other is not ours
    ]
    figures.append(
        figure(
            "build, time of embedding its texts alone, loaded and warm",
            ours.wall_s / embedding["wall_s"],
            "<= 1.15",
            "x",
        )
    )
    figures.append(
        {
            "what": "build, CPU of embedding its texts alone",
            "value": f"{ours.cpu_s / embedding['cpu_s']:.3g}x",
            "goal": "-",
            "met": None,
        }
    )
    row = {
        "what": f"first build, {made['chunks']['live']:,} chunks, imports included: CPU seconds",
        "ours": f"{ours.cpu_s:.0f}",
        "others": ", ".join(f"{name} {other.cpu_s:.0f}" for name, other in taken.items() if other is not ours),
    }
    return {
        "runs": {name: value.figures() for name, value in taken.items()},
        "chunks": {
            name: json.loads(value.out)["chunks"]["live"] if value is ours else int(value.out.split()[0])
            for name, value in taken.items()
        },
        "embedding_alone": embedding,
        "files": files,
        "engine": made["engine"],
        "figures": figures,
        "readme": [row],
    }
