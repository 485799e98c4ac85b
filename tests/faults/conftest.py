"""Faults are injected into forked children; a table of what was tried and lost is printed at the end."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

_TABLE = pytest.StashKey[dict[str, list[int]]]()


@pytest.fixture
def tried(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Note a fault that was injected, and what it cost."""
    table = request.config.stash.setdefault(_TABLE, {})

    def note(fault: str, *, tries: int = 1, lost: int = 0) -> None:
        row = table.setdefault(fault, [0, 0])
        row[0] += tries
        row[1] += lost

    return note


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    table = config.stash.get(_TABLE, {})
    if table:
        terminalreporter.section("faults")
        terminalreporter.write_line(f"{'fault':<44} {'tries':>6} {'lost':>6}")
        for fault, (tries, lost) in sorted(table.items()):
            terminalreporter.write_line(f"{fault:<44} {tries:>6} {lost:>6}")


@pytest.fixture
def child(tmp_path: Path) -> Callable[..., int]:
    """Start a function in a forked process and return its id; `finish` waits for it."""

    def start(work: Callable[[], object], **environ: str) -> int:
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            os.environ.update(environ)
            work()
            code = 0
        except KeyboardInterrupt:
            code = 130
        except SystemExit as stop:
            code = int(stop.code or 0)
        except BaseException:  # noqa: BLE001 (the parent shows it)
            note = tmp_path / "child.txt"
            os.write(2, traceback.format_exc().encode()) if os.geteuid() else note.write_text(traceback.format_exc())
        finally:
            os._exit(code)

    return start


@pytest.fixture
def finish(tmp_path: Path) -> Callable[[int], int]:
    """Wait for a child; returns its exit code, negative for a signal."""

    def wait(pid: int) -> int:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        note = tmp_path / "child.txt"
        assert code != 1, note.read_text(encoding="utf-8") if note.exists() else "the child failed"
        return code

    return wait
