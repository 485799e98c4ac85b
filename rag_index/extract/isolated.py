"""The process that reads files for `Workers`: limits first, then one request after the other."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO

from rag_index.extract import wire
from rag_index.extract.drawing import draw
from rag_index.extract.read import read_bytes, read_document
from rag_index.extract.worker import OUT_OF_MEMORY
from rag_index.settings import ExtractSettings

_MARGIN = 2
"""The process ends itself after this many times the time limit, should its parent be gone."""


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Read files until the input ends."""
    settings = wire.settings_of(wire.read_parts(requests.read, 1)[0])
    _limit(settings)
    wire.write_parts(answers.write, [b"ready"])
    answers.flush()
    while True:
        try:
            (request,) = wire.read_parts(requests.read, 1)
        except EOFError:
            return
        _alarm(_MARGIN * settings.timeout_s)
        parts = _answer(request, settings)
        _alarm(0)
        wire.write_parts(answers.write, [*parts, str(peak_mb()).encode()])
        answers.flush()


def _answer(request: bytes, settings: ExtractSettings) -> list[bytes]:
    """Return the parts of a document, or a picture as the first of as many parts."""
    drawing = wire.drawing_of(request)
    if drawing is None:
        return wire.document_parts(read_document(wire.found_of(request), settings))
    data = read_bytes(drawing[0], settings)
    return [draw(data, drawing[1]) if data else b"", *[b""] * (wire.DOCUMENT_PARTS - 1)]


def _alarm(seconds: float) -> None:
    """Have the system end this process after `seconds`; 0 calls it off."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit(settings: ExtractSettings) -> None:
    """Bound this process's memory: by the system where it can, else by looking twice a second."""
    if sys.platform.startswith("linux"):
        import resource

        size = settings.memory_mb << 20
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    else:
        threading.Thread(target=_watch, args=(settings.memory_mb,), daemon=True).start()


def _watch(memory_mb: int) -> None:
    while peak_mb() <= memory_mb:
        time.sleep(0.5)
    os._exit(OUT_OF_MEMORY)


def peak_mb() -> int:
    """Return the most memory that this program has had, in megabytes; 0 where the system doesn't say."""
    try:
        # Not ru_maxrss, which on Linux begins with that of the process that started this one.
        with Path("/proc/self/status").open("rb") as status:
            return next(int(line.split()[1]) >> 10 for line in status if line.startswith(b"VmHWM:"))
    except (OSError, StopIteration):
        return _peak_of_the_process_mb()


def _peak_of_the_process_mb() -> int:
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit


def main() -> None:
    """Serve on the standard streams; whatever a reader prints goes nowhere."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group: the parent decides
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
