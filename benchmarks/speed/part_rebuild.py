"""Rebuilds: nothing changed in 10,000 files, and one word put at the top of a file of many chunks."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from children import CORPORA, RAG_INDEX, figure, median, run

FILES = 10_000


def measure() -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        unchanged, imported = nothing_changed(place)
        counts = word_at_the_top(place)
    embedded = counts["embedded"]
    row = {
        "what": f"one word put at the top of a file of {counts['chunks']} chunks, texts embedded again",
        "ours": str(embedded),
        "others": "-",
    }
    return {
        "unchanged": unchanged.figures(),
        "word": counts,
        "figures": [
            figure(f"nothing changed in {FILES:,} files, CPU seconds", unchanged.cpu_s, "<= 3", " s"),
            {"what": "... and no model is loaded", "value": imported or "none", "goal": "none", "met": not imported},
            figure("one word at the top of a large file, texts embedded", embedded, "<= 3"),
        ],
        "readme": [row],
    }


def nothing_changed(place: Path):
    """Build 10,000 small files twice more; return what a rebuild takes, and which heavy modules it loads."""
    folder = place / "many"
    for number in range(FILES):
        path = folder / f"{number // 100:03}" / f"note-{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Note {number}.\n\nThe pump in room {number % 97} was repaired on day {number % 365}.\n")
    build = [*RAG_INDEX, "build", folder, "--index", place / "index", "--model", "hash", "--json"]
    run(build)
    taken = [run(build) for _ in range(3)]
    assert json.loads(taken[-1].out)["files"]["unchanged"] == FILES
    names = "('torch', 'openvino', 'sentence_transformers', 'chromadb')"
    code = (
        "import sys; from rag_index.cli.app import main; main(sys.argv[1:]);"
        f"print([name for name in {names} if name in sys.modules])"
    )
    heavy = run([RAG_INDEX[0], "-c", code, *build[3:]]).out.strip().splitlines()[-1]
    return median(taken), heavy.strip("[]")


def word_at_the_top(place: Path) -> dict[str, int]:
    """Build one large file, put a word before it, build again."""
    folder = place / "one"
    folder.mkdir()
    text = (CORPORA / "finance.md").read_text(encoding="utf-8")[:140_000]
    (folder / "large.md").write_text(text, encoding="utf-8")
    build = [*RAG_INDEX, "build", folder, "--model", "hash", "--json"]
    first = json.loads(run(build).out)
    (folder / "large.md").write_text(f"Inserted {text}", encoding="utf-8")
    second = json.loads(run(build).out)
    return {"chunks": first["chunks"]["live"], "embedded": second["embedded"], "reused": second["reused"]}
