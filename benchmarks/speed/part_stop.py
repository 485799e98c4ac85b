"""Ctrl-C while the model works: how long the build takes to end, and whether what was embedded is kept."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from children import CORPORA, RAG_INDEX, environment, figure, run

HANDBOOK = Path(__file__).resolve().parents[2] / "data" / "handbook"
TRIES = 2


def measure() -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        run([*RAG_INDEX, "build", HANDBOOK, "--index", place / "first"], cache=place / "cache")  # converts the model
        tries = [interrupted(place, number) for number in range(TRIES)]
    slowest = max(each["seconds"] for each in tries)
    return {
        "tries": tries,
        "figures": [
            figure("Ctrl-C while embedding, seconds to the end at most", slowest, "<= 5", " s"),
            {
                "what": "... and what was embedded is not embedded again",
                "value": f"{min(each['kept'] for each in tries)} texts kept at least",
                "goal": "all",
                "met": all(each["kept"] > 0 and each["code"] == 130 for each in tries),
            },
        ],
    }


def interrupted(place: Path, number: int) -> dict[str, float]:
    """Interrupt a build once its first vectors are on disk; build again with an empty cache of vectors."""
    index = place / f"index-{number}"
    command = [str(part) for part in (*RAG_INDEX, "build", CORPORA, "--index", index, "--json", "--quiet")]
    build = subprocess.Popen(
        command, env=environment(place / "cache"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not any(file.stat().st_size for file in index.glob("state-*/vectors-*.f32")):
        assert build.poll() is None, "the build ended before anything was embedded"
        time.sleep(0.02)
    time.sleep(number * 0.3)
    begun = time.perf_counter()
    build.send_signal(signal.SIGINT)
    code = build.wait()
    seconds = time.perf_counter() - begun
    for file in (place / "cache").glob("vectors.sqlite*"):
        file.unlink()
    again = json.loads(run([*RAG_INDEX, "build", CORPORA, "--index", index, "--json"], cache=place / "cache").out)
    for file in (place / "cache").glob("vectors.sqlite*"):
        file.unlink()
    return {"seconds": round(seconds, 2), "code": code, "kept": again["reused"], "embedded_after": again["embedded"]}
