"""Memory of a build: 200 MB of text against 20 MB with an embedder that costs nothing, and a build with the model."""

from __future__ import annotations

import tempfile
from pathlib import Path

from children import CORPORA, PYTHON, RAG_INDEX, figure, run

STUB = """
import sys
from dataclasses import replace
from pathlib import Path
import numpy as np
from rag_index.embed.hashing import HashEmbedder
from rag_index.extract.isolated import peak_mb
from rag_index.pipeline import build
from rag_index.settings import EmbedSettings, Settings

class Stub(HashEmbedder):
    def embed(self, texts):
        made = np.random.default_rng(len(texts)).normal(size=(len(texts), 256)).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

settings = replace(Settings(), embed=EmbedSettings(model="hash"))
build([Path(sys.argv[1])], Path(sys.argv[2]), settings, embedder=Stub(settings.embed))
print(peak_mb())
"""


def measure() -> dict:
    words = (CORPORA / "wikitexts.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        peaks = {}
        for size_mb in (20, 200):
            folder = place / f"of-{size_mb}"
            write(folder, words, size_mb)
            peaks[size_mb] = run([PYTHON, "-c", STUB, folder, place / f"index-{size_mb}"])
        real = run([*RAG_INDEX, "build", CORPORA, "--index", place / "real"], cache=place / "cache")
    own = {size: float(taken.out) for size, taken in peaks.items()}
    return {
        "peak of the process that builds, MB": own,
        "runs": {f"{size} MB, stub": taken.figures() for size, taken in peaks.items()} | {"MiniLM": real.figures()},
        "figures": [
            figure("200 MB of text, peak of 20 MB, the process that builds", own[200] / own[20], "<= 1.2", "x"),
            figure("... the largest, which makes Chroma's copy", peaks[200].peak_mb / peaks[20].peak_mb, "<= 1.2", "x"),
            figure("build with MiniLM, peak", real.peak_mb, "<= 1536", " MB"),
        ],
    }


def write(folder: Path, words: str, size_mb: int) -> None:
    """Write files of half a megabyte, no two alike."""
    folder.mkdir()
    step = 500_000
    for number in range(size_mb * 2):
        at = (number * 7919) % max(1, len(words) - step)
        text = words[at : at + step].replace("the", f"the{number}")
        (folder / f"{number:04}.txt").write_text(text[:step], encoding="utf-8")
