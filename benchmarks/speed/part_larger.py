"""A build of four times as much text: what of a build's time beside the model is the same for any size."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from children import CORPORA, PYTHON, RAG_INDEX, figure, run
from part_build import ALONE, HANDBOOK

TIMES = 4


def measure() -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        corpora, cache, ours = place / "corpora", place / "cache", place / "ours"
        corpora.mkdir()
        for number in range(TIMES):
            for path in sorted(CORPORA.glob("*.md")):
                # Other words, so that hardly a text is there twice.
                text = path.read_text(encoding="utf-8").replace(" the ", f" the{number} ")
                (corpora / f"{number}-{path.name}").write_text(text, encoding="utf-8")
        run([*RAG_INDEX, "build", HANDBOOK, "--index", place / "first"], cache=cache)  # converts the model, once
        build = run([*RAG_INDEX, "build", corpora, "--index", ours, "--json"], cache=cache)
        embedding = json.loads(run([PYTHON, "-c", ALONE, ours], cache=cache).out)
    what = f"build of {TIMES} times as much text, time of embedding its texts alone"
    return {
        "runs": {"rag-index": build.figures()},
        "chunks": json.loads(build.out)["chunks"]["live"],
        "embedding_alone": embedding,
        "figures": [
            figure(what, build.wall_s / embedding["wall_s"], "<= 1.15", "x"),
            {"what": "... CPU", "value": f"{build.cpu_s / embedding['cpu_s']:.3g}x", "goal": "-", "met": None},
        ],
    }
