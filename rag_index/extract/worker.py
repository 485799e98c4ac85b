"""Extraction in processes of its own: a file that hangs, grows or ends its process costs that one file.

A worker is a fresh interpreter that reads one request after the other from its standard input. It is replaced when
it has read many files or grown, and when a file has ended it; that file is tried once more in a fresh one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from rag_index.errors import RagIndexError
from rag_index.extract import wire
from rag_index.extract.discover import Found
from rag_index.extract.drawing import Drawing
from rag_index.settings import ExtractSettings
from rag_index.types import Document, Source, Status
from rag_index.waiting import awaited, nothing

_FILES_A_WORKER = 500
_GROWN_MB = 1024
_START_S = 120.0
_TICK_S = 0.1
"""How exact the time limit is."""
_AHEAD = 8
"""Documents read ahead of the one that is asked for, for each worker."""

OUT_OF_MEMORY = 77
"""How a worker ends that has taken more memory than it may."""


class Workers:
    """Reads files in isolated processes, as `read_document` would; a context manager.

    Processes start when they are first needed, at most one for each core (or ``settings.workers``).
    """

    def __init__(self, settings: ExtractSettings) -> None:
        self._settings = settings
        self._count = settings.workers or _cores()
        self._threads = ThreadPoolExecutor(self._count, "extract")
        self._idle: list[_Worker] = []
        self._live: set[_Worker] = set()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End all processes; files that were read ahead are dropped."""
        self._closed = True
        for worker in tuple(self._live):
            worker.process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in tuple(self._live):
            self._end(worker)

    def documents(self, found: Iterable[Found], check: Callable[[], None] = nothing) -> Iterator[Document]:
        """Yield the document of each file, in the order given; a few files are read ahead.

        Args:
            found: Files.
            check: Called now and then while a document is waited for; what it raises ends the reading.
        """
        waiting: deque[Future[Document]] = deque()
        for one in found:
            waiting.append(self._threads.submit(self._document, one))
            if len(waiting) > _AHEAD * self._count:
                yield awaited(waiting.popleft(), check)
        while waiting:
            yield awaited(waiting.popleft(), check)

    def _document(self, found: Found) -> Document:
        """Read one file in whichever worker is idle; runs in a thread."""
        if found.status is not None:
            return Document(_source(found), found.status, found.reason)
        worker = self._take()
        document = self._attempt(worker, found)
        if document.status is not Status.CRASHED or document.source.sha256 or worker.files == 1:
            return document
        # What ended the process may have been left behind by the files before: a fresh one decides.
        return self._attempt(self._start(), found)

    def _attempt(self, worker: _Worker, found: Found) -> Document:
        document = worker.read(found)
        if worker.usable():
            self._idle.append(worker)
        else:
            self._end(worker)
        return document

    def _take(self) -> _Worker:
        try:
            return self._idle.pop()
        except IndexError:
            return self._start()

    def _start(self) -> _Worker:
        if self._closed:
            raise CancelledError("the workers are closed")
        worker = _Worker.start(self._settings)
        self._live.add(worker)
        if self._closed:  # meanwhile; whoever ended the others has not seen this one
            worker.process.kill()
        return worker

    def _end(self, worker: _Worker) -> None:
        self._live.discard(worker)
        worker.end()


@dataclass(slots=True, eq=False)
class _Worker:
    """One process and the pipes to it."""

    settings: ExtractSettings
    process: subprocess.Popen[bytes]
    files: int = 0
    grown: bool = False
    late: bool = False
    deadline: float = inf
    ended: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def start(cls, settings: ExtractSettings) -> _Worker:
        # -P: a folder that is being indexed may hold a json.py of its own; it must not be imported.
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rag_index.extract.isolated"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
        )
        worker = cls(settings, process)
        threading.Thread(target=worker.watch, name="extract-limit", daemon=True).start()
        return worker

    def read(self, found: Found) -> Document:
        """Have one file read; whatever happens, a document comes back."""
        parts = self.ask(wire.found_bytes(found))
        if parts is None:
            return Document(_source(found), *self.loss())
        return wire.document_of(parts)

    def ask(self, request: bytes) -> list[bytes] | None:
        """Send a request and return the parts of its answer; None when the process is lost."""
        try:
            if not self.files:
                # How long a process takes to start says nothing about the file.
                self._exchange([wire.settings_bytes(self.settings)], 1, _START_S)
            self.files += 1
            *parts, grown = self._exchange([request], wire.DOCUMENT_PARTS + 1, self.settings.timeout_s)
            self.grown = int(grown) > _GROWN_MB
        except (OSError, EOFError, ValueError):
            return None
        return parts

    def _exchange(self, sent: list[bytes], count: int, seconds: float) -> list[bytes]:
        """Send parts and return the `count` parts of the answer; the process is ended when it takes too long."""
        given, taken = self.process.stdin, self.process.stdout
        if given is None or taken is None:
            raise EOFError("the worker has no pipes")
        self.deadline = time.monotonic() + seconds
        try:
            wire.write_parts(given.write, sent)
            given.flush()
            return wire.read_parts(taken.read, count)
        finally:
            with self.lock:
                self.deadline = inf

    def watch(self) -> None:
        """End the process when an answer takes too long; runs in a thread, since to start one for a file is dear."""
        while not self.ended.wait(_TICK_S):
            with self.lock:
                if time.monotonic() > self.deadline:
                    self.late = True
                    self.process.kill()
                    return

    def usable(self) -> bool:
        """Tell whether the process can read more files."""
        return self.process.poll() is None and not self.grown and self.files < _FILES_A_WORKER and not self.late

    def end(self) -> None:
        """End the process."""
        self.ended.set()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                _close(pipe)

    def loss(self) -> tuple[Status, str]:
        """Return why the process didn't answer."""
        self.process.kill()
        code = self.process.wait()
        if self.late:
            return Status.TIMEOUT, f"took longer than timeout_s = {self.settings.timeout_s:g}"
        if code == OUT_OF_MEMORY:
            return Status.CRASHED, f"needs more than memory_mb = {self.settings.memory_mb}"
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return Status.CRASHED, f"the reader's process ended with {how}"


def picture(path: Path, drawing: Drawing, settings: ExtractSettings) -> bytes:
    """Have a page of a PDF drawn in a process of its own; returns PNG.

    Raises:
        RagIndexError: the file can't be read or the page can't be drawn.
    """
    worker = _Worker.start(settings)
    try:
        parts = worker.ask(wire.drawing_bytes(path, drawing))
        problem = worker.loss()[1] if parts is None else "" if parts[0] else "the file can't be read as PDF"
    finally:
        worker.end()
    if parts is None or problem:
        raise RagIndexError(f"can't draw page {drawing.page} of {path}: {problem}", "Check that the file is as it was.")
    return parts[0]


def _source(found: Found) -> Source:
    return Source(found.name, size=found.size, mtime_ns=found.mtime_ns)


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:
        return  # unsent bytes to a process that is gone


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
