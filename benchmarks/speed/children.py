"""Run a program and say what it took: seconds on the clock, CPU seconds and peak memory, of it and its children."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
CORPORA = SHARED / "data" / "chunking_evaluation" / "corpora"
PYTHON = sys.executable
RAG_INDEX = [PYTHON, "-m", "rag_index"]


@dataclass(frozen=True)
class Taken:
    """What one run took; `peak_mb` is that of the largest single process."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    out: str = ""

    def figures(self) -> dict[str, float]:
        """Return the numbers, rounded."""
        return {name: round(value, 3) for name, value in asdict(self).items() if name != "out"}


def run(command: Sequence[object], *, cache: Path | None = None, **environ: str) -> Taken:
    """Run `command` to its end; a failure ends the benchmark with its stderr."""
    env = environment(cache, **environ)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begun = time.perf_counter()
        child = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err, env=env)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode:
            sys.exit(f"{command}: {err.read().decode(errors='replace')}")
        return Taken(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, out.read().decode())


def environment(cache: Path | None = None, **environ: str) -> dict[str, str]:
    """Return the variables of a child: our code, no hub, and a cache folder of its own where one is given."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", **environ}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # as for every installed program, only the first run compiles
    if cache:
        env["RAG_INDEX_CACHE_DIR"] = str(cache)
    return env


def median(runs: Sequence[Taken]) -> Taken:
    """Return the median of each number over `runs`."""
    middle = [statistics.median(values) for values in zip(*[(r.wall_s, r.cpu_s, r.peak_mb) for r in runs], strict=True)]
    return Taken(*middle)


def figure(what: str, value: float, goal: str, unit: str = "") -> dict[str, object]:
    """Return a row of the table: `goal` is like ``>= 3.5`` or ``<= 0.2``."""
    sign, number = goal.split()
    met = value >= float(number) if sign == ">=" else value <= float(number)
    return {"what": what, "value": f"{value:.3g}{unit}", "goal": f"{goal}{unit}", "met": met}
