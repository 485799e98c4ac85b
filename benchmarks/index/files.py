"""Many small files: a first build, a build without a change, and how many files are open meanwhile."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from rag_index.pipeline import build
from rag_index.settings import EmbedSettings, Settings, StoreSettings

SETTINGS = Settings(embed=EmbedSettings(model="hash"), store=StoreSettings(publish=False))


@contextmanager
def most_open(found: list[int]):
    """Note in `found` how many files this process and its children have open at the most."""
    stop = threading.Event()

    def look() -> None:
        most = 0
        while not stop.wait(0.02):
            most = max(most, sum(opened(pid) for pid in [os.getpid(), *children()]))
        found.append(most)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def children() -> list[int]:
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    return [int(word) for word in listed.read_text().split()] if listed.exists() else []


def opened(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return 0


def cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(folder: Path, count: int) -> dict[str, float]:
    for n in range(count):
        path = folder / f"{n // 500:03}" / f"{n}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"File number {n} about w{n % 5000:04}.", encoding="utf-8")
    time.sleep(2.1)  # files written less than 2 s before they are read are read again
    most: list[int] = []
    began, busy = time.perf_counter(), cpu()
    with most_open(most):
        assert build([folder], folder / ".rag-index", SETTINGS).files.indexed == count
    first, first_cpu = time.perf_counter() - began, cpu() - busy
    began, busy = time.perf_counter(), cpu()
    with most_open(most):
        assert build([folder], folder / ".rag-index", SETTINGS).files.unchanged == count
    return {
        "files": count,
        "first_s": round(first, 2),
        "first_cpu_s": round(first_cpu, 2),
        "again_s": round(time.perf_counter() - began, 2),
        "again_cpu_s": round(cpu() - busy, 2),
        "most_open": max(most),
    }
