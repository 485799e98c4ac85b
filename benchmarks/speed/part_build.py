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
        cache = place / "cache"
        run([*RAG_INDEX, "build", HANDBOOK, "--index", place / "first"], cache=cache)  # converts the model, once
        taken = {
            "rag-index": run([*RAG_INDEX, "build", corpora, "--index", place / "ours", "--json"], cache=cache),
            "plain script": run([PYTHON, RIVALS / "plain.py", "build", corpora, place / "plain", model]),
            "LangChain": run([PYTHON, RIVALS / "with_langchain.py", corpora, place / "lc", model]),
            "LlamaIndex": run([PYTHON, RIVALS / "with_llamaindex.py", corpora, place / "li", model]),
        }
    made = json.loads(taken["rag-index"].out)
    ours = taken["rag-index"]
    figures = [
        figure(f"build, CPU of {name}", other.cpu_s / ours.cpu_s, ">= 3", "x")
        for name, other in taken.items()
        if other is not ours
    ]
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
        "files": files,
        "engine": made["engine"],
        "figures": figures,
        "readme": [row],
    }
