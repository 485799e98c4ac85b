"""Ctrl-C and SIGTERM in each stage of a build: it ends within seconds, leaves no process, and loses nothing."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from rag_index.embed import load_embedder
from rag_index.embed.hashing import HashEmbedder
from rag_index.extract.worker import _Worker
from rag_index.pipeline import build, check, run
from rag_index.pipeline.scan import Scan
from rag_index.settings import ChunkSettings, EmbedSettings, Settings, StoreSettings
from rag_index.store import Manifest, open_snapshot
from rag_index.store.child import Child
from rag_index.store.dump import dump

CHUNK, EMBED = ChunkSettings(size=120, overlap=20), EmbedSettings(model="hash")
SETTINGS = Settings(chunk=CHUNK, embed=EMBED, store=StoreSettings(publish=False))
PUBLISHED = Settings(chunk=CHUNK, embed=EMBED, store=StoreSettings(publish=True))
FILES = 60
FIRST_UNIT = 6
"""Files in the first unit that is stored, at least: 32 chunks, six in a file."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents with an index of them as they were before the half of them changed."""
    docs = tmp_path_factory.mktemp("signals") / "docs"
    docs.mkdir()
    write(docs, "old", range(FILES))
    build([docs], docs / ".rag-index", SETTINGS)
    write(docs, "new", range(0, FILES, 2))
    return docs


def write(docs: Path, word: str, numbers: range) -> None:
    for n in numbers:
        parts = [f"Part {part} of file {n}, the {word} one, about pumps and seals." for part in range(6)]
        (docs / f"{n:02}.txt").write_text("\n\n".join(parts), encoding="utf-8")


def lines(index: Path) -> list[str]:
    with open_snapshot(index) as snapshot:
        return list(dump(snapshot))


def by_document(dumped: list[str]) -> dict[str, list[str]]:
    """Path -> what was dumped of that document."""
    grouped: dict[str, list[str]] = {}
    for line in dumped:
        kind, name = line.split()[:2]
        if kind in {"document", "chunk"}:
            grouped.setdefault(name, []).append(line)
    return grouped


def slow(action: Callable, told: int, pause_s: float) -> Callable:
    """Return `action` that takes longer, and says when it begins."""

    def act(*args, **kwargs):
        os.write(told, b".")
        time.sleep(pause_s)
        return action(*args, **kwargs)

    return act


def hold_up(stage: str, told: int) -> None:
    """Make one stage of this process slow, as it is where there is much to do."""
    start = _Worker.start

    def stopped(settings):
        made = start(settings)
        os.kill(made.process.pid, signal.SIGSTOP)  # it reads and reads
        os.write(told, b".")
        return made

    if stage == "scan":
        Scan._look = slow(Scan._look, told, 0.5)
    elif stage == "extract":
        _Worker.start = stopped
    elif stage == "chunk":
        run.prepare = slow(run.prepare, told, 0.5)
    elif stage == "embed":
        HashEmbedder.embed = slow(HashEmbedder.embed, told, 0.5)
    elif stage == "model hangs":
        HashEmbedder.embed = slow(HashEmbedder.embed, told, 60)
    elif stage == "store":
        Manifest._put_document = slow(Manifest._put_document, told, 0.05)
    elif stage == "publish":
        Child.result = slow(Child.result, told, 0)


def interrupted(child, docs: Path, stage: str, number: int, settings: Settings = SETTINGS) -> int:
    """Start a build in a group of its own, and send the group a signal when it has come to `stage`."""
    heard, told = os.pipe()

    def work() -> None:
        os.setsid()
        hold_up(stage, told)
        build([docs], docs / ".rag-index", settings, embedder=load_embedder(EMBED))

    pid = child(work)
    os.close(told)
    assert os.read(heard, 1)
    os.close(heard)
    os.killpg(pid, number)
    return pid


def nobody_left(group: int) -> bool:
    """Whether all processes of a group are gone, soon."""
    until = time.monotonic() + 3
    with suppress(ProcessLookupError):
        while time.monotonic() < until:
            os.killpg(group, 0)
            time.sleep(0.05)
        return False
    return True


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("stage", ["scan", "extract", "chunk", "embed", "store", "publish"])
def test_a_signal_ends_every_stage(built, tmp_path, child, finish, tried, stage, number, code) -> None:
    docs = shutil.copytree(built, tmp_path / "docs")
    before = lines(docs / ".rag-index")
    pid = interrupted(child, docs, stage, number, PUBLISHED if stage == "publish" else SETTINGS)
    sent = time.monotonic()
    assert finish(pid) == code
    assert time.monotonic() - sent < 5
    assert nobody_left(pid)
    after = lines(docs / ".rag-index")
    build([docs], docs / ".rag-index", SETTINGS)
    assert check(docs / ".rag-index", full=True).faults == []
    fresh = shutil.copytree(docs, tmp_path / "fresh", ignore=shutil.ignore_patterns(".rag-index"))
    build([fresh], fresh / ".rag-index", SETTINGS)
    assert lines(docs / ".rag-index") == lines(fresh / ".rag-index")
    if stage in {"scan", "extract"}:
        assert after == before  # nothing was in hand
    elif stage == "store":  # what was in hand has been stored, each document as a whole
        old, new, now = by_document(before), by_document(lines(fresh / ".rag-index")), by_document(after)
        assert now.keys() == new.keys()
        assert all(now[path] in (old[path], new[path]) for path in now)
        assert sum(now[path] != old[path] for path in now) >= FIRST_UNIT
    elif stage == "publish":
        assert after == lines(fresh / ".rag-index")
    tried(f"{signal.Signals(number).name} in each stage")


def test_a_second_ctrl_c_does_not_wait_for_the_model(built, tmp_path, child, finish, tried) -> None:
    docs = shutil.copytree(built, tmp_path / "docs")
    pid = interrupted(child, docs, "model hangs", signal.SIGINT)
    time.sleep(0.3)
    os.kill(pid, signal.SIGINT)
    sent = time.monotonic()
    assert finish(pid) == 130
    assert time.monotonic() - sent < 5
    build([docs], docs / ".rag-index", SETTINGS)
    assert check(docs / ".rag-index", full=True).faults == []
    tried("SIGINT twice while the model hangs")
