"""A child process that does one task for the projection."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rag_index import errors
from rag_index.errors import StoreError
from rag_index.store.tasks import Task
from rag_index.types import Event, Reporter


class Child:
    """A process that does one task."""

    def __init__(self, task: Task) -> None:
        home = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH")])])
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        self._process = subprocess.Popen(  # noqa: S603 (our own module)
            [sys.executable, "-m", "rag_index.store.projector", task.to_json()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": paths, "ANONYMIZED_TELEMETRY": "False"},
            text=True,
        )

    def say(self, word: str) -> None:
        """Send an order; if the child is dead, `result` will say why."""
        try:
            assert self._process.stdin is not None  # noqa: S101 (it was asked for)
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()
        except OSError:
            return

    def result(self, report: Reporter) -> dict[str, Any]:
        """Wait for what the child makes.

        Raises:
            RagIndexError: what the child raised.
            StoreError: the child died.
        """
        last: dict[str, Any] = {}
        assert self._process.stdout is not None  # noqa: S101
        for line in self._process.stdout:
            if line.startswith("{"):
                last = json.loads(line)
                if "done" in last:
                    report(Event("publish", last["done"], last["total"]))
        code = self._process.wait()
        words = self._tail()
        self.stop()
        if "result" in last:
            return dict(last["result"])
        if "error" in last:
            kind: Callable[[str, str], Exception] = getattr(errors, last["error"], StoreError)
            raise kind(last["message"], last["hint"])
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        raise StoreError(f"the process that loads Chroma {how}{words}", "The index itself is complete. Build again.")

    def stop(self) -> None:
        """End the child, whatever it does."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                pipe.close()

    def _tail(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""
