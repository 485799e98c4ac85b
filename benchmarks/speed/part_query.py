"""A cold query: a new process that answers one question from an index that is there."""

from __future__ import annotations

import tempfile
from pathlib import Path

from children import CORPORA, PYTHON, RAG_INDEX, figure, median, run
from part_build import RIVALS

from rag_index.embed.files import find_model
from rag_index.settings import DEFAULT_MODEL

ROUNDS = 5
QUESTION = "What was said about the price of insulin?"


def measure() -> dict:
    model = find_model(DEFAULT_MODEL).folder
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        small = place / "small"
        small.mkdir()
        (small / "speech.md").write_bytes((CORPORA / "state_of_the_union.md").read_bytes())
        cache = place / "cache"
        run([*RAG_INDEX, "build", small, "--index", place / "ours"], cache=cache)
        run([PYTHON, RIVALS / "plain.py", "build", small, place / "plain", model])
        ours = [*RAG_INDEX, "query", QUESTION, "--index", place / "ours", "--json"]
        theirs = [PYTHON, RIVALS / "plain.py", "query", place / "plain", model, QUESTION]
        runs: dict[str, list] = {"rag-index": [], "plain script": []}
        for number in range(ROUNDS + 1):
            for name, command in (("rag-index", ours), ("plain script", theirs)):
                taken = run(command, cache=cache)
                if number:
                    runs[name].append(taken)
    middle = {name: median(values) for name, values in runs.items()}
    mine, other = middle["rag-index"], middle["plain script"]
    row = {
        "what": "cold query: CPU seconds and peak memory",
        "ours": f"{mine.cpu_s:.1f} s, {mine.peak_mb:.0f} MB",
        "others": f"plain script {other.cpu_s:.1f} s, {other.peak_mb:.0f} MB",
    }
    return {
        "runs": {name: value.figures() for name, value in middle.items()},
        "figures": [
            figure("cold query, time of the plain script", mine.wall_s / other.wall_s, "<= 0.2", "x"),
            figure("cold query, CPU of the plain script", mine.cpu_s / other.cpu_s, "<= 0.2", "x"),
            figure("cold query, memory of the plain script", mine.peak_mb / other.peak_mb, "<= 0.5", "x"),
        ],
        "readme": [row],
    }
