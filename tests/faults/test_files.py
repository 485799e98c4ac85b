"""Sources that change under the hands of a build, that can't be read, that are many."""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import threading
import time
from pathlib import Path

import pytest

from rag_index.embed import load_embedder
from rag_index.pipeline import build, check, watch
from rag_index.settings import EmbedSettings, Settings, StoreSettings
from rag_index.store import Layout, WriterLock, open_snapshot
from rag_index.store.dump import dump
from rag_index.types import Event
from tests.privilege import unprivileged

SETTINGS = Settings(embed=EmbedSettings(model="hash"), store=StoreSettings(publish=False))
EMBEDDER = load_embedder(SETTINGS.embed)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in "abcd":
        (folder / f"{name}.txt").write_text(f"Document {name} about pumps.\n", encoding="utf-8")
    return folder


def lines(index: Path) -> list[str]:
    with open_snapshot(index) as snapshot:
        return list(dump(snapshot))


def fresh(docs: Path, tmp_path: Path) -> list[str]:
    """What a build from nothing gives for the same files."""
    copy = shutil.copytree(docs, tmp_path / "fresh", ignore=shutil.ignore_patterns(".rag-index"))
    build([copy], copy / ".rag-index", SETTINGS)
    return lines(copy / ".rag-index")


def test_files_that_change_between_listing_and_reading(docs: Path, tmp_path: Path, tried) -> None:
    done = []

    def meddle(event: Event) -> None:
        if event.stage == "scan" and not done:
            done.append(event)
            (docs / "a.txt").unlink()
            (docs / "b.txt").write_text("Document b, longer than it was when it was listed.\n" * 9, encoding="utf-8")
            (docs / "c.txt").write_text("Document c about seals.\n", encoding="utf-8")  # of the same size

    build([docs], docs / ".rag-index", SETTINGS, report=meddle)
    with open_snapshot(docs / ".rag-index") as snapshot:
        for row in snapshot.documents():
            if row.status.searchable:
                assert snapshot.document(row.id).text == (docs / row.path).read_text(encoding="utf-8")
    build([docs], docs / ".rag-index", SETTINGS)
    assert lines(docs / ".rag-index") == fresh(docs, tmp_path)
    tried("a file vanishes, grows, changes while it is read", tries=3)


def test_a_clock_that_goes_backwards_hides_no_change(docs: Path, tmp_path: Path, tried) -> None:
    build([docs], docs / ".rag-index", SETTINGS)
    for name, when in (("a", 0), ("b", 4102444800), ("c", 1)):
        path = docs / f"{name}.txt"
        path.write_text(path.read_text(encoding="utf-8").replace("pumps", "seals"), encoding="utf-8")
        os.utime(path, (when, when))
    assert build([docs], docs / ".rag-index", SETTINGS).files.indexed == 3
    assert lines(docs / ".rag-index") == fresh(docs, tmp_path)
    tried("mtime of 1970 and 2100", tries=3)


def test_names_that_are_not_utf_8(docs: Path, tried) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (docs / name).write_text("A file from long ago.", encoding="utf-8")
    report = build([docs], docs / ".rag-index", SETTINGS)
    assert report.files.indexed == 5
    with open_snapshot(docs / ".rag-index") as snapshot:
        assert name in {row.path for row in snapshot.documents()}
    assert build([docs], docs / ".rag-index", SETTINGS).files.unchanged == 5
    assert check(docs / ".rag-index", full=True).ok
    tried("a name that is not UTF-8")


def test_an_index_that_can_not_be_written_answers(docs: Path, tried) -> None:
    index = docs / ".rag-index"
    build([docs], index, SETTINGS)
    for path in [*index.rglob("*"), index]:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)

    before = sorted(path.name for path in index.rglob("*"))
    with unprivileged(), open_snapshot(index) as snapshot:
        assert snapshot.dense(EMBEDDER.embed_query("pumps"), 3)
        assert snapshot.keyword("pumps", 3)
        assert len(list(dump(snapshot))) > 8
    assert sorted(path.name for path in index.rglob("*")) == before
    tried("a read-only index")


def test_sources_that_can_not_be_read_are_named_and_lose_nothing(docs: Path, tried) -> None:
    index = docs / ".rag-index"
    (docs / "sub").mkdir()
    (docs / "sub/e.txt").write_text("Document e about pumps.\n", encoding="utf-8")
    build([docs], index, SETTINGS)
    before = lines(index)
    (docs / "a.txt").chmod(0)
    (docs / "sub").chmod(0)
    with unprivileged():
        report = build([docs], index, SETTINGS)
    (docs / "sub").chmod(0o755)
    named = {skipped.path.rstrip("/"): skipped.status for skipped in report.skipped}
    assert named == {"a.txt": "unreadable", "sub": "unreadable"}
    assert report.files.removed == 0
    kept = [line for line in lines(index) if "sub/'" not in line]
    assert kept == before
    tried("sources that can't be read", tries=2)


def test_watching_builds_after_a_change_and_survives_an_error(docs: Path, tried) -> None:
    pytest.importorskip("watchfiles")
    index, stop, failed = docs / ".rag-index", threading.Event(), threading.Event()
    errors: list[str] = []

    def hear(event: Event) -> None:
        if event.stage == "error":
            errors.append(event.note)
            failed.set()

    def change_twice() -> None:
        time.sleep(2)  # watching begins when the next report is asked for
        with WriterLock(Layout(index).lock):
            (docs / "new.txt").write_text("Something new.", encoding="utf-8")
            assert failed.wait(20)
        (docs / "newer.txt").write_text("Something newer.", encoding="utf-8")

    builds = watch([docs], index, SETTINGS, stop=stop, report=hear)
    assert next(builds).files.indexed == 4
    changes = threading.Thread(target=change_twice)
    changes.start()
    assert next(builds).files.indexed == 2
    changes.join()
    stop.set()
    assert list(builds) == []
    assert ["is being built by process" in error for error in errors] == [True]
    tried("a change while watching, and a build that fails", tries=2)


@pytest.mark.nightly
def test_two_hundred_kills_over_two_thousand_files(docs: Path, tmp_path: Path, child, finish, tried) -> None:
    for n in range(2000):
        text = "\n\n".join(f"Paragraph {part} of file {n} about pumps and seals." for part in range(12))
        (docs / f"{n:04}.txt").write_text(text, encoding="utf-8")
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance, kills = random.Random(seed), 0
    while kills < 200:
        if chance.random() < 0.1:  # so that there is always something left to do
            (docs / f"{chance.randrange(2000):04}.txt").write_text(f"Changed before kill {kills}.", encoding="utf-8")
        if chance.random() < 0.05:
            shutil.rmtree(docs / ".rag-index", ignore_errors=True)
        pid = child(lambda: build([docs], docs / ".rag-index", SETTINGS, embedder=EMBEDDER, full=True))
        time.sleep(chance.uniform(0.05, 4))
        os.kill(pid, signal.SIGKILL)
        kills += finish(pid) == -signal.SIGKILL
    build([docs], docs / ".rag-index", SETTINGS)
    assert lines(docs / ".rag-index") == fresh(docs, tmp_path)
    assert check(docs / ".rag-index", full=True).ok
    tried("kill -9 in a loop over 2,000 files", tries=kills)


@pytest.mark.nightly
def test_a_hundred_thousand_tiny_files(tmp_path: Path, tried) -> None:
    def spent(count: int) -> tuple[float, float]:
        folder = tmp_path / str(count)
        for n in range(count):
            path = folder / str(n // 1000) / f"{n}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"Tiny file number {n}.", encoding="utf-8")
        handles = len(list(Path("/proc/self/fd").iterdir()))
        began = time.process_time()
        assert build([folder], folder / ".rag-index", SETTINGS).files.indexed == count
        first = time.process_time() - began
        began = time.process_time()
        assert build([folder], folder / ".rag-index", SETTINGS).files.unchanged == count
        # Fewer when a test before left some to be collected.
        assert len(list(Path("/proc/self/fd").iterdir())) <= handles
        return first, time.process_time() - began

    few, many = spent(10_000), spent(100_000)
    print(f"first build {few[0]:.1f} and {many[0]:.1f} s, no change {few[1]:.2f} and {many[1]:.2f} s of CPU")
    tried("100,000 tiny files", tries=100_000)
